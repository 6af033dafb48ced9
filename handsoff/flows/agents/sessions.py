"""``handsoff sessions``: the sessions of agents in this checkout, and who is at work in them.

Any git checkout will do: nothing of ours is needed to look.
"""

import os
from dataclasses import asdict, dataclass
from typing import Any

from handsoff.edge import clock
from handsoff.edge.agents import agents
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One session, as it is told."""

    agent: str
    id: str
    cwd: str
    modified: int
    age: int
    """Seconds since it was last written to."""
    size: int
    files: int
    prompt: str
    version: str
    at_work: bool
    pid: int | None
    """Who is at work in it, where that is known."""
    compressed: bool
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """An agent that is at work."""

    agent: str
    id: str
    pid: int | None
    started: int | None
    """Its start in the system's clock ticks: with the pid it names one process and no other."""
    cwd: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What was found."""

    top: str
    """The checkout, "" for every folder of this machine."""
    sessions: tuple[Listed, ...]
    at_work: tuple[AtWork, ...]
    others: tuple[dict[str, str], ...]
    """What agents that are not supported have of this checkout."""
    unread: tuple[str, ...]
    """Transcripts of which it cannot be told whose they are."""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it for ``--json``."""
        return asdict(self)


def list_sessions(*, everywhere: bool = False) -> Listing:
    """Return the sessions of the checkout around, or of every folder."""
    checkout = _checkout(may_lack=everywhere)
    top = checkout.top if checkout is not None else None
    spellings = agents.spellings_of(top, os.environ) if top else ()
    looked_at = None if everywhere else top
    now = clock.now().timestamp()
    return Listing(
        top=str(looked_at or ""),
        sessions=tuple(
            _listed(session, now)
            for session in agents.find_sessions(looked_at, spellings, os.environ)
        ),
        at_work=tuple(
            at_work(live) for live in agents.live_sessions(looked_at, spellings, os.environ)
        ),
        others=tuple(
            {"agent": other.agent, "path": str(other.path), "said": other.said}
            for other in (agents.others(top, spellings, os.environ) if top else ())
        ),
        unread=tuple(map(str, agents.unread(os.environ))),
    )


def at_work(live: agents.Live) -> AtWork:
    """Return who is at work, as it is told."""
    process = live.process
    return AtWork(
        agent=live.agent,
        id=live.id,
        pid=process.pid if process else None,
        started=process.started if process else None,
        cwd=live.cwd,
        status=live.status,
    )


def _checkout(*, may_lack: bool) -> Checkout | None:
    try:
        return open_checkout()
    except UsageError:
        if may_lack:
            return None
        raise


def _listed(session: agents.Session, now: float) -> Listed:
    return Listed(
        agent=session.agent,
        id=session.id,
        cwd=session.cwd,
        modified=int(session.modified),
        age=max(int(now - session.modified), 0),
        size=session.size,
        files=len(session.files),
        prompt=session.prompt,
        version=session.version,
        at_work=session.goes_on,
        pid=session.live.pid if session.live else None,
        compressed=session.compressed,
        path=str(session.main),
    )
