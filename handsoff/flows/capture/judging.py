"""What a receiver asks of a state before it believes it; the sender asks the same in advance."""

from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from handsoff.core.checkout import paths
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import leaf_at
from handsoff.core.objects import EXECUTABLE, FILE, GITLINK
from handsoff.core.parcels import bounds
from handsoff.core.parcels.incoming import check_state
from handsoff.edge.git import baggage, lfs, quarantine, restore
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError, RefusedError


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


def rehearse(
    checkout: Checkout,
    pack: IO[bytes],
    envelope: str,
    files: Iterable[bytes],
    bases: Sequence[str],
) -> None:
    """Refuse here what a receiver would refuse later, where no receiver can say so in time.

    Over a connection the receiver judges before the record moves; a file or the remote does not.
    ``files`` are the paths of the state that ``envelope`` binds.
    """
    for path in sorted(files):
        problem = paths.path_problem(path)
        if problem:
            raise RefusedError(
                f"the receiver would refuse this work: {paths.shown(path)} {problem}",
                hint="rename it, or move it out of the checkout",
            )
    alternate = checkout.objects_dir
    pack.seek(0)
    with checkout.scratch() as folder:
        try:
            whole = checkout.promisor is None
            arrived = Objects(quarantine.check_in(folder, pack, alternate, whole=whole), alternate)
            if whole:
                quarantine.check_links(folder, arrived, envelope, bases)
            else:
                quarantine.check_promised(folder, envelope, bases)
            judge(arrived, envelope, {})
        except (DamagedError, RefusedError) as error:
            raise RefusedError(
                f"the receiver would refuse this work: {error}",
                hint="rename or remove what is named, also in unpushed commits",
            ) from error
