"""What stands for each path: in the index, as a leaf of a tree or as data, and on disk."""

from collections.abc import Mapping

from handsoff.core.checkout.index import Entry, Flag
from handsoff.core.checkout.trees import Leaf
from handsoff.edge.git.filtered import Filtered
from handsoff.edge.git.look import Look
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.sinks import Taken


def specials(look: Look) -> list[Entry]:
    """Return the index entries that a tree cannot say, without their stat data."""
    return [
        Entry(e.path, e.mode, e.oid, e.stage, e.flags)
        for path in dict.fromkeys(look.entries.odd)
        for e in look.entries[path]
        if not e.plain
    ]


def index_changes(look: Look) -> dict[bytes, Leaf | None]:
    """Return what to change in HEAD's tree so that it says what the index says."""
    return {path: indexed_leaf(look, path) for path in look.staged}


def indexed_leaf(look: Look, path: bytes) -> Leaf | None:
    """Return the leaf that stands for ``path`` in the index's tree."""
    return None if path in look.clashing else index_leaf(look.entries.of(path))


def index_leaf(entries: list[Entry]) -> Leaf | None:
    """Return the leaf that stands for a path's entries: itself, or "ours" of a conflict."""
    present = {e.stage: e for e in entries if not e.flags & Flag.INTENT_TO_ADD}
    for stage in (0, 2, 3, 1):
        if stage in present:
            return Leaf(present[stage].mode, present[stage].oid)
    return None


def worktree_changes(
    checkout: Checkout, look: Look, taken: Mapping[bytes, Taken], filtered: Filtered
) -> dict[bytes, Leaf | None]:
    """Return what to change in the index's tree so that it says what is on disk."""
    changes: dict[bytes, Leaf | None] = {}
    tracked = (look.suspects | filtered.lossless.keys() | filtered.raw) - filtered.secret
    for path in tracked:
        here = taken.get(path)
        leaf = here.leaf if here else None
        if path in filtered.lossless:
            leaf = filtered.lossless[path].kept
        elif leaf is None and path in look.submodules:
            leaf = indexed_leaf(look, path)  # a submodule is as git records it
        indexed = indexed_leaf(look, path)
        if leaf is not None:
            leaf = checkout.modes.leaf(leaf, indexed)
        if leaf != indexed:
            changes[path] = leaf
    for path in taken.keys() - tracked:
        changes[path] = taken[path].leaf
    return changes
