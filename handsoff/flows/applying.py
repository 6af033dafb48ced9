"""Turning one checkout from the state it is in into another: prepared, journalled, compared.

``Preflight`` finds everything that could be overwritten, wrong or busy, before the first write.
``carry_out`` can be run again after it was killed anywhere: it looks at what is there, does what
is missing, and stops at a file that is neither of the old state nor of the new one.
"""

import shutil
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from handsoff.core import paths, restoring
from handsoff.core.index import Stat
from handsoff.core.objects import GITLINK, LINK
from handsoff.core.restoring import Obstacle, Plan, Standing
from handsoff.core.state import StashEntry, State
from handsoff.core.trees import Change, Leaf, differences, leaf_at
from handsoff.edge import files
from handsoff.edge.git import operation, restore, shape, sparse
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.local import Local, Localizer
from handsoff.edge.git.look import permissions
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.restore import Refs
from handsoff.edge.git.writer import Writer
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, UnfitError
from handsoff.flows.desk import Desk
from handsoff.flows.notes import Known
from handsoff.flows.observe import Observed, observe

_NAMED: Final = 10
_SPARE: Final = 1 << 20


@dataclass(frozen=True)
class Target:
    """The state to reach, and where its objects are read."""

    state: State
    objects: Objects
    stash: tuple[StashEntry, ...]
    reason: str

    @property
    def outside(self) -> list[bytes]:
        """Files of the state that its index does not have: untracked and carried ones."""
        changes = differences(self.objects.tree, self.state.index_tree, self.state.work_tree)
        return [change.path for change in changes if change.new is not None]


def refuse_busy(desk: Desk, seen: Observed, known: Known | None, target: State) -> None:
    """Raise UnfitError if the checkout is no place to restore ``target`` over."""
    shape.refuse(shape.clone_shape(desk.checkout))
    if known is not None and known.is_state(seen.state):
        return  # exactly what it sent, or caught: safe elsewhere
    if seen.state.sparse is not None and seen.state.sparse != target.sparse:
        raise UnfitError(
            "this checkout is sparse, and the work shows other parts of the repository",
            hint="git sparse-checkout disable; or catch into a worktree of its own: --into DIR",
        )
    shape.refuse(shape.operations(seen.look))
    if shape.has_loose_commits(desk.checkout):
        raise UnfitError(
            "HEAD is detached here on commits that no branch has",
            hint="give them a name: git switch -c NAME; or catch with --into DIR",
        )
    if not seen.is_clean:
        names = [*seen.look.untracked, *seen.look.staged, *seen.snapshot.changed_paths(seen.look)]
        raise UnfitError(
            f"this checkout has work of its own: {_listed(names)}",
            hint="commit or stash it, or catch into a worktree of its own: --into DIR",
        )


def check_branch(desk: Desk, target: State, arrived: Path, known: Known | None) -> str | None:
    """Return where the work's branch stands here; UnfitError if commits would be lost from it.

    ``arrived`` is the object folder of the parcel.
    """
    checkout = desk.checkout
    elsewhere = shape.other_worktree(checkout, target.work)
    if elsewhere is not None:
        raise UnfitError(
            f"the branch {target.work} is checked out in {elsewhere}",
            hint="catch there, or switch that worktree to another branch",
        )
    if (checkout.git_dir / "index.lock").exists():
        raise UnfitError(
            f"another git process holds {checkout.git_dir / 'index.lock'}",
            hint="when it has ended, or if none runs, remove that file and type it again",
        )
    clash = shape.clashing_branch(checkout, target.work)
    if clash is not None:
        raise UnfitError(
            f"the branch {clash} keeps a branch called {target.work} from being made",
            hint=f"rename it: git branch -m {clash} NAME",
        )
    old = checkout.commit(f"refs/heads/{target.work}")
    if old is None or old == target.tip or (known is not None and old == known.tip):
        return old
    if not target.tip or not shape.is_ancestor(checkout, old, target.tip, arrived):
        raise UnfitError(
            f"the branch {target.work} has commits here that are not in the parcel",
            hint=f"keep them under another name: git branch -m {target.work} NAME",
        )
    return old


def check_room(
    desk: Desk, target: Target, plan: Plan, current: Container[bytes], known: Known | None
) -> None:
    """Raise UnfitError for what is in the way, cannot be written here, or does not fit."""
    checkout = desk.checkout
    if checkout.setting("core.symlinks") is not None and not checkout.switch("core.symlinks"):
        links = [path for path, leaf in plan.writes if leaf.mode == LINK]
        if links:
            raise UnfitError(
                f"core.symlinks is off here, and these are links: {_listed(links)}",
                hint="catch on a file system that has links",
            )
    arriving = [path for path, _ in plan.writes]
    if shape.folds_names(checkout) and (pairs := paths.collisions(arriving)):
        raise UnfitError(
            f"this file system takes two names for one: {_listed(pairs[0])}",
            hint="rename one of them on the sender",
        )
    worktree = Worktree(checkout.top)
    if locked := restore.unwritable(worktree, [*plan.removals, *arriving]):
        raise UnfitError(
            f"this user may not write in {_listed(locked) or 'the checkout'}",
            hint="change who owns it (chown) or its mode, then catch again",
        )
    refuse_obstacles(checkout.top, plan, current, known)
    blobs = (leaf.oid for _, leaf in plan.writes if leaf.mode != GITLINK)
    need = sum(map(target.objects.size, blobs)) + _SPARE
    free = shutil.disk_usage(checkout.top).free
    if free < need:
        raise UnfitError(f"the disk has {free} bytes free, and {need} are needed", hint="make room")


def refuse_obstacles(top: Path, plan: Plan, current: Container[bytes], known: Known | None) -> None:
    """Raise UnfitError naming what stands in the way of ``plan``."""
    found = in_the_way(top, plan, current, known)
    if found:
        lines = "\n  ".join(f"{paths.shown(o.path)}: {o.what}" for o in found[:_NAMED])
        more = f"\n  and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise UnfitError(
            f"files of this machine are in the way:\n  {lines}{more}",
            hint="move them away, or catch into a worktree of its own: --into DIR",
        )


def in_the_way(
    top: Path, plan: Plan, current: Container[bytes], known: Known | None
) -> list[Obstacle]:
    """Return what stands on disk where the plan writes, and is safe nowhere else.

    ``current`` are the paths that the restore point holds as they are.
    """
    worktree = Worktree(top)

    def is_known(path: bytes) -> bool:
        if path in current:
            return True
        leaf = known.leaves.get(path) if known is not None else None
        return leaf is not None and restore.standing(worktree, path, leaf) is Standing.SAME

    return restoring.obstacles(
        plan,
        is_known,
        lambda path, leaf: restore.standing(worktree, path, leaf),
        lambda folder: restore.files_below(worktree, folder),
    )


def _listed(names: Iterable[bytes]) -> str:
    ordered = sorted(set(names))
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(map(paths.shown, ordered[:_NAMED])) + more


def changes_to(origin: State, seen: Observed, target: Target, known: Known | None) -> list[Change]:
    """Return what is still to be done to reach ``target``.

    UnfitError where a file is neither as it was at the restore point ``origin`` nor as it will
    be: somebody wrote to it since the restore began, and nothing may overwrite that.
    """
    objects = target.objects
    read = seen.snapshot.reader(objects)
    changes = restoring.without_own(
        differences(read, seen.state.work_tree, target.state.work_tree),
        seen.look.entries.paths,
        known.leaves if known is not None else {},
        {entry.path for entry in target.state.left_behind},
    )
    if seen.state.work_tree == origin.work_tree:
        return changes
    wanted = []
    foreign = []
    for change in changes:
        was = leaf_at(objects.tree, origin.work_tree, change.path)
        if change.old is None or change.old == was:
            wanted.append(change)
        elif change.new is not None or was is not None:
            foreign.append(change.path)
    if foreign:
        raise UnfitError(
            f"files were changed here since the restore began: {_listed(foreign)}",
            hint="copy them somewhere else, put the old ones back, and type it again",
        )
    return wanted


def held(changes: Iterable[Change], seen: Observed, known: Known | None) -> set[bytes]:
    """Return the paths that may be overwritten, since nothing of theirs would be lost.

    Tracked ones (the checkout is clean), and all if the checkout is what was sent from it.
    """
    as_sent = known is not None and known.is_state(seen.state)
    tracked = seen.look.entries.paths
    return {
        change.path
        for change in changes
        if change.old is not None
        and change.old.mode != GITLINK  # a folder, of which the snapshot does not know what is in
        and (as_sent or change.path in tracked)
    }


def localize(desk: Desk, target: Target, seen: Observed, changes: Iterable[Change]) -> Local:
    """Return what ``changes`` are on this machine, which may convert files another way."""
    store = Objects(desk.shared.objects, desk.checkout.common_dir / "objects")
    localizer = Localizer(desk.checkout, target.objects, store, target.state, seen.look)
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


def _put_in_place(desk: Desk, target: Target, seen: Observed, local: Local) -> None:
    checkout, objects = desk.checkout, target.objects
    store = Objects(desk.shared.objects, *objects.folders)  # what conversions here have made too
    with files.saying("cannot write into this checkout"):
        modes = dict(target.state.modes)
        writer = Writer(checkout, store.blob, restore.vouches(seen.look), modes)
        writer.carry_out(local.changes, target.state.empty_folders)
        writer.set_modes(seen.look.modes)
        step("catch.apply.index.before")
        sparse.put(checkout, target.state.sparse)
        read = seen.snapshot.reader(objects)
        written = _believed(writer.written, local, target.state)
        entries = restore.new_entries(read, seen.look, seen.state, target.state, written)
        restore.write_index(checkout, entries)
        wanted = operation.as_here(checkout, target.state.operation)
        write = Objects(checkout.common_dir / "objects").write
        operation.put(checkout, wanted, seen.look.operation, write)


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
    _put_in_place(desk, target, seen, local)
    refs = Refs(checkout, target.reason)
    refs.leave(str(point["head"]), target.state.head)
    refs.reset_branch(str(point["work"]), str(point["old_tip"]))
    arrived = frozenset(point.get("arrived", ()))
    refs.set_stash(restoring.unmerge_stash(seen.look.stash, target.stash, arrived), seen.look.stash)
    files.sync_filesystem(checkout.top)


def _heads(state: State) -> tuple[str, str, str, bool]:
    return state.work, state.head, state.tip, state.detached


def verify(desk: Desk, target: Target, local: Local) -> Observed:
    """Compare the checkout, file by file and entry by entry, with what was to be restored.

    DamagedError naming what differs. Files that this machine had before, and that were ignored
    then, may show up besides; they were not touched.
    """
    seen = observe(
        desk.checkout, desk.shared, target.state.work, target.objects,
        extra=target.outside, walk=False, programs=False,
    )  # fmt: skip
    read = seen.snapshot.reader(target.objects)
    wrong = _wrong_files(desk, target, seen, local)
    index = differences(read, target.state.index_tree, seen.state.index_tree)
    wrong += [change.path for change in index]
    wrong += [e.path for e in {*seen.state.special} ^ {*target.state.special}]
    if not operation.stands(desk.checkout, target.state.operation, seen.state.operation):
        wrong.append(b"the operation in progress")
    if _heads(seen.state) != _heads(target.state):
        wrong.append(b"HEAD")
    if [e.oid for e in seen.state.stash] != [e.oid for e in target.stash]:
        wrong.append(b"the stash list")
    if wrong:
        raise DamagedError(
            f"the restore does not match the parcel: {_listed(wrong)}",
            hint="handsoff undo goes back; then catch again",
        )
    return seen.with_modes(target.state.modes)


def _wrong_files(desk: Desk, target: Target, seen: Observed, local: Local) -> list[bytes]:
    """Return the files that are not, on disk, what they should be on this machine."""
    state, read = target.state, seen.snapshot.reader(target.objects)
    changes = differences(read, state.work_tree, seen.state.work_tree)
    wrong = [
        change.path
        for change in changes
        if change.old is not None
        and seen.snapshot.on_disk(change.path, change.new)
        != local.here.get(change.path, change.old)
    ]
    for path in {*state.raw} - {*seen.state.raw}:  # git here may take it for what it converts
        leaf = leaf_at(read, state.work_tree, path)
        if seen.snapshot.on_disk(path, leaf) != leaf:
            wrong.append(path)
    found = dict(permissions(desk.checkout, [path for path, _ in state.modes]))
    wrong += [path for path, mode in state.modes if found.get(path, mode) != mode]
    return wrong
