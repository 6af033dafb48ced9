"""What agents are told to call, and how that stands."""

from dataclasses import replace
from typing import Any

import pytest

from handsoff.core.checkup.health import Level
from handsoff.core.settings import adapters
from handsoff.core.settings.adapters import (
    Facts,
    codex_says,
    findings,
    groups,
    is_ours,
    judge,
)
from handsoff.core.settings.settings_text import Found
from handsoff.core.transcripts.sessions import AGENTS

FILE = "/h/.codex/hooks.json"
HASHES = {
    "SessionStart": "ddae0c08dc381241cd37abfa7583c71611663e13d4693fe83dd04d5db60770a5",
    "UserPromptSubmit": "d36529aa09f9a4f8028e833063caecde28a8c1719a87db1d02eb54535b1b3332",
    "PreToolUse": "cd2c0aa5e247771dd7141631fd44346b562e40d45f49f75071bc1d7e7082c3d5",
    "Stop": "b00e942194941cbf94c3813861950db32519082d1f55c59f5a6706b50f2b0245",
    "PreCompact": "772244068a42d2f1b44364cdb1dbc7abd022a97191be236551b35ed2179791a5",
    "SessionEnd": "a6907cf97233eacbef2f2d64f47fc4da254de695974a1fb179da754f418275e3",
}
"""What Codex 0.171 wrote when these hooks were trusted in it."""


def facts(agent: str = "codex", **more: Any) -> Facts:
    """Return an adapter where all is well."""
    wanted = groups(agent)
    found = [Found(event, 0, 0, group) for event, group in wanted.items()]
    trust = {adapters.trust_key(FILE, item): {"trusted_hash": f"sha256:{HASHES[item.event]}"}
             for item in found}  # fmt: skip
    sound = Facts(
        agent=agent, file=FILE, there=True, wanted=wanted, found=found,
        programs={"handsoff-hook": True}, trust=trust,
    )  # fmt: skip
    return replace(sound, **more)


def test_the_hashes_and_keys_of_codex_are_as_it_writes_them() -> None:
    assert judge(facts()).words == "installed"
    keys = [adapters.trust_key("/x", Found(e, 2, 1, {})) for e in groups("codex")]
    assert keys[1] == "/x:user_prompt_submit:2:1"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_hook_has_the_form_that_both_programs_take(agent: str) -> None:
    for event, group in groups(agent, "/my tools/handsoff-hook").items():
        assert set(group) <= {"matcher", "hooks"}
        assert ("matcher" in group) == (event in ("SessionStart", "PreToolUse"))
        (handler,) = group["hooks"]
        assert handler["type"] == "command"
        assert handler["command"] == f"'/my tools/handsoff-hook' {agent}"
        assert 0 < handler["timeout"] <= (3 if (agent, event) == ("codex", "SessionEnd") else 10)
        assert is_ours(handler)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("handsoff-hook codex", "handsoff-hook"),
        ("'/a b/handsoff-hook' claude", "/a b/handsoff-hook"),
        (r"C:\Tools\handsoff-hook.exe claude", r"C:\Tools\handsoff-hook.exe"),
        (r'"C:\My Tools\handsoff-hook.exe" claude', r"C:\My Tools\handsoff-hook.exe"),
        ("/opt/handsoff-hook 'torn", "/opt/handsoff-hook"),
    ],
)
def test_our_program_is_known_however_it_is_called(command: str, program: str) -> None:
    assert adapters.program_of(command) == program
    assert is_ours({"command": command})


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "not-handsoff-hook"}, {"command": "echo handsoff-hook"}, {"command": ""},
        {"command": 7}, {"type": "prompt"}, "handsoff-hook", None,
        {"command": "/opt/handsoff-hook/run"},
    ],
)  # fmt: skip
def test_what_is_somebody_elses_is_no_hook_of_ours(handler: Any) -> None:
    assert not is_ours(handler)


def changed(event: str, **state: Any) -> dict[str, Any]:
    """Return the trust of Codex, with one hook in another state."""
    trust: dict[str, Any] = dict(facts().trust or {})
    key = adapters.trust_key(FILE, Found(event, 0, 0, {}))
    return trust | {key: {**trust[key], **state}}


OLDER = [Found("Stop", 0, 0, {"hooks": [{"command": "handsoff-hook"}]})]


@pytest.mark.parametrize(
    ("given", "words", "level", "do"),
    [
        (facts(), "installed", Level.OK, ""),
        (facts("claude", trust=None), "installed", Level.OK, ""),
        (facts(found=[]), "not installed", Level.NOTE, "adapter install codex"),
        (facts(trust={}), "installed, not trusted", Level.PROBLEM, "/hooks"),
        (facts(trust=None), "installed, not trusted", Level.PROBLEM, "/hooks"),
        (facts(trust=changed("Stop", trusted_hash=7)), "installed, not trusted", Level.PROBLEM,
         "press t"),
        (facts(trust=changed("Stop", trusted_hash="sha256:0")), "installed, changed since trusted",
         Level.NOTE, "press t"),
        (facts(trust=changed("Stop", enabled=False)), "installed, switched off", Level.NOTE,
         "/hooks"),
        (facts(trusted_as="/real/hooks.json"), "installed, not trusted", Level.PROBLEM, "/hooks"),
        (facts(programs={"handsoff-hook": False}), "installed, program not found", Level.PROBLEM,
         "on the PATH"),
        (facts("claude", found=OLDER), "stale", Level.PROBLEM, "adapter install claude"),
        (facts("claude", off="disableAllHooks"), "installed, hooks are off", Level.NOTE, "setting"),
    ],
)  # fmt: skip
def test_how_it_stands_is_said_with_what_to_do(
    given: Facts, words: str, level: Level, do: str
) -> None:
    assert judge(given).words == words
    assert judge(given).works == (words == "installed")
    (found,) = findings(given)
    assert found.level is level
    assert do in found.do
    assert bool(found.do) == (level is not Level.OK)


def test_nothing_is_said_of_an_agent_that_is_not_here() -> None:
    assert findings(facts(there=False, found=[])) == []


def test_a_hook_that_is_there_twice_or_lacks_is_stale() -> None:
    sound = list(facts().found)
    assert judge(facts(found=[*sound, replace(sound[0], group=1)])).stale == ("SessionStart",)
    assert judge(facts(found=sound[:-1])).stale == ("SessionEnd",)


def test_what_codex_keeps_is_read_whatever_its_form() -> None:
    state = {"/x:stop:0:0": {"trusted_hash": "sha256:1"}}
    assert codex_says({"hooks": {"state": state}, "features": {"hooks": True}}) == ("", state)
    assert codex_says({"hooks": [], "features": 3}) == ("", {})
    assert "hooks = false" in codex_says({"features": {"hooks": False}})[0]
    assert (
        "does not trust /p" in codex_says({"projects": {"/q": {"trust_level": "trusted"}}}, "/p")[0]
    )
    assert codex_says({"projects": {"/p": {"trust_level": "trusted"}}}, "/p")[0] == ""


@pytest.mark.parametrize(
    ("text", "off", "plugin"),
    [
        ('\ufeff{"disableAllHooks": true}', "disableAllHooks", ""),
        ('{"disableAllHooks": 1}', "", ""),
        ('{"enabledPlugins": {"x@y": true, "handsoff@team": true}}', "", "handsoff@team"),
        ('{"enabledPlugins": {"handsoff@team": false}}', "", ""),
        ('{"enabledPlugins": []}', "", ""),
        (None, "", ""),
    ],
)
def test_the_switches_of_claude_code_are_read(text: str | None, off: str, plugin: str) -> None:
    assert adapters.claude_says(text, "f") == (off, plugin)


def test_hooks_may_come_by_the_plugin_but_once() -> None:
    assert adapters.plugin_of({"a": 1, "handsoff@x": {"enabled": True}}) == "handsoff@x"
    assert adapters.plugin_of({"handsoff@x": {"enabled": False}, "handsoffs@x": True}) == ""
    keys = {
        f"handsoff@x:hooks/codex.json:{key.split(':', 1)[1]}": state
        for key, state in (facts().trust or {}).items()
    }
    by_plugin = adapters.by_plugin(facts(found=[], trust=keys), "handsoff@x")
    assert judge(by_plugin).words == "installed"
    assert [f.said for f in findings(by_plugin)] == [
        "Codex calls handsoff-hook, from the plugin handsoff@x"
    ]
    (found,) = findings(facts(twice="handsoff@x"))
    assert "twice" in found.said
    assert found.do == "handsoff adapter uninstall codex"
