"""What an audit found, as lines for people (80 columns) and as a document.

Pure, like ``render``; all text that other machines wrote passes ``plain``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from handsoff.cli import layout
from handsoff.core.audit.findings import EntryRow, Finding, WorkRow
from handsoff.core.audit.strayed import Claim
from handsoff.core.plain import plain
from handsoff.core.times import moment
from handsoff.core.works.lease import Lease, State
from handsoff.edge import tongue

if TYPE_CHECKING:
    from handsoff.flows.audit.audit import Audit

_MOST: Final = 20
"""Findings of one kind about one work that people are shown; ``--json`` has all."""


def audit_lines(audit: "Audit") -> Iterator[str]:
    """Yield the roster, one line a work, then what was found and what to do."""
    report = audit.report
    yield f"roster {report.founding}"
    members = f"{len(report.members)} machines" if len(report.members) != 1 else "1 machine"
    yield _fit(f"  founded by {plain(report.founder)}; {members}, {_entries(report.roster)}")
    if report.works:
        yield from _table([_work_cells(row) for row in report.works])
    for row in report.notes:
        told = f"notes of {plain(row.machine)} on {plain(row.work)}: {_entries(row.entries)}"
        yield _fit(told)
    if report.archive:
        yield _fit(f"archive: {_entries(report.archive)}")
    yield from _finding_lines(report.findings)
    if report.known:
        yield f"void and known before: {report.known}"
    weighs = [f for f in report.findings if f.grade.value != "note"]
    yield "clean" if report.clean else f"not clean: {len(weighs)} to look at"


def audit_document(audit: "Audit") -> dict[str, Any]:
    """Return the document of ``--json``."""
    report = audit.report
    return {
        "clean": report.clean,
        "exit": report.exit_code,
        "at": _time(audit.at),
        "remote": audit.remote,
        "prefix": audit.prefix,
        "founding": report.founding,
        "founder": report.founder,
        "members": list(report.members),
        "known": report.known,
        "roster": [_entry(row) for row in report.roster],
        "archive": [_entry(row) for row in report.archive],
        "works": [_work(row, report.claims) for row in report.works],
        "notes": [
            {
                "work": row.work,
                "machine": row.machine,
                "ref": row.ref,
                "entries": [_entry(entry) for entry in row.entries],
            }
            for row in report.notes
        ],
        "findings": [_finding(finding) for finding in report.findings],
    }


def _work(row: WorkRow, claims: Sequence[Claim]) -> dict[str, Any]:
    lease = row.lease
    pushed = [
        {"branch": claim.branch, "commit": claim.new, "by": claim.by, "at": _time(claim.at)}
        for claim in claims
        if claim.work == row.work
    ]
    return {
        "work": row.work,
        "ref": row.ref,
        "tip": row.tip,
        "state": lease.state.value,
        "how": lease.how.value,
        "carrier": row.carrier,
        "to": row.to,
        "leg": lease.leg,
        "revision": lease.revision,
        "since": _time(lease.since),
        "until": _time(lease.until),
        "blocked": lease.blocked,
        "reason": lease.reason,
        "pushed": pushed,
        "entries": [_entry(entry) for entry in row.entries],
    }


def _entry(row: EntryRow) -> dict[str, Any]:
    return {
        "oid": row.oid,
        "word": row.word.value,
        "good": row.good,
        "reason": row.reason,
        "kind": row.kind,
        "by": row.by,
        "at": row.at or None,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "grade": finding.grade.value,
        "what": finding.what.value,
        "said": finding.said,
        "todo": finding.todo,
        "work": finding.work,
        "ref": finding.ref,
        "oid": finding.oid,
    }


def _time(at: datetime | None) -> str | None:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


def _work_cells(row: WorkRow) -> list[str]:
    count = len(row.entries)
    return [
        _middle(plain(row.work or row.ref), 24),
        tongue.word("state", row.lease.state.value),
        _middle(plain(row.carrier or "-"), 12),
        _since(row.lease),
        f"r{row.lease.revision}",
        tongue.said(f"{count}: {row.void} void" if row.void else f"{count}: all good"),
    ]


def _since(lease: Lease) -> str:
    return "-" if lease.state is State.FREE or lease.since is None else moment(lease.since)[:16]


def _table(rows: Sequence[list[str]]) -> Iterator[str]:
    heads = ["work", "is", "carrier", "since (UTC)", "at", "entries"]
    rows = [[tongue.word("column", head) for head in heads], *rows]
    widths = layout.widest(rows)
    for row in rows:
        yield layout.padded(row, widths)


def _finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    shown: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        about = (finding.what.value, finding.ref)
        shown[about] += 1
        if shown[about] > _MOST:
            continue
        where = plain(finding.work or finding.ref)
        said = f"{where}: {plain(finding.said)}" if where else plain(finding.said)
        grade = tongue.word("grade", finding.grade.value)
        yield from layout.wrapped(f"{grade}: {said}", rest="  ")
        yield from layout.wrapped(f"do: {plain(finding.todo)}", first="  ", rest="      ")
    for (what, ref), count in shown.items():
        if count > _MOST:
            yield from layout.wrapped(f"and {count - _MOST} more of {what} in {plain(ref)}")


def _entries(rows: Sequence[EntryRow]) -> str:
    words = Counter(
        row.word.value if row.word.value != "signed" or row.good else "" for row in rows
    )
    good = sum(row.good for row in rows)
    told = f"{len(rows)} entries" if len(rows) != 1 else "1 entry"
    void = [f"{count} void ({word})" for word, count in sorted(words.items()) if word]
    return f"{told}: {', '.join(['all good'] if good == len(rows) else void)}"


def _middle(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    left = (width - 1) // 2
    return f"{text[:left]}…{text[left + 1 - width :]}"


def _fit(line: str) -> str:
    return _middle(tongue.said(line), layout.WIDTH)
