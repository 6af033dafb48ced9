"""Agents on this machine: where their sessions are, which are of a checkout, which go on.

    spellings_of(top, environ)                  other names of the checkout at ``top``
    find_sessions(top, spellings, environ)      newest first; top None for those of every folder
    live_sessions(top, spellings, environ)      who is at work in the checkout now, or anywhere
    homes(environ)["claude"]                    the home of each supported agent

What one agent does by itself is in ``claude.py`` and ``codex.py``; what is not supported in
``other_agents.py``.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from handsoff.core.transcripts import sessions as rules
from handsoff.edge import clock
from handsoff.edge.agents import claude, codex
from handsoff.edge.agents.other_agents import Other, others_of
from handsoff.edge.agents.sessions import FRESH, Live, Place, Session, place_of
from handsoff.edge.processes import Process

__all__ = [
    "Live", "Other", "Place", "Session", "find_sessions", "homes", "live_sessions", "others",
    "place_of", "spellings_of", "unread",
]  # fmt: skip


_NOBODY: Final = Process(0, 0)


def homes(environ: Mapping[str, str]) -> dict[str, Path]:
    """Return the home folder of each supported agent, whether it is there or not."""
    return {rules.CLAUDE: claude.home_of(environ), rules.CODEX: codex.home_of(environ)}


def spellings_of(top: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the other names of a checkout that are known: by the shell's logical folder.

    A shell that went through a link has the link in PWD, and an agent may write it down so.
    """
    logical, real = environ.get("PWD", ""), os.path.realpath(top)
    try:
        here = os.path.realpath(logical)
    except (OSError, ValueError):
        return ()
    tail = rules.tail_below(here, [real])
    if not logical.startswith("/") or tail is None:
        return ()
    found = logical.rstrip("/").removesuffix(f"/{tail}") if tail else logical
    # a link below the top leaves no name of the top to be told
    same = os.path.realpath(found) == real
    return (os.path.normpath(found),) if same and found != real else ()


def find_sessions(
    top: Path | None, spellings: Collection[str], environ: Mapping[str, str]
) -> list[Session]:
    """Return the sessions of a checkout, or of all folders, newest first."""
    now, place = clock.now().timestamp(), place_of(top, spellings)
    home = homes(environ)
    found = [
        *claude.find(home[rules.CLAUDE], place, environ),
        *codex.find(home[rules.CODEX], place),
    ]
    at_work = {
        (live.agent, live.id): live
        for live in live_sessions(top, spellings, environ)
        if live.process is not None
    }
    marked = []
    for session in found:
        live = at_work.get((session.agent, session.id))
        fresh = abs(now - session.modified) < FRESH.total_seconds()
        marked.append(replace(session, live=live.process if live else None, fresh=fresh))
    return sorted(marked, key=lambda one: (-one.modified, one.agent, one.id, one.main))


def live_sessions(
    top: Path | None, spellings: Collection[str], environ: Mapping[str, str]
) -> list[Live]:
    """Return who is at work in a checkout, or anywhere; those without a process last."""
    now, home, place = clock.now().timestamp(), homes(environ), place_of(top, spellings)
    found = [
        *claude.live(home[rules.CLAUDE], place, environ, now),
        *codex.live(home[rules.CODEX], place, now),
    ]
    return sorted(
        found, key=lambda one: (one.process is None, one.agent, one.id, one.process or _NOBODY)
    )


def others(top: Path, spellings: Collection[str], environ: Mapping[str, str]) -> list[Other]:
    """Return what agents that are not supported have of a checkout."""
    return others_of(environ, place_of(top, spellings))


def unread(environ: Mapping[str, str]) -> list[Path]:
    """Return the transcripts of which nobody here can tell whose they are: they are compressed."""
    return codex.unread(homes(environ)[rules.CODEX])
