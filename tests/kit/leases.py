"""Leases in each state, and events that fit them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from handsoff.core.works.lease import (
    OFFER,
    Caught,
    Closed,
    Dropped,
    Event,
    Found,
    How,
    Lease,
    Offered,
    Pushed,
    Recipient,
    Saved,
    State,
    Withdrawn,
    advance,
)

T0 = datetime(2030, 1, 7, 16, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PEOPLE = {"m1": "lin", "m2": "lin", "m3": "kim"}
EXTRA: dict[type[Event], dict[str, Any]] = {
    Caught: {"found": Found(how=How.FREE)},
    Saved: {},
    Pushed: {"branch": "x", "old": "0" * 40, "new": "1" * 40},
    Offered: {"to": Recipient(machine="m2"), "deadline": T0 + OFFER},
    Withdrawn: {},
    Dropped: {"reason": "train"},
    Closed: {"outcome": "merged"},
}


def event(kind: type[Event], lease: Lease, by: str = "m1", at: datetime = T0, **more: Any) -> Event:
    """Return an event that names the leg and revision of ``lease``, with the rest filled in."""
    extra = dict(EXTRA[kind])
    if kind is Caught:
        extra["found"] = lease.as_of(at).found()
    fields = {"leg": lease.leg, "revision": lease.revision, **extra, **more}
    return kind(by=by, at=at, **fields)


def after(lease: Lease, *events: tuple[type[Event], str] | Event) -> Lease:
    """Return the lease after events that all must be allowed."""
    for each in events:
        happened = each if isinstance(each, Event) else event(each[0], lease, each[1])
        result = advance(lease, happened, PEOPLE.get)
        assert isinstance(result, Lease), result
        lease = result
    return lease


HELD = after(Lease(), (Caught, "m1"))
OFFERED = after(HELD, (Offered, "m1"))
STATES = {
    State.FREE: Lease(),
    State.HELD: HELD,
    State.OFFERED: OFFERED,
    State.DROPPED: after(HELD, (Dropped, "m1")),
    State.CLOSED: after(HELD, (Closed, "m1")),
}
