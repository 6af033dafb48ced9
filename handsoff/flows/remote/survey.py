"""All that the remote has of ours: one question, at most one fetch, each record judged alone.

A record that was tampered with is a finding about its own work; the others are told all the same.
Whoever can push could otherwise keep a stolen key from being revoked by spoiling one record. Works
that this clone has never seen are found by their refs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from handsoff.core.chain import Link, open_link
from handsoff.core.ids import work_of
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.core.remote.archive import REVOKED_AT
from handsoff.core.remote.refs import Kind, read_ref
from handsoff.core.works.notes import revoked_at
from handsoff.core.works.record import Record
from handsoff.errors import DamagedError, HandsoffError, TrustError
from handsoff.flows import founding
from handsoff.flows.desk import Desk
from handsoff.flows.remote import heard

MOST: Final = 2000
"""Works looked at that this clone has not seen before: anybody who can push can make more refs."""

_NAMED_IN: Final = 20
"""Entries searched for the name of a work whose ref had to cut it short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One work: what the remote has of it, what this clone saw, and what those add up to."""

    work: str
    ref: str
    tip: str
    seen: str
    record: Record
    """The record as the remote has it; empty if that is not to be believed."""
    trouble: HandsoffError | None = None
    """Why it is not."""

    @property
    def problem(self) -> str:
        """What stands against relying on the record, "" if nothing."""
        return str(self.trouble) if self.trouble is not None else self.record.behind

    @property
    def counts(self) -> str:
        """The tip for a revocation to name.

        Where the remote contradicts what this clone verified, that is the one seen here: the
        record is to be put back there.
        """
        return self.tip if self.trouble is None else self.seen or self.tip


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the remote has of us: the roster, how each work stands, and every ref."""

    read: RosterRead
    works: Mapping[str, Standing]
    refs: Mapping[str, str]
    """What was asked for, ours and further, each with its tip."""
    prefix: str
    doubts: tuple[str, ...] = ()
    """What other machines saw and the remote does not show here."""
    unread: int = 0
    """Refs of records that were not looked at."""

    @property
    def roster(self) -> Roster:
        """The roster, which was found to be sound."""
        return self.read.trusted()

    def tips(self, machine: str) -> dict[str, str]:
        """Return the tips of records, archive and notes, for a revocation of ``machine``."""
        found = {s.work: s.counts for s in self.works.values() if s.counts}
        looked_at = {s.ref for s in self.works.values()}
        for name, tip in self.refs.items():  # very many refs are not all looked at
            ref = read_ref(name, self.prefix)
            if ref.kind is Kind.RECORD and ref.work and name not in looked_at:
                found[ref.work] = tip
            if ref.kind is Kind.NOTES and ref.work and ref.last == machine:
                found[revoked_at(ref.work)] = tip
        archive = self.refs.get(f"{self.prefix}/archive", "")
        return found | ({REVOKED_AT: archive} if archive else {})

    def parcels(self) -> dict[str, dict[str, str]]:
        """Return the refs of the parcels that wait, and their tips, by work component."""
        found: dict[str, dict[str, str]] = {}
        for name, tip in self.refs.items():
            ref = read_ref(name, self.prefix)
            if ref.kind is Kind.PARCEL:
                found.setdefault(ref.component, {})[name] = tip
        return found


def survey(desk: Desk, works: Iterable[str] = (), *more: str) -> Survey:
    """Return how all works stand that are on the remote, were seen here, or are in ``works``.

    Refs that match ``more`` are asked for as well. TrustError if the roster itself is not to be
    believed.
    """
    desk.need_pin()
    with desk.shared.reader.open():
        return _survey(desk, works, more)


def _survey(desk: Desk, works: Iterable[str], more: Iterable[str]) -> Survey:
    shared = desk.shared
    below = f"{shared.prefix}/lease/"
    ours = {shared.record_ref(work): work for work in (*desk.works_seen(), *works)}
    known = [desk.roster_tip, *(desk.seen_tip(work) for work in ours.values())]

    def new(tips: Mapping[str, str]) -> list[str]:
        return sorted(ref for ref in tips if ref.startswith(below) and ref not in ours)

    def picked(tips: Mapping[str, str]) -> list[str]:
        return [ref for ref in (shared.roster_ref, *ours, *new(tips)[:MOST]) if ref in tips]

    tips = founding.settle(shared, shared.gather([f"{shared.prefix}/*", *more], picked, known))
    read = desk.read_roster(tips.get(shared.roster_ref, ""))
    roster = read.trusted()
    unseen = new(tips)
    for ref in unseen[:MOST]:
        work = work_of(ref.removeprefix(below)) or _named(desk, ref, tips[ref])
        ours |= {ref: work} if work else {}
    shared.chains.prepare(_unread(desk, ours, roster, tips))
    found = {
        work: _standing(desk, work, ref, roster, tips.get(ref, "")) for ref, work in ours.items()
    }
    return Survey(
        read=read,
        works=dict(sorted(found.items())),
        refs=tips,
        prefix=shared.prefix,
        doubts=tuple(heard.settle(desk, roster, tips)),
        unread=len(unseen[MOST:]),
    )


def _named(desk: Desk, ref: str, tip: str) -> str:
    """Return the work that the entries of a ref name, whose own name was cut short."""
    try:
        commits = desk.shared.chains.line(tip) or []
    except DamagedError:
        return ""
    for link in (open_link(*commit) for commit in commits[:_NAMED_IN]):
        work = link.body.get("work") if isinstance(link, Link) else None
        if isinstance(work, str) and desk.shared.record_ref(work) == ref:
            return work
    return ""


def _unread(
    desk: Desk, ours: Mapping[str, str], roster: Roster, tips: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the chains that must be read: those that moved, from where they are still known."""
    found = []
    for ref, work in ours.items():
        tip, kept = tips.get(ref, ""), desk.kept_record(work, roster)
        if tip and (kept is None or kept.git_tip != tip):
            found.append((tip, kept.git_tip or "" if kept else ""))
    return found


def _standing(desk: Desk, work: str, ref: str, roster: Roster, tip: str) -> Standing:
    seen = desk.seen_tip(work)
    try:
        record = desk.read_record(work, roster, tip)
    except (TrustError, DamagedError) as error:
        empty = Record(roster=roster, work=work)
        return Standing(work=work, ref=ref, tip=tip, seen=seen, record=empty, trouble=error)
    return Standing(work=work, ref=ref, tip=tip, seen=seen, record=record)
