"""What a receiver asks of a state before it believes it; the sender asks the same in advance."""

from collections.abc import Mapping

from handsoff.core import bounds, paths
from handsoff.core.incoming import check_state
from handsoff.core.objects import EXECUTABLE, FILE, GITLINK
from handsoff.core.state import State
from handsoff.core.trees import leaf_at
from handsoff.edge.git import baggage, lfs, quarantine, restore
from handsoff.edge.git.objects import Objects
from handsoff.errors import DamagedError


def judge(objects: Objects, envelope: str, counts: Mapping[str, int]) -> State:
    """Return the state that ``envelope`` binds, if all of it may be written by a receiver.

    ``counts`` are those of the manifest: what it says of files is the most that there may be.

    DamagedError for what cannot be, RefusedError for what may not be.
    """
    state = restore.read_state(objects, envelope)
    if not state.head:
        raise DamagedError("the snapshot has no commit to stand on")
    head_tree = objects.commit(state.head).tree
    merged = [state.operation.merged] if state.operation.merged else []
    trees = [state.work_tree, state.index_tree, head_tree, *merged]
    there = quarantine.check_trees(objects, trees)[0]
    said = counts.get(bounds.FILES, there)
    if there > said:
        raise DamagedError(f"the parcel has {there} files, and its manifest says {said}")
    check_state(state)
    for path in (*state.raw, *(path for path, _ in state.modes)):
        leaf = leaf_at(objects.tree, state.work_tree, path)
        if leaf is None or leaf.mode not in (FILE, EXECUTABLE):
            raise DamagedError(f"the snapshot has no file {paths.shown(path)}, and tells of one")
    for path in state.empty_folders:
        leaf = leaf_at(objects.tree, state.work_tree, path)
        if leaf is not None and leaf.mode != GITLINK:  # a submodule may well have an empty one
            raise DamagedError(f"the parcel has a file as a folder: {paths.shown(path)}")
    for digest, oid in state.lfs:
        lfs.check(objects, digest, oid)
    transcripts = baggage.read(objects, envelope)
    if transcripts is not None:
        transcripts.check()
    return state
