"""``handsoff undo``: back to what was here before the last catch, with nothing lost on the way.

What is here now is captured first, and becomes the new restore point: undo twice is redo. The
record does not move: whoever carries the work still does.
"""

from dataclasses import dataclass
from typing import Any

from handsoff.core.trees import differences
from handsoff.edge.git import restore, shape, snapshot
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.snapshot import Storing
from handsoff.errors import RefusedError
from handsoff.flows import applying
from handsoff.flows.applying import Target
from handsoff.flows.desk import Desk
from handsoff.flows.notes import Notes
from handsoff.flows.observe import observe
from handsoff.flows.phases import Phases


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was gone back to."""

    work: str
    branch: str
    head: str
    writes: int
    removals: int
    dry_run: bool = False


def undo(desk: Desk, phases: Phases, *, dry_run: bool = False) -> Undone:
    """Go back to the restore point of the last catch, or of one that was interrupted."""
    with desk.checkout.lock():
        shape.refuse(shape.operations(desk.checkout))
        notes = Notes(desk.checkout)
        point = notes.journal() or notes.restore_point()
        if point is None:
            raise RefusedError("there is nothing to undo here", hint="undo goes back after a catch")
        return _go_back(desk, notes, point, phases, dry_run=dry_run)


def _go_back(
    desk: Desk, notes: Notes, point: dict[str, Any], phases: Phases, *, dry_run: bool
) -> Undone:
    checkout = desk.checkout
    objects = Objects(desk.shared.objects, checkout.common_dir / "objects")
    work = str(point["work"])
    with phases.phase("capture"):
        here = checkout.branch() or ""
        sink = Storing(objects)
        now = observe(checkout, desk.shared, here, objects, sink=sink)
        envelope = snapshot.seal_envelope(now.state, sink).envelope
    state = restore.read_state(objects, str(point["point"]))
    target = Target(state, objects, state.stash, f"handsoff: undo the catch of {work}")
    changes = list(differences(objects.tree, now.state.work_tree, state.work_tree))
    result = Undone(
        work=work,
        branch=str(point["head"]),
        head=state.head,
        writes=sum(1 for c in changes if c.new),
        removals=sum(1 for c in changes if not c.new),
        dry_run=dry_run,
    )
    if dry_run:
        return result
    forward = {
        "work": work,
        "point": envelope,
        "head": here,
        "old_tip": checkout.commit(f"refs/heads/{work}") or "",
        "at": int(desk.now.timestamp()),
    }
    notes.set_journal({**point, "verb": "undo"})
    with phases.phase("apply"):
        applying.go_back(desk, target, now, changes, point)
    notes.set_restore_point(forward)
    notes.set_journal(None)
    return result
