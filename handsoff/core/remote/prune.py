"""What of the remote may be tidied away, work by work: the rules, and the reason for each answer.

    close    nobody has a hand on it, and its branch is merged or gone: Closed, and its parcels go
    clear    it is closed, and parcels of it still wait
    forget   it was closed long enough ago: record, notes and parcels go, named in the archive
    keep     anything else

Rule of the room: when in doubt a work stays, and says why. What is lost here is lost for good;
what stays too long costs a line in a list. Every reason to stay is a function in KEEPERS.

A branch that is contained in the main one proves little: a fresh branch is, before its first
commit. So the merge has to be younger than the last catch and save, by the dates that git has; and
a branch that is gone must have been pushed (a Pushed entry says so) after the last of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from handsoff.core.remote.refs import HEADS
from handsoff.core.times import moment
from handsoff.core.works.entry import Entry
from handsoff.core.works.lease import Caught, Offered, Pushed, Saved, State
from handsoff.core.works.record import Record

KEEP_RECORDS: Final = timedelta(days=30)


class Do(Enum):
    """What is to be done about a work."""

    CLOSE = "close"
    CLEAR = "clear"
    FORGET = "forget"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What is known of one work. ``record`` has all its entries.

    ``merged`` is since when the main branch, ``into``, has the tip of this one (of a branch that
    is gone: what was pushed last), or None. ``waiting`` are ids of parcels on the remote.
    """

    record: Record
    into: str
    branch: str = ""
    """The tip of the branch on the remote, "" if it is not there."""
    merged: datetime | None = None
    waiting: frozenset[str] = frozenset()
    problem: str = ""
    pending: bool = False

    @property
    def last_work(self) -> Entry | None:
        """The last entry after which somebody had the work in hand, or left bytes of it."""
        return _last(self.record, (Caught, Saved))

    @property
    def last_push(self) -> Entry | None:
        """The last entry that says that this branch was pushed."""
        pushes = (e for e in reversed(self.record.good) if isinstance(e.event, Pushed))
        return next((e for e in pushes if _branch(e) == self.record.work), None)

    @property
    def parcels(self) -> frozenset[str]:
        """The parcels on the remote that the record names: no other is known to be done with."""
        events = (entry.event for entry in self.record.good)
        named = {event.parcel for event in events if isinstance(event, Saved | Offered)}
        return self.waiting & named


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do about a work, and why; ``outcome`` is for Closed."""

    do: Do
    reason: str
    outcome: str = ""


def decide(sight: Sight, now: datetime, keep: timedelta = KEEP_RECORDS) -> Verdict:
    """Return what is to be done about a work at ``now``."""
    reason = next((said for keeper in KEEPERS if (said := keeper(sight, now))), "")
    if reason:
        return Verdict(Do.KEEP, sight.record.roster.named_text(reason))
    if sight.record.lease.state is State.CLOSED:
        return _closed(sight, now, keep)
    return _open(sight)


def _closed(sight: Sight, now: datetime, keep: timedelta) -> Verdict:
    lease = sight.record.lease
    assert lease.since is not None
    said = f"closed as {lease.reason} since {moment(lease.since)}"
    if now - lease.since >= keep and not sight.record.ahead(now):
        return Verdict(Do.FORGET, said)
    if sight.parcels:
        return Verdict(Do.CLEAR, said)
    return Verdict(Do.KEEP, f"{said}; its record goes after {moment(lease.since + keep)}")


def _open(sight: Sight) -> Verdict:
    work, push, merged = sight.last_work, sight.last_push, sight.merged
    assert work is not None
    done = f"{sight.record.roster.name_of(work.event.by)} {work.kind.lower()} it"
    at = moment(work.event.at)
    if sight.branch and merged is None:
        return Verdict(Do.KEEP, f"its branch is not merged into {sight.into}")
    if merged is not None and merged >= work.event.at:
        return Verdict(Do.CLOSE, f"merged into {sight.into} at {moment(merged)}", "merged")
    if sight.branch:
        return Verdict(
            Do.KEEP, f"{done} at {at}, and what {sight.into} has of it is older than that"
        )
    if push is None:
        return Verdict(Do.KEEP, "its branch is not on the remote, and no entry says it ever was")
    if push.seq < work.seq:
        return Verdict(Do.KEEP, f"its branch is gone, but {done} after its last push, at {at}")
    outcome = "abandoned" if merged is None else "merged"
    return Verdict(
        Do.CLOSE, f"its branch was pushed at {moment(push.event.at)}, and is gone", outcome
    )


def _unsound(sight: Sight, _: datetime) -> str:
    return f"its record cannot be verified: {sight.problem}" if sight.problem else ""


def _empty(sight: Sight, _: datetime) -> str:
    return "" if sight.last_work is not None else "no entry of its record counts"


def _pending(sight: Sight, _: datetime) -> str:
    return "entries about it wait on this machine to be sent" if sight.pending else ""


def _in_hand(sight: Sight, now: datetime) -> str:
    """A lease that ran out by this clock counts as running while signed times contradict it."""
    lease = sight.record.lease
    if lease.until is None or sight.record.has_lapsed(now):
        return ""
    if lease.state is State.OFFERED and lease.to is not None:
        return f"{lease.carrier} offers it to {lease.to.shown()} until {moment(lease.until)}"
    return f"{lease.carrier} carries it until {moment(lease.until)}"


def _blocked(sight: Sight, _: datetime) -> str:
    lease = sight.record.lease
    blocked = lease.state is State.DROPPED and lease.blocked
    quoted = lease.reason
    return f"{lease.carrier} blocked it: {quoted}" if blocked else ""


def _trunk(sight: Sight, _: datetime) -> str:
    trunk = sight.record.work == sight.into and sight.record.lease.state is not State.CLOSED
    return "it is the branch that others are merged into" if trunk else ""


KEEPERS: Final[tuple[Callable[[Sight, datetime], str], ...]] = (
    _unsound,
    _empty,
    _pending,
    _in_hand,
    _blocked,
    _trunk,
)
"""What keeps a work as it is, whatever became of its branch; each returns a reason, or ""."""


def _last(record: Record, kinds: tuple[type, ...]) -> Entry | None:
    return next((e for e in reversed(record.good) if isinstance(e.event, kinds)), None)


def _branch(entry: Entry) -> str:
    named = entry.event.branch if isinstance(entry.event, Pushed) else ""
    return named.removeprefix(HEADS)
