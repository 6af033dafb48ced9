"""The plugin for agents: what it names is there, and its hooks are those of the adapter."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import typer

from handsoff.cli.app import app
from handsoff.core.settings import adapters, team_rules
from handsoff.core.transcripts.sessions import AGENTS
from tests.kit.machines import ROOT

PLUGIN: Final = ROOT / "contrib" / "plugin"
TEXTS: Final = sorted([*PLUGIN.glob("skills/*/SKILL.md"), *PLUGIN.glob("commands/*.md")])
EVENTS: Final = {
    "claude": {
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact",
        "SessionEnd", "SubagentStop", "Notification",
    },
    "codex": {
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest",
        "PostToolUse", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop",
        "Interrupt",
    },
}  # fmt: skip
"""Events of both, after their documents."""


def of_json(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text("utf-8"))


def check_hooks(agent: str, settings: Any) -> None:
    """Fail unless hooks have the form that the agent's documents give them, and no other key."""
    assert set(settings) <= {"description", "hooks"}
    assert set(settings["hooks"]) <= EVENTS[agent]
    for groups in settings["hooks"].values():
        for group in groups:
            assert set(group) <= {"matcher", "hooks"}
            re.compile(group.get("matcher", ""))
            for handler in group["hooks"]:
                assert set(handler) == {"type", "command", "timeout"}
                assert handler["type"] == "command"
                assert isinstance(handler["command"], str)
                assert isinstance(handler["timeout"], int)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_hooks_are_those_that_the_adapter_installs(agent: str) -> None:
    hooks = of_json(adapters.PLUGIN_HOOKS[agent])
    check_hooks(agent, hooks)
    assert hooks["hooks"] == {event: [g] for event, g in adapters.groups(agent).items()}
    assert list(hooks["hooks"]) == list(adapters.groups(agent))


def test_both_manifests_name_one_plugin_and_what_is_there() -> None:
    claude, codex = (of_json(f".{agent}-plugin/plugin.json") for agent in AGENTS)
    for key in ("name", "version", "description", "author"):
        assert claude[key] == codex[key]
    assert set(codex) - set(claude) == {"hooks", "skills"}
    assert codex["name"] == adapters.PLUGIN
    assert codex["hooks"] == f"./{adapters.PLUGIN_HOOKS['codex']}"
    assert (PLUGIN / codex["skills"]).is_dir()
    (listed,) = of_json(".claude-plugin/marketplace.json")["plugins"]
    assert listed["name"] == adapters.PLUGIN
    assert (PLUGIN / listed["source"]).resolve() == PLUGIN


def commands() -> Iterator[tuple[str, set[str]]]:
    """Yield each command of handsoff, and its options."""
    root: Any = typer.main.get_command(app)
    for name, command in root.commands.items():
        inner = {f"{name} {word}": c for word, c in getattr(command, "commands", {}).items()}
        for words, found in {name: command, **inner}.items():
            yield words, {option for given in found.params for option in given.opts}


def named(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of handsoff that a text names."""
    for line in re.findall(r"`(?:[A-Z]+=\w+ )?handsoff ([^`]+)`", text):
        yield line.split()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_each_text_has_a_head_that_both_programs_read(path: Any) -> None:
    head = re.match(r"---\n((?:[a-z-]+: .+\n)+)---\n\n", path.read_text("utf-8"))
    assert head
    fields = dict(line.split(": ", 1) for line in head[1].splitlines())
    if path.name == "SKILL.md":
        assert fields["name"] == path.parent.name
        assert len(fields["description"]) <= 1024
        assert ": " not in fields["description"]  # YAML would read a mapping
    else:
        assert path.stem.startswith("handsoff-")
        assert fields["description"]


@pytest.mark.parametrize("path", [*TEXTS, None], ids=lambda path: path.name if path else "rules")
def test_each_command_that_a_text_names_is_there_with_its_options(path: Any) -> None:
    text = path.read_text("utf-8") if path else team_rules.RULES
    known, told = dict(commands()), list(named(text))
    assert told
    for words in told:
        assert words[0] in known, words
        options = {word for word in words if word.startswith("--")}
        assert options <= known[words[0]], words


def test_what_agents_must_not_do_is_said() -> None:
    for text in (team_rules.RULES, (PLUGIN / "skills/handsoff/SKILL.md").read_text("utf-8")):
        assert "--no-verify" in text
        assert "refs/wip" in text
