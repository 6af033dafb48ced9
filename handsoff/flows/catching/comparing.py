"""After a restore: the checkout compared with what it should be, file by file."""

import stat
from collections.abc import Iterator

from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Grafted, differences, leaf_at
from handsoff.core.objects import GITLINK
from handsoff.edge.git import operation, sparse
from handsoff.edge.git.disk import Worktree, leaf_of
from handsoff.edge.git.local import Local
from handsoff.edge.git.writer import same_content
from handsoff.errors import DamagedError
from handsoff.flows.capture.observe import Observed, observe
from handsoff.flows.catching.applying import Target, listed
from handsoff.flows.desk import Desk


def _heads(state: State) -> tuple[str, str, str, bool]:
    return state.work, state.head, state.tip, state.detached


def verify(desk: Desk, target: Target, local: Local) -> Observed:
    """Compare the checkout, file by file and entry by entry, with what was to be restored.

    DamagedError naming what differs. Files that this machine had before, and that were ignored
    then, may show up besides; they were not touched.
    """
    leaves = {change.path: change.new for change in local.between.beside}
    seen = observe(
        desk.checkout, desk.shared, target.state.work, target.objects,
        extra=[path for path, leaf in leaves.items() if leaf is not None],
        known=Grafted(target.state.index_tree, leaves, target.state.work_tree),
        walk=False, programs=False,
    )  # fmt: skip
    read = seen.snapshot.reader(target.objects)
    wrong = [*_wrong_files(desk, target, seen, local), *_edited(desk, seen, local)]
    index = differences(read, target.state.index_tree, seen.state.index_tree)
    wrong += [change.path for change in index]
    wrong += [e.path for e in {*seen.state.special} ^ {*target.state.special}]
    wrong += [e.path for e in {*seen.state.resolved} ^ {*target.state.resolved}]
    if not operation.stands(desk.checkout, target.state.operation, seen.state.operation):
        wrong.append(b"the operation in progress")
    if _heads(seen.state) != _heads(target.state):
        wrong.append(b"HEAD")
    if not sparse.same(seen.state.sparse, target.state.sparse):
        wrong.append(b"the sparse patterns")
    if [e.oid for e in seen.state.stash] != [e.oid for e in target.stash]:
        wrong.append(b"the stash list")
    if wrong:
        raise DamagedError(
            f"the restore does not match the parcel: {listed(wrong)}",
            hint="handsoff undo goes back; then catch again",
        )
    return seen.with_modes(target.state.modes)


def _wrong_files(desk: Desk, target: Target, seen: Observed, local: Local) -> list[bytes]:
    """Return the files that are not, on disk, what they should be on this machine."""
    state, read = target.state, seen.snapshot.reader(target.objects)
    changes = differences(read, state.work_tree, seen.state.work_tree)
    wrong = []
    for change in changes:
        stands = seen.snapshot.on_disk(change.path, change.new)
        wanted = local.here.get(change.path, change.old)
        # where modes mean nothing, what the index says of one is all that there is
        same = desk.checkout.ignores_modes and stands and wanted and same_content(stands, wanted)
        if wanted is not None and stands != wanted and not same:
            wrong.append(change.path)
    for path in {*state.raw} - {*seen.state.raw}:  # git here may take it for what it converts
        leaf = leaf_at(read, state.work_tree, path)
        if seen.snapshot.on_disk(path, leaf) != leaf:
            wrong.append(path)
    worktree = Worktree(desk.checkout.top)
    for path, mode in () if desk.checkout.ignores_modes else state.modes:
        st = worktree.stat(path)  # the usual bits would be wrong as well
        if st is not None and stat.S_ISREG(st.st_mode) and st.st_mode & 0o777 != mode:
            wrong.append(path)
    return wrong


def _edited(desk: Desk, seen: Observed, local: Local) -> Iterator[bytes]:
    """Yield the files that somebody wrote to in the very second in which they were written here.

    Git compares whole seconds: as long as the size is the same, it would never see that.
    """
    worktree, taken, entries = Worktree(desk.checkout.top), seen.snapshot.taken, seen.look.entries
    for path, _, new in local.changes:
        if new is None or new.mode == GITLINK or path in taken:
            continue
        found, st = entries.of(path), worktree.stat(path)
        if found and st and divmod(st.st_ctime_ns, 10**9) != found[0].stat.ctime:
            content = worktree.read(path)
            if content is None or leaf_of(content).oid != new.oid:
                yield path
