"""Where Codex CLI keeps its sessions, and which of them go on.

    <home>/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl     also below archived_sessions/
                                       ....jsonl.zst         old ones, if it is told to compress

Whose a rollout is stands in its first line. Its databases are not even read. The package zstandard
is no dependency: without it a compressed rollout is named, and nobody knows whose it is.
"""

import importlib
import io
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from handsoff.core.transcripts import sessions as rules
from handsoff.edge import processes
from handsoff.edge.agents.claude import user_home
from handsoff.edge.agents.sessions import (
    WINDOW,
    Live,
    Place,
    Session,
    files_below,
    head_of,
    regular,
)

_FOLDERS: Final = ("sessions", "archived_sessions")
_FIRST: Final = 4 << 10
"""Bytes in which nearly every rollout says whose it is."""
_PROMPT: Final = 1 << 20
"""Bytes in which its first prompt is looked for: instructions of the vendor come before."""


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home of Codex CLI."""
    chosen = environ.get("CODEX_HOME")
    return Path(os.path.abspath(chosen)) if chosen else user_home(environ) / ".codex"  # noqa: PTH100


def find(home: Path, place: Place) -> Iterator[Session]:
    """Yield the sessions of a checkout."""
    for main in _rollouts(home):
        told = _told(main)
        if not place.holds(told.cwd):
            continue
        status = regular(main)
        name = main.relative_to(home).as_posix()
        session = rules.belongs(rules.CODEX, name)
        if status is None or session is None:
            continue
        if not told.prompt and told.cwd:
            heads = (rules.told_by_codex(_head(main, most)) for most in (WINDOW, _PROMPT))
            told = next((head for head in heads if head.prompt), told)
        yield Session(
            rules.CODEX, session, home, main, (main,), status.st_size, status.st_mtime,
            told.prompt, told.version, told.cwd,
        )  # fmt: skip


def unread(home: Path) -> list[Path]:
    """Return the rollouts that are compressed, and cannot be looked into here."""
    return [p for p in _rollouts(home) if p.suffix == ".zst" and not _head(p, 1)]


def _rollouts(home: Path, since: float | None = None) -> Iterator[Path]:
    """Yield all rollouts, or those that were written to a moment before ``since``."""
    for path in chain(*(files_below(home / name, since) for name in _FOLDERS)):
        if rules.belongs(rules.CODEX, path.relative_to(home).as_posix()):
            yield path


def _told(main: Path) -> rules.Told:
    told = rules.told_by_codex(_head(main, _FIRST))
    return told if told.cwd else rules.told_by_codex(_head(main, WINDOW))


def _head(main: Path, most: int) -> bytes:
    if main.suffix != ".zst":
        return head_of(main, most)
    packed = head_of(main, max(most, WINDOW))
    try:
        reader = importlib.import_module("zstandard").ZstdDecompressor(max_window_size=1 << 27)
        with reader.stream_reader(io.BytesIO(packed)) as stream:
            return bytes(stream.read(most))
    except Exception:  # noqa: BLE001 - it is not there, or an error of its own, which has no name here
        return b""


def live(home: Path, place: Place, now: float) -> Iterator[Live]:
    """Yield who is at work in a checkout: who writes, has a rollout open, or is there."""
    fresh = {path: _told(path) for path in _rollouts(home, now)}
    told = {path: said for path, said in fresh.items() if place.holds(said.cwd)}
    for process in processes.named("codex"):
        folder = processes.folder_of(process)
        here, found = place.holds(folder), False
        for path in map(Path, processes.opened_by(process)):
            session = _session_at(home, path)
            if session and place.holds((said := _told(path)).cwd):
                yield Live(rules.CODEX, session, process, said.cwd, here=here)
                told, found = {k: v for k, v in told.items() if k.name != path.name}, True
        if here and not found:
            yield Live(rules.CODEX, "", process, folder)
    for path, said in told.items():
        session = _session_at(home, path)
        yield Live(rules.CODEX, session, None, said.cwd)


def _session_at(home: Path, path: Path) -> str:
    """Return the session that a path is the transcript of; what is open is a real path."""
    for base in (home, Path(os.path.realpath(home))):
        if path.is_relative_to(base):
            return rules.belongs(rules.CODEX, path.relative_to(base).as_posix()) or ""
    return ""
