"""``handsoff status`` and ``handsoff inbox``: what is so, read and never changed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from handsoff.core.checkup import health
from handsoff.core.checkup.health import Level
from handsoff.core.machines.roster import Roster
from handsoff.core.remote.refs import HEADS
from handsoff.core.times import moment
from handsoff.core.works.holding import is_carried_by, is_offered_to
from handsoff.core.works.record import Record
from handsoff.edge.git import operation
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.errors import DamagedError, HandsoffError, TrustError, UnreachableError
from handsoff.flows import cached
from handsoff.flows.clones import clone_of
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory, finishing
from handsoff.flows.remote.branches import Strayed, strayed_from
from handsoff.flows.remote.survey import Standing, survey
from handsoff.flows.waiting import Pending, extended
from handsoff.flows.works import ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStatus:
    """Where one work stands."""

    work: str
    state: str
    carrier: str
    to: str
    leg: int
    revision: int
    since: str
    until: str
    mine: bool
    """Whether this machine carries it."""
    for_me: bool
    """Whether it is offered to this machine."""
    blocked: bool
    reason: str = ""
    """Why it was dropped or blocked."""
    provisional: bool = False
    """Whether the remote has not confirmed what this machine did: it waits here."""
    trouble: str = ""
    """Why the remote is not believed about it: the rest is then as last seen."""
    strayed: tuple[Strayed, ...] = ()
    """Branches that were moved past the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What this machine knows of its works."""

    machine: str
    founding: str
    branch: str
    works: tuple[WorkStatus, ...]
    unfinished: str
    """A verb that was interrupted here, and the command that finishes it."""
    remote: str
    """What kept the remote from being asked or believed, or ""."""
    unread: int = 0
    """Works on the remote that were too many to look at."""
    doubts: tuple[str, ...] = ()
    """What other machines saw on the remote and it does not show here."""
    news: tuple[str, ...] = ()
    """What became of entries that waited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A parcel in the inbox."""

    parcel: str
    work: str
    sender: str
    revision: int
    at: int
    size: int
    counts: dict[str, int]


def status(desk: Desk) -> Status:
    """Return where the works stand; what the remote does not tell honestly, as last seen."""
    founding = desk.need_pin()
    journal = Memory(desk.checkout).journal()
    branch = desk.checkout.branch() or operation.branch(desk.checkout) or ""
    remote, unread = "", 0
    news = ledger.send_all(desk)
    doubts: tuple[str, ...] = ()
    try:
        found = survey(desk, _works_here(desk, branch), f"{HEADS}*")
        believed = [s.record for s in found.works.values() if s.trouble is None]
        astray = strayed_from(desk, believed, found.refs)
        works = [
            replace(_standing(desk, found.roster, standing), strayed=astray.get(work, ()))
            for work, standing in found.works.items()
        ]
        cached.write(desk, found.roster, found.works)
        unread, doubts = found.unread, (*found.doubts, *_doubted_clock(desk, found.works.values()))
    except (UnreachableError, TrustError, DamagedError) as error:
        remote = str(error)
        roster = desk.local_roster()
        cached.write(desk, roster)
        works = [_as_last_seen(desk, roster, work) for work in _works_kept(desk)] if roster else []
    return Status(
        machine=desk.machine.name,
        founding=founding,
        branch=branch,
        works=tuple(works),
        unfinished=f"handsoff {finishing(journal)}" if journal else "",
        remote=remote,
        unread=unread,
        doubts=doubts,
        news=tuple(news),
    )


def _doubted_clock(desk: Desk, works: Iterable[Standing]) -> list[str]:
    """Return what the times of the records say against this clock, by which they are shown."""
    records = [standing.record for standing in works]
    ahead = max((record.ahead(desk.now) for record in records), default=timedelta(0))
    found = health.of_clock(ahead)
    return [] if found.level is Level.OK else [f"{found.said}; {found.do}"]


def _works_here(desk: Desk, branch: str) -> list[str]:
    arrived = {p.manifest.work for p in desk.home.parcels() if p.manifest.repository == desk.pin}
    return sorted({*arrived, *([branch] if branch else [])})


def _works_kept(desk: Desk) -> list[str]:
    return sorted({*desk.works_seen(), *Pending(desk.checkout).works()})


def _standing(desk: Desk, roster: Roster, found: Standing) -> WorkStatus:
    if found.trouble is None:
        return _work_status(desk, roster, found.record)
    return _as_last_seen(desk, roster, found.work, trouble=str(found.trouble))


def _as_last_seen(desk: Desk, roster: Roster, work: str, *, trouble: str = "") -> WorkStatus:
    record = desk.read_record(work, roster, desk.seen_tip(work))
    return _work_status(desk, roster, record, trouble=trouble)


def _work_status(desk: Desk, roster: Roster, record: Record, *, trouble: str = "") -> WorkStatus:
    here = extended(desk, record)
    lease = here.lease
    now = lease.as_of(desk.now)
    to, me = now.to, desk.machine.id
    return WorkStatus(
        work=record.work,
        state=now.state.value,
        carrier=roster.name_of(now.carrier) if now.carrier else "",
        to=roster.named_text(to.shown()) if to else "",
        leg=now.leg,
        revision=now.revision,
        since=_when(now.since),
        until=_when(now.until),
        mine=is_carried_by(now, me),
        for_me=is_offered_to(now, me, roster.person_of(me)),
        blocked=now.blocked,
        reason=now.reason,
        provisional=here.git_tip != record.git_tip,
        trouble=trouble,
    )


def _when(at: datetime | None) -> str:
    return moment(at) if at else ""


def inbox(home: Home, machine: Machine) -> list[Arrived]:
    """Return the parcels that arrived here and are not caught yet."""
    return [
        Arrived(
            parcel=p.manifest.parcel,
            work=p.manifest.work,
            sender=_sender(home, machine, p.manifest.repository, p.manifest.sender),
            revision=p.manifest.revision,
            at=p.manifest.at,
            size=p.manifest.pack_size,
            counts=p.manifest.counts,
        )
        for p in home.parcels()
    ]


def _sender(home: Home, machine: Machine, repository: str, sender: str) -> str:
    try:
        roster = clone_of(home, machine, repository).local_roster()
    except HandsoffError:
        return sender
    return roster.name_of(sender) if roster else sender
