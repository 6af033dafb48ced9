"""What becomes of entries that were written without the remote, once it answers.

The local chain is the record as it was last seen on the remote, and what was added here: by this
machine, and by others that it met. It lands whole, by fast-forward, or the entries of this machine
are signed anew where they still fit; what fits nowhere is refused. An entry fits the leg and the
revision that it was made against, and no other, and it lands once: one that says the same in the
same place is the same entry, signed anew by whoever wrote it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import takewhile
from typing import Final

from handsoff.core.works.entry import time_of
from handsoff.core.works.holding import clamp
from handsoff.core.works.lease import Caught, Event, Found, How, Offered
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import RecordEntry
from handsoff.errors import HeldError, RefusedError

LIMIT: Final = timedelta(hours=24)
"""How long what waits is sent by itself; after that somebody must ask for it."""

_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)


class Fate(Enum):
    """What is to be done with a chain that waits."""

    LANDED = "landed"
    SEND = "send"
    AGAIN = "again"
    """Entries of this machine are to be signed anew, on what the remote has."""
    WAIT = "wait"
    LOST = "lost"
    """Who wrote it was revoked meanwhile: it counts for nothing, nor does what stands on it."""


@dataclass(frozen=True, slots=True)
class Course:
    """What is to be done, and with what."""

    fate: Fate
    again: tuple[Event, ...] = ()
    """What is to be signed anew now."""
    stake: tuple[Event, ...] = ()
    """What this machine wrote and the remote has not got: refused if ``again`` does not fit."""
    fresh: bool = False
    """Whether it is written as if it was typed now: what is old, and was asked for."""
    why: str = ""
    """Why it is lost."""

    @property
    def whole(self) -> bool:
        """Whether nothing waits any more once ``again`` has landed.

        Else an entry of another machine comes next, and only that can sign it anew.
        """
        return self.again == self.stake


def course(
    local: Sequence[RecordEntry],
    remote: Sequence[RecordEntry],
    *,
    by: str,
    age: timedelta,
    asked: bool = False,
) -> Course:
    """Return what the machine ``by`` is to do with its chain ``local``, given the remote's.

    Both are whole, oldest first. ``asked`` says that somebody asked for what is old as well.
    """
    here, there = {entry.oid for entry in local}, {entry.oid for entry in remote}
    if local[-1].oid not in there and not local[-1].good:  # it was good when it was written
        ahead = [entry for entry in local if entry.oid not in there]
        void = [e.entry.event for e in ahead if not e.good and e.entry and e.entry.event.by == by]
        why = next(entry.reason for entry in ahead if not entry.good)
        return Course(Fate.LOST, stake=tuple(void), why=why)
    came = _events(remote, here)
    rest = _not_among(came, _events(local, there))
    if not rest:
        return Course(Fate.LANDED)  # also by a run that was killed, or another machine
    old = age > LIMIT
    if old and not asked:
        return Course(Fate.WAIT)
    own = tuple(event for event in rest if event.by == by)
    if not remote or remote[-1].oid in here:
        if not old or len(own) < len(rest):
            return Course(Fate.SEND)
        return Course(Fate.AGAIN, own, own, fresh=True)
    if rest[0].by == by:
        run = tuple(takewhile(lambda event: event.by == by, rest))
        return Course(Fate.AGAIN, run, own, fresh=old and run == tuple(rest))
    outrun = len(came) > len(_events(local, there)) - len(rest)
    if own and (outrun or old):
        return Course(Fate.AGAIN, own, own)
    return Course(Fate.WAIT)  # for the machine that alone can sign anew what comes next


def _events(entries: Sequence[RecordEntry], known: set[str]) -> list[Event]:
    """Return what the good entries say that are not among ``known``."""
    return [e.entry.event for e in entries if e.good and e.entry and e.oid not in known]


def _not_among(came: Sequence[Event], events: Sequence[Event]) -> Sequence[Event]:
    """Return what is left of ``events`` after those that came already, in their order."""
    done = 0
    for event in came:
        if done < len(events) and _said(event) == _said(events[done]):
            done += 1
    return events[done:]


def _said(event: Event) -> Event:
    """Return what an entry says, without what signing it anew changes."""
    if isinstance(event, Offered):
        event = replace(event, deadline=_NO_TIME + (event.deadline - event.at))
    if isinstance(event, Caught):
        event = replace(event, found=Found(how=How.FREE))
    return replace(event, at=_NO_TIME)


def write_again(pen: Pen, events: Sequence[Event], *, fresh: bool) -> Pen:
    """Return the pen after ``events``, written anew; raise what the rules say.

    Leg and revision stay: on another leg or revision they are refused. Their time stays too, as a
    lease that ran out between two of them must do so again; or, if ``fresh``, it is now where that
    fits, and every length counts from now.
    """
    if fresh:
        with suppress(HeldError, RefusedError):
            return _write(pen, events, now=True)
    return _write(pen, events, now=False)


def _write(pen: Pen, events: Sequence[Event], *, now: bool) -> Pen:
    for event in events:
        at = pen.at if now else clamp(event.at, time_of(pen.record.at))
        anew = replace(event, at=at)
        if isinstance(anew, Offered):
            anew = replace(anew, deadline=at + (anew.deadline - event.at))
        if isinstance(anew, Caught):
            anew = replace(anew, found=pen.record.lease.as_of(at).found())
        pen = pen.write(anew)
    return pen
