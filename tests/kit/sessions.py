"""Sessions of agents, small ones, as they lie in the homes of their agents.

agent = Agent.of(m1)            its homes; m1.env must name them: see ``with_agents``
agent.claude(m1.top)            a session of that folder, and the path of its transcript
"""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from handsoff.core.transcripts.sessions import project_name
from handsoff.edge import clock
from tests.kit.machines import Machine

ID: Final = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
OTHER: Final = "1b2c3d4e-5f60-4172-8182-3b4c5d6e7f80"
_LONG_AGO: Final = 60.0

PAGE: Final = """# Handoff

## Next

1. Go on.

Done when: `pytest -q` is green.

## Tried and failed

Nothing yet, it is new.

## Do not touch

The table of places.
"""


def with_agents(machine: Machine) -> Machine:
    """Return the machine with homes of its agents beside its checkout."""
    homes = {"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex"}
    folder = machine.home.parent / "person"
    folder.mkdir(exist_ok=True)
    env = {name: str(folder / home) for name, home in homes.items()}
    return replace(machine, env={**machine.env, **env, "PWD": str(machine.top)})


def claude_home(machine: Machine) -> Path:
    return Path(machine.env["CLAUDE_CONFIG_DIR"])


def codex_home(machine: Machine) -> Path:
    return Path(machine.env["CODEX_HOME"])


def line(**fields: Any) -> bytes:
    """Return a line as the agents write them."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def said(cwd: Path, text: str, session: str = ID) -> bytes:
    """Return one line of a transcript of Claude Code."""
    return line(
        parentUuid=None, isSidechain=False, type="user",
        message={"role": "user", "content": text}, uuid="aa", cwd=str(cwd), sessionId=session,
        version="2.1.332", gitBranch="feat/cny",
    )  # fmt: skip


def claude(machine: Machine, lines: Sequence[bytes] = (), session: str = ID) -> Path:
    """Put a session of the machine's checkout into the home of Claude Code."""
    top = machine.top
    folder = claude_home(machine) / "projects" / project_name(str(top))
    body = b"".join(lines) or said(top, f"round in {top}/src/places.py", session) + said(
        top, "and test it", session
    )
    return put(folder / f"{session}.jsonl", body)


def put(path: Path, body: bytes, age: float = _LONG_AGO) -> Path:
    """Write a file that nobody has written to for a while."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    then = clock.now().timestamp() - age
    os.utime(path, (then, then))
    return path


def main_of(machine: Machine, session: str = ID) -> Path:
    """Return where the transcript of a session of the checkout is, or should be."""
    folder = claude_home(machine) / "projects" / project_name(str(machine.top))
    return folder / f"{session}.jsonl"


def grow(path: Path, *lines: bytes) -> bytes:
    """Let somebody have gone on with a session; return what it is now."""
    put(path, path.read_bytes() + b"".join(lines))
    return path.read_bytes()


def codex(machine: Machine, session: str = ID) -> Path:
    """Put a session of the machine's checkout into the home of Codex."""
    top = str(machine.top)
    body = line(
        timestamp="2026-11-03T10:00:00.000Z", type="session_meta",
        payload={"id": session, "cwd": top, "cli_version": "0.171.0"},
    ) + line(
        timestamp="2026-11-03T10:00:01.000Z", type="response_item",
        payload={"type": "function_call", "arguments": json.dumps({"cmd": f"cat {top}/a.txt"})},
    )  # fmt: skip
    name = f"sessions/2026/11/03/rollout-2026-11-03T10-00-00-{session}.jsonl"
    return put(codex_home(machine) / name, body)
