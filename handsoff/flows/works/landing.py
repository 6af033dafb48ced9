"""What waited for the remote, once it answers: sent as it is, signed anew, or refused.

An entry lands on the leg and revision that it was made against. What does not fit becomes refusals
that say who has the work; the chain and its snapshots are kept (``pending``).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from handsoff.core.remote.pushing import meant_by
from handsoff.core.remote.refs import HEADS
from handsoff.core.works.entry import time_of
from handsoff.core.works.landing import Course, Fate, course, write_again
from handsoff.core.works.lease import Caught, Event, Pushed
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, HeldError, LostRaceError, RefusedError
from handsoff.flows.desk import Desk, View
from handsoff.flows.remote import relay
from handsoff.flows.waiting import Pending, Waiting, overlaid
from handsoff.flows.works import notebook

_TRIES: Final = 4


def flush(desk: Desk, view: View, *, asked: bool = False) -> View:
    """Send what waits of one work to the remote, of which ``view`` tells; return what is so then.

    ``asked`` sends what has waited for longer than a day as well, signed anew.
    """
    pending, work = Pending(desk.checkout), view.record.work
    for _ in range(_TRIES):
        waiting = pending.of(work)
        if waiting is None:
            return view
        local = desk.history_to(view.roster, work, waiting.tip)
        remote = desk.history(view.record)
        judged = course(
            local.entries, remote.entries, by=desk.machine.id, asked=asked,
            age=max(timedelta(0), desk.now - time_of(waiting.since)),
        )  # fmt: skip
        if judged.fate is Fate.LANDED:
            pending.landed(work)
            return view
        if judged.fate is Fate.WAIT:
            said = f"entries of {work} wait here; see: handsoff pending"
            return replace(overlaid(desk, view), news=(said,))
        tip, events = waiting.tip, tuple(_ahead(local, remote))
        stake = judged.stake or [event for event in events if event.by == desk.machine.id]
        if judged.fate in (Fate.AGAIN, Fate.LOST):
            try:
                pen = _anew(desk, view, judged)
            except (HeldError, RefusedError) as error:
                return _give_up(desk, view, waiting, stake, error)
            if judged.whole:
                _keep(desk, waiting, pen)
                continue  # the new chain is judged like any other: it follows from the remote's
            tip, events = pen.record.git_tip or "", judged.again
        before, moved = view, _push(desk, view, waiting, tip, events)
        if moved and judged.fate is Fate.SEND:
            return _landed(desk, view, waiting)
        view = desk.view(work)
        if view.remote_tip == before.remote_tip and branches(events):
            names = ", ".join(move.ref.removeprefix(HEADS) for move in branches(events))
            said = f"{names} has moved on the remote, or may not be moved there"
            whole = tip == waiting.tip and all(event.by == desk.machine.id for event in events)
            return _without_push(desk, view, waiting, events if whole else stake, said, whole=whole)
    raise LostRaceError(f"{_TRIES} times another machine wrote on {work} first", hint="try again")


def _without_push(
    desk: Desk, view: View, waiting: Waiting, events: Sequence[Event], said: str, *, whole: bool
) -> View:
    """Refuse the pushes that wait, of branches that may not move; the rest lands, if it fits."""
    error = RefusedError(said)
    pushes = [event for event in events if isinstance(event, Pushed)]
    rest = tuple(event for event in events if not isinstance(event, Pushed))
    if not whole or all(isinstance(event, Caught) for event in rest):
        return _give_up(desk, view, waiting, events, error)
    try:
        pen = _anew(desk, view, Course(Fate.AGAIN, rest, rest))
    except (HeldError, RefusedError):
        return _give_up(desk, view, waiting, events, error)
    notebook.refuse(
        desk, view, notebook.tried(pushes), f"made without the remote, and too late: {said}"
    )
    verbs = tuple(verb for verb in waiting.verbs if verb.name != "push")
    _keep(desk, replace(waiting, verbs=verbs), pen)
    done = flush(desk, view)
    return replace(done, news=(f"the push that waited was refused: {said}", *done.news))


def _ahead(local: Record, remote: Record) -> list[Event]:
    there = {entry.oid for entry in remote.entries}
    return [e.entry.event for e in local.entries if e.good and e.entry and e.oid not in there]


def _landed(desk: Desk, view: View, waiting: Waiting) -> View:
    """Forget what waited, and return what is so now that the remote has it."""
    Pending(desk.checkout).landed(waiting.work)
    record = view.record.extend(desk.shared.chains.line(waiting.tip, view.remote_tip) or [])
    desk.remember(record)
    sent = ", ".join(verb.name for verb in waiting.verbs)
    news = (f"sent to {desk.shared.name} what waited of {waiting.work}: {sent}",)
    return replace(view, record=record, remote_tip=waiting.tip, news=news)


def _push(desk: Desk, view: View, waiting: Waiting, tip: str, events: Sequence[Event]) -> bool:
    for parcel, path in waiting.parcels:
        if path.exists():
            relay.push_parcel(desk, waiting.work, parcel, path)
    step("pending.push.before")
    shared = desk.shared
    moves = [Move(shared.record_ref(waiting.work), tip, view.remote_tip)]
    if moved := branches(events):
        # a remote that hides our refs from pushers must not move the branch alone: see push
        roster = view.roster_read.git_tip or ""
        moves = [Move(shared.roster_ref, roster, roster), *moves, *moved]
    outcome = shared.push(*moves)
    step("pending.push.after")
    return outcome is Outcome.MOVED


def _anew(desk: Desk, view: View, todo: Course) -> Pen:
    """Return what is to be signed anew, on the record of the remote; raise if it does not fit."""
    if todo.fate is Fate.LOST:
        raise RefusedError(f"it counts no more: {view.roster.named_text(todo.why)}")
    pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
    pen = write_again(pen, todo.again, fresh=todo.fresh)
    objects = store_of(desk.shared)
    objects.write_drafts(pen.drafts)
    return pen


def _keep(desk: Desk, waiting: Waiting, pen: Pen) -> None:
    """Let the entries of ``pen``, signed anew, wait in place of those that waited.

    Before they are pushed: a run that is killed in between finds that they have landed.
    """
    at = int(desk.now.timestamp())
    verbs = tuple(replace(verb, at=at) for verb in waiting.verbs)
    Pending(desk.checkout).put(Waiting(waiting.work, pen.record.git_tip or "", verbs))


def _give_up(
    desk: Desk, view: View, waiting: Waiting, stake: Sequence[Event], error: HandsoffError
) -> View:
    lease = view.record.lease.as_of(desk.now)
    who = view.roster.name_of(lease.carrier) if lease.carrier else "nobody"
    standing = f"{who} has it (leg {lease.leg}, r{lease.revision})"
    reason = f"made without the remote, and too late: {standing}; {error}"
    notebook.refuse(desk, view, notebook.tried(stake), reason)
    Pending(desk.checkout).lost(waiting, reason)
    verbs = ", ".join(verb.name for verb in waiting.verbs)
    said = f"what waited of {waiting.work} was refused ({verbs}): {standing}; nothing of it is lost"
    return replace(view, news=(said,))


def branches(events: Sequence[Event]) -> list[Move]:
    """Return the moves of branches that entries speak of, each branch in one move."""
    moves: dict[str, Move] = {}
    for event in events:
        if isinstance(event, Pushed):
            ref = f"refs/heads/{event.branch}"
            old = moves[ref].old if ref in moves else meant_by(event).old
            moves[ref] = Move(ref, event.new, old)
    return list(moves.values())
