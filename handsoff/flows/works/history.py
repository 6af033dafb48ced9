"""``handsoff history``: all that happened to a work, in order, and each page as it was saved."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from handsoff.core.ids import is_machine_id, work_component
from handsoff.core.loose import quoted
from handsoff.core.machines.roster import Roster
from handsoff.core.pages.page import LIMIT, parse
from handsoff.core.works import lease as events
from handsoff.core.works.entry import Entry, seconds
from handsoff.core.works.history import Line, no_chain, tell
from handsoff.core.works.notes import NoteEntry, Notes
from handsoff.edge.git.objects import store_of
from handsoff.errors import DamagedError, RefusedError, UnreachableError, UsageError
from handsoff.flows.desk import Desk, View
from handsoff.flows.works import ledger, notebook

_REVISION: Final = re.compile(r"r([1-9][0-9]{0,8})")


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
        notes, spoiled = _notes(desk, view)
    record = desk.history_to(view.roster, work, view.tip)
    if not record.entries and not notes:
        raise RefusedError(f"nobody has written anything about {work}", hint=_meant(desk, work))
    landed = {oid for oid, _ in desk.shared.chains.line(view.remote_tip) or []}
    lease = record.lease.as_of(desk.now)
    return History(
        work=work,
        state=lease.state.value,
        carrier=view.roster.name_of(lease.carrier) if lease.carrier else "",
        leg=lease.leg,
        revision=lease.revision,
        lines=(*spoiled, *tell(record.entries, notes, view.roster, landed=landed)),
        away=view.away,
    )


def _notes(desk: Desk, view: View) -> tuple[list[NoteEntry], list[Line]]:
    """Return the notes of all machines on a work; without the remote those of this one."""
    work, shared = view.record.work, desk.shared
    if view.away:
        tips = {desk.machine.id: notebook.Notebook(desk, view.roster, work).tip}
    else:
        prefix = f"{shared.prefix}/notes/{work_component(work)}/"
        there = shared.tips(f"{prefix}*")
        shared.bring(there)
        tips = {ref.removeprefix(prefix): tip for ref, tip in there.items()}
    return notes_of(desk, view.roster, work, tips)


def notes_of(
    desk: Desk, roster: Roster, work: str, tips: Mapping[str, str]
) -> tuple[list[NoteEntry], list[Line]]:
    """Return the notes of machines whose tips are here.

    Where somebody put what is no chain in the place of notes, a line says so in their stead.
    """
    notes: list[NoteEntry] = []
    spoiled: list[Line] = []
    for machine in filter(is_machine_id, tips):
        read = Notes(roster=roster, work=work, machine=machine)
        try:
            notes += read.extend(desk.shared.chains.line(tips[machine]) or []).entries
        except DamagedError as error:
            spoiled.append(no_chain(roster.name_of(machine), tips[machine], str(error)))
    return notes, spoiled


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
    return SavedPage(
        work=work,
        revision=int(asked[1]),
        by=view.roster.name_of(event.by),
        at=seconds(event.at),
        page=parse(_page(desk, view, event.page)).shown,
        oid=event.page,
    )


def _page(desk: Desk, view: View, oid: str) -> bytes:
    """Return a page; where the entry came in a parcel without it, the remote has it."""
    if oid and not store_of(desk.shared).has(oid):
        if view.away:
            raise UnreachableError(
                "this page never came here: the remote has it, and does not answer",
                hint="try again when it does",
            )
        desk.shared.fetch([desk.shared.record_ref(view.record.work)])
    return store_of(desk.shared).blob(oid, LIMIT) if oid else b""


def _is_revision(entry: Entry, number: int) -> bool:
    return isinstance(entry.event, events.Saved) and entry.event.revision + 1 == number


def _meant(desk: Desk, work: str) -> str:
    """Return what to type in the place of a work that there is not, such as ``r2``."""
    here = desk.checkout.branch()
    if here and re.fullmatch(r"r[0-9]+", work):
        return f"a page of the work here: handsoff history {quoted(here)} {work}"
    return "handsoff status lists the works"
