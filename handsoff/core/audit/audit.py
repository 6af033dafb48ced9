"""Is all that lies on the remote what it should be? The rules of ``handsoff audit``.

Chains, what was seen of them before, and the time go in; a report comes out. Nothing is decided
about an entry that ``record``, ``admission`` and ``notes`` have not decided: an audit counts what
they say, and looks at what they cannot see, a chain beside the one seen before, and a ref beside
the others. Who must look after which work is in ``upkeep``.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from handsoff.core.audit import strayed
from handsoff.core.audit.findings import (
    EntryRow,
    Finding,
    Grade,
    NotesRow,
    Report,
    What,
    WorkRow,
    sort_findings,
)
from handsoff.core.audit.rows import notes_row, roster_row, work_row
from handsoff.core.audit.strayed import Claim, Place, claims_of, judge, last_words
from handsoff.core.audit.upkeep import clocks, silent, upkeep
from handsoff.core.chain import Commits, Link, Tips, Word, compare_tips, open_link
from handsoff.core.ids import fingerprint, is_oid, work_component
from handsoff.core.machines.admission import REVOKED_LIMIT, RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.core.remote.archive import Archive, lets_go, read_after
from handsoff.core.remote.refs import Kind, Ref
from handsoff.core.works.lease import Offered, State
from handsoff.core.works.notes import Notes
from handsoff.core.works.record import Record
from handsoff.errors import DamagedError

_FINGERPRINT: Final = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
_PUT_BACK: Final = "on a member: handsoff doctor --repair pushes back what was seen"
_PRUNE: Final = "handsoff prune takes it away"
_MISSED: Final = "if its record was taken away, on a member: handsoff doctor --repair"
_ASK: Final = "it counts for nothing; the host's log of pushes tells who put it there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """What lies under a ref, and what was seen there before.

    ``commits`` is None where the ref leads to no chain, and ``what`` then says to what. A ref
    that is gone has no commits. Each of ``seen`` is a chain, oldest first, that was there once;
    of one that is not at hand any more, its last id without bytes.
    """

    ref: Ref
    commits: Commits | None = ()
    what: str = "commit"
    seen: tuple[Commits, ...] = ()

    @property
    def work(self) -> str:
        """The work: by the ref, or where its name was cut short, by the entries; or ""."""
        if self.ref.work:
            return self.ref.work
        links = (open_link(oid, data) for oid, data in self.commits or ())
        named = (str(link.body.get("work")) for link in links if isinstance(link, Link))
        return next((work for work in named if work_component(work) == self.ref.component), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """All that there is of ours: every ref, and the chains that lie there or lay there before."""

    refs: Collection[Ref]
    chains: Sequence[Chain]

    def of(self, kind: Kind) -> list[Chain]:
        """Return the chains of one kind that are there."""
        return [chain for chain in self.chains if chain.ref.kind is kind and chain.commits]


def is_trust(text: str) -> bool:
    """Say whether ``text`` can name a roster: by the id of its founding entry, or by its founder.

    The founder is told by the fingerprint of its key, as ``ssh-keygen -l`` prints it.
    """
    return is_oid(text) or _FINGERPRINT.fullmatch(text) is not None


def founded_by(commits: Commits, trust: str) -> str:
    """Return the id of the founding entry that ``trust`` names, or "".

    By the founder's fingerprint the first founding entry by that key counts.
    """
    if is_oid(trust):
        return trust
    for oid, data in commits:
        link = open_link(oid, data, limit=REVOKED_LIMIT)
        founds = isinstance(link, Link) and link.body["kind"] == "Founded"
        if founds and link.key is not None and fingerprint(link.key) == trust:
            return oid
    return ""


def audit(
    read: RosterRead, remote: Remote, *, now: datetime, known: Collection[str] = ()
) -> Report:
    """Return what is to be said of everything on the remote, judged by the roster that was read.

    Void entries that are ``known`` by their ids are counted, and not found again. TrustError if
    there is no roster.
    """
    roster = read.trusted()
    archive, found = _archive(remote, roster)
    own = tuple(roster_row(entry, roster) for entry in read.entries)
    found += [f for chain in remote.chains for f in _contradicted(chain, archive, now)]
    found += [f for chain in remote.of(Kind.ROSTER) for f in _void(chain.ref, "", own)]
    works: list[WorkRow] = []
    claims: list[Claim] = []
    notes: list[NotesRow] = []
    for chain in (*remote.of(Kind.RECORD), *remote.of(Kind.NOTES)):
        try:
            if chain.ref.kind is Kind.RECORD:
                record = _record(chain, archive)
                works.append(work_row(chain.ref, record, now))
                claims += claims_of(record, now)
                found += _judged_work(works[-1], chain.ref, record, remote, now)
            else:
                told = Notes(roster=roster, work=chain.work, machine=chain.ref.last)
                notes.append(notes_row(chain.ref, told.extend(chain.commits or ())))
                found += _void(chain.ref, chain.work, notes[-1].entries)
        except DamagedError as error:
            # of a chain that is cut off in a shallow clone, for one: it spoils no other
            found.append(_finding(Grade.DAMAGED, What.NO_CHAIN, chain.ref, str(error), _PUT_BACK))
    found += _without_purpose(remote, works)
    parts = [row.entries for row in works] + [row.entries for row in notes]
    every = [*own, *(row for part in parts for row in part)]
    found += [*clocks(every, now), *silent(roster, every)]
    kept = [f for f in found if not (f.what is What.VOID and f.oid in known)]
    founder = next(iter(roster.everyone.values()))
    return Report(
        founding=roster.founding,
        founder=f"{founder.name} of {founder.person}",
        members=tuple(member.name for member in roster.members()),
        roster=own,
        archive=tuple(roster_row(entry, roster) for entry in archive.entries),
        works=tuple(works),
        notes=tuple(notes),
        findings=sort_findings(kept),
        claims=tuple(claims),
        read=read,
        known=len(found) - len(kept),
    )


def with_branches(report: Report, places: Mapping[str, Place]) -> Report:
    """Return the report with what is to be said of branches, where each of ``places`` is one."""
    found = list(report.findings)
    for branch, claim in last_words(report.claims).items():
        how = judge(claim, places[branch]) if branch in places else None
        if how is None:
            continue
        tip = places[branch].tip
        grade = Grade.WORK if strayed.weighs(how, tip) else Grade.NOTE
        said = strayed.said(claim, tip, how)
        todo, what = strayed.todo(claim, how), What(f"branch-{how.value}")
        found.append(
            Finding(grade=grade, what=what, said=said, todo=todo, ref=claim.ref, work=claim.work)
        )
    return replace(report, findings=sort_findings(found))


def _archive(remote: Remote, roster: Roster) -> tuple[Archive, list[Finding]]:
    """Return the archive, and what is wrong with it: void entries, or that it is no chain."""
    archive = Archive(roster=roster)
    for chain in remote.of(Kind.ARCHIVE):
        try:
            archive = archive.extend(chain.commits or ())
        except DamagedError as error:
            said = str(error)
            return archive, [_finding(Grade.DAMAGED, What.NO_CHAIN, chain.ref, said, _PUT_BACK)]
        rows = [roster_row(entry, roster) for entry in archive.entries]
        return archive, list(_void(chain.ref, "", rows))
    return archive, []


def _contradicted(chain: Chain, archive: Archive, now: datetime) -> Iterator[Finding]:
    """Yield how what lies under a ref contradicts what was seen there, or that it is no chain."""
    if chain.commits is None:
        said = f"what lies there is no chain of commits but a {chain.what}"
        yield _finding(Grade.DAMAGED, What.NO_CHAIN, chain.ref, said, _PUT_BACK)
        return
    found = [oid for oid, _ in chain.commits]
    judged = {compare_tips([oid for oid, _ in seen], found): seen for seen in chain.seen}
    for tips, seen in judged.items():
        if tips in _CONTRADICTS and not _was_let_go(chain.ref, seen, archive, now):
            there = found[-1][:12] if found else "nothing"
            said = f"{tips.value} on the remote: {seen[-1][0][:12]} was seen, now there is {there}"
            todo = "somebody rewrote it: ask who; handsoff doctor shows both histories"
            if tips is not Tips.FORKED:
                todo = _PUT_BACK
            yield _finding(Grade.TRUST, _CONTRADICTS[tips], chain.ref, said, todo)


def _was_let_go(ref: Ref, seen: Commits, archive: Archive, now: datetime) -> bool:
    """Say whether the archive names what was seen, and may: a work that is carried stays."""
    if ref.kind is Kind.NOTES:
        return archive.names(f"notes/{ref.component}/{ref.last}", seen[-1][0])
    if ref.kind is not Kind.RECORD:
        return False
    try:
        work = Chain(ref=ref, commits=seen).work
        record = Record(roster=archive.roster, work=work).extend(seen)
    except DamagedError:  # not at hand any more, so nobody can say who carried it
        return False
    return lets_go(archive, f"lease/{ref.component}", record, now)


def _record(chain: Chain, archive: Archive) -> Record:
    empty, ref = Record(roster=archive.roster, work=chain.work), f"lease/{chain.ref.component}"
    return read_after(empty, chain.commits or (), ref, lambda: archive)


_CONTRADICTS: Final = {
    Tips.REWOUND: What.REWOUND,
    Tips.FORKED: What.FORKED,
    Tips.DELETED: What.DELETED,
}


def _judged_work(
    row: WorkRow, ref: Ref, record: Record, remote: Remote, now: datetime
) -> Iterator[Finding]:
    yield from _void(ref, row.work, row.entries)
    if record.behind:
        said = record.roster.named_text(record.behind)
        todo = "run it again; if it stays so, the roster or this record was rewound: ask who"
        yield _finding(Grade.DAMAGED, What.BEHIND, ref, said, todo, work=row.work)
    yield from upkeep(row, record.lease, now)
    offer = record.good[-1].event if record.good else None
    if row.lease.state is not State.OFFERED or not isinstance(offer, Offered):
        return
    waits = {r.last for r in remote.refs if r.kind is Kind.PARCEL and r.component == ref.component}
    if offer.route == "remote" and offer.parcel not in waits:
        said = f"the parcel that {row.to} is to catch is not on the remote"
        todo = f"on {row.carrier}: withdraw the offer, and send the work again"
        yield _finding(Grade.WORK, What.MISSING, ref, said, todo, work=row.work)


def _void(ref: Ref, work: str, rows: Sequence[EntryRow]) -> Iterator[Finding]:
    for row in rows:
        if row.good:
            continue
        told = row.word.value in row.reason
        said = f"entry {row.oid[:12]}{'' if told else f', {row.word.value}'}: {row.reason}"
        grade, what, todo = Grade.DAMAGED, What.VOID, _ASK
        if ref.kind is Kind.NOTES and row.word is Word.REVOKED:
            # no tip says from when on, and it changes nothing
            grade, what, todo = Grade.NOTE, What.REVOKED, "read it as said by nobody"
        yield Finding(
            grade=grade, what=what, said=said, todo=todo, ref=ref.name, work=work, oid=row.oid
        )


def _without_purpose(remote: Remote, works: Sequence[WorkRow]) -> Iterator[Finding]:
    """Yield the refs that belong to nothing."""
    records = {chain.ref.component: chain for chain in remote.of(Kind.RECORD)}
    named = {row.ref: set(row.parcels) for row in works}
    for ref in sorted(remote.refs, key=lambda r: r.name):
        there = records.get(ref.component)
        ask = f"ask who made {ref.name}"
        if ref.kind is Kind.STRAY:
            yield _finding(Grade.WORK, What.STRAY, ref, "a ref that belongs to nothing", ask)
        elif ref.kind is Kind.RECORD and there is not None and not there.work:
            said = "a record whose name is not that of any work in its entries"
            yield _finding(Grade.WORK, What.STRAY, ref, said, ask)
        elif ref.kind is Kind.PROBE:
            said, todo = "a probe of doctor's that was cut off, or is under way", "handsoff doctor"
            yield _finding(Grade.NOTE, What.LEFT_OVER, ref, said, todo)
        elif ref.kind is Kind.PARCEL and there is None:
            yield _finding(Grade.WORK, What.STRAY, ref, "a parcel of no record", _MISSED)
        elif ref.kind is Kind.PARCEL and there and ref.last not in named[there.ref.name]:
            said = "a parcel that no entry names: a hand-over under way, or one that was cut off"
            yield _finding(Grade.NOTE, What.LEFT_OVER, ref, said, _PRUNE)


def _finding(
    grade: Grade, what: What, ref: Ref, said: str, todo: str, *, work: str = ""
) -> Finding:
    name = work or ref.work
    return Finding(grade=grade, what=what, said=said, todo=todo, ref=ref.name, work=name)
