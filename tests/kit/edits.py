"""Random things that people do to the files of a checkout, without git."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from tests.kit.hand import Hand, told

Action: TypeAlias = Callable[[Hand], None]

MODES: Final = (0o600, 0o444, 0o640, 0o700, 0o555, 0o664, 0o775)
_TARGETS: Final = (
    "README.md",
    "src",
    "/nonexistent/place",
    "../outside",
    "gone \u00fc",
    ".",
    "x\ny",
)
_CARRIED: Final = (
    (b"/built/keep.bin", (b"built/keep.bin",)),
    (b"notes/*.log", (b"notes/plan.log", b"notes/two words.log", b"notes/caf\xe9.log")),
    (b"built/deep/", (b"built/deep/a", b"built/deep/er/b c")),
)
_STAYS: Final = (b"built/cache.bin", b"trace.log", b"built/out/x.o", b".env.local")


def new_file(hand: Hand) -> None:
    name = hand.fresh()
    hand.write(name, hand.content())
    hand.tell(f"write {told(name)}")


def edit(hand: Hand) -> None:
    """Change a file: in a line, at its end, or all of it."""
    for name in _some(hand, hand.regular()):
        before = hand.path(name).read_bytes()
        how = hand.one(("append", "line", "all", "endings", "cut"))
        lines = before.splitlines(keepends=True)
        match how:
            case "append":
                after = before + hand.words()
            case "line" if lines:
                lines[hand.rng.randrange(len(lines))] = hand.words() + b"\n"
                after = b"".join(lines)
            case "endings":
                after = before.replace(b"\r\n", b"\n")
                after = after.replace(b"\n", b"\r\n") if after == before else after
            case "cut":
                after = before.rstrip(b"\r\n")
            case _:
                after = hand.content()
        hand.write(name, after)
        hand.tell(f"edit {told(name)}: {how}")


def same_size(hand: Hand) -> None:
    """Change bytes of a file so that its size, and perhaps its second, are as before."""
    for name in _some(hand, hand.regular()):
        data = bytearray(hand.path(name).read_bytes())
        if data:
            at = hand.rng.randrange(len(data))
            data[at] = ord("z") if data[at] != ord("z") else ord("y")
            hand.write(name, bytes(data))
            hand.tell(f"edit {told(name)}: one byte, the same size")


def delete(hand: Hand) -> None:
    for name in _some(hand, hand.files()):
        hand.clear(name)
        hand.tell(f"rm {told(name)}")


def delete_folder(hand: Hand) -> None:
    for name in _some(hand, hand.folders()):
        hand.clear(name)
        hand.tell(f"rm -r {told(name)}")


def rename(hand: Hand) -> None:
    for name in _some(hand, [*hand.files(), *hand.folders()]):
        to = hand.fresh()
        if to.startswith(name + b"/"):
            continue
        hand.path(to).parent.mkdir(parents=True, exist_ok=True)
        hand.path(name).rename(hand.path(to))
        hand.tell(f"mv {told(name)} {told(to)}")


def executable(hand: Hand) -> None:
    for name in _some(hand, hand.regular()):
        path = hand.path(name)
        on = not path.stat().st_mode & 0o100
        path.chmod(0o755 if on else 0o644)
        hand.tell(f"chmod {'+x' if on else '-x'} {told(name)}")


def odd_mode(hand: Hand) -> None:
    for name in _some(hand, hand.regular()):
        mode = hand.one(MODES)
        hand.path(name).chmod(mode)
        hand.tell(f"chmod {mode:04o} {told(name)}")


def link(hand: Hand) -> None:
    _link_at(hand, hand.fresh())


def to_link(hand: Hand) -> None:
    """Put a link where a file or a folder was."""
    for name in _some(hand, [*hand.files(), *hand.folders()]):
        hand.clear(name)
        _link_at(hand, name)


def to_folder(hand: Hand) -> None:
    """Put a folder where a file or a link was."""
    for name in _some(hand, hand.files()):
        hand.clear(name)
        for inner in (b"/in", b"/deep/in")[: hand.rng.randrange(1, 3)]:
            hand.write(name + inner, hand.content())
        hand.tell(f"{told(name)} becomes a folder")


def to_file(hand: Hand) -> None:
    """Put a file where a folder or a link was."""
    links = [n for n in hand.files() if hand.path(n).is_symlink()]
    for name in _some(hand, [*hand.folders(), *links]):
        hand.clear(name)
        hand.write(name, hand.content())
        hand.tell(f"{told(name)} becomes a file")


def empty_folder(hand: Hand) -> None:
    name = hand.fresh()
    deep = hand.chance(30)
    hand.path(name + b"/inner" if deep else name).mkdir(parents=True)
    hand.tell(f"mkdir -p {told(name)}{'/inner' if deep else ''}")


def ignored(hand: Hand) -> None:
    """Write files that git ignores, and say of some that they are to be carried."""
    patterns = hand.rng.sample(_CARRIED, hand.rng.randrange(1, len(_CARRIED) + 1))
    for _, names in patterns:
        for name in names:
            hand.write(name, hand.content())
    for name in hand.rng.sample(_STAYS, 2):
        hand.write(name, b"stays\n")
    hand.carried = frozenset(name for _, names in patterns for name in names)
    carry = b"# carried\n" + b"".join(pattern + b"\n" for pattern, _ in patterns)
    hand.write(b".wip/carry", carry)
    hand.tell(f"write ignored files, .wip/carry: {carry!r}")


def _link_at(hand: Hand, name: bytes) -> None:
    target = hand.one(_TARGETS)
    path: Path = hand.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    hand.tell(f"ln -s {target!r} {told(name)}")


def _some(hand: Hand, names: list[bytes]) -> list[bytes]:
    """Return one of ``names``, or none if there are none."""
    return [hand.one(names)] if names else []


EDITS: Final[tuple[Action, ...]] = (
    new_file, new_file, new_file, edit, edit, edit, edit, same_size, same_size, delete,
    delete_folder, rename, rename, executable, odd_mode, link, to_link, to_folder, to_file,
    empty_folder, ignored,
)  # fmt: skip
