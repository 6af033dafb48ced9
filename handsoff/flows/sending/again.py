"""Sending what was sent before: the same state is no news, another one waits for its turn.

And sending from the wrong place: after an undo, or in another clone of this machine, an older
state stands under the name of the work, and must not go out as its next revision.
"""

from pathlib import Path

from handsoff.core.reach.routes import Route
from handsoff.core.works.lease import Lease, State
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.objects import Objects
from handsoff.errors import RefusedError
from handsoff.flows.capture.observe import Observed, envelope_of, observe
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Known, Memory
from handsoff.flows.remote import relay
from handsoff.flows.sending.plan import Aim, Sent
from handsoff.flows.sending.transcripts import Chosen
from handsoff.flows.works.shelf import put_away


def already(
    desk: Desk, view: View, aim: Aim, to_file: Path | None, chosen: Chosen | None = None
) -> Sent | None:
    """Return the outcome if this machine has offered the work as ``aim`` says on the record.

    RefusedError if it is offered to another, or what stands here is no longer what was sent, or
    the transcripts that were ``chosen`` did not go along as they are now.
    """
    lease, saved, work = view.record.lease.as_of(desk.now), view.record.kept, view.record.work
    if lease.state is not State.OFFERED or lease.carrier != desk.machine.id or saved is None:
        return None
    if lease.to != aim.to:
        theirs = lease.to.shown() if lease.to else "anyone"
        raise RefusedError(
            f"{work} is offered to {view.roster.named_text(theirs)} already",
            hint="handsoff withdraw takes the offer back; else it ends at its deadline",
        )
    memory = Memory(desk.checkout)
    known, sending = memory.known(work), memory.sending()
    seen = _observed(desk, work, known)
    if sending is not None and sending.parcel == saved.parcel:
        # a run that was killed after the record had moved: what is left is to remember it
        if envelope_of(seen, sending.transcript) == saved.envelope:
            seen.remember(memory, saved.page, envelope=saved.envelope)
        memory.set_here(saved.parcel, work)
    elif not _is_as_sent(desk, seen, known):
        raise RefusedError(
            f"{work} was handed to {aim.name}; what changed here since is not in it",
            hint=f"handsoff withdraw, and send again; or {aim.name} catches, and hands it back",
        )
    if chosen is not None and memory.along() != {"parcel": saved.parcel, "mark": chosen.mark()}:
        raise RefusedError(
            f"{work} was handed to {aim.name} already, and not with these transcripts as they are",
            hint="handsoff withdraw, and send again; or leave --transcript out",
        )
    if to_file is not None:
        _write_again(desk, saved.parcel, to_file)
    return _before(view, lease, aim.name, "handed over before")


def settled(desk: Desk, view: View, aim: Aim, page: str) -> Sent | None:
    """Take up a run that was killed after the record had moved; what is left is to remember it.

    Return the outcome if it was the very save that ``aim`` says, and nothing has changed since.
    """
    kept, work = view.record.kept, view.record.work
    memory, lease = Memory(desk.checkout), view.record.lease.as_of(desk.now)
    sending = memory.sending()
    if sending is None or kept is None or (sending.work, sending.parcel) != (work, kept.parcel):
        return None
    seen = _observed(desk, work, memory.known(work))
    same = envelope_of(seen, sending.transcript) == kept.envelope
    if same:
        seen.remember(memory, kept.page, envelope=kept.envelope)
    memory.set_here(kept.parcel, work)
    if sending.route == "remote":
        memory.set_left(kept.parcel, sending.receivers)
    put_away(desk, sending)
    ended = same and kept == view.record.saved and kept.page == page
    if aim.to is not None or lease.state is not State.HELD or not ended:
        return None
    return _before(view, lease, sending.to, "saved before")


def _before(view: View, lease: Lease, to: str, why: str) -> Sent:
    """Return the outcome of what an earlier run did, by the last parcel that the record names."""
    kept = view.record.kept
    return Sent(
        work=view.record.work,
        to=to,
        route=Route("", why),
        parcel=kept.parcel if kept is not None else "",
        leg=lease.leg,
        revision=lease.revision,
        already=True,
        pending=view.provisional,
    )


def check_is_here(desk: Desk, view: View) -> None:
    """Raise RefusedError if this machine carries the work, but not in this checkout."""
    lease, saved, work = view.record.lease, view.record.kept, view.record.work
    mine = lease.carrier == desk.machine.id
    memory = Memory(desk.checkout)
    sending = memory.sending()  # of a run that was killed after the record had moved
    here = (memory.here(work), sending.parcel if sending is not None else "")
    if mine and saved is not None and saved.parcel not in here:
        raise RefusedError(
            f"what stands here is not the {work} that this machine carries",
            hint="after an undo, handsoff undo brings it back; else send from where it is",
        )


def _observed(desk: Desk, work: str, known: Known | None) -> Observed:
    worktree = Worktree(desk.checkout.top)
    extra = {path for path in known.leaves if worktree.stat(path)} if known else set()
    objects = Objects(desk.checkout.objects_dir)
    return observe(desk.checkout, desk.shared, work, objects, extra=extra)


def _is_as_sent(desk: Desk, seen: Observed, known: Known | None) -> bool:
    objects = Objects(desk.checkout.objects_dir)
    if known is None or not seen.is_known(known, objects):
        return False
    return {*known.stash, *known.private} == {entry.oid for entry in seen.state.stash}


def _write_again(desk: Desk, parcel: str, target: Path) -> None:
    kept = desk.checkout.store_dir / "parcels" / f"{parcel}.handsoff"
    if not kept.exists():
        raise RefusedError(
            "this work was handed over already, and its sealed parcel is not here any more",
            hint="the receiver has it: see there, handsoff inbox",
        )
    relay.copy_parcel(kept, target)
