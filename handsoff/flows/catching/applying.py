"""Turning one checkout from the state it is in into another.

``carry_out`` can be run again after it was killed anywhere: it looks at what is there, does what
is missing, and stops at a file that is neither of the old state nor of the new one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from handsoff.core.checkout import paths, restoring
from handsoff.core.checkout.index import Stat
from handsoff.core.checkout.state import USUAL_MODES, StashEntry, State
from handsoff.core.checkout.trees import Change, Leaf, leaf_at
from handsoff.core.objects import GITLINK
from handsoff.edge import files
from handsoff.edge.git import lfs, operation, restore, sparse
from handsoff.edge.git.local import Between, Local, Localizer
from handsoff.edge.git.objects import Objects, store_of
from handsoff.edge.git.reader import reader_of
from handsoff.edge.git.restore import Refs
from handsoff.edge.git.writer import Writer
from handsoff.edge.steps import step
from handsoff.errors import UnfitError
from handsoff.flows.capture.observe import Observed
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Known

_NAMED: Final = 10


@dataclass(frozen=True)
class Target:
    """The state to reach, and where its objects are read."""

    state: State
    objects: Objects
    stash: tuple[StashEntry, ...]
    reason: str


def changes_to(
    between: Between, seen: Observed, target: Target, known: Known | None
) -> list[Change]:
    """Return what turns the state that was ``seen`` into ``target``, with what is ``between``."""
    return restoring.without_own(
        between.files,
        seen.look.entries.paths,
        known.leaves if known is not None else {},
        {entry.path for entry in target.state.left_behind},
    )


def still_to_do(
    origin: State, seen: Observed, target: Target, changes: Iterable[Change], local: Local
) -> Local:
    """Return ``local``, which ``changes`` are here, less what came since the restore point.

    UnfitError where a file is neither as it was at the restore point ``origin`` nor as it will
    be: somebody wrote to it since the restore began, and nothing may overwrite that.
    """
    if seen.state.work_tree == origin.work_tree:
        return local
    undone = {change.path for change in local.changes}
    foreign, new = [], set()
    for change in changes:
        was = leaf_at(target.objects.tree, origin.work_tree, change.path)
        if change.path not in undone or change.old in (None, was):
            continue
        if change.new is None and was is None:
            new.add(change.path)
        else:
            foreign.append(change.path)
    if foreign:
        raise UnfitError(
            f"files were changed here since the restore began: {listed(foreign)}",
            hint="copy them somewhere else, put the old ones back, and type it again",
        )
    return replace(local, changes=[c for c in local.changes if c.path not in new])


def held(changes: Iterable[Change], seen: Observed, *, as_sent: bool) -> set[bytes]:
    """Return the paths that may be overwritten, since nothing of theirs would be lost.

    Tracked ones (the checkout is clean), and all if the checkout is what was sent from it.
    """
    tracked = seen.look.entries.paths
    return {
        change.path
        for change in changes
        if change.old is not None
        # what is in a submodule no snapshot knows; but another commit of it writes nothing there
        and (change.old.mode != GITLINK or (change.new is not None and change.new.mode == GITLINK))
        and (as_sent or change.path in tracked)
    }


def localize(
    desk: Desk, target: Target, seen: Observed, between: Between, changes: Iterable[Change]
) -> Local:
    """Return what ``changes`` are on this machine, which may convert files another way."""
    store = store_of(desk.shared)
    localizer = Localizer(desk.checkout, target.objects, store, target.state, seen.look, between)
    return localizer.localize(seen.snapshot, changes)


def carry_out(
    desk: Desk, target: Target, seen: Observed, local: Local, old_tip: str | None
) -> None:
    """Make the checkout ``target``: files, index, branch and HEAD, stash, configuration."""
    checkout = desk.checkout
    _put_in_place(desk, target, seen, local)
    refs = Refs(checkout, target.reason)
    step("catch.apply.branch.before")
    refs.move(target.state, old_tip)
    step("catch.apply.stash.before")
    refs.set_stash(target.stash, seen.look.stash)
    step("catch.apply.config.before")
    refs.configure(target.state.work, target.state.branch, desk.shared.name)
    files.sync_filesystem(checkout.top)
    step("catch.apply.after")


def _put_in_place(
    desk: Desk, target: Target, seen: Observed, local: Local, drop: Iterable[bytes] = ()
) -> None:
    """Bring files, index and operation to ``target``; of the empty folders here, ``drop`` go."""
    checkout, objects = desk.checkout, target.objects
    # with what conversions here have made too
    reader = reader_of(checkout, desk.shared.objects, *objects.folders)
    with files.saying("cannot write into this checkout"):
        writer = Writer(checkout, reader.each, restore.vouches(seen.look), dict(target.state.modes))
        lfs.put(checkout, objects, target.state.lfs)
        writer.carry_out(local.changes, target.state.empty_folders, drop)
        writer.set_modes(_odd_before(seen, target))
        step("catch.apply.index.before")
        sparse.put(checkout, target.state.sparse)
        step("catch.apply.index.write.before")
        read = seen.snapshot.reader(objects)
        written = _believed(writer.written, local, target.state)
        doubtful = {change.path for change in local.changes} - written.keys()
        entries = restore.new_entries(
            read, seen.look, local.between.index, target.state, written, doubtful=doubtful
        )
        restore.write_index(checkout, entries, target.state.resolved)
        wanted = operation.as_here(checkout, target.state.operation)
        write = Objects(checkout.objects_dir).write
        operation.put(checkout, wanted, seen.look.operation, write)


def _odd_before(seen: Observed, target: Target) -> Iterator[bytes]:
    """Yield the files of the target that have bits here which no checkout gives.

    Not what this machine has besides, ignored or carried: that keeps its bits.
    """
    for path, mode in seen.look.modes.items():
        if mode not in USUAL_MODES and leaf_at(target.objects.tree, target.state.work_tree, path):
            yield path


def _believed(
    written: Mapping[bytes, tuple[Leaf, Stat]], local: Local, state: State
) -> dict[bytes, tuple[Leaf, Stat]]:
    """Return the files that git may take for unchanged, with what it has of them.

    Not those that a filter may make something else of: of them git shall see for itself.
    """
    doubtful = {*state.raw, *(entry.path for entry in local.told)}
    return {
        path: (local.kept.get(path, leaf), stat)
        for path, (leaf, stat) in written.items()
        if path not in doubtful
    }


def go_back(
    desk: Desk, target: Target, seen: Observed, local: Local, point: Mapping[str, Any]
) -> None:
    """Make the checkout what it was at a restore point, its branches included."""
    checkout = desk.checkout
    _put_in_place(desk, target, seen, local, drop=seen.state.empty_folders)
    refs = Refs(checkout, target.reason)
    step("undo.apply.head.before")
    refs.leave(str(point["head"]), target.state.head)
    step("undo.apply.branch.before")
    refs.reset_branch(str(point["work"]), str(point["old_tip"]))
    arrived = frozenset(point.get("arrived", ()))
    if "settings" in point:
        step("undo.apply.config.before")
        refs.reset_settings(str(point["work"]), point["settings"])
    step("undo.apply.stash.before")
    refs.set_stash(restoring.unmerge_stash(seen.look.stash, target.stash, arrived), seen.look.stash)
    files.sync_filesystem(checkout.top)


def listed(names: Iterable[bytes]) -> str:
    """Return the first of ``names`` for a person, and how many more there are."""
    ordered = sorted(set(names))
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(map(paths.shown, ordered[:_NAMED])) + more
