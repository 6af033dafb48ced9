"""The history of a work: entries, notes and refusals as lines, in one order.

An entry comes where it stands in the chain. A note comes after the entry that its machine had seen
last, and notes on the same entry by the time that was signed: their clocks need not agree with that
of the record.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from handsoff.core.chain import Word
from handsoff.core.machines.roster import Roster
from handsoff.core.times import moment
from handsoff.core.works import lease as events
from handsoff.core.works.entry import seconds
from handsoff.core.works.lease import Event
from handsoff.core.works.notes import Note, NoteEntry
from handsoff.core.works.record import RecordEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that happened."""

    at: int
    """Seconds since 1970, by the clock of the machine that signed."""
    by: str
    what: str
    """The kind of entry, such as Saved, Noted or Refused; "void" of one that does not count."""
    leg: int
    revision: int
    detail: str
    word: str
    """What is to be said of the signature."""
    oid: str
    void: str = ""
    """Why it does not count, "" if it does."""
    pending: bool = False
    """Whether the remote has not got it yet."""


def tell(
    entries: Iterable[RecordEntry],
    notes: Iterable[NoteEntry],
    roster: Roster,
    *,
    landed: Collection[str],
) -> tuple[Line, ...]:
    """Return the lines of a work in order; ``landed`` are the entries that the remote has."""
    lines = [_line(entry, roster, pending=entry.oid not in landed) for entry in entries]
    return tuple(_in_order(lines, notes, roster))


def no_chain(machine: str, tip: str, reason: str) -> Line:
    """Return the line for what lies in the place of a machine's notes, and is no chain."""
    return Line(
        at=0, by=machine, what="void", leg=0, revision=0, detail="its notes",
        word=Word.UNSIGNED.value, oid=tip, void=reason,
    )  # fmt: skip


def _in_order(lines: Sequence[Line], notes: Iterable[NoteEntry], roster: Roster) -> Iterator[Line]:
    after: dict[str, list[Line]] = {}
    known = {line.oid for line in lines}
    for entry in notes:
        saw = entry.entry.saw if entry.entry is not None else ""
        after.setdefault(saw if saw in known else "", []).append(_note_line(entry, roster))
    for told in after.values():
        told.sort(key=lambda note: note.at)
    yield from after.get("", ())
    for line in lines:
        yield line
        yield from after.get(line.oid, ())


def _line(judged: RecordEntry, roster: Roster, *, pending: bool) -> Line:
    entry = judged.entry
    event = entry.event if entry is not None else None
    return Line(
        at=seconds(event.at) if event else 0,
        by=roster.name_of(event.by) if event else "",
        what=entry.kind if entry is not None else "void",
        leg=_leg(event),
        revision=_revision(event),
        detail=roster.named_text(_detail(event)),
        word=judged.word.value,
        oid=judged.oid,
        void=judged.reason,
        pending=pending,
    )


def _note_line(judged: NoteEntry, roster: Roster) -> Line:
    note = judged.entry or Note(by="", at=0, seq=0, saw="", text="")
    tried = f"{note.tried}: " if note.tried else ""
    return Line(
        at=note.at,
        by=roster.name_of(note.by) if note.by else "",
        what="Refused" if note.tried else "Noted",
        leg=note.leg,
        revision=note.revision,
        detail=roster.named_text(tried + note.text),
        word=judged.word.value,
        oid=judged.oid,
        void=judged.reason,
    )


def _leg(event: Event | None) -> int:
    return 0 if event is None else event.leg + isinstance(event, events.Caught)


def _revision(event: Event | None) -> int:
    return 0 if event is None else event.revision + isinstance(event, events.Saved)


def _detail(event: Event | None) -> str:
    match event:
        case events.Caught(found=found):
            how = found.how.value
            return f"from {found.by} ({how})" if found.by else ""
        case events.Saved(parcel=parcel):
            return "" if parcel else "the page alone"
        case events.Pushed(branch=branch, new=new):
            return f"{branch} to {new[:10]}"
        case events.Offered(to=to, deadline=deadline, route=route):
            by = f" by {route}" if route else ""
            return f"to {to.shown()}{by}, until {moment(deadline)}"
        case events.Dropped(reason=reason, blocked=blocked):
            return f"{'blocked: ' if blocked else ''}{reason}"
        case events.Closed(outcome=outcome):
            return outcome
        case _:
            return ""
