"""What there is to see, as a person sees it: works at a glance, machines, parcels, findings.

The view model of the live page and of the file that an audit writes. Pure: verified records, the
roster and the time go in. Rule of the room: every text that another machine wrote has passed
``plain`` once it is in here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from handsoff.core.audit.findings import Finding
from handsoff.core.audit.legs import kind_of
from handsoff.core.ids import work_component
from handsoff.core.machines.roster import Roster
from handsoff.core.parcels.manifest import Manifest
from handsoff.core.plain import plain
from handsoff.core.works.entry import time_of
from handsoff.core.works.holding import is_carried_by, is_offered_to
from handsoff.core.works.lease import How
from handsoff.core.works.record import Record

_ORDER = ("offered", "held", "blocked", "dropped", "lapsed", "free", "unverified", "closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The machine that looks; nobody in particular if it has no keys here."""

    machine: str = ""
    person: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One work at a glance. ``component`` is its name where it must be safe: in a URL, in an id."""

    work: str
    component: str
    state: str
    """A word of ``legs.Kind``, or ``unverified``."""
    carrier: str = ""
    person: str = ""
    to: str = ""
    leg: int = 0
    revision: int = 0
    since: datetime | None = None
    until: datetime | None = None
    mine: bool = False
    for_me: bool = False
    reason: str = ""
    offer_lapsed: bool = False
    provisional: bool = False
    trouble: str = ""
    """Why the remote is not believed about it: the rest is then as last seen."""

    @property
    def live(self) -> bool:
        """Whether somebody carries it, or should."""
        return self.state != "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRow:
    """A machine of the roster."""

    name: str
    person: str
    id: str
    fingerprint: str
    own: bool = False
    carries: tuple[Card, ...] = ()
    revoked: str = ""
    """Why it is trusted no longer, "" if it is."""
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParcelRow:
    """A parcel in the inbox."""

    work: str
    sender: str
    revision: int
    at: datetime
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRow:
    """A verb that waits here for the remote."""

    work: str
    verb: str
    at: datetime
    leg: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding of the audit."""

    grade: str
    what: str
    said: str
    todo: str
    work: str = ""
    component: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All there is to see, but for what happened to each work."""

    at: datetime
    remote: str
    founding: str
    founder: str = ""
    machine: str = ""
    place: str = ""
    """What the folder of the checkout is called."""
    cards: tuple[Card, ...] = ()
    machines: tuple[MachineRow, ...] = ()
    parcels: tuple[ParcelRow, ...] = ()
    waits: tuple[WaitRow, ...] = ()
    news: tuple[str, ...] = ()
    """What else waits here, was interrupted, or lost."""
    away: str = ""
    """Why the remote could not be asked or believed, "" if it was."""
    asked: datetime | None = None
    """When the remote answered last, None if it was not asked yet."""
    doubts: tuple[str, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    audited: datetime | None = None
    """When all was audited, None if it was not yet."""
    unaudited: str = ""
    """Why it could not be audited, "" if it could."""
    known: int = 0
    """Void entries that people have looked into before."""

    @property
    def live(self) -> tuple[Card, ...]:
        """The works that are not over."""
        return tuple(card for card in self.cards if card.live)

    @property
    def closed(self) -> tuple[Card, ...]:
        """The works that are."""
        return tuple(card for card in self.cards if not card.live)

    @property
    def weighs(self) -> tuple[FindingRow, ...]:
        """The findings that somebody should look after."""
        return tuple(row for row in self.findings if row.grade != "note")


def card_of(
    record: Record,
    now: datetime,
    *,
    own: Own = Own(),
    provisional: bool = False,
    trouble: str = "",
) -> Card:
    """Return a work as it stands at ``now``."""
    roster, lease = record.roster, record.lease.as_of(now)
    to = lease.to
    return Card(
        work=plain(record.work),
        component=work_component(record.work),
        state=kind_of(lease).value,
        carrier=plain(roster.name_of(lease.carrier)) if lease.carrier else "",
        person=plain(roster.person_of(lease.carrier) or "") if lease.carrier else "",
        to=plain(roster.named_text(to.shown())) if to else "",
        leg=lease.leg,
        revision=lease.revision,
        since=lease.since,
        until=lease.until,
        mine=is_carried_by(lease, own.machine),
        for_me=is_offered_to(lease, own.machine, own.person),
        reason=plain(lease.reason),
        offer_lapsed=lease.how is How.OFFER_LAPSE,
        provisional=provisional,
        trouble=plain(trouble),
    )  # fmt: skip


def unverified(work: str, trouble: str = "") -> Card:
    """Return a work of which nothing is verified yet."""
    return Card(
        work=plain(work), component=work_component(work), state="unverified", trouble=plain(trouble)
    )


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return works with those first that wait for somebody here, then those that are carried."""
    return tuple(
        sorted(cards, key=lambda c: (not c.for_me, not c.mine, _ORDER.index(c.state), c.work))
    )


def machines_of(
    roster: Roster, cards: Iterable[Card], *, own: Own = Own()
) -> tuple[MachineRow, ...]:
    """Return the machines of a roster with what each carries, those that are trusted first."""
    carried: dict[str, list[Card]] = {}
    for card in cards:
        if card.state in ("held", "offered"):
            carried.setdefault(card.carrier, []).append(card)
    members = sorted(roster.everyone.values(), key=lambda m: m.revoked is not None)
    return tuple(
        MachineRow(
            name=plain(m.name),
            person=plain(m.person),
            id=m.id,
            fingerprint=m.card.fingerprint,
            own=m.id == own.machine,
            carries=tuple(carried.get(plain(m.name), ())) if m.revoked is None else (),
            revoked=(plain(m.revoked.reason) or "no reason given") if m.revoked else "",
            revoked_at=time_of(m.revoked.at) if m.revoked else None,
        )
        for m in members
    )


def parcel_of(manifest: Manifest, roster: Roster | None, size: int) -> ParcelRow:
    """Return a parcel of the inbox."""
    return ParcelRow(
        work=plain(manifest.work),
        sender=plain(roster.name_of(manifest.sender) if roster else manifest.sender),
        revision=manifest.revision,
        at=time_of(manifest.at),
        size=size,
    )


def finding_rows(found: Iterable[Finding]) -> tuple[FindingRow, ...]:
    """Return findings with their texts made safe."""
    return tuple(
        FindingRow(
            grade=f.grade.value,
            what=f.what.value,
            said=plain(f.said),
            todo=plain(f.todo),
            work=plain(f.work),
            component=work_component(f.work) if f.work else "",
            ref=plain(f.ref),
        )
        for f in found
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a watcher knows beside what this clone keeps: of the remote, and of the last audit."""

    asked: datetime | None = None
    away: str = ""
    troubles: dict[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Tips of notes by work and machine, as the remote has them."""
    findings: tuple[FindingRow, ...] = ()
    audited: datetime | None = None
    unaudited: str = ""
