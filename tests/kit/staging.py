"""Random things that people do with git between two commits, and the commits themselves."""

from typing import Final

from tests.kit.edits import Action, edit, new_file, same_size
from tests.kit.hand import Hand, told

_MESSAGES: Final[tuple[str | bytes, ...]] = (
    "wip", b"caf\xe9", "a longer message, with words", "\u00fcber \u820d\u5165", "it's \"quoted\"",
    "two\n\nparts\n", "trailing   ", "# no comment", "WIP on main: 1234567 no", "a\tb", "%H %s",
)  # fmt: skip
_STASHES: Final[tuple[tuple[str, ...], ...]] = (
    (), ("-u",), ("--keep-index",), ("-u", "--keep-index"), ("--staged",),
)  # fmt: skip


def add_all(hand: Hand) -> None:
    hand.git("add", "-A")


def add_some(hand: Hand) -> None:
    for name in _sample(hand, hand.files(), 3):
        hand.git("add", "--", name, may_fail=True)


def add_then_edit(hand: Hand) -> None:
    """Stage a file, and change it again within the same second."""
    add_some(hand)
    hand.one((edit, same_size, same_size))(hand)


def unstage(hand: Hand) -> None:
    for name in _sample(hand, hand.tracked(), 2):
        hand.git("reset", "-q", "--", name, may_fail=True)


def forget(hand: Hand) -> None:
    for name in _sample(hand, hand.tracked(), 1):
        hand.git("rm", "-q", "--cached", "--force", "--", name, may_fail=True)


def remove(hand: Hand) -> None:
    for name in _sample(hand, hand.tracked(), 1):
        hand.git("rm", "-q", "--force", "--", name, may_fail=True)


def move(hand: Hand) -> None:
    for name in _sample(hand, hand.tracked(), 1):
        to = hand.fresh()
        if not to.startswith(name + b"/"):
            hand.path(to).parent.mkdir(parents=True, exist_ok=True)
            hand.git("mv", "--", name, to, may_fail=True)


def intend(hand: Hand) -> None:
    """Mark a file that git does not know as one to be added."""
    new_file(hand)
    known = set(hand.tracked())
    for name in _sample(hand, [n for n in hand.files() if n not in known], 1):
        hand.git("add", "-N", "--", name, may_fail=True)


def hide(hand: Hand) -> None:
    """Tell git not to look at a file, and change that file."""
    flag = hand.one(("--assume-unchanged", "--skip-worktree"))
    for name in _sample(hand, hand.tracked(), 1):
        hidden = hand.git("update-index", flag, "--", name, may_fail=True)
        if hidden and name in hand.regular() and hand.chance(60):
            hand.write(name, hand.content())
            hand.tell(f"edit {told(name)}: all")


def index_mode(hand: Hand) -> None:
    for name in _sample(hand, hand.tracked(), 1):
        hand.git("update-index", "--chmod=+x", "--", name, may_fail=True)


def stash(hand: Hand) -> None:
    how = hand.one(_STASHES)
    message: list[str | bytes] = ["-m", hand.one(_MESSAGES)] if hand.chance(80) else []
    hand.git("stash", "push", "-q", *how, *message, may_fail=True)


def stash_again(hand: Hand) -> None:
    """Use a stash entry, or take it out of the middle of the list."""
    how = hand.one((["apply", "-q"], ["apply", "-q", "--index"], ["drop", "-q", "stash@{1}"]))
    hand.git("stash", *how, may_fail=True)


def commit(hand: Hand) -> None:
    hand.git("commit", "-q", "-m", hand.one(_MESSAGES), may_fail=True)


def amend(hand: Hand) -> None:
    hand.git("commit", "-q", "--amend", "-m", hand.one(_MESSAGES), may_fail=True)


def commit_all(hand: Hand) -> None:
    """Commit everything, so that nothing stands in the way of what comes."""
    hand.git("add", "-A")
    hand.git("commit", "-q", "--allow-empty", "-m", hand.one(_MESSAGES))


def resolve(hand: Hand) -> None:
    """Resolve one of the conflicts, if there are any."""
    listed = hand.ask("ls-files", "--unmerged", "-z").split(b"\0")[:-1]
    names = sorted({entry.partition(b"\t")[2] for entry in listed})
    for name in _sample(hand, names, 1):
        if hand.path(name).is_dir():
            continue
        if hand.chance(70):
            hand.write(name, hand.lines(3))
            hand.git("add", "--", name, may_fail=True)
        else:
            hand.git("rm", "-q", "--force", "--", name, may_fail=True)


def _sample(hand: Hand, names: list[bytes], most: int) -> list[bytes]:
    if not names:
        return []
    return hand.rng.sample(names, min(len(names), hand.rng.randrange(1, most + 1)))


STAGING: Final[tuple[Action, ...]] = (
    add_all, add_some, add_some, add_some, add_then_edit, add_then_edit, unstage, forget, remove,
    move, intend, index_mode, resolve,
)  # fmt: skip
HIDING: Final[tuple[Action, ...]] = (hide, hide)
"""What would stand in the way of a switch of branches."""
STASHING: Final[tuple[Action, ...]] = (stash, stash, stash, stash_again)
COMMITTING: Final[tuple[Action, ...]] = (commit, commit_all, amend)
