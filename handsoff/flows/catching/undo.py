"""``handsoff undo``: back to what was here before the last catch, with nothing lost on the way.

What is here now is captured first, and becomes the new restore point: undo twice is redo. The
record does not move: whoever carries the work still does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from handsoff.core.checkout import restoring
from handsoff.core.checkout.restoring import Standing
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Change, differences, leaf_at
from handsoff.core.loose import quoted
from handsoff.edge import files
from handsoff.edge.git import keeping, restore, shape, snapshot
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.local import Local, between
from handsoff.edge.git.objects import Objects, store_of
from handsoff.edge.git.repo import Checkout, encode
from handsoff.edge.git.sinks import Storing
from handsoff.errors import DamagedError, RefusedError, UnfitError
from handsoff.flows.capture.observe import Observed, observe
from handsoff.flows.catching import applying, preflight
from handsoff.flows.catching.applying import Target
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory
from handsoff.flows.phases import Phases


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was gone back to."""

    work: str
    branch: str
    head: str
    writes: int
    removals: int
    transcripts: tuple[str, ...] = ()
    """Sessions of agents that came with the work, and stay where they were installed."""
    dry_run: bool = False


def undo(desk: Desk, phases: Phases, *, dry_run: bool = False) -> Undone:
    """Go back to the restore point of the last catch, or of one that was interrupted."""
    with desk.checkout.lock():
        memory = Memory(desk.checkout)
        half = memory.journal()
        point = half or memory.restore_point()
        if point is None:
            raise RefusedError("there is nothing to undo here", hint="undo goes back after a catch")
        # on what a catch has left half done no program of the user's runs
        return _go_back(desk, memory, point, phases, dry_run=dry_run, programs=not half)


def _go_back(
    desk: Desk,
    memory: Memory,
    point: dict[str, Any],
    phases: Phases,
    *,
    dry_run: bool,
    programs: bool,
) -> Undone:
    checkout = desk.checkout
    objects = store_of(desk.shared)
    work = str(point["work"])
    with phases.phase("capture"):
        here = checkout.branch() or work
        sink = Storing(objects)
        extra = _half_done(checkout, objects, point)
        now = observe(
            checkout, desk.shared, here, objects,
            sink=sink, extra=extra, programs=programs,
        )  # fmt: skip
        envelope = snapshot.seal_envelope(now.state, sink).envelope
    state = restore.read_state(objects, str(point["point"]))
    _check_branch(checkout, point, state)
    target = Target(state, objects, state.stash, f"handsoff: undo the catch of {work}")
    apart = between(checkout, now.snapshot, state, objects)
    changes = _without_own(apart.files, now, objects, point)
    local = applying.localize(desk, target, now, apart, changes)
    _refuse_in_the_way(checkout, state, local)
    result = Undone(
        work=work,
        branch=str(point["head"]),
        head=state.head,
        writes=sum(1 for c in changes if c.new),
        removals=sum(1 for c in changes if not c.new),
        transcripts=tuple(map(str, point.get("transcripts", ()))),
        dry_run=dry_run,
    )
    if dry_run:
        return result
    # a killed undo has captured already; what is here now is half of the way back
    forward = point.get("forward") or _forward(desk, point, state, now, envelope)
    files.sync_filesystem(checkout.store_dir)
    gone = _gone(desk, memory, point, now)
    memory.set_journal({**point, "verb": "undo", "forward": forward, "gone": gone})
    with phases.phase("apply"):
        restore.install_pack(checkout, desk.shared.objects)  # what a collection took meanwhile
        applying.go_back(desk, target, now, local, point)
    keeping.keep(desk.shared, forward["point"])  # what no ref names any more
    _remember(memory, {**point, "gone": gone}, forward, work)
    return result


def _gone(desk: Desk, memory: Memory, point: dict[str, Any], now: Observed) -> str:
    """Return the work that goes with what is here ``now``; one that is half here went before."""
    if "verb" in point:  # the journal of an undo that was killed, or of a catch
        return str(point.get("gone", "")) if point["verb"] == "undo" else ""
    return memory.going(desk.checkout.branch(), bare=now.is_bare)


def _remember(memory: Memory, point: dict[str, Any], forward: dict[str, Any], work: str) -> None:
    """Note what stands here now, and the way forward; the journal, which says so, goes last."""
    then, head = point.get("here") or {}, str(point["head"])
    then = {work: then} if isinstance(then, str) else then  # as it was kept once
    gone = str(point["gone"])
    here = restoring.works_after_undo(memory.all_here(), then, work=work, head=head, gone=gone)
    memory.set_all_here(here)
    memory.set_sending(None)  # what a killed run was sending stands here no more
    memory.set_restore_point(forward)
    memory.set_journal(None)


def _forward(
    desk: Desk, point: dict[str, Any], state: State, now: Observed, envelope: str
) -> dict[str, Any]:
    """Return the restore point that leads back to what was here ``now``, which ``envelope`` binds.

    ``state`` is what the undo to ``point`` goes to.
    """
    work = str(point["work"])
    present = {entry.oid for entry in now.look.stash}
    return {
        "work": work,
        "point": envelope,
        "head": desk.checkout.branch() or "",
        "old_tip": desk.checkout.commit(f"refs/heads/{work}") or "",
        "arrived": [e.oid for e in state.stash if e.oid not in present],
        "here": Memory(desk.checkout).all_here(),
        "settings": restore.branch_settings(desk.checkout, work),
        "envelope": point.get("envelope", ""),
        "stood": point.get("stood", []),
        "at": int(desk.now.timestamp()),
    }


def _refuse_in_the_way(checkout: Checkout, state: State, local: Local) -> None:
    """Raise UnfitError for what came here since, and that going back to ``state`` would lose."""
    preflight.refuse_populated(checkout.top, local.changes)
    current = {change.path for change in local.changes if change.old is not None}
    plan = restoring.plan(local.changes, state.empty_folders)
    preflight.refuse_obstacles(checkout.top, plan, current, None)


def _half_done(checkout: Checkout, objects: Objects, point: dict[str, Any]) -> set[bytes]:
    """Return what an interrupted run wrote, or had still to remove, and git does not list.

    The list of what is carried, or a .gitignore, may be there no more, or not yet.
    """
    envelope = point["forward"]["point"] if "forward" in point else point.get("envelope", "")
    if not envelope or not objects.has(envelope):
        return set()
    state = restore.read_state(objects, envelope)
    worktree = Worktree(checkout.top)
    return {
        change.path
        for change in differences(objects.tree, state.index_tree, state.work_tree)
        if change.new is not None
        and restore.standing(worktree, change.path, change.new) is Standing.SAME
    }


def _without_own(
    changes: Iterable[Change], now: Observed, objects: Objects, point: Mapping[str, Any]
) -> list[Change]:
    """Return ``changes`` less the removals of files that were ignored before, and here already.

    The restore point does not have them: only the caught carry list brings them in, or what was
    caught has them as they ``stood`` here.
    """
    stood = {encode(name) for name in point.get("stood", ())}
    caught = str(point.get("envelope", ""))
    try:
        tree = restore.read_state(objects, caught).work_tree if caught else ""
    except DamagedError:
        tree = ""  # collected since
    listed = now.look.carried if tree else ()
    own = stood.union(p for p in listed if leaf_at(objects.tree, tree, p) is None)
    return [change for change in changes if change.new is not None or change.path not in own]


def _check_branch(checkout: Checkout, point: dict[str, Any], state: State) -> None:
    """Raise UnfitError if the branch that HEAD goes back to has moved since."""
    branch, work = str(point["head"]), str(point["work"])
    shape.refuse(shape.taken_elsewhere(checkout, work))
    for name in {work, branch} - {""}:
        shape.refuse(shape.locked(checkout, name))
        shape.refuse(shape.misshapen(checkout, name))
    if not branch or branch == work:
        return
    tip = checkout.commit(f"refs/heads/{branch}") or ""
    if tip != state.head:
        raise UnfitError(
            f"the branch {branch} has moved since, and its old state would undo those commits",
            hint=f"to stand on {branch} as it is now: git stash; git switch {quoted(branch)}",
        )
