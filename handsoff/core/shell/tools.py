"""What the tool that an agent is about to use does to others: pushes, pull requests, edits.

Each tool that is not known passes. This is read before every tool, and nearly all do nothing of the
kind: shell lines are read further only where one of a few words is in them.

Sources: the hooks references of Claude Code and of Codex, for names of tools and of their fields.
"""

from __future__ import annotations

from handsoff.core.loose import as_object, as_text, quoted
from handsoff.core.shell.deed import Deed, edited

TYPE_CHECKING = False  # importing typing takes 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SHELLS = frozenset({"Bash", "PowerShell", "shell", "exec_command", "local_shell"})
_EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_NAMES = ("file_path", "notebook_path", "path")
_QUOTES = str.maketrans("", "", "'\"\\`\n^$")
_HINTS = ("push", "send-pack", "apply_patch", "applypatch")


def deeds_of(event: Mapping[str, Any]) -> list[Deed]:
    """Return what the tool of a PreToolUse event is about to do: pushes, pull requests, edits."""
    tool, given = event.get("tool_name"), as_object(event.get("tool_input"))
    if not isinstance(tool, str):
        return []
    line = _line(given)
    if tool in _EDITORS:
        names = [given[name] for name in _NAMES if isinstance(given.get(name), str)]
        return [Deed("edit", (), names=tuple(names[:1]))]
    if tool == "apply_patch":
        return [Deed("edit", (), names=tuple(edited(line)))]
    if tool not in _SHELLS or not _hints(line):
        return []
    from handsoff.core.shell.deeds import deeds  # noqa: PLC0415 - see above

    return [
        Deed("edit", d.cd, names=tuple(edited(d.text))) if d.kind == "patch" else d
        for d in deeds(line, windows=tool == "PowerShell")
    ]


def _line(given: Mapping[str, Any]) -> str:
    """Return the shell line or the patch that a tool is given; older Codex gives words."""
    found = given.get("command", given.get("cmd", given.get("input", "")))
    if isinstance(found, list):
        return " ".join(quoted(str(word)) for word in found)
    return as_text(found)


def _hints(line: str) -> bool:
    """Say whether a shell line has one of the words in it that are looked for."""
    said = line.translate(_QUOTES).lower()
    if "$'" in line or any(word in said for word in _HINTS):
        return True
    return "gh" in said and ("pr" in said or "pull" in said)


def is_settled(state: Mapping[str, Any], work: str) -> bool:
    """Say at a glance whether nothing of ``work`` would be refused, now or later."""
    entry = as_object(as_object(state.get("works")).get(work))
    return entry.get("may_push") is not False and entry.get("may_push_then") is not False
