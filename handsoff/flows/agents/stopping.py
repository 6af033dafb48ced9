"""After a work was handed over: who is still at work on it here, and has them end if asked to.

The last thing that ``send`` does, once receipt and record are there. Nothing that goes wrong here
hides that the work was sent: it becomes a line about the agent, with its pid.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from handsoff.core.hooks.stopping import Around, Fate, fates
from handsoff.edge import processes
from handsoff.edge.agents import agents
from handsoff.edge.git.repo import Checkout
from handsoff.edge.processes import Ending, Process
from handsoff.errors import reason
from handsoff.flows.agents.sessions import AtWork, at_work


@dataclass(frozen=True, slots=True)
class Stopped:
    """One agent that was at work, and what became of it."""

    at_work: AtWork
    outcome: str
    """A ``Fate`` in which nothing was tried, or the ``Ending`` of what was."""
    process: Process | None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it for ``--json``."""
        return {**asdict(self.at_work), "outcome": self.outcome}


@dataclass
class Stopping:
    """Those at work in one checkout; ``last`` are the ones in which this command runs."""

    found: list[Stopped] = field(default_factory=list)
    trouble: str = ""
    """Why it could not be told who is at work, "" if it could."""

    def end_others(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Ask all but the last to end, and note what came of it."""
        self._end(Fate.NOW, tell)

    def end_last(self) -> None:
        """Ask those in which this command runs to end; it may end with them."""
        self._end(Fate.LAST, lambda _: None)

    def _end(self, fate: Fate, tell: Callable[[str], None]) -> None:
        for number, one in enumerate(self.found):
            if one.process is not None and one.outcome == fate.value:
                ending = _ask(one.process, partial(_told, tell, one.at_work))
                self.found[number] = replace(one, outcome=ending.value)


def look(checkout: Checkout, *, asked: bool, stands: bool) -> Stopping:
    """Return who is at work in ``checkout``, and what is to become of each; nothing is done yet."""
    try:
        spellings = agents.spellings_of(checkout.top, os.environ)
        found = agents.live_sessions(checkout.top, spellings, os.environ)
        above = set(processes.ancestors())
    except (OSError, ValueError) as error:
        return Stopping(trouble=reason(error) if isinstance(error, OSError) else str(error))
    kept = [one for number, one in enumerate(found) if not _again(one, found[:number])]
    around = [
        Around(known=one.process is not None, here=one.here, above=one.process in above)
        for one in kept
    ]
    what = fates(around, asked=asked, stands=stands)
    return Stopping(
        [
            Stopped(at_work(one), fate.value, one.process)
            for one, fate in zip(kept, what, strict=True)
        ]
    )


def _again(one: agents.Live, before: Iterable[agents.Live]) -> bool:
    """Say whether a process was named already: it may have several sessions open."""
    return one.process is not None and any(one.process == other.process for other in before)


def _told(tell: Callable[[str], None], one: AtWork, name: str) -> None:
    tell(f"{one.agent}, pid {one.pid}: {name}")


def _ask(process: Process, tell: Callable[[str], None]) -> Ending:
    try:
        return processes.ask_to_end(process, tell=tell)
    except OSError:
        return Ending.STAYS if processes.is_alive(process) else Ending.GONE
