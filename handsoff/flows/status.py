"""``handsoff status`` and ``handsoff inbox``: what is so, read and never changed."""

from dataclasses import dataclass
from datetime import datetime

from handsoff.core.lease import Lease, State, moment
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.errors import HandsoffError, UnreachableError
from handsoff.flows.accept import clone_of
from handsoff.flows.catching import finishing
from handsoff.flows.desk import Desk
from handsoff.flows.notes import Notes


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
    """What kept the remote from being asked, or ""."""


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
    """Return where the works of this clone stand; what the remote cannot tell is as last seen."""
    founding = desk.need_pin()
    journal = Notes(desk.checkout).journal()
    branch = desk.checkout.branch() or ""
    remote = ""
    try:
        works = _known_works(desk, branch)
        found = [_work_status(desk, desk.view(work).record.lease, work) for work in works]
    except UnreachableError as error:
        remote = str(error)
        found = [s for work in desk.works_seen() if (s := _as_last_seen(desk, work))]
    return Status(
        machine=desk.machine.name,
        founding=founding,
        branch=branch,
        works=tuple(found),
        unfinished=f"handsoff {finishing(journal)}" if journal else "",
        remote=remote,
    )


def _known_works(desk: Desk, branch: str) -> list[str]:
    arrived = {p.manifest.work for p in desk.home.parcels() if p.manifest.repository == desk.pin}
    return sorted({*desk.works_seen(), *arrived, *([branch] if branch else [])})


def _as_last_seen(desk: Desk, work: str) -> WorkStatus | None:
    roster = desk.local_roster()
    tip = desk.seen_tip(work)
    if roster is None or not tip:
        return None
    return _work_status(desk, desk.read_record(work, roster, tip).lease, work)


def _work_status(desk: Desk, lease: Lease, work: str) -> WorkStatus:
    roster = desk.local_roster()
    name = roster.name_of if roster else str
    now = lease.as_of(desk.now)
    person = roster.person_of(desk.machine.id) if roster else None
    to = now.to
    return WorkStatus(
        work=work,
        state=now.state.value,
        carrier=name(now.carrier) if now.carrier else "",
        to=(roster.named_text(to.shown()) if roster else to.shown()) if to else "",
        leg=now.leg,
        revision=now.revision,
        since=_when(now.since),
        until=_when(now.until),
        mine=now.carrier == desk.machine.id and now.state in (State.HELD, State.OFFERED),
        for_me=to is not None and to.admits(desk.machine.id, person),
        blocked=now.blocked,
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
