"""Agents whose sessions are found and not carried: told by their folders, as cheaply as can be.

Sources: the layouts of Gemini CLI 0.5 and 0.6, Copilot CLI 1.0, opencode 1 and Cursor CLI, none of
which is documented by its vendor. No database is opened.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from handsoff.core.loose import as_object
from handsoff.edge.agents.claude import user_home
from handsoff.edge.agents.sessions import Place, files_in, folders, head_of, regular

UNSUPPORTED: Final = "not supported"
BY_CARRY_LIST: Final = "travels if .wip/carry names it"
UNKNOWN: Final = "not supported; it is not told whether any of it is of this checkout"

_LOOKED_AT: Final = 200
"""Sessions of one kind that are looked into."""
_AIDER: Final = (".aider.chat.history.md", ".aider.input.history")


class Other(NamedTuple):
    """Something of an agent that does not travel by itself, and why."""

    agent: str
    path: Path
    said: str


def others_of(environ: Mapping[str, str], place: Place) -> list[Other]:
    """Return what other agents have of this checkout, at most one line for each place."""
    home = user_home(environ)
    return [
        *(Other("gemini", path, UNSUPPORTED) for path in _gemini(home / ".gemini", place)),
        *(Other("copilot", path, UNSUPPORTED) for path in _copilot(home / ".copilot", place)),
        *(Other("cursor", path, UNSUPPORTED) for path in _cursor(home / ".cursor", place)),
        *(Other("opencode", path, UNKNOWN) for path in _opencode(home, environ)),
        *(Other("aider", path, BY_CARRY_LIST) for path in _aider(place)),
    ]


def _gemini(home: Path, place: Place) -> Iterator[Path]:
    hashes = {hashlib.sha256(os.fsencode(name)).hexdigest() for name in place.spellings}
    projects = as_object(_json(home / "projects.json").get("projects"))
    slugs = {slug for name, slug in projects.items() if place.holds(name)}
    for folder in folders(home / "tmp"):
        root = os.fsdecode(head_of(folder / ".project_root", 8192)).strip()
        if (folder.name in hashes | slugs or place.holds(root)) and (folder / "chats").is_dir():
            yield folder / "chats"


def _copilot(home: Path, place: Place) -> Iterator[Path]:
    sessions = folders(home / "session-state")
    for folder in sorted(sessions, key=_age)[:_LOOKED_AT]:
        first = head_of(folder / "events.jsonl", 16384).partition(b"\n")[0]
        context = as_object(as_object(_parsed(first).get("data")).get("context"))
        if any(place.holds(str(context.get(key, ""))) for key in ("cwd", "gitRoot")):
            yield folder


def _cursor(home: Path, place: Place) -> Iterator[Path]:
    for name in place.spellings:
        folder = home / "chats" / hashlib.md5(os.fsencode(name)).hexdigest()
        if folder.is_dir():
            yield folder


def _opencode(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    path = Path(environ.get("OPENCODE_DB") or data / "opencode" / "opencode.db")
    if regular(path):
        yield path


def _aider(place: Place) -> Iterator[Path]:
    return (file for file in files_in(place.top) if file.name in _AIDER)


def _age(path: Path) -> float:
    try:
        return -path.lstat().st_mtime
    except OSError:
        return 0.0


def _json(path: Path) -> Mapping[str, Any]:
    return _parsed(head_of(path, 1 << 20))


def _parsed(data: bytes) -> Mapping[str, Any]:
    try:
        return as_object(json.loads(data))
    except (ValueError, RecursionError):
        return {}
