"""Agents as their hooks see them: events, and what each program takes for an answer.

The schemas are small and strict: Codex takes no field that it does not know, and of PreToolUse only
a denial with a reason; what both share is checked for both.
"""

import io
import json
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any, Final

from handsoff import hook

CONTEXT: Final = ("SessionStart", "UserPromptSubmit")
SESSION: Final = "0199a213-81c0-7800-8aa1-bbab2a035a53"


def event(name: str, cwd: Path, **more: Any) -> dict[str, Any]:
    """Return what both programs send, and ``more``."""
    common = {
        "session_id": SESSION, "transcript_path": "/home/lin/t.jsonl", "cwd": str(cwd),
        "hook_event_name": name, "permission_mode": "default", "model": "m", "unheard_of": [1],
    }  # fmt: skip
    return {**common, **more}


def tool(name: str, cwd: Path, **given: Any) -> dict[str, Any]:
    return event(
        "PreToolUse", cwd, tool_name=name, tool_input=given, tool_use_id="t1", turn_id="u1"
    )


def hooked(agent: str, given: dict[str, Any] | bytes) -> str:
    """Run the hook in this process, where a process of its own would show nothing more."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    out, stdin = io.StringIO(), sys.stdin
    cwd = Path(given["cwd"]) if isinstance(given, dict) and "cwd" in given else Path.cwd()
    try:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8")
        with redirect_stdout(out), chdir(cwd if cwd.is_dir() else Path.cwd()):
            assert hook.main([agent]) == 0
    finally:
        sys.stdin = stdin
    return out.getvalue()


def said(agent: str, name: str, out: str) -> str:
    """Return what an answer says, "" if nothing; fail if the program would not take it."""
    if not out:
        return ""
    assert name in (*CONTEXT, "PreToolUse"), f"{name} is answered by nothing"
    assert len(out) < 10_000
    answer = json.loads(out)
    if agent == "claude" and name == "PreToolUse" and answer.keys() == {"systemMessage"}:
        return str(answer["systemMessage"])
    assert answer.keys() == {"hookSpecificOutput"}
    inner = answer["hookSpecificOutput"]
    assert inner["hookEventName"] == name
    if name == "PreToolUse":
        assert inner.keys() == {
            "hookEventName", "permissionDecision", "permissionDecisionReason",
        }  # fmt: skip
        assert inner["permissionDecision"] == "deny"
        text = inner["permissionDecisionReason"]
    else:
        assert inner.keys() == {"hookEventName", "additionalContext"}
        text = inner["additionalContext"]
    assert isinstance(text, str)
    assert text.strip()
    return text
