"""Homes of agents as their files show them, and processes that are called like them.

agents = Agents(tmp_path)              a home with .claude and .codex in it, and its environment
agents.claude(cwd, ID)                 writes a small transcript, and returns it
agents.codex(cwd, ID)
with agents.running("codex", cwd) as process:    a child of that name that sleeps
agents.at_work(process, ID, cwd)       Claude Code's own note that it is at work
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from handsoff.core.transcripts.sessions import project_name
from handsoff.edge.processes import Process, process_of

OLD: Final = 1_700_000_000
"""When transcripts were written unless a test says otherwise; nobody writes them now."""

NONE: Final[Mapping[str, Any]] = {}

_SLEEP: Final = (
    "import signal,sys,time\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "for name in sys.argv[2].split(): signal.signal(getattr(signal, name), signal.SIG_IGN)\n"
    "held = open(sys.argv[1]) if sys.argv[1] else None\n"
    "print('ready', flush=True)\n"
    "time.sleep(60)\n"
)


def session_id(number: int) -> str:
    """Return an id of a session, another one for each number."""
    return f"0a1b2c3d-4e5f-4061-8071-{number:012x}"


def jsonl(*values: Any) -> str:
    """Return the lines of a transcript as agents write them."""
    said = (json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in values)
    return "".join(f"{line}\n" for line in said)


@dataclass(frozen=True)
class Agents:
    """The agents of one person, below ``home``."""

    home: Path

    @property
    def env(self) -> dict[str, str]:
        """What a command sees that runs as this person."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def claude(
        self,
        cwd: Path | str,
        session: str,
        *more: Any,
        project: str = "",
        at: float = OLD,
        prompt: str = "Fix the rounding",
    ) -> Path:
        """Write a transcript of Claude Code, with ``more`` lines at its end."""
        folder = self.home / ".claude" / "projects" / (project or project_name(str(cwd)))
        line = {
            "parentUuid": None, "isSidechain": False, "type": "user",
            "message": {"role": "user", "content": prompt}, "uuid": session_id(999),
            "timestamp": "2026-11-03T10:00:00.000Z", "cwd": str(cwd), "sessionId": session,
            "version": "2.1.332", "gitBranch": "main",
        }  # fmt: skip
        first = {"type": "mode", "mode": "normal", "sessionId": session}
        return self._write(folder / f"{session}.jsonl", jsonl(first, line, *more), at)

    def codex(
        self,
        cwd: Path | str,
        session: str,
        *more: Any,
        at: float = OLD,
        day: str = "sessions/2026/11/03",
        prompt: str = "Fix the rounding",
        instructions: str = "",
    ) -> Path:
        """Write a rollout of Codex, with ``more`` lines at its end."""
        meta = {
            "session_id": session, "id": session, "cwd": str(cwd), "cli_version": "0.171.0",
            "base_instructions": {"text": instructions},
        }  # fmt: skip
        text = jsonl(
            {"timestamp": "2026-11-03T10:00:00.000Z", "type": "session_meta", "payload": meta},
            {"type": "event_msg", "payload": {"type": "user_message", "message": prompt}}, *more,
        )  # fmt: skip
        name = f"rollout-2026-11-03T10-00-00-{session}.jsonl"
        return self._write(self.home / ".codex" / day / name, text, at)

    def at_work(
        self, process: Process, session: str, cwd: Path | str, other: Mapping[str, Any] = NONE
    ) -> Path:
        """Write the note by which Claude Code tells that a process is at work."""
        note = {
            "pid": process.pid, "sessionId": session, "cwd": str(cwd), "status": "busy",
            "procStart": str(process.started), **other,
        }  # fmt: skip
        path = self.home / ".claude" / "sessions" / f"{process.pid}.json"
        return self._write(path, json.dumps(note), OLD)

    @contextmanager
    def running(
        self, name: str, cwd: Path, *, opens: Path | None = None, ignores: str = ""
    ) -> Iterator[Process]:
        """Give a process called ``name`` that sleeps in ``cwd`` until it is told to end."""
        program = self.home / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        if not program.is_symlink():
            program.symlink_to(os.path.realpath(sys.executable))
        words = [str(program), "-S", "-c", _SLEEP, str(opens or ""), ignores]
        child = subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            process = process_of(child.pid)
            assert process is not None
            yield process
        finally:
            child.kill()
            child.communicate()

    @staticmethod
    def _write(path: Path, text: str, at: float) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (at, at))
        return path
