"""What a hook of an agent decides: pure, from its event, what is cached here, and what was told.

    refusal(kind, standing)      why that may not be, "" if it may
    started(...), changed(...)   what an agent is told: facts, since orders in the output of a hook
                                 look like an attack to it
    chores(...)                  what is to be done in the background

An event is JSON of another program: any field may be missing, or of any type. What cannot be told
passes: pre-push looks at the record itself.

Sources: the hooks references of Claude Code and of Codex. Codex takes no field that it does not
know, and of PreToolUse only a denial with a reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from handsoff.core.hooks.standing import Standing
from handsoff.core.loose import as_number
from handsoff.core.plain import cited, plain

Event: TypeAlias = Mapping[str, Any]

LIMIT: Final = 9000
"""Characters of what is told: above 10,000 both programs cut it."""

NOTE_EVERY: Final = 600
REFRESH_EVERY: Final = 60

_SAVING: Final = (
    "`handsoff save` keeps a revision (files and the page .wip/HANDOFF.md); "
    "`handsoff send MACHINE` hands the work over"
)


def refusal(kind: str, standing: Standing) -> str:
    """Return why a push, a pull request or an edit is refused, "" if it may be."""
    if not standing.elsewhere or (kind == "edit" and standing.edits != "deny"):
        return ""
    what = {"push": "this push was", "pr": "this pull request was"}.get(kind, "this edit was")
    off = (
        " (git config handsoff.guardEdits off, and then handsoff status, lets edits pass)"
        if kind == "edit"
        else ""
    )
    return (
        f"handsoff: {standing.who}; {what} refused, as the work is elsewhere. Ways on: "
        f"{standing.way}; `handsoff status` asks the remote again{off}"
    )[:LIMIT]


def warning(kind: str, standing: Standing) -> str:
    """Return what to say of an edit that passes though the work is elsewhere."""
    if kind == "edit" and standing.elsewhere and standing.edits == "warn":
        return f"handsoff: {standing.who}; this edit is of a work that is elsewhere"
    return ""


def started(standing: Standing, page: Mapping[str, Any] | None = None) -> str:
    """Return what a new session is told; ``page`` is the one that stands in the checkout."""
    lines = [standing.who] if standing.work else []
    if standing.elsewhere:
        edits = "" if standing.edits != "deny" else ", and edits in this checkout,"
        lines += [f"pushes of it from here{edits} are refused; ways on: {standing.way}"]
    lines += standing.offers[:2]
    lines += [standing.dropped] if standing.dropped else []
    said = page if page is not None and not standing.elsewhere else standing.entry
    if standing.known or page is not None:
        lines += _of_page(said, "the page here" if said is page else "the page last saved")
    if not lines or not (standing.known or standing.offers or page):
        return ""
    lines += [] if standing.elsewhere or not standing.work else [_SAVING]
    return "\n".join(f"handsoff: {line}" for line in lines)[:LIMIT]


def _of_page(said: Mapping[str, Any], where: str) -> list[str]:
    after, traps = said.get("next"), said.get("traps")
    lines = [f"{where} says next: {cited(str(after), limit=700)}"] if after else []
    if isinstance(traps, list) and traps:
        told = "; ".join(cited(str(trap), limit=200) for trap in traps[:5])
        lines.append(f"{where} names traps: {told}")
    return lines


def changed(standing: Standing, told: str | None) -> str:
    """Return the line that says what is so now, if it is not what a session was told last."""
    if told == standing.key or (told is None and not (standing.elsewhere or standing.offers)):
        return ""
    way = f"; ways on: {standing.way}" if standing.elsewhere else ""
    said = standing.who + way if standing.work else ""
    return "handsoff: " + "; ".join(filter(None, [said, *standing.offers[:2]]))


def context(name: str, text: str) -> dict[str, Any]:
    """Return the output that adds ``text`` to what an agent knows."""
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def denial(reason: str) -> dict[str, Any]:
    """Return the output that keeps a tool from being used."""
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


class Chore:
    """Commands for the background, at most once in ``every`` seconds for each ``name``."""

    def __init__(self, name: str, every: int, *commands: Sequence[str]) -> None:
        self.name = name
        self.every = every
        self.commands = [list(words) for words in commands]


def chores(agent: str, event: Event, standing: Standing) -> list[Chore]:
    """Return what is to be done after an event, in the background."""
    name = event.get("hook_event_name")
    if name in ("Stop", "PreCompact"):
        every = as_number(standing.settings.get("save_every"))
        return [Chore("save", every, ["save", "--quiet"])] if standing.ours and every else []
    if name == "SessionStart":
        found = [Chore("refresh", REFRESH_EVERY, ["status"])]
        if event.get("source") in ("startup", "resume"):
            found += _note(agent, event, standing, "started")
        return found
    return _note(agent, event, standing, "stopped") if name == "SessionEnd" else []


def _note(agent: str, event: Event, standing: Standing, did: str) -> list[Chore]:
    session = plain(str(event.get("session_id", "")), limit=200)[:8]
    if not standing.known or standing.state == "closed":
        return []
    words = ["note", "--quiet", "--work", standing.work, "--", f"{agent} session {session} {did}"]
    return [Chore(f"note-{did}", NOTE_EVERY, words)]
