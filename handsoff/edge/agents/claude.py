"""Where Claude Code keeps its sessions, and which of them go on.

<home>/projects/<name>/<id>.jsonl     a transcript; more of the session below <id>/
<home>/file-history/<id>/  tasks/<id>/
<home>/sessions/<pid>.json            who is at work: pid, procStart, sessionId, cwd, status
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from handsoff.core.loose import as_text
from handsoff.core.plain import plain
from handsoff.core.transcripts import sessions as rules
from handsoff.edge import processes
from handsoff.edge.agents.sessions import (
    Live,
    Place,
    Session,
    changed,
    files_below,
    files_in,
    folders,
    head_of,
    regular,
    size_of,
    tail_of,
)
from handsoff.edge.processes import Process

_LAST_PID: Final = 2**31 - 1
_STATUS_LIMIT: Final = 40


def find(home: Path, place: Place, environ: Mapping[str, str]) -> Iterator[Session]:
    """Yield the sessions of a checkout."""
    for main, told in _transcripts(home, place, environ):
        session, status = main.stem, regular(main)
        if status is None:
            continue
        files = (main, *_beside(home, main, session))
        yield Session(
            rules.CLAUDE, session, home, main, files, size_of(files), status.st_mtime,
            told.prompt, told.version, told.cwd,
        )  # fmt: skip


def _transcripts(
    home: Path, place: Place, environ: Mapping[str, str], since: float | None = None
) -> Iterator[tuple[Path, rules.Told]]:
    """Yield transcripts and what they say; ``since`` picks those written to a moment before."""
    chosen = rules.chosen_name(environ)
    for project in folders(home / "projects"):
        if project.name != chosen and not place.may_hold(project.name):
            continue
        for main in files_in(project):
            if not rules.is_main(rules.CLAUDE, f"projects/{project.name}/{main.name}"):
                continue
            if since is not None and not changed(main, since):
                continue
            told = rules.told_by_claude(head_of(main), tail_of(main))
            if place.holds(told.cwd):
                yield main, told


def _beside(home: Path, main: Path, session: str) -> Iterator[Path]:
    """Yield what belongs to a session besides its transcript."""
    for folder in (main.with_suffix(""), home / "file-history" / session, home / "tasks" / session):
        for file in () if folder.is_symlink() else files_below(folder):
            if rules.belongs(rules.CLAUDE, file.relative_to(home).as_posix()) == session:
                yield file


def live(home: Path, place: Place, environ: Mapping[str, str], now: float) -> Iterator[Live]:
    """Yield who is at work in a checkout: by its own note, as a process there, or by writing."""
    known = set()
    told = {main.stem: said for main, said in _transcripts(home, place, environ, now)}
    for note, process in _registered(home):
        session, cwd = as_text(note.get("sessionId")), as_text(note.get("cwd"))
        if session in told or place.holds(cwd) or _is_of(home, place, environ, session):
            status = plain(as_text(note.get("status")), limit=_STATUS_LIMIT)
            name = session if rules.is_session_id(session) else ""
            yield Live(rules.CLAUDE, name, process, cwd, status)
            told.pop(session, None)
        known.add(process)
    for process in processes.named("claude"):
        folder = processes.folder_of(process)
        if process not in known and place.holds(folder):
            yield Live(rules.CLAUDE, "", process, folder)
    for session, said in told.items():
        yield Live(rules.CLAUDE, session, None, said.cwd)


def _is_of(home: Path, place: Place, environ: Mapping[str, str], session: str) -> bool:
    """Say whether a session that says it is elsewhere now is one of this checkout."""
    if not rules.is_session_id(session):
        return False
    names = place.names | {rules.chosen_name(environ) or ""}
    for name in filter(None, names):
        main = home / "projects" / name / f"{session}.jsonl"
        if regular(main) and place.holds(rules.told_by_claude(head_of(main), tail_of(main)).cwd):
            return True
    return False


def _registered(home: Path) -> Iterator[tuple[dict[str, Any], Process]]:
    """Yield the notes of those who are at work and still are the process that wrote the note."""
    for file in files_in(home / "sessions"):
        if file.suffix != ".json" or not file.stem.isascii() or not file.stem.isdigit():
            continue
        try:
            note = json.loads(head_of(file))
        except (ValueError, RecursionError):
            continue
        if not isinstance(note, dict) or not 1 < int(file.stem[:12]) <= _LAST_PID:
            continue
        process = processes.process_of(int(file.stem))
        said = str(note.get("procStart", ""))
        if process is None or note.get("pid", process.pid) != process.pid:
            continue
        if said == str(process.started) or (not said and _is_claude_in(process, note)):
            yield note, process


def _is_claude_in(process: Process, note: Mapping[str, Any]) -> bool:
    """Say whether a process is the one of a note that has no start: by its name and its folder.

    Its pid may have come to another Claude Code, which is at work on something else.
    """
    named = process in processes.named("claude")
    try:
        return named and processes.folder_of(process) == os.path.realpath(as_text(note.get("cwd")))
    except ValueError:
        return False


def project_folder(home: Path, cwd: str, environ: Mapping[str, str]) -> Path:
    """Return the folder for the sessions of ``cwd``, a real path, in which Claude Code looks.

    A long name may be there with the hash of an older release: the ``cwd`` inside tells.
    """
    exact = home / "projects" / (rules.chosen_name(environ) or rules.project_name(cwd))
    if exact.is_dir() or len(exact.name) <= rules.NAME_LIMIT:
        return exact
    for folder in folders(home / "projects"):
        if folder.name[: rules.NAME_LIMIT] == exact.name[: rules.NAME_LIMIT]:
            for main in files_in(folder):
                told = rules.told_by_claude(head_of(main), tail_of(main))
                if rules.tail_below(told.cwd, [cwd]) == "":
                    return folder
    return exact


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home of Claude Code."""
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    return Path(os.path.abspath(chosen)) if chosen else user_home(environ) / ".claude"  # noqa: PTH100


def user_home(environ: Mapping[str, str]) -> Path:
    """Return the home of the person."""
    return Path(environ.get("HOME") or Path.home())
