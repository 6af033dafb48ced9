"""What this clone knows, put together for a page: from what was verified before, asking nobody.

A window reads what the verbs keep, holds no lock and writes nothing. What the remote said last, and
what an audit found, it is told (``Known``); see ``watching``.
"""

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from handsoff.core.ids import work_component
from handsoff.core.machines.roster import Roster
from handsoff.core.pages.page import LIMIT, parse
from handsoff.core.plain import plain
from handsoff.core.shown.overview import (
    Card,
    Known,
    Overview,
    Own,
    ParcelRow,
    WaitRow,
    card_of,
    in_order,
    machines_of,
    parcel_of,
    unverified,
)
from handsoff.core.shown.workview import Left, WorkView, work_view
from handsoff.core.works.entry import time_of
from handsoff.core.works.history import Line
from handsoff.core.works.lease import Saved
from handsoff.core.works.notes import NoteEntry
from handsoff.core.works.record import Record
from handsoff.edge import clock
from handsoff.edge.git.objects import Objects, store_of
from handsoff.errors import HandsoffError, UsageError
from handsoff.flows.audit.audit import notes_kept
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory
from handsoff.flows.shown import leftovers
from handsoff.flows.waiting import Pending, extended
from handsoff.flows.works.history import notes_of
from handsoff.flows.works.notebook import Notebook
from handsoff.flows.works.pending import pending

_KEPT = 32
"""Histories that are kept in memory: those that somebody looks at."""


class Window:
    """A look at one clone, as often as somebody asks. Threads may share it."""

    def __init__(self, desk: Desk) -> None:
        desk.need_pin()
        self._desk = desk
        self._lock = threading.Lock()
        self._roster: Roster | None = None
        self._histories: dict[tuple[str, str, str], Record] = {}
        self.known = Known()

    def desk(self) -> Desk:
        """Return the desk as of now."""
        return replace(self._desk, now=clock.now())

    def overview(self) -> Overview:
        """Return all works at a glance."""
        desk, known = self.desk(), self.known
        roster = self._read_roster(desk)
        own = own_of(desk, roster)
        cards = in_order(self._cards(desk, roster, own)) if roster is not None else ()
        waits = pending(desk)
        founder = next(iter(roster.everyone.values())) if roster is not None else None
        return Overview(
            at=desk.now,
            remote=plain(_remote(desk)),
            founding=desk.need_pin(),
            founder=plain(f"{founder.name} of {founder.person}") if founder else "",
            machine=plain(desk.machine.name),
            place=plain(desk.checkout.top.name),
            cards=cards,
            machines=machines_of(roster, cards, own=own) if roster is not None else (),
            parcels=_parcels(desk, roster),
            waits=tuple(
                WaitRow(
                    work=plain(w.work), verb=w.verb, at=time_of(w.at), leg=w.leg,
                    revision=w.revision,
                )
                for w in waits.verbs
            ),
            news=tuple(map(plain, (*waits.roster, *waits.unfinished, *waits.lost))),
            away=plain(known.away),
            asked=known.asked,
            doubts=tuple(map(plain, known.doubts)),
            findings=known.findings,
            audited=known.audited,
            unaudited=plain(known.unaudited),
        )  # fmt: skip

    def work(self, component: str) -> WorkView | None:
        """Return all that is known of the work of this component; None if there is none."""
        desk = self.desk()
        roster = self._read_roster(desk)
        work = next((w for w in _works(desk) if work_component(w) == component), None)
        if roster is None or work is None:
            return None
        card = self._card(desk, roster, own_of(desk, roster), work)
        record = self._history(desk, roster, work)
        landed = {oid for oid, _ in desk.shared.chains.line(desk.seen_tip(work)) or []}
        notes, spoiled = self._notes(desk, roster, work)
        objects = store_of(desk.shared)
        return work_view(
            card, record, notes, desk.now,
            landed=landed, texts=texts_of(objects, record), more=spoiled,
            left=left_of(record, objects, desk),
        )  # fmt: skip

    def _cards(self, desk: Desk, roster: Roster, own: Own) -> Iterable[Card]:
        for work in _works(desk):
            yield self._card(desk, roster, own, work)

    def _card(self, desk: Desk, roster: Roster, own: Own, work: str) -> Card:
        trouble = self.known.troubles.get(work, "")
        record = desk.kept_record(work, roster)
        if record is None and desk.seen_tip(work):
            return unverified(work, trouble)
        record = record or Record(roster=roster, work=work)
        try:
            here = extended(desk, record)
        except HandsoffError as error:
            return card_of(record, desk.now, own=own, trouble=trouble or str(error))
        provisional = here.git_tip != record.git_tip
        return card_of(here, desk.now, own=own, provisional=provisional, trouble=trouble)

    def _history(self, desk: Desk, roster: Roster, work: str) -> Record:
        """Return the record with all its entries, and what waits here on top."""
        waits, seen = Pending(desk.checkout).of(work), desk.seen_tip(work)
        tip = waits.tip if waits is not None and _follows(desk, waits.tip, seen) else seen
        key = (roster.tip, work, tip)
        with self._lock:
            found = self._histories.pop(key, None)
        found = found or desk.history_to(roster, work, tip)
        with self._lock:
            self._histories[key] = found
            while len(self._histories) > _KEPT:
                self._histories.pop(next(iter(self._histories)))
        return found

    def _read_roster(self, desk: Desk) -> Roster | None:
        tip = desk.roster_tip
        if self._roster is None or self._roster.tip != tip:
            self._roster = desk.local_roster()
        return self._roster

    def _notes(self, desk: Desk, roster: Roster, work: str) -> tuple[list[NoteEntry], list[Line]]:
        tips = self.known.notes.get(work) or notes_kept(desk.shared, work)
        own = Notebook(desk, roster, work)
        if own.tip and (own.waits() or desk.machine.id not in tips):
            tips = {**tips, desk.machine.id: own.tip}
        return notes_of(desk, roster, work, tips)


def own_of(desk: Desk, roster: Roster | None) -> Own:
    """Return who looks."""
    machine = desk.machine.id
    return Own(machine=machine, person=roster.person_of(machine) if roster is not None else None)


def texts_of(objects: Objects, record: Record) -> dict[str, str | Exception]:
    """Return the pages of a record by their blobs: the text, or what is wrong with one."""
    found: dict[str, str | Exception] = {}
    for entry in record.good:
        event = entry.event
        if not isinstance(event, Saved) or not event.page or event.page in found:
            continue
        try:
            found[event.page] = parse(objects.blob(event.page, LIMIT)).shown
        except HandsoffError as error:
            found[event.page] = error
    return found


def left_of(record: Record, objects: Objects, desk: Desk | None = None) -> Left | None:
    """Return what stayed behind of the last revision, if a parcel of it is here or was opened."""
    saved = record.saved
    if saved is None or not saved.envelope:
        return None
    kept = Memory(desk.checkout).known(record.work) if desk is not None else None
    if kept is not None and kept.envelope == saved.envelope:
        left = tuple((plain(path), plain(why)) for path, why in kept.left)
        return Left(revision=saved.revision + 1, paths=left)
    parcels = desk.home.parcels() if desk is not None else []
    inbox = [p for p in parcels if p.manifest.envelope == saved.envelope]
    for place in (objects, *(Objects(parcel.objects) for parcel in inbox)):
        with suppress(HandsoffError):
            if place.has(saved.envelope):
                return Left(revision=saved.revision + 1, paths=leftovers.of(place, saved.envelope))
    return None


def _follows(desk: Desk, tip: str, seen: str) -> bool:
    return not seen or desk.shared.chains.line(tip, seen) is not None


def _works(desk: Desk) -> list[str]:
    return sorted({*desk.works_seen(), *Pending(desk.checkout).works()})


def _parcels(desk: Desk, roster: Roster | None) -> tuple[ParcelRow, ...]:
    own = [p for p in desk.home.parcels() if p.manifest.repository == desk.pin]
    return tuple(parcel_of(p.manifest, roster, p.manifest.pack_size) for p in own)


def _remote(desk: Desk) -> str:
    try:
        return desk.shared.name
    except UsageError:  # there is none yet: the verbs say so
        return ""
