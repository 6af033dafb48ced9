"""The legs of a work, and the stretches of time that they are made of.

Worked out from the good entries alone, by the table of the lease: what is drawn as a bar is what
the record says, and that a lease ran out is seen here as everywhere else, from a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from handsoff.core.works.lease import (
    Caught,
    Event,
    How,
    Lease,
    PersonOf,
    Refusal,
    Saved,
    State,
    advance,
)


class Kind(Enum):
    """How a work stands: the states of the lease, and three kinds of a dropped one."""

    FREE = "free"
    HELD = "held"
    OFFERED = "offered"
    LAPSED = "lapsed"
    DROPPED = "dropped"
    BLOCKED = "blocked"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """How a work stood from one moment to another, on which leg, and by whom."""

    kind: Kind
    leg: int
    carrier: str
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One carrier's stretch, from its catch to the next one, or to the time of looking."""

    number: int
    carrier: str
    begin: datetime
    end: datetime
    saves: int = 0
    last: Kind = Kind.HELD
    """How the work stood at the end of it."""
    to: str = ""
    """Who caught it next, "" if nobody has."""


def kind_of(lease: Lease) -> Kind:
    """Return how a work stands under ``lease``, as it was put down (see ``Lease.as_of``)."""
    if lease.state is not State.DROPPED:
        return Kind(lease.state.value)
    if lease.blocked:
        return Kind.BLOCKED
    return Kind.LAPSED if lease.how in (How.LAPSE, How.OFFER_LAPSE) else Kind.DROPPED


def stretches(events: Iterable[Event], person_of: PersonOf, now: datetime) -> tuple[Stretch, ...]:
    """Return how a work stood, from the first of its good ``events`` up to ``now``."""
    lease, since = Lease(), now
    found: list[Stretch] = []
    for event in events:
        found += _between(lease, since, event.at)
        after = advance(lease, event, person_of)
        if isinstance(after, Refusal):  # no good event: whoever asks gave others as well
            continue
        lease, since = after, event.at
    found += _between(lease, since, now)
    return tuple(_joined(found))


def _between(lease: Lease, begin: datetime, end: datetime) -> Iterator[Stretch]:
    """Yield how a work stood under ``lease``: as it says, and from its end on as run out."""
    if lease.state is State.FREE:
        return
    kind = kind_of(lease)
    ends = min(end, lease.until) if lease.until is not None else end
    parts = [(kind, begin, ends), (Kind.LAPSED, max(begin, ends), end)]
    for name, start, stop in parts:
        if start < stop or (name is kind and start == stop):
            yield Stretch(kind=name, leg=lease.leg, carrier=lease.carrier, begin=start, end=stop)


def _joined(found: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield stretches, those that go on as they were as one."""
    kept: Stretch | None = None
    for stretch in found:
        if kept is not None and (kept.kind, kept.leg) == (stretch.kind, stretch.leg):
            kept = replace(kept, end=stretch.end)
            continue
        if kept is not None:
            yield kept
        kept = stretch
    if kept is not None:
        yield kept


def legs(events: Sequence[Event], parts: Iterable[Stretch]) -> tuple[Leg, ...]:
    """Return the legs that ``parts`` of a work's time add up to, oldest first."""
    found: list[Leg] = []
    for part in parts:
        if found and found[-1].number == part.leg:
            found[-1] = replace(found[-1], end=part.end, last=part.kind)
            continue
        if found:
            found[-1] = replace(found[-1], to=part.carrier)
        found.append(
            Leg(
                number=part.leg, carrier=part.carrier, begin=part.begin, end=part.end,
                last=part.kind,
            )
        )  # fmt: skip
    saves = [event.leg for event in events if isinstance(event, Saved)]
    return tuple(replace(leg, saves=saves.count(leg.number)) for leg in found)


def catches(events: Iterable[Event]) -> dict[int, Caught]:
    """Return the catch that began each leg, by its number."""
    return {event.leg + 1: event for event in events if isinstance(event, Caught)}
