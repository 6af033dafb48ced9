"""Who may change a work, and until when: the lease, as a state machine.

Rules: every change of state is a row of TRANSITIONS, no other file decides one; and this file
never asks which machine it runs on, and never reads a clock.

    FREE --Caught--> HELD --Offered--> OFFERED --Caught--> HELD
                      |  <--Withdrawn--   |
                      +----Dropped--------+--> DROPPED --Caught--> HELD
                      +----Closed------------> CLOSED  --Caught--> HELD

Time. That a lease or an offer ran out is no event: it is worked out from a time each time
it is asked. An event is judged by its own time against the times in the chain, never by
the reader's clock, so all readers agree for ever. A holder whose slow clock saves after
the end, by everyone else's watch, therefore still saves: nobody had caught the work (a
catch would have begun another leg, and the save names the old one), so nobody is harmed.
A holder who knows that it is late catches again first. The leg is the fencing number.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, TypeAlias

from handsoff.core.times import LONGEST, moment

HOLD: Final = timedelta(minutes=30)
OFFER: Final = timedelta(hours=24)


class State(Enum):
    """Where a work stands."""

    FREE = "free"
    HELD = "held"
    OFFERED = "offered"
    DROPPED = "dropped"
    CLOSED = "closed"


class How(Enum):
    """How a work came to be there for the catching."""

    FREE = "free"
    OFFER = "offer"
    DROP = "drop"
    LAPSE = "lapse"
    OFFER_LAPSE = "offer-lapse"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Whom an offer is for: a machine, any machine of a person, or (neither given) anyone."""

    machine: str = ""
    person: str = ""

    def admits(self, machine: str, person: str | None) -> bool:
        """Say whether ``machine``, which belongs to ``person``, is meant."""
        if self.machine:
            return machine == self.machine
        if self.person:
            return person is not None and person.casefold() == self.person.casefold()
        return True

    def shown(self) -> str:
        """Return whom the offer is for, as people read it."""
        return self.machine or self.person or "anyone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a catch found: how the work was let go, by whom, since when."""

    how: How
    by: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something a machine says happened to a work, on the leg and revision it names."""

    by: str
    at: datetime
    leg: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught(Event):
    """A machine became the carrier. ``leg`` is the one that this ends."""

    found: Found
    hold: timedelta = HOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved(Event):
    """The holder put down a new revision on top of ``revision``."""

    hold: timedelta = HOLD
    page: str = ""
    envelope: str = ""
    parcel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed(Event):
    """The holder moved a branch on the remote, in the same push as this entry."""

    branch: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered(Event):
    """The holder offers the last revision, and holds still until it is caught."""

    to: Recipient
    deadline: datetime
    parcel: str = ""
    envelope: str = ""
    route: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(Event):
    """The offerer took the offer back before anyone caught it."""

    hold: timedelta = HOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(Event):
    """The carrier stopped, without naming anyone to go on."""

    reason: str
    blocked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed(Event):
    """The work is over: merged or abandoned."""

    outcome: str


TRANSITIONS: Final[dict[State, dict[type[Event], State]]] = {
    State.FREE: {Caught: State.HELD},
    State.HELD: {
        Saved: State.HELD,
        Pushed: State.HELD,
        Offered: State.OFFERED,
        Dropped: State.DROPPED,
        Closed: State.CLOSED,
    },
    State.OFFERED: {
        Caught: State.HELD,
        Withdrawn: State.HELD,
        Dropped: State.DROPPED,
    },
    State.DROPPED: {Caught: State.HELD},
    State.CLOSED: {Caught: State.HELD},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who carries a work, until when, for the how-manieth time.

    ``carrier`` stays named after the work was let go. ``since`` is when it came into this
    state; ``length`` is how long the present hold or offer was meant to be.
    """

    state: State = State.FREE
    carrier: str = ""
    leg: int = 0
    revision: int = 0
    since: datetime | None = None
    until: datetime | None = None
    length: timedelta = HOLD
    to: Recipient | None = None
    how: How = How.FREE
    reason: str = ""
    blocked: bool = False

    def as_of(self, now: datetime) -> "Lease":
        """Return the lease as it stands at ``now``, after any running out."""
        if self.until is None or now < self.until:
            return self
        how = How.LAPSE if self.state is State.HELD else How.OFFER_LAPSE
        return replace(
            self, state=State.DROPPED, how=how, since=self.until, until=None, to=None, reason=""
        )

    def found(self) -> Found:
        """Return what a catch would find now."""
        return Found(how=self.how, by=self.carrier, since=self.since)


class Why(Enum):
    """What kind of no a refusal is."""

    HELD = "held"
    STALE = "stale"
    STATE = "state"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The rules said no. A value, because refusals are kept; machines are named by id."""

    reason: str
    why: Why


PersonOf: TypeAlias = Callable[[str], str | None]
"""Tells whose machine an id is."""


def advance(lease: Lease, event: Event, person_of: PersonOf) -> Lease | Refusal:
    """Return the lease after ``event``, or why the event may not happen."""
    lease = lease.as_of(event.at)
    if event.leg != lease.leg:
        said = f"{event.by} acted on leg {event.leg}; this is leg {lease.leg}"
        return Refusal(said, Why.STALE)
    if event.revision != lease.revision:
        said = f"{event.by} acted on revision {event.revision}; this is revision {lease.revision}"
        return Refusal(said, Why.STALE)
    state = TRANSITIONS[lease.state].get(type(event))
    if state is None:
        return _no_row(lease, event)
    if isinstance(event, Caught):
        return _catch(lease, event, person_of)
    if event.by != lease.carrier:
        return Refusal(f"{lease.carrier} carries this work, not {event.by}", Why.HELD)
    return _carry_on(replace(lease, state=state), event)


def _catch(lease: Lease, event: Caught, person_of: PersonOf) -> Lease | Refusal:
    if lease.to is not None and not lease.to.admits(event.by, person_of(event.by)):
        return Refusal(f"this work is offered to {lease.to.shown()}, not {event.by}", Why.HELD)
    if event.found != lease.found():
        return Refusal(
            f"{event.by} caught what it did not find: {event.found.how.value}", Why.WRONG
        )
    return Lease(
        state=State.HELD,
        carrier=event.by,
        leg=lease.leg + 1,
        revision=lease.revision,
        since=event.at,
        until=event.at + event.hold,
        length=event.hold,
    )


def _carry_on(lease: Lease, event: Event) -> Lease | Refusal:
    """Return what the carrier's own ``event`` makes of ``lease``, which has its new state."""
    match event:
        case Saved(at=at, hold=hold):
            revision = lease.revision + 1
            return replace(lease, revision=revision, until=at + hold, length=hold)
        case Offered(at=at, to=to, deadline=deadline):
            if deadline <= at:
                return Refusal("an offer that has run out before it was made", Why.WRONG)
            if deadline - at > LONGEST:
                return Refusal(f"an offer that stands over {LONGEST.days} days", Why.WRONG)
            return replace(
                lease, to=to, how=How.OFFER, since=at, until=deadline, length=deadline - at
            )
        case Withdrawn(at=at, hold=hold):
            return replace(lease, to=None, how=How.FREE, since=at, until=at + hold, length=hold)
        case Dropped(at=at, reason=reason, blocked=blocked):
            return replace(
                lease,
                to=None,
                how=How.DROP,
                since=at,
                until=None,
                reason=reason,
                blocked=blocked,
            )
        case Closed(at=at, outcome=outcome):
            return replace(lease, how=How.CLOSED, since=at, until=None, reason=outcome)
        case _:  # a push moves the branch and leaves the lease as it was
            return lease


def _no_row(lease: Lease, event: Event) -> Refusal:
    done = type(event).__name__.lower()
    if lease.state in (State.HELD, State.OFFERED) and event.by != lease.carrier:
        said = f"{lease.carrier} carries this work since {moment(lease.since)}, not {event.by}"
        return Refusal(said, Why.HELD)
    return Refusal(f"a work that is {lease.state.value} cannot be {done}", Why.STATE)
