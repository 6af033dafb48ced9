"""To become the carrier of a work: the entry that says so, and what to check first."""

from datetime import timedelta

from handsoff.core.loose import quoted
from handsoff.core.pages.page import LIMIT as PAGE_LIMIT
from handsoff.core.pages.page import parse
from handsoff.core.times import moment
from handsoff.core.works.dropped import check_before
from handsoff.core.works.lease import Lease, Saved, State
from handsoff.core.works.pen import Pen
from handsoff.edge.git.objects import store_of
from handsoff.errors import DamagedError, HeldError, RefusedError
from handsoff.flows.desk import Desk, View
from handsoff.flows.holds import hold_of


def pen_of(desk: Desk, view: View, hold: timedelta | None = None) -> Pen:
    """Return the pen that has written Caught; RefusedError or HeldError if that is not for us."""
    before, lease, me = view.record.lease, view.record.lease.as_of(desk.now), desk.machine
    if lease.state is State.FREE:
        raise RefusedError(
            f"nobody has handed over a work called {view.record.work}",
            hint="handsoff inbox lists what arrived; handsoff status what is known",
        )
    ran_out = before.until is not None and lease.state is State.DROPPED
    if ran_out and before.carrier != me.id and not view.record.has_lapsed(desk.now):
        raise HeldError(
            f"the time of {view.roster.name_of(before.carrier)} has run out by this clock only",
            hint="entries of the record are later than this clock says it is: set the clock",
        )
    try:
        return Pen(record=view.record, by=me.id, sign=me.sign, now=desk.now).caught(
            hold=hold_of(desk.checkout, hold)
        )
    except (RefusedError, HeldError) as error:
        raise HeldError(str(error), hint=_who_has_it(desk, view, lease)) from error


def _who_has_it(desk: Desk, view: View, lease: Lease) -> str:
    if lease.to is not None:
        to = view.roster.named_text(lease.to.shown())
        return f"ask {to}: it is theirs to catch until {moment(lease.until)}"
    who = view.roster.name_of(lease.carrier)
    if view.roster.member(lease.carrier) is None:  # revoked: nobody can be asked
        command = f"handsoff catch {quoted(view.record.work)} --wait"
        return f"{who} was revoked and can hand nothing over: {command}"
    return f"ask {who}, who carries it, to hand it over: handsoff send {desk.machine.name}"


def check_first(desk: Desk, view: View, lease: Lease) -> list[str]:
    """Return what the next carrier must check after a drop or a lapse, line by line."""
    saved = view.record.saved
    text = page_of_revision(desk, saved)
    return check_before(
        lease,
        work=view.record.work,
        name_of=view.roster.name_of,
        saved=saved.at if saved is not None else None,
        page=parse(text.encode()) if text else None,
    )


def page_of_revision(desk: Desk, saved: Saved | None) -> str:
    """Return the page that a revision was saved with, safe to print, or ""."""
    if saved is None or not saved.page:
        return ""
    objects = store_of(desk.shared)
    try:
        return parse(objects.blob(saved.page, PAGE_LIMIT)).shown
    except (DamagedError, RefusedError):
        return ""
