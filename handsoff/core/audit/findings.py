"""What an audit says: findings, each with what to do, and what they make of the exit code."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from handsoff.core.audit.strayed import Claim
from handsoff.core.chain import Word
from handsoff.core.machines.admission import RosterRead
from handsoff.core.works.lease import Lease
from handsoff.core.works.notes import Notes
from handsoff.core.works.record import Record
from handsoff.errors import DamagedError, RefusedError, TrustError


class Grade(Enum):
    """How much a finding weighs."""

    TRUST = "trust"
    """The remote contradicts what was seen before."""
    DAMAGED = "damaged"
    """Something does not verify; it counts for nothing."""
    WORK = "work"
    """All of it verifies, and somebody should look after a work."""
    NOTE = "note"
    """Worth knowing; nothing is wrong."""


EXIT_CODES: Final = {
    Grade.TRUST: TrustError.exit_code,
    Grade.DAMAGED: DamagedError.exit_code,
    Grade.WORK: RefusedError.exit_code,
    Grade.NOTE: 0,
}
"""The heaviest finding decides: the order of Grade."""


class What(Enum):
    """What was found; the words of ``--json``, which stay."""

    REWOUND = "rewound"
    FORKED = "forked"
    DELETED = "deleted"
    VOID = "void"
    NO_CHAIN = "no-chain"
    BEHIND = "behind"
    OVERDUE = "overdue"
    IDLE = "idle"
    BLOCKED = "blocked"
    CLOCK = "clock"
    STRAY = "stray"
    LEFT_OVER = "left-over"
    MISSING = "missing"
    SILENT = "silent"
    REVOKED = "revoked"
    BRANCH_DELETED = "branch-deleted"
    BRANCH_REWRITTEN = "branch-rewritten"
    BRANCH_SET_BACK = "branch-set-back"
    BRANCH_AHEAD = "branch-ahead"
    BRANCH_UNKNOWN = "branch-unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: what is so, and what to do about it. ``oid`` is the entry, if one."""

    grade: Grade
    what: What
    said: str
    todo: str
    ref: str = ""
    work: str = ""
    oid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry of any chain, as the audit judged it."""

    oid: str
    word: Word
    reason: str
    kind: str = ""
    by: str = ""
    """The machine's name, "" where the entry does not tell."""
    at: int = 0

    @property
    def good(self) -> bool:
        """Whether it counts."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRow:
    """One work: who carries it since when, and each entry of its record."""

    work: str
    ref: str
    tip: str
    lease: Lease
    """As it stands at the time of the audit."""
    carrier: str
    """The carrier's name, "" if nobody ever carried it."""
    to: str
    """Whom it was offered to last, if nobody caught it."""
    parcels: tuple[str, ...]
    """The parcels that its entries name."""
    entries: tuple[EntryRow, ...]
    record: Record
    """What was verified, for whoever shows more than rows."""

    @property
    def void(self) -> int:
        """How many entries count for nothing."""
        return sum(not entry.good for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRow:
    """The notes of one machine about one work."""

    work: str
    machine: str
    ref: str
    entries: tuple[EntryRow, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that an audit found; ``known`` are void entries that people have looked at before."""

    founding: str
    founder: str
    members: tuple[str, ...]
    roster: tuple[EntryRow, ...]
    archive: tuple[EntryRow, ...]
    works: tuple[WorkRow, ...]
    notes: tuple[NotesRow, ...]
    findings: tuple[Finding, ...]
    read: RosterRead = field(default_factory=RosterRead)
    claims: tuple[Claim, ...] = ()
    """What the records say last of branches, to be held against where the remote has them."""
    known: int = 0

    @property
    def clean(self) -> bool:
        """Whether nobody has to look."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The code of the heaviest finding, 0 if there is none that weighs."""
        found = {finding.grade for finding in self.findings}
        return next((EXIT_CODES[grade] for grade in Grade if grade in found), 0)


def sort_findings(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings by weight, then by work."""
    order = list(Grade)
    return tuple(sorted(found, key=lambda f: (order.index(f.grade), f.work, f.ref)))
