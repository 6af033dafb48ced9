"""Where a session that arrives goes: its names and places here, and the line that says where it is.

A session has one place: whoever has it elsewhere keeps it there, and what comes is put aside.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from handsoff.core.transcripts.baggage import Baggage, Packed
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.sessions import CLAUDE, CODEX, project_name, tail_below

TAIL: Final = 64 << 10
"""Bytes of the end of a transcript in which Claude Code looks for the last ``relocated``."""
DEEPEST: Final = 64  # folders that a session can have gone down since it began


def is_lines(name: str) -> bool:
    """Say whether a file is rewritten: line by line, or as the one JSON text that it is."""
    aside = "/tool-results/" in f"/{name}" or name.startswith("file-history/")
    return name.endswith((".jsonl", ".json")) and not aside


def is_rewritten(baggage: Baggage, name: str) -> bool:
    """Say whether the file ``name`` is rewritten on its way."""
    return baggage.mode == "rewrite" and is_lines(name)


def map_of(mode: str, session: Packed, *, top: str, home: str, project: str) -> PathMap:
    """Return what turns the sender's places into these; one that changes nothing if raw."""
    if mode == "raw":
        return PathMap.of(())
    pairs = [(old, top) for old in (session.top, *session.spellings) if old]
    if session.home and session.project:
        between = "\\" if session.platform == "windows" else "/"
        names = (session.home, "projects", session.project)
        pairs.append((between.join(names), f"{home}/projects/{project}"))
    if session.home:
        pairs.append((session.home, home))
    once = dict(reversed(pairs))
    ignore_case = session.platform == "windows"
    return PathMap.of([(o, n) for o, n in once.items() if o != n], ignore_case=ignore_case)


def cwd_here(session: Packed, top: str) -> str:
    """Return where the agent is to run here: the checkout, or the folder of it that it was in."""
    places = PathMap.of([(old, top) for old in (session.top, *session.spellings) if old])
    tail = tail_below(places.text(session.cwd), [top])  # one that leads out again is none
    return f"{top}/{tail}" if tail else top


def began_in(session: Packed) -> Packed:
    """Return a session as one of the folder after which Claude Code named its project.

    It may have gone down since: its first words are of another folder then.
    """
    parts = session.cwd.split("/")
    above = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)][:DEEPEST]
    named = (c for c in (*above, *session.spellings) if project_name(c) == session.project)
    return replace(session, cwd=next(named, session.cwd))


def name_here(session: Packed, name: str, project: str, there: str | None) -> str:
    """Return the name of a file below the agent's home here.

    ``project`` is what Claude Code calls the folder here; ``there`` is where Codex has the session
    already, if it has.
    """
    if session.agent == CODEX:
        return there if there is not None and name == session.files[session.main].name else name
    before = f"projects/{session.project}/"
    return f"projects/{project}/{name.removeprefix(before)}" if name.startswith(before) else name


def conflict(session: Packed, here: Collection[str], place: str) -> tuple[str, str]:
    """Return why a session cannot be put at ``place``, or "", and the name that is in its way.

    ``here`` are the names of the transcripts that are here of it, of whatever folder.
    """
    if session.agent == CODEX:
        there = next(iter(here), "")
        if len(here) > 1:
            return "it is here twice", there
        if there and there.endswith(".zst") != session.files[session.main].name.endswith(".zst"):
            return "it is here too, and one of the two is compressed", there
        return "", ""
    other = next((name for name in here if name != place), "")
    return ("it is here already, for another folder" if other else "", other)


def resume(session: Packed) -> str:
    """Return the command that goes on with a session."""
    how = "claude --resume" if session.agent == CLAUDE else "codex resume"
    return f"{how} {session.id}"


# --- the line by which Claude Code says that a session is elsewhere now -----------------------


def marker(session: str, cwd: str) -> bytes:
    """Return the line that Claude Code itself appends when a session moves."""
    fields = {"type": "relocated", "sessionId": session, "relocatedCwd": cwd}
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def marked(tail: bytes, session: str, places: Iterable[str]) -> int:
    """Return the bytes of the marker for one of ``places`` with which ``tail`` ends, or 0."""
    lines = (marker(session, place) for place in places)
    return max((len(line) for line in lines if _ends_with_line(tail, line)), default=0)


def _ends_with_line(tail: bytes, line: bytes) -> bool:
    return tail == line or tail.endswith(b"\n" + line)
