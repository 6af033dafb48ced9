"""What happened to one work, as a person sees it: time line, legs, pages, entries.

Pure, and of the same rule as ``overview``: texts are made safe here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final

from handsoff.core.audit.legs import Leg, Stretch, catches, legs, stretches
from handsoff.core.machines.roster import Roster
from handsoff.core.plain import plain, plain_block
from handsoff.core.shown.differences import Change, differences
from handsoff.core.shown.overview import Card
from handsoff.core.shown.timescale import Scale, scale, ticks
from handsoff.core.works import history
from handsoff.core.works.entry import time_of
from handsoff.core.works.history import Line
from handsoff.core.works.lease import Event, Saved
from handsoff.core.works.notes import NoteEntry
from handsoff.core.works.record import Record

MARKS: Final = 1000
"""Points that are drawn, the newest: a browser has to hold them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A stretch of a leg, drawn: ``left`` and ``width`` in per cent of the line."""

    kind: str
    leg: int
    left: float
    width: float
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened, drawn as a point."""

    kind: str
    left: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One machine's line."""

    name: str
    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegRow:
    """A leg in words."""

    number: int
    carrier: str
    begin: datetime
    end: datetime
    saves: int
    last: str
    to: str
    found: str
    """How it came to be there for the catching, such as ``offer``."""
    found_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page of a revision. ``text`` is None where it is not here, or is no page."""

    revision: int
    by: str
    at: datetime
    text: str | None
    problem: str = ""
    parcel: bool = False
    same_as: int = 0
    """The earlier revision that has the very same page, 0 if none has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What stayed behind, where that is known here."""

    revision: int
    paths: tuple[tuple[str, str], ...]
    """Each path, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkView:
    """All that is to be told of one work."""

    card: Card
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, datetime], ...]
    """Where a moment is labelled, in per cent as well."""
    breaks: tuple[tuple[float, timedelta], ...]
    legs: tuple[LegRow, ...]
    lines: tuple[Line, ...]
    pages: tuple[Page, ...]
    """Newest first."""
    left: Left | None = None

    def page(self, revision: int) -> Page | None:
        """Return the page of a revision."""
        return next((page for page in self.pages if page.revision == revision), None)

    def changes(self, old: int, new: int) -> tuple[Change, ...] | None:
        """Return what changed between two revisions; None if it cannot be told."""
        pair = self.page(old), self.page(new)
        texts = [page.text for page in pair if page is not None and page.text is not None]
        return differences(*texts) if len(texts) == len(pair) else None


def work_view(
    card: Card,
    record: Record,
    notes: Iterable[NoteEntry],
    now: datetime,
    *,
    landed: Collection[str] | None = None,
    texts: Mapping[str, str | Exception],
    left: Left | None = None,
    more: Iterable[Line] = (),
) -> WorkView:
    """Return what there is to tell of a ``record`` that was read with all its entries.

    ``landed`` are the entries that the remote has (default: all of them); ``texts`` the pages by
    their blobs, or what is wrong with one; ``more`` lines about notes that are no chain.
    """
    roster, notes = record.roster, list(notes)
    every = [entry.oid for entry in record.entries]
    told = history.tell(record.entries, notes, roster, landed=every if landed is None else landed)
    events = [entry.event for entry in record.good]
    parts = stretches(events, roster.person_of, now)
    line = scale(parts)
    walked = legs(events, parts)
    return WorkView(
        card=card,
        lanes=_lanes(_happened(events, notes)[-MARKS:], parts, line, roster),
        ticks=tuple(
            (_percent(at), time) for at, time in ticks(line, [leg.begin for leg in walked])
        ),
        breaks=tuple((_percent(cut.at), cut.length) for cut in line.breaks),
        legs=_leg_rows(events, walked, roster),
        lines=tuple(map(_safe, (*more, *told))),
        pages=tuple(_pages(events, roster, texts))[::-1],
        left=left,
    )


def _safe(line: Line) -> Line:
    return replace(
        line, by=plain(line.by), detail=plain_block(line.detail, limit=5000), void=plain(line.void)
    )


def _happened(
    events: Iterable[Event], notes: Iterable[NoteEntry]
) -> list[tuple[str, str, datetime]]:
    """Return who did what when, the newest last: what is drawn as a point."""
    done = [(event.by, type(event).__name__.lower(), event.at) for event in events]
    told = [entry.entry for entry in notes if entry.good and entry.entry is not None]
    done += [(note.by, "refused" if note.tried else "noted", time_of(note.at)) for note in told]
    return sorted(done, key=itemgetter(2))


def _lanes(
    happened: Sequence[tuple[str, str, datetime]],
    parts: Sequence[Stretch],
    line: Scale,
    roster: Roster,
) -> tuple[Lane, ...]:
    machines = dict.fromkeys(part.carrier for part in parts)
    if parts:
        machines |= dict.fromkeys(by for by, _, _ in happened)
    return tuple(
        Lane(
            name=plain(roster.name_of(machine)),
            bars=tuple(_bar(part, line) for part in parts if part.carrier == machine),
            marks=tuple(
                Mark(kind=kind, left=_percent(line.place(at)), at=at)
                for by, kind, at in happened
                if by == machine
            ),
        )
        for machine in machines
    )


def _bar(part: Stretch, line: Scale) -> Bar:
    low, high = line.place(part.begin), line.place(part.end)
    return Bar(
        kind=part.kind.value,
        leg=part.leg,
        left=_percent(low),
        width=_percent(high - low),
        begin=part.begin,
        end=part.end,
    )


def _percent(share: float) -> float:
    return round(100 * share, 3)


def _leg_rows(events: Sequence[Event], walked: Sequence[Leg], roster: Roster) -> tuple[LegRow, ...]:
    began = catches(events)

    def name(machine: str) -> str:
        return plain(roster.name_of(machine)) if machine else ""

    rows = []
    for leg in walked:
        found = began[leg.number].found if leg.number in began else None
        rows.append(
            LegRow(
                number=leg.number,
                carrier=name(leg.carrier),
                begin=leg.begin,
                end=leg.end,
                saves=leg.saves,
                last=leg.last.value,
                to=name(leg.to),
                found=found.how.value if found else "",
                found_by=name(found.by) if found else "",
            )
        )
    return tuple(rows)


def _pages(
    events: Sequence[Event], roster: Roster, texts: Mapping[str, str | Exception]
) -> Iterable[Page]:
    seen: dict[str, int] = {}
    for event in events:
        if not isinstance(event, Saved):
            continue
        text = texts.get(event.page)
        revision = event.revision + 1
        yield Page(
            revision=revision,
            by=plain(roster.name_of(event.by)),
            at=event.at,
            text=plain_block(text) if isinstance(text, str) else None,
            problem=plain(str(text)) if isinstance(text, Exception) else "",
            parcel=bool(event.parcel),
            same_as=seen.get(event.page, 0) if event.page else 0,
        )
        seen.setdefault(event.page, revision)
