"""The record of a work: a chain of signed entries, verified, and the lease they add up to.

Each entry stands on the tip of the ref, whoever made that; ``prev`` is the last entry that
was good. One that fails a check is void: shown, skipped, and stood upon, so that nobody who
can push can jam a work. Each check is a function in CHECKS, with its own words.

Each entry names the roster entry it was made under (``roster``), which never goes back.
Without that, admitting a machine would make its older, void entries good, and void all
that honest machines had put on top of them.

Order for callers: fetch roster and record in one fetch. ``behind`` says that an entry
names a roster entry, or a revocation a tip, which was not there: fetch again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from handsoff.core.chain import Commits, Flaw, Judged, Link, Word, check_chain, open_link
from handsoff.core.ids import machine_id
from handsoff.core.machines.roster import Member, Roster
from handsoff.core.works.entry import Entry, decode_event, time_of, tree_for
from handsoff.core.works.holding import Verdict, has_lapsed, may_push
from handsoff.core.works.lease import Event, Lease, Offered, Pushed, Refusal, Saved, State, advance
from handsoff.errors import DamagedError

RecordEntry: TypeAlias = Judged[Entry]

_NOT_WAITED: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as far as it was read.

    ``tip`` is the last good entry and ``git_tip`` what the ref points at; ``at`` is the time
    of the last good entry and ``latest`` the latest that any member signed, good or void.
    ``saved`` is the last revision, and ``kept`` the last one that left a parcel;
    ``route`` is how the last offer's parcel went, ``pushed`` the last word about each branch since
    the work was closed last: then anybody may have moved them.
    """

    roster: Roster
    work: str
    lease: Lease = field(default_factory=Lease)
    entries: tuple[RecordEntry, ...] = ()
    tip: str = ""
    git_tip: str | None = None
    seq: int = 0
    at: int = 0
    latest: int = 0
    under: int = 0
    saved: Saved | None = None
    kept: Saved | None = None
    route: str = ""
    pushed: tuple[Pushed, ...] = ()
    passed: frozenset[str] = frozenset()
    behind: str = ""

    @property
    def repo(self) -> str:
        """The founding id of the roster, which names the repository."""
        return self.roster.founding

    @property
    def good(self) -> list[Entry]:
        """The entries that count, oldest first, of those read in this run."""
        return [e.entry for e in self.entries if e.good and e.entry is not None]

    def extend(self, commits: Commits) -> "Record":
        """Return the record after further commits; raise DamagedError if they do not follow.

        What was read before is not verified again. Extend up to the tip of the ref in one
        go: a revocation counts from the tip that it names.
        """
        check_chain(commits, after=self.git_tip)
        record = replace(self, behind=self.behind or _unseen_tip(self, commits))
        entries = list(self.entries)
        for oid, data in commits:
            record, verdict = _read(record, open_link(oid, data))
            entries.append(verdict)
        return replace(record, entries=tuple(entries))

    def may_push(self, machine: str, now: datetime) -> Verdict:
        """Say whether ``machine`` may push the branch of this work."""
        return may_push(self.lease, machine, now)

    def has_lapsed(self, now: datetime, *, waited: timedelta = _NOT_WAITED) -> bool:
        """Say whether it is safe to treat the present hold or offer as run out."""
        latest = time_of(self.latest) if self.latest else None
        return has_lapsed(self.lease, now, latest=latest, waited=waited)

    def ahead(self, now: datetime) -> timedelta:
        """Return how far the record's times are ahead of ``now``: a finding, never a fault."""
        if not self.latest:
            return _NOT_WAITED
        return max(_NOT_WAITED, time_of(self.latest) - now)


def read_record(commits: Commits, roster: Roster, work: str) -> Record:
    """Return the record of ``work`` that ``commits`` add up to."""
    return Record(roster=roster, work=work).extend(commits)


def _read(record: Record, link: Link | Flaw) -> tuple[Record, RecordEntry]:
    """Return the record after one more link, and what is to be said of that."""
    signer = None if link.key is None else record.roster.everyone.get(machine_id(link.key))
    word = _word(record, link, signer)
    after = replace(record, git_tip=link.oid, passed=_passed(record, link.oid))
    if isinstance(link, Flaw):
        return after, Judged(oid=link.oid, word=word, reason=link.reason)
    if word is not Word.SIGNED:
        return after, Judged(oid=link.oid, word=word, reason=f"{link.by}: {word.value}")
    after = replace(after, latest=max(after.latest, link.at))
    try:
        entry = _entry(link)
    except DamagedError as error:
        return after, Judged(oid=link.oid, word=word, reason=str(error))
    reason = next((said for check in CHECKS if (said := check(record, entry))), "")
    if reason:
        behind = after.behind or _newer_roster(record, entry)
        after = replace(after, behind=behind)
        return after, Judged(oid=link.oid, word=word, reason=reason, entry=entry)
    lease = advance(record.lease, entry.event, record.roster.person_of)
    if isinstance(lease, Refusal):
        said = record.roster.named_text(lease.reason)
        return after, Judged(oid=link.oid, word=word, reason=said, entry=entry)
    saved = entry.event if isinstance(entry.event, Saved) else None
    after = replace(
        after,
        lease=lease,
        tip=link.oid,
        seq=entry.seq,
        at=link.at,
        under=record.roster.numbers[entry.roster],
        saved=saved or record.saved,
        route=entry.event.route if isinstance(entry.event, Offered) else record.route,
        kept=saved if saved is not None and saved.parcel else record.kept,
        pushed=_pushed(record, entry.event),
    )
    return after, Judged(oid=link.oid, word=word, entry=entry)


def _pushed(record: Record, event: Event) -> tuple[Pushed, ...]:
    if record.lease.state is State.CLOSED:
        return ()
    if not isinstance(event, Pushed):
        return record.pushed
    return (*(e for e in record.pushed if e.branch != event.branch), event)


def _entry(link: Link) -> Entry:
    event = decode_event(link.body)
    body = link.body
    if not all(isinstance(body[name], str) for name in ("work", "repo", "roster", "prev")):
        raise DamagedError("not an entry of a record: work, repo, roster or prev is no text")
    return Entry(
        oid=link.oid,
        work=body["work"],
        repo=body["repo"],
        roster=body["roster"],
        seq=body["seq"],
        prev=body["prev"],
        subject=link.subject,
        tree=link.tree,
        event=event,
    )


def _word(record: Record, link: Link | Flaw, signer: Member | None) -> Word:
    """Return what is to be said of the signature, now that the roster is at hand."""
    if isinstance(link, Flaw) and link.key is None:
        return link.word
    if signer is None:
        return Word.UNKNOWN
    return Word.REVOKED if _is_revoked(record, link, signer) else Word.SIGNED


def _is_revoked(record: Record, link: Link | Flaw, signer: Member) -> bool:
    """What a revoked key signed is good up to the tip that the revocation names.

    And only under a roster from before it: else a late tip would let the key go on.
    """
    if signer.revoked is None:
        return False
    if isinstance(link, Link):
        under = record.roster.numbers.get(str(link.body.get("roster")), 0)
        if under >= signer.revoked.seq:
            return True
    return record.work not in signer.revoked.tips or signer.id in record.passed


def _passed(record: Record, oid: str) -> frozenset[str]:
    """Return the revoked machines whose last word in this record is at or before ``oid``."""
    now = {
        m.id
        for m in record.roster.everyone.values()
        if m.revoked is not None and m.revoked.tips.get(record.work) == oid
    }
    return record.passed | now if now else record.passed


def _unseen_tip(record: Record, commits: Commits) -> str:
    here = {oid for oid, _ in commits}
    for member in record.roster.everyone.values():
        if member.revoked is None or member.id in record.passed:
            continue
        tip = member.revoked.tips.get(record.work)
        if tip is not None and tip not in here:
            return f"the revocation of {member.name} names a tip that is not here: {tip}"
    return ""


def _newer_roster(record: Record, entry: Entry) -> str:
    if entry.roster in record.roster.numbers:
        return ""
    return f"an entry names a roster that is not here: {str(entry.roster)[:40]}"


def _repository(record: Record, entry: Entry) -> str:
    return "" if entry.repo == record.repo else "an entry of another repository"


def _work(record: Record, entry: Entry) -> str:
    return "" if entry.work == record.work else "an entry of another work"


def _sequence(record: Record, entry: Entry) -> str:
    if entry.seq == record.seq + 1:
        return ""
    return f"out of turn: number {entry.seq}, where {record.seq + 1} is due"


def _predecessor(record: Record, entry: Entry) -> str:
    return "" if entry.prev == record.tip else "it does not follow the last good entry"


def _time(record: Record, entry: Entry) -> str:
    return "" if entry.event.at >= time_of(record.at) else "dated before the entry that it follows"


def _roster(record: Record, entry: Entry) -> str:
    under = record.roster.numbers.get(entry.roster)
    if under is None:
        return "made under a roster that is not known here"
    if under < record.under:
        return "made under an older roster than the entry that it follows"
    if record.roster.everyone[entry.event.by].admitted > under:
        return "signed by a machine that was not admitted yet"
    return ""


def _tree(_: Record, entry: Entry) -> str:
    return (
        "" if entry.tree == tree_for(entry.event) else "its tree is not the page and nothing else"
    )


def _offer(record: Record, entry: Entry) -> str:
    if not isinstance(entry.event, Offered):
        return ""
    if record.saved is None:
        return "nothing was saved that could be offered"
    if entry.event.envelope != record.saved.envelope:
        return "an offer of another state than the last one saved"
    to, roster = entry.event.to, record.roster
    if to.machine and to.machine not in roster.everyone:
        return "an offer to a machine that is not in the roster"
    if to.person and not roster.of_person(to.person, revoked=True):
        return "an offer to a person who is not in the roster"
    return ""


CHECKS: Final[tuple[Callable[[Record, Entry], str], ...]] = (
    _repository,
    _work,
    _sequence,
    _predecessor,
    _time,
    _roster,
    _tree,
    _offer,
)
"""What an entry must pass before the table of the lease is asked; each returns a reason."""
