"""``handsoff history``: all that happened to a work, in order, and each page as it was saved."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from handsoff.core import lease as events
from handsoff.core.entry import Entry, seconds
from handsoff.core.ids import is_machine_id, work_component
from handsoff.core.lease import Event
from handsoff.core.notes import Note, NoteEntry, Notes
from handsoff.core.page import parse
from handsoff.core.record import RecordEntry
from handsoff.core.roster import Roster
from handsoff.core.times import moment
from handsoff.edge.git.objects import Objects
from handsoff.errors import RefusedError, UsageError
from handsoff.flows import ledger, noting
from handsoff.flows.desk import Desk, View

_REVISION: Final = re.compile(r"r([1-9][0-9]{0,8})")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All that is known of one work."""

    work: str
    state: str
    carrier: str
    leg: int
    revision: int
    lines: tuple[Line, ...]
    away: str
    """Why the remote could not be asked, "" if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPage:
    """A page as it was saved."""

    work: str
    revision: int
    by: str
    at: int
    page: str
    """Safe to print."""
    oid: str
    """The blob, which the signed entry names."""


def history(desk: Desk, work: str) -> History:
    """Return what happened to ``work``, in order."""
    with desk.checkout.lock():
        view = ledger.look(desk, work, expect_news=True)
        notes = _notes(desk, view)
    record = desk.history_to(view.roster, work, view.tip)
    if not record.entries and not any(n.entries for n in notes):
        raise RefusedError(
            f"nobody has written anything about {work}", hint="handsoff status lists the works"
        )
    landed = {oid for oid, _ in desk.shared.chain(view.remote_tip) or []}
    name = view.roster.name_of
    lines = [_line(e, view.roster, pending=e.oid not in landed) for e in record.entries]
    lease = record.lease.as_of(desk.now)
    return History(
        work=work,
        state=lease.state.value,
        carrier=name(lease.carrier) if lease.carrier else "",
        leg=lease.leg,
        revision=lease.revision,
        lines=tuple(_in_order(lines, notes, view.roster)),
        away=view.away,
    )


def _notes(desk: Desk, view: View) -> list[Notes]:
    """Return the notes of all machines on a work; without the remote those of this one."""
    work, shared = view.record.work, desk.shared
    if view.away:
        tips = {desk.machine.id: noting.Own(desk, view.roster, work).tip}
    else:
        prefix = f"{shared.prefix}/notes/{work_component(work)}/"
        there = shared.tips(f"{prefix}*")
        new = [ref for ref, tip in there.items() if not shared.has(tip)]
        if new:
            shared.fetch(new)
        tips = {ref.removeprefix(prefix): tip for ref, tip in there.items()}
    return [
        Notes(roster=view.roster, work=work, machine=machine).extend(shared.chain(tip) or [])
        for machine, tip in tips.items()
        if is_machine_id(machine)
    ]


def _in_order(lines: list[Line], notes: list[Notes], roster: Roster) -> Iterator[Line]:
    """Yield entries and notes in one order: each note after the tip that it saw, then by time."""
    after: dict[str, list[Line]] = {}
    known = {line.oid for line in lines}
    for chain in notes:
        for entry in chain.entries:
            saw = entry.entry.saw if entry.entry is not None else ""
            after.setdefault(saw if saw in known else "", []).append(_note_line(entry, roster))
    yield from sorted(after.get("", []), key=lambda line: line.at)
    for line in lines:
        yield line
        yield from sorted(after.get(line.oid, []), key=lambda note: note.at)


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


def saved_page(desk: Desk, work: str, revision: str) -> SavedPage:
    """Return the page of a revision (such as "r2") as it was saved."""
    asked = _REVISION.fullmatch(revision)
    if asked is None:
        raise UsageError(f"{revision!r} is no revision", hint="such as r2")
    with desk.checkout.lock():
        view = ledger.look(desk, work, expect_news=True)
    record = desk.history_to(view.roster, work, view.tip)
    found = next((e for e in record.good if _is_revision(e, int(asked[1]))), None)
    if found is None:
        last = record.lease.revision
        raise RefusedError(
            f"{work} has no {revision}", hint=f"the last is r{last}" if last else "nothing is saved"
        )
    event = found.event
    assert isinstance(event, events.Saved)
    objects = Objects(desk.shared.objects, desk.checkout.common_dir / "objects")
    body = objects.blob(event.page) if event.page else b""
    return SavedPage(
        work=work,
        revision=int(asked[1]),
        by=view.roster.name_of(event.by),
        at=seconds(event.at),
        page=parse(body).shown,
        oid=event.page,
    )


def _is_revision(entry: Entry, number: int) -> bool:
    return isinstance(entry.event, events.Saved) and entry.event.revision + 1 == number
