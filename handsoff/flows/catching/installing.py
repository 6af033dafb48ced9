"""Transcripts that came with a work are put where their agents find them.

Decided by what is there alone, so that a run that was killed is simply done again. A session that
cannot be installed stops no catch: it is put aside, whole, and said.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from handsoff.core.plain import plain
from handsoff.core.transcripts import installing as rules
from handsoff.core.transcripts import whereabouts
from handsoff.core.transcripts.baggage import File, Packed, person_problem
from handsoff.core.transcripts.installing import Verdict
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.sessions import CODEX
from handsoff.edge import clock, files
from handsoff.edge.agents import agents, claude
from handsoff.edge.agents.agents import Session
from handsoff.edge.agents.sessions import FRESH
from handsoff.edge.agents.transcripts import Folder
from handsoff.edge.git import baggage
from handsoff.edge.git.baggage import Arrived
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, reason
from handsoff.flows.catching.catching import Ready
from handsoff.flows.catching.splicing import Splice
from handsoff.flows.desk import Desk, View
from handsoff.flows.phases import Phases

ASIDE: Final = "transcripts"
"""The folder of what could not be installed, below the private one of the clone."""


def install(desk: Desk, view: View, ready: Ready, phases: Phases) -> tuple[dict[str, Any], ...]:
    """Install the transcripts that came with a work, and return what came of each."""
    claims, person_of = ready.parcel.manifest, view.roster.person_of
    arrived = baggage.read(ready.target.objects, claims.envelope)
    if arrived is None:
        return ()
    problem = person_problem(person_of(desk.machine.id), person_of(claims.sender))
    if problem:
        return tuple(_told(session, "refused", problem) for session in arrived.baggage.sessions)
    with phases.phase("transcript"):
        return tuple(
            _Session(desk, arrived, session, claims.parcel, os.environ).install()
            for session in arrived.baggage.sessions
        )


def foresee(ready: Ready) -> Ready:
    """Return what is about to be caught with the transcripts that would come along."""
    arrived = baggage.read(ready.target.objects, ready.parcel.manifest.envelope)
    sessions = arrived.baggage.sessions if arrived else ()
    return replace(ready, transcripts=tuple(_told(one, "comes") for one in sessions))


def _told(session: Packed, result: str, why: str = "", **more: Any) -> dict[str, Any]:
    return {
        "agent": session.agent, "id": session.id, "version": plain(session.version, limit=40),
        "name": session.short, "result": result, "why": why, "files": [], "resume": "", "aside": "",
        **more,
    }  # fmt: skip


@dataclass
class _Session:
    """One session, from its pieces to its place."""

    desk: Desk
    arrived: Arrived
    session: Packed
    parcel: str
    environ: Mapping[str, str]
    home: Path = field(init=False)
    cwd: str = field(init=False)
    project: str = field(init=False)

    def __post_init__(self) -> None:
        top = os.path.realpath(self.desk.checkout.top)
        self.home = agents.homes(self.environ)[self.session.agent]
        self.cwd = whereabouts.cwd_here(self.session, top)
        began = whereabouts.cwd_here(whereabouts.began_in(self.session), top)
        self.project = claude.project_folder(self.home, began, self.environ).name
        self.folder = Folder(self.home, checkout=Path(top))
        self.mapping = whereabouts.map_of(
            self.arrived.baggage.mode, self.session,
            top=top, home=str(self.home), project=self.project,
        )  # fmt: skip

    def install(self) -> dict[str, Any]:
        """Install it, or put it aside; return what came of it."""
        try:
            return self._install()
        except (HandsoffError, OSError) as error:
            why = str(error) if isinstance(error, HandsoffError) else reason(error)
            return self._put_aside(f"it could not be written: {why}")

    def _install(self) -> dict[str, Any]:
        here = self._here()
        if any(s.fresh and s.live is None for s in here):
            clock.sleep(FRESH)  # whoever has written it a moment ago may have ended
            here = self._here()
        main = self.session.files[self.session.main]
        names = [one.name(one.main) for one in here]
        there = names[0] if names and self.session.agent == CODEX else None
        problem, where = whereabouts.conflict(self.session, names, self._name(main, None))
        if problem:
            return self._put_aside(f"{problem}: {self.home / where}")
        every = [self._splice(file, there) for file in self.session.files]
        found = {one.file.name: one.relation() for one in every}
        verdicts = rules.settle(found, main.name)
        if Verdict.FORK in verdicts.values():
            return self._put_aside("it is not as it was here, and neither goes on from the other")
        if any(s.goes_on for s in here) and any(v.writes for v in verdicts.values()):
            return self._put_aside("it is in use here")
        # the transcript last: before it is there no agent sees the session
        ordered = sorted(every, key=lambda one: one.is_main)
        told = [self._carry_out(one, verdicts[one.file.name]) for one in ordered]
        step("install.session.after")
        resume = whereabouts.resume(self.session)
        return _told(
            self.session, verdicts[main.name].value, files=told, resume=resume, cwd=self.cwd
        )

    def _here(self) -> list[Session]:
        """Return the session as it is here, for whatever folder."""
        wanted = (self.session.agent, self.session.id)
        every = agents.find_sessions(None, (), self.environ)
        return [one for one in every if (one.agent, one.id) == wanted]

    def _name(self, file: File, there: str | None) -> str:
        return whereabouts.name_here(self.session, file.name, self.project, there)

    def _splice(self, file: File, there: str | None) -> Splice:
        is_lines = whereabouts.is_rewritten(self.arrived.baggage, file.name)
        return Splice(
            self.arrived, self.session, file,
            self._name(file, there), self.folder, self.cwd,
            self.mapping if is_lines else PathMap.of(()),
        )  # fmt: skip

    def _carry_out(self, splice: Splice, verdict: Verdict) -> dict[str, Any]:
        now = int(self.desk.now.timestamp())
        if verdict is Verdict.REPLACED:
            ours = f"ours/{splice.file.name}"
            self._aside().write(ours, self.folder.read(splice.name), now)
        return splice.carry_out(verdict, now)

    def _put_aside(self, why: str) -> dict[str, Any]:
        aside = self._aside()
        try:
            for file in self.session.files:
                aside.write(file.name, self.arrived.pieces(file), file.mtime)
        except (HandsoffError, OSError) as error:
            said = str(error) if isinstance(error, HandsoffError) else reason(error)
            why = f"{why}; and it could not be put aside: {said}"
        return _told(self.session, "aside", why, aside=str(aside.top))

    def _aside(self) -> Folder:
        store = files.ensure_folder(self.desk.checkout.store_dir)
        return Folder(store / ASIDE / f"{self.session.agent}-{self.session.id}" / self.parcel[:8])
