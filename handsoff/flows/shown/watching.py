"""Beside a page that is open: the remote is asked, everything audited, and the page told.

A watcher holds no lock of the clone and sends nothing: what waits is sent by the verbs, and no
command has to wait for a page.
"""

import threading
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from handsoff.core.audit.findings import Finding, Grade, What
from handsoff.core.remote.refs import Kind, read_ref
from handsoff.core.shown.overview import Known, finding_rows
from handsoff.edge import clock
from handsoff.edge.program import Program
from handsoff.errors import HandsoffError
from handsoff.flows.desk import Desk
from handsoff.flows.remote.survey import Survey, survey
from handsoff.flows.shown.overview import Window

_ASKS: Final = 15.0
"""Seconds between two questions to the remote."""

_LOOKS: Final = 1.0
"""Seconds between two looks at what other commands here have written."""

_TICKS: Final = 60.0
"""Seconds after which a page is shown anew: leases run out by themselves."""

_AUDITS: Final = timedelta(minutes=10)
"""How old an audit may get where nothing has moved."""

_FIRST: Final = 10.0
"""Seconds that the first page is waited for, before the remote is asked all the same."""

_PAINTS: Final = 1.0
"""Seconds that a browser is left in peace with its first page."""


class Watcher:
    """Keeps what a window knows of the remote up to date, in a thread of its own."""

    def __init__(self, window: Window, *, every: float = _ASKS) -> None:
        self._window, self._every = window, every
        self._stop, self._shown = threading.Event(), threading.Event()
        self._refs: dict[str, str] | None = None
        self._local: tuple[int, ...] = ()
        self._program = Program(window.desk().checkout.top)
        self.version = 0
        """Goes up whenever there is something new to show."""

    def start(self) -> None:
        """Begin."""
        for work in (self._follow_remote, self._follow_local):
            threading.Thread(target=work, name=work.__name__, daemon=True).start()

    def stop(self) -> None:
        """End; what is under way ends with the process."""
        self._stop.set()
        self._shown.set()
        self._program.stop()

    def shown(self) -> None:
        """Note that somebody has seen the first page: now there is time for the remote."""
        self._shown.set()

    def _follow_remote(self) -> None:
        self._shown.wait(_FIRST)
        self._stop.wait(_PAINTS)
        while not self._stop.is_set():
            self.ask()
            self._stop.wait(self._every)

    def _follow_local(self) -> None:
        ticked = clock.monotonic()
        while not self._stop.wait(_LOOKS):
            local = _written(self._window.desk())
            if local != self._local or clock.monotonic() - ticked >= _TICKS:
                ticked, self._local = clock.monotonic(), local
                self.version += 1

    def ask(self) -> None:
        """Ask the remote once, and audit it if it has moved; what goes wrong is shown."""
        desk = self._window.desk()
        before = self._window.known
        try:
            found = survey(desk)
            known = _known(before, found, _notes(desk, found), desk.now)
        except HandsoffError as error:
            self._publish(replace(before, away=str(error)), before)
            return
        self._publish(known, before)
        if self._is_due(found.refs, desk.now):
            self._audit(desk)
            self._refs = dict(found.refs)

    def _is_due(self, refs: object, now: datetime) -> bool:
        audited = self._window.known.audited
        return refs != self._refs or audited is None or now - audited >= _AUDITS

    def _audit(self, desk: Desk) -> None:
        before = self._window.known
        try:
            told = self._program.told("audit")
        except HandsoffError as error:
            known = replace(before, unaudited=str(error))
        else:
            rows = finding_rows(map(_finding, told["findings"]))
            known = replace(before, findings=rows, audited=desk.now, unaudited="")
        self._publish(known, before)

    def _publish(self, known: Known, before: Known) -> None:
        if known != before:
            self._window.known = known
            self.version += 1


def _finding(told: dict[str, str]) -> Finding:
    graded = {"grade": Grade(told["grade"]), "what": What(told["what"])}
    return Finding(**{**told, **graded})  # type: ignore[arg-type]


def _known(before: Known, found: Survey, notes: dict[str, dict[str, str]], now: datetime) -> Known:
    troubles = {s.work: s.problem for s in found.works.values() if s.problem}
    return replace(before, asked=now, away="", troubles=troubles, doubts=found.doubts, notes=notes)


def _notes(desk: Desk, found: Survey) -> dict[str, dict[str, str]]:
    """Return the tips of all notes that the remote has, once they are here."""
    tips: dict[str, str] = {}
    kept: dict[str, dict[str, str]] = {}
    works = {s.ref.removeprefix(f"{found.prefix}/lease/"): s.work for s in found.works.values()}
    for name, tip in found.refs.items():
        ref = read_ref(name, found.prefix)
        if ref.kind is Kind.NOTES and ref.component in works:
            tips[name] = tip
            kept.setdefault(works[ref.component], {})[ref.last] = tip
    desk.shared.bring(tips)
    return kept


def _written(desk: Desk) -> tuple[int, ...]:
    """Return a mark of what the commands of this clone have written: it changes when they do."""
    store = desk.checkout.store_dir
    places = [store / name for name in ("seen", "pending", "notes", "lost", "roster.json")]
    return tuple(_stamp(path) for path in (*places, desk.home.inbox))


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
