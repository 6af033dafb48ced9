"""What a restore would do to a worktree, and what stands in its way: decided before it starts.

Nothing here looks at a disk: the caller says what stands at a path, and gets the list of paths
at which something of the receiver's would be lost.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from handsoff.core.checkout import paths
from handsoff.core.checkout.state import StashEntry
from handsoff.core.checkout.trees import Change, Leaf
from handsoff.core.objects import GITLINK

_NO_LEAF: Final = Leaf(0, "")


class Standing(Enum):
    """What is at a path on disk that the current tree does not have."""

    NOTHING = "nothing"
    SAME = "the same file"
    OTHER = "another file"
    FOLDER = "a folder"


class Obstacle(NamedTuple):
    """Something of the receiver's at a place that an arriving path needs."""

    path: bytes
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to remove, leaves to write, and folders to make, in that order."""

    removals: tuple[bytes, ...]
    writes: tuple[tuple[bytes, Leaf], ...]
    folders: tuple[bytes, ...] = ()


def plan(changes: Iterable[Change], folders: Iterable[bytes] = ()) -> Plan:
    """Return what turns one worktree into another, from the differences of their trees.

    ``folders`` are those that are empty in the new one.
    """
    removals = []
    writes = []
    for change in changes:
        if change.new is None:
            removals.append(change.path)
        else:
            writes.append((change.path, change.new))
    return Plan(tuple(removals), tuple(writes), tuple(folders))


def obstacles(
    wanted: Plan,
    known: Callable[[bytes], bool],
    standing: Callable[[bytes, Leaf], Standing],
    inside: Callable[[bytes], Iterable[bytes]],
) -> list[Obstacle]:
    """Return what would be overwritten, although no snapshot knows it.

    ``known(path)``: the current tree has a leaf there, or an earlier snapshot has those bytes.
    ``standing(path, leaf)``: what is there on disk. ``inside(path)``: all files below a folder.
    """
    removed = set(wanted.removals)
    written = {path for path, _ in wanted.writes}
    found: dict[bytes, str] = {}
    above = paths.folders_above(path for path, _ in wanted.writes)
    above += [place for path in wanted.folders for place in (*paths.parents(path), path)]
    for parent in dict.fromkeys(above):
        stands = parent not in removed and standing(parent, _NO_LEAF)
        if stands in (Standing.OTHER, Standing.SAME) and parent not in written:
            found[parent] = "a file or link stands where a folder must be"
    for path, leaf in wanted.writes:
        if known(path):
            continue
        match standing(path, leaf):
            case Standing.OTHER:
                found[path] = "exists here with other content"
            case Standing.FOLDER if leaf.mode != GITLINK:  # which is all that a submodule needs
                mine = [p for p in inside(path) if p not in removed and not known(p)]
                if mine:
                    found[path] = f"a folder here holds {paths.shown(mine[0])}"
            case _:
                pass
    return [Obstacle(path, what) for path, what in sorted(found.items())]


def without_own(
    changes: Iterable[Change],
    tracked: Container[bytes],
    safe: Mapping[bytes, Leaf],
    left_behind: Container[bytes],
) -> list[Change]:
    """Return ``changes`` less the removals of files that are the receiver's own.

    A file that its index does not have (a carried or ignored one) goes only if the same bytes
    are in ``safe``, a state that travelled, and the other side has removed it: what that side
    names as ``left_behind`` is still there.
    """

    def is_gone(change: Change) -> bool:
        named = (change.path, *(parent + b"/" for parent in paths.parents(change.path)))
        known = safe.get(change.path) == change.old
        return change.path in tracked or (known and not any(n in left_behind for n in named))

    return [change for change in changes if change.new is not None or is_gone(change)]


def merge_stash(
    arriving: Sequence[StashEntry], own: Sequence[StashEntry], sent: Container[str] = ()
) -> tuple[StashEntry, ...]:
    """Return the stash list after an arrival: its entries on top, own ones below, none twice.

    Entries that were ``sent`` from here and do not come back were dropped by the other side.
    """
    oids = {entry.oid for entry in arriving}
    return (*arriving, *(e for e in own if e.oid not in oids and e.oid not in sent))


def unmerge_stash(
    now: Sequence[StashEntry], before: Sequence[StashEntry], arrived: Container[str]
) -> tuple[StashEntry, ...]:
    """Return the stash list after going back: without what ``arrived``, but with what is newer.

    Entries made since stay on top; below them stands the list as it was ``before``.
    """
    kept = {entry.oid for entry in before}
    newer = (e for e in now if e.oid not in kept and e.oid not in arrived)
    return (*newer, *before)


def works_after_undo(
    now: Mapping[str, str], point: Mapping[str, str], *, work: str, head: str, gone: str
) -> dict[str, str]:
    """Return which works stand in a checkout that went back to a restore point.

    ``now`` is which stood there until now, ``point`` which stood there then, when it was on
    ``head``. Going back takes away ``work``, and ``gone``, of which more stands there than its
    branch has; both are as they were then. Others stand on their branches, which did not move.
    """
    came = {k: v for k, v in point.items() if k in (work, head) or k not in (*now, gone)}
    return {**{k: v for k, v in now.items() if k not in (*came, work, gone)}, **came}
