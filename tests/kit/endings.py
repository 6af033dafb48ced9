"""Operations of git that stop half way, of every kind, begun at random.

Each is begun on a clean checkout, on commits of its own below ``op/``, and leaves the checkout
in the middle of it. ``OPERATIONS`` names them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from tests.kit.edits import Action
from tests.kit.hand import Hand
from tests.kit.staging import commit_all

_LINES: Final = [b"line %d\n" % n for n in range(12)]


def _lines(word: bytes, at: int = 5) -> bytes:
    return b"".join([*_LINES[:at], b"line %s\n" % word, *_LINES[at + 1 :]])


Files: TypeAlias = Mapping[bytes, bytes | None]
Ending: TypeAlias = Sequence[tuple[str, ...]]

_BASE: Final[Files] = {
    b"op/%s.txt" % name: b"".join(_LINES) + name for name in (b"one", b"two", b"three", b"four")
} | {b"op/bytes": b"\0base", b"op/calm.txt": _lines(b"calm"), b"op/tool": b"#!/bin/sh\n"}
_CLASHES: Final[dict[str, tuple[Files, Files]]] = {
    "both modified": ({b"op/one.txt": _lines(b"ours")}, {b"op/one.txt": _lines(b"theirs")}),
    "both added": ({b"op/new": _lines(b"ours")}, {b"op/new": b"theirs\n"}),
    "deleted by us": ({b"op/two.txt": None}, {b"op/two.txt": _lines(b"theirs")}),
    "deleted by them": ({b"op/four.txt": _lines(b"ours")}, {b"op/four.txt": None}),
    "renamed twice": (
        {b"op/three.txt": None, b"op/our three.txt": _BASE[b"op/three.txt"]},
        {b"op/three.txt": None, b"op/their three.txt": _BASE[b"op/three.txt"]},
    ),
    "binary": ({b"op/bytes": b"\0ours"}, {b"op/bytes": b"\0theirs"}),
    "file and folder": ({b"op/place": b"ours\n"}, {b"op/place/in": b"theirs\n"}),
    "odd name": ({b"op/caf\xe9\n": b"ours\n"}, {b"op/caf\xe9\n": b"theirs\n"}),
}  # fmt: skip


def _put(hand: Hand, files: Files, message: str) -> None:
    for name, data in files.items():
        if data is None:
            hand.clear(name)
        else:
            hand.write(name, data)
    hand.tell(f"write op/: {message}")
    hand.git("add", "-A")
    hand.git("commit", "-q", "-m", message)


def _calm(hand: Hand, word: bytes) -> None:
    _put(hand, {b"op/%s calm.txt" % word: _lines(word)}, f"calm {word.decode()}")


def fork(hand: Hand, clashes: Sequence[str]) -> str:
    """Leave this branch, whose name is returned, and ``other`` with three commits each.

    The second one has this side's part of the ``clashes``, if there are any.
    """
    commit_all(hand)
    hand.clear(b"op")
    _put(hand, _BASE, "base of an operation")
    work = hand.ask("symbolic-ref", "--short", "HEAD").decode().strip()
    hand.git("switch", "-q", "-c", "other")
    _side(hand, b"their", {k: v for n in clashes for k, v in _CLASHES[n][1].items()})
    hand.git("switch", "-q", work)
    _side(hand, b"our", {k: v for n in clashes for k, v in _CLASHES[n][0].items()})
    hand.tell(f"(clashes: {', '.join(clashes) or 'none'})")
    return work


def _fork(hand: Hand, *, clash: bool = True) -> str:
    names = hand.rng.sample(sorted(_CLASHES), hand.rng.randrange(1, 4)) if clash else []
    return fork(hand, names)


def _side(hand: Hand, whose: bytes, clashes: Files) -> None:
    _calm(hand, whose + b" first")
    if clashes:
        _put(hand, clashes, f"{whose.decode()} clashes: \u00fc")
    _calm(hand, whose + b" last")


def _autostash(hand: Hand, percent: int = 40) -> list[str]:
    """Leave an edit for an autostash in some cases, and return the switch for it."""
    if not hand.chance(percent):
        return []
    hand.write(b"op/calm.txt", _lines(b"stashed away"))
    hand.tell("edit op/calm.txt")
    return ["--autostash"]


def _rerere(hand: Hand) -> list[str]:
    return ["-c", "rerere.enabled=true"] if hand.chance(20) else []


def merge(hand: Hand) -> None:
    clean = hand.chance(35)
    _fork(hand, clash=not clean)
    switches = [*_autostash(hand), *(["--no-commit", "--no-ff"] if clean else [])]
    hand.git(*_rerere(hand), "merge", "-q", *switches, "other", may_fail=not clean)


def squash(hand: Hand) -> None:
    _fork(hand, clash=hand.chance(50))
    hand.git("merge", "-q", "--squash", "other", may_fail=True)


def rebase(hand: Hand) -> None:
    _fork(hand)
    switches = _autostash(hand)
    if hand.chance(30):
        switches += ["--onto", "other~1"]
    hand.git(*_rerere(hand), "rebase", "-q", *switches, "other", may_fail=True)


def rebase_apply(hand: Hand) -> None:
    _fork(hand)
    hand.git("rebase", "-q", "--apply", *_autostash(hand), "other", may_fail=True)


def rebase_todo(hand: Hand) -> None:
    """Stop a rebase where its todo list says so."""
    _fork(hand, clash=hand.chance(40))
    script = hand.one(
        ("1s/^pick/edit/", "2s/^pick/edit/", "1i break", "1a exec false", "2s/^pick/squash/",
         "2s/^pick/fixup/;$a break", "1s/^pick/reword/;1a break")
    )  # fmt: skip
    hand.git(
        "rebase", "-q", "-i", *_autostash(hand), "other", may_fail=True,
        GIT_SEQUENCE_EDITOR=f"sed -i -e {script!r}",
    )  # fmt: skip


def rebase_merges(hand: Hand) -> None:
    """Stop a rebase that has written refs of its own."""
    work = _fork(hand, clash=False)
    hand.git("switch", "-q", "-c", "topic", "HEAD~1")
    _calm(hand, b"topic")
    hand.git("switch", "-q", work)
    hand.git("merge", "-q", "--no-ff", "--no-edit", "topic")
    hand.git(
        "rebase", "-q", "-i", "-r", "other", may_fail=True,
        GIT_SEQUENCE_EDITOR="sed -i -e 's/^merge /break\\nmerge /'",
    )  # fmt: skip


def cherry_pick(hand: Hand) -> None:
    work = _fork(hand)
    which = hand.one((["other~1"], [f"{work}..other"], ["other~1", "other"], ["-x", "other~1"]))
    hand.git(*_rerere(hand), "cherry-pick", *which, may_fail=True)


def revert(hand: Hand) -> None:
    _fork(hand)
    _put(hand, {b"op/one.txt": _lines(b"first")}, "first")
    _put(hand, {b"op/calm.txt": _lines(b"calmer")}, "calmer")
    _put(hand, {b"op/one.txt": _lines(b"second")}, "second")
    which = hand.one((["HEAD~2"], ["HEAD~1", "HEAD~2"], ["HEAD~2", "HEAD~1"], ["HEAD"]))
    if which == ["HEAD"]:
        hand.git("revert", "--no-commit", "HEAD")
    else:
        hand.git("revert", "--no-edit", *which, may_fail=True)


def apply_mail(hand: Hand) -> None:
    work = _fork(hand)
    mails = hand.ask("format-patch", "-q", "--stdout", f"{work}..other")
    three = ["-3"] if hand.chance(50) else []
    hand.git("am", "-q", *three, *_autocrlf_keeps(hand), given=mails, may_fail=True)


def _autocrlf_keeps(hand: Hand) -> list[str]:
    return ["--keep-cr"] if hand.chance(20) else []


def bisect(hand: Hand) -> None:
    commit_all(hand)
    first = hand.ask("rev-list", "--max-parents=0", "HEAD").decode().strip()
    if hand.chance(20):
        hand.git("bisect", "start")
        if hand.chance(50):
            hand.git("bisect", "good", first)
        return
    terms = hand.chance(30)
    switches = ["--term-old=fast", "--term-new=slow"] if terms else []
    switches += ["--first-parent"] if hand.chance(20) else []
    hand.git("bisect", "start", *switches, "HEAD", first)
    words = ("fast", "slow", "skip") if terms else ("good", "bad", "skip")
    if hand.chance(50):
        hand.git("bisect", hand.one(words), may_fail=True)


def stash_pop(hand: Hand) -> None:
    """Pop a stash entry that clashes with what was committed since."""
    commit_all(hand)
    _put(hand, _BASE, "base of a stash")
    hand.write(b"op/one.txt", _lines(b"stashed"))
    if hand.chance(50):
        hand.write(b"op/extra", b"extra\n")
    hand.git("stash", "push", "-q", "-u", "-m", "to be popped")
    _put(hand, {b"op/one.txt": _lines(b"since")}, "since")
    hand.git("stash", "pop", "-q", may_fail=True)


OPERATIONS: Final[dict[str, Action]] = {
    "merge": merge,
    "squash": squash,
    "rebase": rebase,
    "rebase-apply": rebase_apply,
    "rebase-todo": rebase_todo,
    "rebase-merges": rebase_merges,
    "cherry-pick": cherry_pick,
    "revert": revert,
    "am": apply_mail,
    "bisect": bisect,
    "stash-pop": stash_pop,
}

_ADD: Final = ("add", "-A")
_REBASE: Final[tuple[Ending, Ending]] = ([("rebase", "--abort")], [_ADD, ("rebase", "--continue")])
ENDINGS: Final[dict[str, tuple[Ending, Ending]]] = {
    "merge": ([("merge", "--abort")], [_ADD, ("merge", "--continue")]),
    "squash": ([("reset", "-q", "--merge")], [_ADD, ("commit", "-q", "--no-edit")]),
    "rebase": _REBASE,
    "rebase-apply": _REBASE,
    "rebase-todo": _REBASE,
    "rebase-merges": _REBASE,
    "cherry-pick": ([("cherry-pick", "--abort")], [_ADD, ("cherry-pick", "--continue")]),
    "revert": ([("revert", "--abort")], [_ADD, ("revert", "--continue")]),
    "am": ([("am", "--abort")], [_ADD, ("am", "--continue")]),
    "bisect": ([("bisect", "reset")], [("bisect", "bad")]),
    "stash-pop": ([("reset", "-q", "--hard")], [_ADD, ("commit", "-q", "-m", "popped")]),
}
"""How each is ended: given up, or gone on with whatever stands in the checkout."""
