"""Trees of a clone compared by git, many pairs in one run: what each of them adds.

``core/checkout/trees.py`` compares as well, tree by tree, as values. Of a history with thousands
of trees git does it in two thirds of the processor time, and in a process of its own, where other
threads of ours are not kept waiting. Format: git-diff-tree(1), "Raw output format", with ``-z``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from handsoff.core.checkout.trees import Change, Leaf
from handsoff.edge.git import command
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError

_AT_ONCE: Final = 256
"""Pairs in one run of git, whose answer is held in memory."""
_ABSENT: Final = b"000000"

Added = list[tuple[bytes, Leaf]]
_Item = TypeVar("_Item")
_Take: TypeAlias = Callable[[bytes, Leaf | None, Leaf | None], _Item | None]


def added(checkout: Checkout, pairs: Sequence[tuple[str, str]]) -> Iterator[Added]:
    """Yield for each pair of trees the paths at which the second has another leaf, or a new one.

    DamagedError if a tree is not here: none is fetched for this.
    """
    for start in range(0, len(pairs), _AT_ONCE):
        yield from _added(checkout, pairs[start : start + _AT_ONCE])


def _added(checkout: Checkout, pairs: Sequence[tuple[str, str]]) -> list[Added]:
    def take(path: bytes, _old: Leaf | None, new: Leaf | None) -> tuple[bytes, Leaf] | None:
        return (path, new) if new is not None else None

    return _asked(checkout, pairs, (), take)


def changes(
    checkout: Checkout, pairs: Sequence[tuple[str, str]], *more: Path
) -> list[list[Change]]:
    """Return for each pair of trees the paths at which they have different leaves.

    ``more`` are further object folders to read from. DamagedError as above.
    """
    return _asked(checkout, pairs, more, Change)


def _asked(
    checkout: Checkout, pairs: Sequence[tuple[str, str]], more: Iterable[Path], take: _Take[_Item]
) -> list[list[_Item]]:
    """Return for each pair what ``take`` makes of its changes: path, leaf before and after."""
    asked = "".join(f"{old} {new}\n" for old, new in pairs)
    done = checkout.run(
        "diff-tree", "--stdin", "-r", "-z", "--no-renames", "--ignore-submodules=none",
        given=asked.encode(), GIT_NO_LAZY_FETCH="1",
        GIT_ALTERNATE_OBJECT_DIRECTORIES=command.alternates(*more),
    )  # fmt: skip
    found = _parsed(done.stdout, take) if not done.returncode else []
    if len(found) != len(pairs):
        raise DamagedError("a tree is missing or broken", hint="run git fsck in this clone")
    return found


def _parsed(output: bytes, take: _Take[_Item]) -> list[list[_Item]]:
    """Return what git printed: for each pair a line with its ids, then its changes."""
    fields = output.split(b"\0")
    found: list[list[_Item]] = []
    for at in range(0, len(fields) - 1, 2):
        *heads, what = fields[at].split(b"\n")
        found += ([] for _ in heads)
        old_mode, mode, old, new, _ = what[1:].split(b" ")
        item = take(fields[at + 1], _leaf(old_mode, old), _leaf(mode, new))
        if item is not None:
            found[-1].append(item)
    found += ([] for _ in range(fields[-1].count(b"\n")))  # pairs at the end that do not differ
    return found


def _leaf(mode: bytes, oid: bytes) -> Leaf | None:
    return Leaf(int(mode, 8), oid.decode()) if mode != _ABSENT else None
