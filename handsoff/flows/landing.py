"""What waited for the remote, once it answers: sent as it is, signed anew, or refused.

An entry lands on the leg and revision that it was made against. What does not fit becomes refusals
that say who has the work; the chain and its snapshots are kept (``pending``).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from handsoff.core.entry import Entry, time_of
from handsoff.core.lease import Pushed
from handsoff.core.pen import Pen
from handsoff.core.waiting import Fate, fate, write_again
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Move, Outcome
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, HeldError, LostRaceError, RefusedError
from handsoff.flows import noting, relay
from handsoff.flows.desk import Desk, View
from handsoff.flows.pending import Pending, Waiting, overlaid

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
        own = {e.oid for e in local.entries if e.entry and e.entry.event.by == desk.machine.id}
        remote = [oid for oid, _ in desk.shared.chain(view.remote_tip) or []]
        judged = fate(
            [e.oid for e in local.entries], remote,
            good=view.record.tip, own=own, asked=asked,
            age=max(timedelta(0), desk.now - time_of(waiting.since)),
        )  # fmt: skip
        if judged is Fate.LANDED:
            pending.landed(work)
            return view
        if judged is Fate.WAIT:
            said = f"entries of {work} wait here; see: handsoff pending"
            return replace(overlaid(desk, view), news=(said,))
        ahead = [e.entry for e in local.entries if e.oid not in remote and e.entry is not None]
        if judged is Fate.AGAIN:
            mine = [entry for entry in ahead if entry.event.by == desk.machine.id]
            try:
                waiting = _anew(desk, view, waiting, mine)
            except (HeldError, RefusedError) as error:
                return _give_up(desk, view, waiting, mine, error)
            continue  # the new chain is judged like any other: it follows from the remote's
        before = view
        if _send(desk, view, waiting, ahead):
            pending.landed(work)
            record = view.record.extend(desk.shared.chain(waiting.tip, view.remote_tip) or [])
            desk.remember(record)
            sent = ", ".join(verb.name for verb in waiting.verbs)
            news = (f"sent to {desk.shared.name} what waited of {work}: {sent}",)
            return replace(view, record=record, remote_tip=waiting.tip, news=news)
        view = desk.view(work)
        if view.remote_tip == before.remote_tip and branches(ahead):
            mine = [entry for entry in ahead if entry.event.by == desk.machine.id]
            moved = ", ".join(move.ref.removeprefix("refs/heads/") for move in branches(ahead))
            reason: HandsoffError = RefusedError(
                f"{moved} has moved on the remote, or may not be moved there"
            )
            return _give_up(desk, view, waiting, mine, reason)
    raise LostRaceError(f"{_TRIES} times another machine wrote on {work} first", hint="try again")


def _send(desk: Desk, view: View, waiting: Waiting, ahead: Sequence[Entry]) -> bool:
    for parcel, path in waiting.parcels:
        if path.exists():
            relay.push_parcel(desk, waiting.work, parcel, path)
    step("pending.push.before")
    shared = desk.shared
    moves = [Move(shared.record_ref(waiting.work), waiting.tip, view.remote_tip)]
    if moved := branches(ahead):
        # a remote that hides our refs from pushers must not move the branch alone: see push
        roster = view.roster_read.git_tip or ""
        moves = [Move(shared.roster_ref, roster, roster), *moves, *moved]
    outcome = shared.push(*moves)
    step("pending.push.after")
    return outcome is Outcome.MOVED


def _anew(desk: Desk, view: View, waiting: Waiting, mine: Sequence[Entry]) -> Waiting:
    """Return what waits, signed anew on the record of the remote; raise if it does not fit."""
    pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
    for entry in mine:
        pen = write_again(pen, entry.event)
    objects = Objects(desk.shared.objects, desk.checkout.common_dir / "objects")
    objects.write_drafts(pen.drafts)
    new = dict(zip([e.oid for e in mine], [d.oid for d in pen.drafts], strict=True))
    verbs = tuple(
        replace(
            verb, at=int(desk.now.timestamp()), entries=tuple(new.get(o, o) for o in verb.entries)
        )
        for verb in waiting.verbs
    )
    anew = Waiting(waiting.work, pen.record.git_tip or "", verbs)
    # noted before it is pushed: a run that is killed in between finds that it has landed
    Pending(desk.checkout).put(anew)
    return anew


def _give_up(
    desk: Desk, view: View, waiting: Waiting, mine: Sequence[Entry], error: HandsoffError
) -> View:
    lease = view.record.lease.as_of(desk.now)
    who = view.roster.name_of(lease.carrier) if lease.carrier else "nobody"
    standing = f"{who} has it (leg {lease.leg}, r{lease.revision})"
    reason = f"made without the remote, and too late: {standing}; {error}"
    noting.refuse(desk, view, noting.tried([entry.event for entry in mine]), reason)
    Pending(desk.checkout).lost(waiting, reason)
    verbs = ", ".join(verb.name for verb in waiting.verbs)
    said = f"what waited of {waiting.work} was refused ({verbs}): {standing}; nothing of it is lost"
    return replace(view, news=(said,))


def branches(entries: Sequence[Entry]) -> list[Move]:
    """Return the moves of branches that entries speak of, each branch in one move."""
    moves: dict[str, Move] = {}
    for event in (entry.event for entry in entries):
        if isinstance(event, Pushed):
            ref = f"refs/heads/{event.branch}"
            old = moves[ref].old if ref in moves else event.old
            moves[ref] = Move(ref, event.new, "" if set(old) == {"0"} else old)
    return list(moves.values())
