"""Trees of git, changed and compared as values: how a worktree becomes one object id.

``read`` gives the bytes of a tree by its id; ``emit`` takes the bytes of a new one and
returns its id. Neither is asked for a subtree that stays as it is, so the cost follows the
changes and not the size of the repository.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from handsoff.core.objects import (
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    LINK,
    SUBTREE,
    TREE,
    RawEntry,
    TreeEntry,
    join_entries,
    parse_tree,
    raw_entries,
)

Read: TypeAlias = Callable[[str], bytes]
Emit: TypeAlias = Callable[[bytes], str]


class Leaf(NamedTuple):
    """What stands at a path: a mode (file, executable, link, gitlink) and an object id."""

    mode: int
    oid: str


class Modes(NamedTuple):
    """What the modes of files mean where they lie: core.fileMode and core.symlinks of git."""

    bits: bool
    links: bool

    def leaf(self, found: Leaf, indexed: Leaf | None) -> Leaf:
        """Return what git would have of a file on disk: the index decides what means nothing."""
        if indexed is None:
            return found
        both = {found.mode, indexed.mode}
        no_bits = not self.bits and both == {FILE, EXECUTABLE}
        for_a_link = not self.links and (found.mode, indexed.mode) == (FILE, LINK)
        return Leaf(indexed.mode, found.oid) if no_bits or for_a_link else found


class Change(NamedTuple):
    """One path that differs between two trees; None is absence."""

    path: bytes
    old: Leaf | None
    new: Leaf | None


Changes: TypeAlias = Mapping[bytes, Leaf | None]


class Grafted(NamedTuple):
    """A graft whose outcome is known, as its changes are all the differences of two trees."""

    base: str
    changes: Changes
    tree: str


def entries_of(read: Read, tree: str) -> list[TreeEntry]:
    """Return the entries of ``tree``; the empty tree need not be stored anywhere."""
    return [] if tree == EMPTY_TREE else parse_tree(read(tree))


def graft(read: Read, base: str, changes: Changes, emit: Emit) -> str:
    """Return the id of ``base`` with ``changes`` made: a leaf put at a path, or None removed.

    Where a file takes the place of a directory or the reverse, the new leaves win. Directories
    that come out empty vanish, as git has no word for them.
    """
    return _Graft(read, emit).tree(base, sorted(changes.items()), 0) or emit(b"")


class _Graft:
    """One grafting: the pair of functions that every level of it needs."""

    def __init__(self, read: Read, emit: Emit) -> None:
        self.read = read
        self.emit = emit

    def tree(self, base: str, changes: Sequence[tuple[bytes, Leaf | None]], depth: int) -> str:
        """Return the new tree at ``depth`` bytes into the changed paths, or "" if it is empty."""
        entries = {} if base == EMPTY_TREE else _entries(self.read(base))
        # a sorted "a", "a-b", "a/c" is not grouped by its first name, so a dict does it
        deeper: dict[bytes, list[tuple[bytes, Leaf | None]]] = {}
        for item in changes:
            path, leaf = item
            slash = path.find(b"/", depth)
            if slash < 0:
                _put(entries, path[depth:], leaf)
            else:
                deeper.setdefault(path[depth:slash], []).append(item)
        for name, below in deeper.items():
            self.descend(entries, name, below, depth + len(name) + 1)
        return self.emit(join_entries(entries.values())) if entries else ""

    def descend(
        self,
        entries: dict[bytes, RawEntry],
        name: bytes,
        changes: Sequence[tuple[bytes, Leaf | None]],
        depth: int,
    ) -> None:
        """Make ``changes`` below ``name``, whatever stands there in ``entries``."""
        here = entries.get(name)
        is_tree = here is not None and here[0] == SUBTREE
        if not is_tree and all(leaf is None for _, leaf in changes):
            return  # removals under what is a file (now) remove nothing
        subtree = self.tree(here[2].hex() if here and is_tree else EMPTY_TREE, changes, depth)
        if subtree:
            entries[name] = SUBTREE, name, bytes.fromhex(subtree)
        else:
            entries.pop(name, None)


def _entries(data: bytes) -> dict[bytes, RawEntry]:
    """Return the entries by name, as they stand there: most of them stay as they are."""
    # some old tool wrote 040000, which git reads, and writes as it should be
    return {name: (mode.lstrip(b"0"), name, oid) for mode, name, oid in raw_entries(data)}


def _put(entries: dict[bytes, RawEntry], name: bytes, leaf: Leaf | None) -> None:
    if leaf is not None:
        entries[name] = b"%o" % leaf.mode, name, bytes.fromhex(leaf.oid)
    elif name in entries and entries[name][0] != SUBTREE:
        del entries[name]


def differences(read: Read, old: str, new: str, prefix: bytes = b"") -> Iterator[Change]:
    """Yield each path whose leaf differs between the trees ``old`` and ``new``."""
    if old == new:
        return
    left, right = _raw(read, old), _raw(read, new)
    # most entries of two trees are equal: only the others are worth a value
    before = {e.name: e for e in map(_entry, left - right)}
    after = {e.name: e for e in map(_entry, right - left)}
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        path = prefix + name
        old_tree = a.oid if a is not None and a.mode == TREE else None
        new_tree = b.oid if b is not None and b.mode == TREE else None
        old_leaf = Leaf(a.mode, a.oid) if a is not None and not old_tree else None
        new_leaf = Leaf(b.mode, b.oid) if b is not None and not new_tree else None
        if old_leaf or new_leaf:
            yield Change(path, old_leaf, new_leaf)
        if old_tree or new_tree:
            yield from differences(
                read, old_tree or EMPTY_TREE, new_tree or EMPTY_TREE, path + b"/"
            )


def composed(first: Iterable[Change], then: Iterable[Change]) -> list[Change]:
    """Return the differences of the first tree and the third, from those on either side of one."""
    found = {change.path: change for change in first}
    for path, old, new in then:
        before = found.get(path)
        found[path] = Change(path, before.old if before else old, new)
    return sorted(change for change in found.values() if change.old != change.new)


def _raw(read: Read, tree: str) -> set[RawEntry]:
    return set() if tree == EMPTY_TREE else set(raw_entries(read(tree)))


def _entry(raw: RawEntry) -> TreeEntry:
    mode, name, oid = raw
    return TreeEntry(name, int(mode, 8), oid.hex())


def leaf_at(read: Read, tree: str, path: bytes) -> Leaf | None:
    """Return what stands at ``path`` in ``tree``, or None."""
    name, _, rest = path.partition(b"/")
    for entry in entries_of(read, tree):
        if entry.name == name:
            if rest:
                return leaf_at(read, entry.oid, rest) if entry.mode == TREE else None
            return None if entry.mode == TREE else Leaf(entry.mode, entry.oid)
    return None
