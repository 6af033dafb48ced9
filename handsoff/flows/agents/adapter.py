"""``handsoff adapter``: hooks into an agent's settings and out of them; the rules for a team.

Nothing here needs keys, a roster or the remote; ``--project`` and ``rules`` need a checkout.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handsoff.core.checkup.health import Finding, problem
from handsoff.core.settings import adapters, settings_text, team_rules
from handsoff.core.settings.adapters import PROGRAM, TITLES, TRUST_IT, Facts, Standing
from handsoff.core.settings.settings_text import Found
from handsoff.core.transcripts.sessions import AGENTS, CLAUDE, CODEX
from handsoff.edge.agents import settings
from handsoff.edge.git.repo import open_checkout
from handsoff.errors import HandsoffError, RefusedError, UnfitError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a run did to one file, or would do."""

    verb: str
    """install, uninstall or rules."""
    what: str
    """The agent, or "rules"."""
    file: Path
    changed: bool
    dry_run: bool
    diff: str
    backup: Path | None = None
    gone: bool = False
    """Whether the file went, as nothing but ours was in it."""
    made: bool = False
    """Whether there was none before."""
    warnings: tuple[str, ...] = ()
    then: str = ""
    """What the person has to do yet."""

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        return {
            "verb": self.verb, "what": self.what, "file": str(self.file), "changed": self.changed,
            "dry_run": self.dry_run, "diff": self.diff, "gone": self.gone,
            "backup": None if self.backup is None else str(self.backup),
            "warnings": list(self.warnings), "next": self.then,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How it stands with one adapter, and where."""

    facts: Facts
    standing: Standing

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        s, f = self.standing, self.facts
        return {
            "agent": f.agent, "file": f.file, "project": f.project, "agent_is_here": f.there,
            "state": s.words, "works": s.works, "installed": s.installed, "stale": list(s.stale),
            "missing": list(s.missing), "not_trusted": list(s.untrusted),
            "changed_since_trusted": list(s.changed), "disabled": list(s.disabled), "off": s.off,
            "twice": f.twice,
        }  # fmt: skip


def install(agent: str, *, project: bool, dry_run: bool) -> Changed:
    """Put our hooks into the settings of ``agent``; a second time changes nothing."""
    path, top = _place(agent, project)
    file = settings.read(path, inside=top, mode=0o644 if project else 0o600)
    name, warnings = str(file.path), list[str]()
    found = settings_text.installed(file.text, name, adapters.is_ours)
    program = _program(agent, found, warnings, project=project)
    after = settings_text.install(
        file.text, name, adapters.groups(agent, program), adapters.is_ours
    )
    if project:
        warnings.append(
            f"{path} belongs to the checkout: once it is committed, everybody who works in it "
            f"has these hooks, and needs {PROGRAM}"
        )
    off, _, plugin = _says(agent, file, top)
    if off:
        warnings.append(f"no hook will run: {off}")
    if plugin:
        warnings.append(f"the plugin {plugin} is switched on, and does the same: use one of them")
    done = _change("install", agent, path, file, after, dry_run=dry_run)
    then = TRUST_IT if done.changed and agent == CODEX else ""
    return replace(done, warnings=tuple(warnings), then=then)


def uninstall(agent: str, *, project: bool, dry_run: bool) -> Changed:
    """Take our hooks out of the settings of ``agent``; all else keeps its bytes."""
    path, top = _place(agent, project)
    file = settings.read(path, inside=top)
    after = settings_text.uninstall(file.text, str(file.path), adapters.is_ours)
    return _change("uninstall", agent, path, file, after, dry_run=dry_run)


def rules(name: str, *, remove: bool, dry_run: bool) -> Changed:
    """Keep the block with the rules for a team in a file of the checkout, or take it out."""
    top = open_checkout().top
    path = Path(name).absolute()
    file = settings.read(path, inside=top, mode=0o644)
    if ".git" in (part.lower() for part in file.path.relative_to(top.resolve()).parts):
        raise RefusedError(
            f"{name} is git's own, and no agent reads it", hint="such as --file AGENTS.md"
        )
    change = team_rules.remove if remove else team_rules.put
    return _change("rules", "rules", path, file, change(file.text, name), dry_run=dry_run)


def status(agents: Iterable[str], *, project: bool) -> Iterator[Told]:
    """Yield how it stands with each adapter; what failed of one is raised after the others."""
    failed = list[HandsoffError]()
    for agent in agents:
        try:
            facts = _facts(agent, project=project)
        except HandsoffError as error:
            failed.append(error)
        else:
            yield Told(facts=facts, standing=adapters.judge(facts))
    if failed:
        raise failed[0]


def known(agent: str) -> str:
    """Return the agent of that name; UsageError if there is no adapter for it."""
    if agent not in AGENTS:
        said = f"there is no adapter for {agent!r}, only for {' and '.join(AGENTS)}"
        raise UsageError(said, hint="any other agent, or a person, types the same commands")
    return agent


def _place(agent: str, project: bool) -> tuple[Path, Path | None]:  # noqa: FBT001
    top = open_checkout().top if project else None
    return settings.place(agent, top), top


def _program(agent: str, found: Sequence[Found], warnings: list[str], *, project: bool) -> str:
    """Return how our program is called; what stands there stays, as long as it can be found."""
    if project:
        return PROGRAM  # others have it elsewhere
    path, on_path = settings.program()
    if path is None:
        said = f"there is no {PROGRAM} on this machine"
        raise UnfitError(said, hint="install handsoff again: pip install handsoff")
    if not on_path:
        warnings.append(f"{path.parent} is not on PATH" + (
            f", so Codex will not find {PROGRAM}: add it, where Codex is started"
            if agent == CODEX else ": Claude Code is told the whole place of the program"
        ))  # fmt: skip
    if agent == CODEX:
        return PROGRAM  # a command that changes is one that is not trusted any more
    there = {adapters.program_of(command) for command in _commands(found)}
    same = next(iter(there)) if len(there) == 1 else ""
    return same if Path(same).is_absolute() and settings.can_run(same) else str(path)


def _commands(found: Sequence[Found]) -> list[str]:
    return [item.value["hooks"][item.index]["command"] for item in found]


def _change(
    verb: str,
    what: str,
    path: Path,
    file: settings.File,
    after: str | None,
    *,
    dry_run: bool,
) -> Changed:
    """Write what has changed, if it has."""
    changed, backup = after != file.text, None
    if changed and not dry_run:
        backup = settings.write(file, after, linked=path.is_symlink())
    return Changed(
        verb=verb, what=what, file=path, changed=changed, dry_run=dry_run, backup=backup,
        diff=_diff(file.text or "", after or "", path), gone=changed and after is None,
        made=changed and file.text is None,
    )  # fmt: skip


def _diff(before: str, after: str, path: Path) -> str:
    old, new = (
        f"{text}\n\\ no newline at the end".split("\n")
        if text and not text.endswith("\n")
        else text.split("\n")[:-1]
        for text in (before, after)
    )
    return "\n".join(difflib.unified_diff(old, new, str(path), str(path), lineterm=""))


def _facts(agent: str, *, project: bool) -> Facts:
    """Look at an adapter."""
    path, top = _place(agent, project)
    file = settings.read(path, inside=top)
    found = settings_text.installed(file.text, str(file.path), adapters.is_ours)
    programs = {adapters.program_of(command) for command in _commands(found)}
    one = next(iter(programs)) if len(programs) == 1 and agent == CLAUDE else PROGRAM
    off, trust, plugin = _says(agent, file, top)
    facts = Facts(
        agent=agent, file=str(path), there=settings.has_home(agent), project=project, off=off,
        wanted=adapters.groups(agent, one), found=found, trust=trust,
        trusted_as=settings.as_codex_spells(path), twice=plugin if found else "",
        programs={name: settings.can_run(name) for name in sorted(programs or {PROGRAM})},
    )  # fmt: skip
    return adapters.by_plugin(facts, plugin) if plugin and not found else facts


def _says(
    agent: str, file: settings.File, top: Path | None
) -> tuple[str, Mapping[str, Any] | None, str]:
    """Return why no hooks run, what is kept of trust, and the name of our plugin."""
    if agent == CLAUDE:
        off, plugin = adapters.claude_says(file.text, str(file.path))
        return f"{off} in {file.path}" if off else "", None, plugin
    try:
        config = settings.codex_config()
    except HandsoffError as error:
        return str(error), None, ""
    off, trust = adapters.codex_says(config, str(top or ""))
    return off, trust, "" if top else adapters.plugin_of(config.get("plugins"))


def check_ups() -> list[Finding]:
    """Return what a check-up of this machine says of the adapters."""
    said: list[Finding] = []
    for agent in AGENTS:
        try:
            said += adapters.findings(_facts(agent, project=False))
        except HandsoffError as error:
            topic = f"adapter {agent}"
            said.append(problem(topic, f"{TITLES[agent]}: {error}", error.hint or ""))
    return said
