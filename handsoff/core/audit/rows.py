"""What an audit shows of each chain: one row for each entry, with names in place of ids."""

from datetime import datetime

from handsoff.core.audit.findings import EntryRow, NotesRow, WorkRow
from handsoff.core.machines.admission import RosterEntry
from handsoff.core.machines.roster import Roster
from handsoff.core.remote.refs import Ref
from handsoff.core.works.entry import seconds
from handsoff.core.works.notes import NoteEntry, Notes
from handsoff.core.works.record import Record, RecordEntry


def work_row(ref: Ref, record: Record, now: datetime) -> WorkRow:
    """Return the row of a work, as it stands at ``now``."""
    roster, lease = record.roster, record.lease
    parcels = (getattr(entry.event, "parcel", "") for entry in record.good)
    return WorkRow(
        work=record.work,
        ref=ref.name,
        tip=record.git_tip or "",
        lease=lease.as_of(now),
        carrier=roster.name_of(lease.carrier) if lease.carrier else "",
        to=roster.named_text(lease.to.shown()) if lease.to else "",
        parcels=tuple(parcel for parcel in parcels if parcel),
        entries=tuple(_record_row(entry, roster) for entry in record.entries),
        record=record,
    )


def notes_row(ref: Ref, notes: Notes) -> NotesRow:
    """Return the row of one machine's notes about one work."""
    roster = notes.roster
    rows = tuple(_note_row(entry, roster) for entry in notes.entries)
    name = roster.name_of(notes.machine)
    return NotesRow(work=notes.work, machine=name, ref=ref.name, entries=rows, notes=notes)


def _record_row(judged: RecordEntry, roster: Roster) -> EntryRow:
    entry = judged.entry
    if entry is None:
        return _row(judged, roster)
    event = entry.event
    return _row(judged, roster, kind=entry.kind, by=event.by, at=seconds(event.at))


def roster_row(judged: RosterEntry, roster: Roster) -> EntryRow:
    """Return the row of an entry of the roster, or of the archive."""
    link = judged.entry
    if link is None:
        return _row(judged, roster)
    return _row(judged, roster, kind=link.body["kind"], by=link.by, at=link.at)


def _note_row(judged: NoteEntry, roster: Roster) -> EntryRow:
    note = judged.entry
    if note is None:
        return _row(judged, roster)
    kind = "Refused" if note.tried else "Noted"
    return _row(judged, roster, kind=kind, by=note.by, at=note.at)


def _row(
    judged: RecordEntry | RosterEntry | NoteEntry,
    roster: Roster,
    *,
    kind: str = "",
    by: str = "",
    at: int = 0,
) -> EntryRow:
    return EntryRow(
        oid=judged.oid,
        word=judged.word,
        reason=roster.named_text(judged.reason),
        kind=kind,
        by=roster.name_of(by) if by else "",
        at=at,
    )
