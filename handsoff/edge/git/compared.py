"""Trees of a clone compared by git, many pairs in one run: what each of them adds.

``core/trees.py`` compares as well, tree by tree, as values. Of a history with thousands of trees
git does it in two thirds of the processor time, and in a process of its own, where other threads of
ours are not kept waiting. Format: git-diff-tree(1), "Raw output format", with ``-z``.
"""

from collections.abc import Iterator, Sequence

from handsoff.core.trees import Leaf
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError

_AT_ONCE = 256
"""Pairs in one run of git, whose answer is held in memory."""

Added = list[tuple[bytes, Leaf]]


def added(checkout: Checkout, pairs: Sequence[tuple[str, str]]) -> Iterator[Added]:
    """Yield for each pair of trees the paths at which the second has another leaf, or a new one.

    DamagedError if a tree is not here: none is fetched for this.
    """
    for start in range(0, len(pairs), _AT_ONCE):
        yield from _added(checkout, pairs[start : start + _AT_ONCE])


def _added(checkout: Checkout, pairs: Sequence[tuple[str, str]]) -> list[Added]:
    asked = "".join(f"{old} {new}\n" for old, new in pairs)
    done = checkout.run(
        "diff-tree", "--stdin", "-r", "-z", "--no-renames", "--ignore-submodules=none",
        given=asked.encode(), GIT_NO_LAZY_FETCH="1",
    )  # fmt: skip
    found = _parsed(done.stdout) if not done.returncode else []
    if len(found) != len(pairs):
        raise DamagedError("a tree is missing or broken", hint="run git fsck in this clone")
    return found


def _parsed(output: bytes) -> list[Added]:
    """Return what git printed: for each pair a line with its ids, then its changes."""
    fields = output.split(b"\0")
    found: list[Added] = []
    for at in range(0, len(fields) - 1, 2):
        *heads, what = fields[at].split(b"\n")
        found += ([] for _ in heads)
        _, mode, _, oid, status = what.split(b" ")
        if status != b"D":
            found[-1].append((fields[at + 1], Leaf(int(mode, 8), oid.decode())))
    found += ([] for _ in range(fields[-1].count(b"\n")))  # pairs at the end that do not differ
    return found
