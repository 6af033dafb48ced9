"""What handsoff puts into an agent's settings, and how it stands with what is there.

Rule of the room: facts in, words out. Both agents call ``handsoff-hook AGENT`` at the same
moments. Codex runs a hook only once its user has trusted it in ``/hooks``, and knows it by file,
event and place, so the command never changes and ours stands behind theirs. That trust is read
here and never written.

Sources: the agents' documents on hooks; what Codex 0.171 writes into ``[hooks.state]``.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Any, Final

from handsoff.core.checkup.health import Finding, note, ok, problem
from handsoff.core.loose import as_object
from handsoff.core.settings import jsonspans
from handsoff.core.settings.settings_text import BOM, Found, Group
from handsoff.core.transcripts.sessions import CLAUDE, CODEX

TITLES: Final = {CLAUDE: "Claude Code", CODEX: "Codex"}
PROGRAM: Final = "handsoff-hook"
PLUGIN: Final = "handsoff"
PLUGIN_HOOKS: Final = {CLAUDE: "hooks/hooks.json", CODEX: "hooks/codex.json"}
"""Where the plugin (contrib/plugin) keeps the hooks of each."""
FIND_IT: Final = "put the folder of handsoff-hook on the PATH with which codex is started"
TRUST_IT: Final = "open codex, which asks; or there type /hooks, look at ours, press t"

_SOURCES: Final = "startup|resume|clear|compact|fork"
_TOOLS: Final = {CLAUDE: "Bash|PowerShell|Edit|Write|NotebookEdit", CODEX: "Bash|apply_patch"}
_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "PreCompact",
                  "SessionEnd")  # fmt: skip
_QUICK: Final = 5
_SLOW: Final = {"Stop": 10, "PreCompact": 10}
"""Seconds for what may start a save; it only starts one, so that is plenty."""
_LAST: Final = {CLAUDE: 5, CODEX: 3}
"""Seconds at the end of a session: Claude Code gives 1.5 to hooks that ask for none, Codex at
most 3 to any."""
_PROGRAMS: Final = re.compile(rf"{PROGRAM}(?:\.exe)?", re.IGNORECASE)
_WINDOWS: Final = re.compile(r'\s*(?:"([A-Za-z]:\\[^"]*)"|([A-Za-z]:\\\S*))')
"""A place on Windows, whose backslashes a shell would eat."""


def groups(agent: str, program: str = PROGRAM) -> dict[str, Group]:
    """Return the group of each event for ``agent``; ``program`` is how it is called."""
    command = f"{shlex.quote(program)} {agent}"
    found: dict[str, Group] = {}
    for event in _EVENTS:
        seconds = _LAST[agent] if event == "SessionEnd" else _SLOW.get(event, _QUICK)
        handler = {"type": "command", "command": command, "timeout": seconds}
        matcher = {"SessionStart": _SOURCES, "PreToolUse": _TOOLS[agent]}.get(event)
        found[event] = ({"matcher": matcher} if matcher else {}) | {"hooks": [handler]}
    return found


def is_ours(handler: Any) -> bool:
    """Say whether a handler calls our program, in whatever form."""
    command = handler.get("command") if isinstance(handler, dict) else None
    if not isinstance(command, str):
        return False
    return bool(_PROGRAMS.fullmatch(re.split(r"[/\\]", program_of(command))[-1]))


def program_of(command: str) -> str:
    """Return the program that a command calls: its first word."""
    windows = _WINDOWS.match(command)
    if windows:
        return str(windows[1] or windows[2])
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return words[0] if words else ""


class Trust(Enum):
    """Whether Codex runs a hook."""

    TRUSTED = "trusted"
    CHANGED = "changed since it was trusted"
    UNTRUSTED = "not trusted"
    DISABLED = "switched off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """An adapter as it was found."""

    agent: str
    file: str
    there: bool
    """Whether the agent has a home here at all."""
    wanted: Mapping[str, Group]
    found: Sequence[Found]
    programs: Mapping[str, bool]
    """Each program that our hooks call, and whether it can be found."""
    off: str = ""
    """The setting that switches all hooks off."""
    trusted_as: str = ""
    """The spelling of ``file`` that Codex uses: its home with all links resolved."""
    trust: Mapping[str, Any] | None = None
    """What Codex keeps in ``[hooks.state]``; None where it cannot be read."""
    project: bool = False
    twice: str = ""
    """The plugin of ours that is switched on as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands with one adapter."""

    installed: bool
    stale: tuple[str, ...]
    """Events whose hook lacks, is of an older form, or is there twice."""
    missing: tuple[str, ...]
    """Programs that the hooks call and that cannot be found."""
    untrusted: tuple[str, ...]
    """Events whose hook Codex does not run; () for Claude Code, which asks for none."""
    changed: tuple[str, ...]
    """Events whose hook Codex trusted in another form, as far as can be told from here."""
    disabled: tuple[str, ...]
    """Events whose hook somebody switched off in Codex."""
    off: str

    @property
    def words(self) -> str:
        """The state in a word or two."""
        if not self.installed:
            return "not installed"
        said = ["stale" if self.stale else "installed"]
        said += ["program not found"] * bool(self.missing)
        said += ["not trusted"] * bool(self.untrusted)
        said += ["changed since trusted"] * bool(self.changed)
        said += ["switched off"] * bool(self.disabled)
        said += ["hooks are off"] * bool(self.off)
        return ", ".join(said)

    @property
    def works(self) -> bool:
        """Whether the agent calls us."""
        return self.words == "installed"


def judge(facts: Facts) -> Standing:
    """Return how it stands with an adapter."""
    asked = facts.agent == CODEX and bool(facts.found)
    trusts = [(found.event, _trust(facts, found)) for found in facts.found] if asked else []
    return Standing(
        installed=bool(facts.found),
        stale=tuple(e for e, group in facts.wanted.items() if not _as_wanted(facts, e, group))
        if facts.found
        else (),
        missing=tuple(name for name, there in facts.programs.items() if not there),
        untrusted=_events(trusts, Trust.UNTRUSTED),
        changed=_events(trusts, Trust.CHANGED),
        disabled=_events(trusts, Trust.DISABLED),
        off=facts.off,
    )


def _as_wanted(facts: Facts, event: str, group: Group) -> bool:
    found = [item.value for item in facts.found if item.event == event]
    return found == [group]


def _events(trusts: Sequence[tuple[str, Trust]], which: Trust) -> tuple[str, ...]:
    return tuple(dict.fromkeys(event for event, trust in trusts if trust is which))


def _trust(facts: Facts, found: Found) -> Trust:
    """Return what Codex keeps on a hook."""
    state = as_object((facts.trust or {}).get(trust_key(facts.trusted_as or facts.file, found)))
    if not isinstance(state.get("trusted_hash"), str):
        return Trust.UNTRUSTED
    if state.get("enabled") is False:
        return Trust.DISABLED
    return Trust.TRUSTED if state["trusted_hash"] == trust_hash(found) else Trust.CHANGED


def trust_key(file: str, found: Found) -> str:
    """Return the key under which Codex keeps whether it trusts a hook: file, event, place."""
    return f"{file}:{_event_key(found)}:{found.group}:{found.index}"


def trust_hash(found: Found) -> str:
    """Return what Codex 0.171 keeps of a hook that it trusts; only ever to be compared."""
    handler = found.value["hooks"][found.index]
    named: dict[str, Any] = {"event_name": _event_key(found), "hooks": [{"async": False} | handler]}
    if found.value.get("matcher") is not None:
        named["matcher"] = found.value["matcher"]
    spelled = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(spelled.encode('utf-8', 'replace')).hexdigest()}"


def _event_key(found: Found) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", found.event).lower()


def codex_says(config: Mapping[str, Any], project: str = "") -> tuple[str, Mapping[str, Any]]:
    """Return why Codex runs no hooks here ("" if it does), and what it keeps on hooks.

    What is not of the form that Codex writes is as if it were not there.
    """
    off = ""
    if _table(config, "features").get("hooks") is False:
        off = "[features] hooks = false in config.toml"
    elif project and _table(config, "projects", project).get("trust_level") != "trusted":
        off = f"Codex does not trust {project}: start codex there, and say yes"
    return off, _table(config, "hooks", "state")


def _table(config: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        config = as_object(config.get(key))
    return config


def plugin_of(table: Any) -> str:
    """Return the name under which our plugin is switched on, "" if it is not.

    ``table`` is ``enabledPlugins`` of Claude Code's settings, or ``[plugins]`` of Codex's.
    """
    for name, state in table.items() if isinstance(table, dict) else ():
        on = state.get("enabled") if isinstance(state, dict) else state
        if on is True and name.partition("@")[0] == PLUGIN:
            return str(name)
    return ""


def by_plugin(facts: Facts, name: str) -> Facts:
    """Return the facts of an adapter that comes as a plugin, whose hooks are as they are here."""
    wanted = groups(facts.agent)
    return replace(
        facts, file=f"the plugin {name}", trusted_as=f"{name}:{PLUGIN_HOOKS[facts.agent]}",
        wanted=wanted, found=[Found(event, 0, 0, group) for event, group in wanted.items()],
    )  # fmt: skip


def claude_says(text: str | None, name: str) -> tuple[str, str]:
    """Return why Claude Code runs no hooks ("" if it does), and the name of our plugin there."""
    if text is None:
        return "", ""
    body = text.removeprefix(BOM)
    root = jsonspans.read(body, name)
    off, plugins = (root.get(key) for key in ("disableAllHooks", "enabledPlugins"))
    said = "disableAllHooks" if off is not None and jsonspans.value(body, off) is True else ""
    return said, plugin_of(jsonspans.value(body, plugins)) if plugins is not None else ""


def findings(facts: Facts) -> list[Finding]:
    """Return what a check-up says; nothing of an agent that is not here."""
    topic = f"adapter {facts.agent}"
    title, install = TITLES[facts.agent], f"handsoff adapter install {facts.agent}"
    if not facts.there:
        return []
    state = judge(facts)
    if not state.installed:
        said = f"{title} is here, and is not told who carries a work"
        return [note(topic, said, install)]
    found = []
    if state.missing:
        said = f"{title} cannot find {', '.join(state.missing)}, so none of our hooks runs"
        found.append(problem(topic, said, FIND_IT if facts.agent == CODEX else install))
    if state.stale:
        said = f"the hooks in {facts.file} are not those of this handsoff: {_list(state.stale)}"
        found.append(problem(topic, said, install))
    if state.untrusted:
        said = f"Codex skips our hooks until they are trusted: {_list(state.untrusted)}"
        found.append(problem(topic, said, TRUST_IT))
    if state.changed:
        said = f"our hooks may have changed since Codex trusted them: {_list(state.changed)}"
        found.append(note(topic, said, TRUST_IT))
    if state.disabled:
        said = f"our hooks are switched off in Codex: {_list(state.disabled)}"
        found.append(note(topic, said, "open codex, type /hooks"))
    if facts.twice:
        said = f"{title} calls {PROGRAM} twice: by {facts.file}, and by the plugin {facts.twice}"
        found.append(note(topic, said, f"handsoff adapter uninstall {facts.agent}"))
    if state.off:
        found.append(note(topic, f"{title} runs no hooks: {state.off}", "take that setting out"))
    return found or [ok(topic, f"{title} calls {PROGRAM}, from {facts.file}")]


def _list(events: Sequence[str]) -> str:
    return ", ".join(events)
