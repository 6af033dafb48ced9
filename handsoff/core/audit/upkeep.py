"""Which works nobody looks after: the findings of an audit that need a clock.

An offer is overdue at its deadline. A lease that lapsed, and a work that was dropped, are a
finding only when nobody caught them for as long as an offer stands (24 hours): half an hour after
its last save a lease has lapsed on any ordinary working day. The clock is the auditor's; entries
that are dated after it are a finding of their own, since one of the two clocks is wrong.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from handsoff.core.audit.findings import EntryRow, Finding, Grade, What, WorkRow
from handsoff.core.chain import Word
from handsoff.core.machines.roster import Roster
from handsoff.core.times import moment
from handsoff.core.works.entry import time_of
from handsoff.core.works.holding import SKEW
from handsoff.core.works.lease import OFFER, How, Lease, State


def upkeep(row: WorkRow, lease: Lease, now: datetime) -> Iterator[Finding]:
    """Yield what people have to see to in a work whose record adds up to ``lease``."""
    then = lease.as_of(now)
    if then.state is not State.DROPPED:
        return
    since = moment(then.since)
    if then.how is How.OFFER_LAPSE:
        said = f"{row.carrier} offered it to {row.to}; the deadline was {since}, and nobody came"
        yield _look(row, What.OVERDUE, said, f"on {row.carrier}: offer it again, or go on with it")
    elif then.blocked:
        quoted = then.reason or "no reason given"
        said = f"{row.carrier} dropped it as blocked at {since}: {quoted}"
        yield _look(row, What.BLOCKED, said, "see to the reason before anybody catches it")
    elif then.since is not None and now - then.since >= OFFER:
        how = "dropped it" if then.how is How.DROP else "let it lapse"
        said = f"{row.carrier} {how} at {since}, and nobody has caught it since"
        yield _look(row, What.IDLE, said, "catch it on a machine that goes on, or close it")


def clocks(rows: Sequence[EntryRow], now: datetime) -> Iterator[Finding]:
    """Yield one finding for each machine whose entries are dated after ``now``."""
    ahead: dict[str, list[int]] = {}
    for row in rows:
        if row.word is Word.SIGNED and row.at and time_of(row.at) > now + SKEW:
            ahead.setdefault(row.by, []).append(row.at)
    for name, times in sorted(ahead.items()):
        late = time_of(max(times))
        said = (
            f"{name} dated {_entries(len(times))} after this clock, {moment(now)}; the last one "
            f"{moment(late)}, {_length(late - now)} ahead"
        )
        todo = f"set the clock of {name}, or the one here; no entry is void for it"
        yield Finding(grade=Grade.WORK, what=What.CLOCK, said=said, todo=todo)


def silent(roster: Roster, rows: Sequence[EntryRow]) -> Iterator[Finding]:
    """Yield a note for each machine that is trusted and never signed anything."""
    heard = {row.by for row in rows}
    for member in roster.members():
        if member.name not in heard:
            said = f"{member.name} of {member.person} is in the roster and never signed anything"
            todo = f"if it is gone: handsoff roster revoke {member.name}"
            yield Finding(grade=Grade.NOTE, what=What.SILENT, said=said, todo=todo)


def _look(row: WorkRow, what: What, said: str, todo: str) -> Finding:
    return Finding(grade=Grade.WORK, what=what, said=said, todo=todo, ref=row.ref, work=row.work)


def _entries(count: int) -> str:
    return "an entry" if count == 1 else f"{count} entries"


def _length(length: timedelta) -> str:
    if length.days:
        return f"{length.days} days"
    minutes = length.seconds // 60
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"  # noqa: PLR2004
