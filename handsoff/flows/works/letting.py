"""The verbs of one entry and no bytes: withdraw, drop, close; a save, a catch of the page alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from handsoff.core.times import moment
from handsoff.core.works.holding import taken_up
from handsoff.core.works.lease import Lease, State
from handsoff.core.works.pen import Pen
from handsoff.edge.git.objects import store_of
from handsoff.errors import RefusedError
from handsoff.flows.capture.pages import read_page
from handsoff.flows.desk import Desk, View
from handsoff.flows.holds import hold_of
from handsoff.flows.memory import Memory
from handsoff.flows.naming import need_work
from handsoff.flows.works import ledger
from handsoff.flows.works.becoming import check_first, page_of_revision, pen_of
from handsoff.flows.works.shelf import refuse_given


@dataclass(frozen=True, slots=True, kw_only=True)
class Let:
    """An entry that was written, and how the work stands after it."""

    verb: str
    work: str
    state: str
    leg: int
    revision: int
    until: str = ""
    pending: bool = False
    """Whether it waits for the remote."""
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    reason: str = ""
    """Why it was dropped, or how it ended."""
    page: str = ""
    """Of a catch: the page of the last revision, safe to print."""
    check_first: tuple[str, ...] = ()
    """Of a catch: what to check before anything is done again."""


def _write(
    desk: Desk,
    verb: str,
    kind: str,
    make: Callable[[View, Pen], Pen],
    *,
    work: str | None,
    dry_run: bool,
    may_begin: bool = False,
) -> Let:
    """Write what ``make`` makes of the record of ``work``, by default that of this checkout.

    A record that nobody began is begun only by who ``may_begin`` one, or for a branch.
    """
    named = work or desk.work()
    with desk.checkout.lock():
        view = ledger.look(desk, named)
        desk.need_admitted(view.roster)
        if work and not may_begin:
            need_work(desk.checkout, work, known=bool(view.tip or view.away))
        refuse_given(desk, view)
        pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
        with ledger.on_the_record(desk, view, kind, dry_run=dry_run):
            pen = make(view, pen)
        landed = dry_run or ledger.put(desk, view, pen, verb).landed
    lease = pen.record.lease
    return Let(
        verb=verb,
        work=named,
        state=lease.state.value,
        leg=lease.leg,
        revision=lease.revision,
        until=moment(lease.until) if lease.until else "",
        pending=not landed,
        dry_run=dry_run,
        warnings=(*view.news, *_taken_up(desk, view, pen, verb), *_left_without(desk, view, lease)),
        reason=lease.reason,
    )


def _taken_up(desk: Desk, view: View, pen: Pen, verb: str) -> list[str]:
    """Return a warning if a work that was let go was caught on the way to something else."""
    said = taken_up(view.record.lease.as_of(desk.now)) if len(pen.drafts) > 1 else ""
    return [view.roster.named_text(said)] if said and verb != "catch" else []


def _left_without(desk: Desk, view: View, lease: Lease) -> list[str]:
    """Return a warning if whoever catches what was let go finds no bytes on the remote."""
    kept = view.record.kept
    if lease.state is not State.DROPPED or view.away:
        return []
    if kept is None:
        return ["no revision left a parcel: the next carrier finds pages, and no bytes"]
    ref = desk.shared.parcel_ref(view.record.work, kept.parcel)
    if ref in desk.shared.tips(ref):
        return []
    return [
        f"the bytes of r{kept.revision + 1} are not on the remote, and nobody can catch the work: "
        "handsoff save, here, takes it up again and leaves them there"
    ]


def withdraw(
    desk: Desk, work: str | None, *, hold: timedelta | None = None, dry_run: bool = False
) -> Let:
    """Take an offer back that nobody has caught."""

    def make(_: View, pen: Pen) -> Pen:
        return pen.withdrawn(hold=hold_of(desk.checkout, hold))

    return _write(desk, "withdraw", "Withdrawn", make, work=work, dry_run=dry_run)


def drop(
    desk: Desk, work: str | None, reason: str, *, blocked: bool = False, dry_run: bool = False
) -> Let:
    """Stop carrying a work without naming anyone to go on."""
    if not reason.strip():
        raise RefusedError("why is it dropped?", hint="handsoff drop --reason TEXT")

    def make(_: View, pen: Pen) -> Pen:
        return pen.dropped(reason, blocked=blocked)

    return _write(desk, "drop", "Dropped", make, work=work, dry_run=dry_run)


def close(desk: Desk, work: str | None, outcome: str, *, dry_run: bool = False) -> Let:
    """End a work: merged or abandoned."""

    def make(view: View, pen: Pen) -> Pen:
        lease = view.record.lease
        if lease.state is State.CLOSED:
            raise RefusedError(
                f"{view.record.work} is closed already, as {lease.reason}",
                hint="handsoff history tells by whom and when",
            )
        return pen.holding().closed(outcome)

    return _write(desk, "close", "Closed", make, work=work, dry_run=dry_run)


def catch_page(
    desk: Desk, work: str, *, hold: timedelta | None = None, dry_run: bool = False
) -> Let:
    """Become the carrier of a work without its bytes: what stands in this checkout goes on.

    For works of which no parcel can be had, or whose carrier begins anew from the branch.
    """
    seen: list[View] = []

    def make(view: View, pen: Pen) -> Pen:
        if pen.record.lease.as_of(desk.now).carrier == desk.machine.id:
            return pen.holding(hold=hold_of(desk.checkout, hold))
        seen.append(view)
        return pen_of(desk, view, hold)

    let = _write(desk, "catch", "Caught", make, work=work, dry_run=dry_run, may_begin=True)
    if not seen:
        return let
    (view,) = seen
    if not dry_run:
        kept = view.record.kept
        Memory(desk.checkout).set_here(kept.parcel if kept is not None else "", work)
    return replace(
        let,
        page=page_of_revision(desk, view.record.saved),
        check_first=tuple(check_first(desk, view, view.record.lease.as_of(desk.now))),
    )


def save_page(
    desk: Desk, named: str | None, *, hold: timedelta | None = None, dry_run: bool = False
) -> Let:
    """Save the page as the next revision, without bytes."""
    work = desk.work(named)
    page = read_page(desk.checkout, work)
    objects = store_of(desk.shared)

    def make(_: View, pen: Pen) -> Pen:
        length = hold_of(desk.checkout, hold)
        return pen.holding(hold=length).saved(page=objects.write("blob", page.body), hold=length)

    return _write(desk, "save", "Saved", make, work=work, dry_run=dry_run, may_begin=True)
