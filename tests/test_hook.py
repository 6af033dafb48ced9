"""The program that agents call: what it answers, what it leaves, and that it stops nobody."""

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from handsoff import hook
from handsoff.edge.agents import hooklog
from tests.kit.hooking import SESSION, event, hooked, said, tool
from tests.kit.machines import ROOT, Machine, World
from tests.kit.running import inside

HEAVY = {"asyncio", "cryptography", "dataclasses", "pathlib", "pygit2", "subprocess", "typer"}
LIGHT = {"datetime", "enum", "json", "re", "typing"}
"""What most events can do without."""

AGENTS = pytest.mark.parametrize("agent", ["claude", "codex"])


@pytest.fixture
def elsewhere(world: World) -> Path:
    """Return a checkout of m1 in which the work of its branch, feat/x, is with m2."""
    m1, _ = world.prepared("m1", "m2", by=_away)
    (store(m1.top) / "hooked-refresh").touch()  # just now: nothing is started in the background
    return m1.top


def _away(world: World, m1: Machine, m2: Machine) -> None:
    m1.git("switch", "-q", "-c", "feat/x")
    m2.writes("feat/x", lambda pen: pen.caught())
    inside(m1, "status").ok()


def store(top: Path) -> Path:
    return top / ".git" / "handsoff"


def lines(top: Path) -> list[Any]:
    return [json.loads(line) for line in (store(top) / "sessions.jsonl").read_text().splitlines()]


@AGENTS
def test_each_event_is_answered_as_its_program_takes_it(agent: str, elsewhere: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: README\n@@\n-a\n+b\n*** End Patch"
    events = [
        (event("SessionStart", elsewhere, source="compact"), "m2 carries feat/x"),
        (event("UserPromptSubmit", elsewhere, prompt="x", turn_id="u"), ""),
        (tool("Bash", elsewhere, command="make && git push"), "this push was refused"),
        (tool("Bash", elsewhere, command="gh pr create --fill"), "this pull request was refused"),
        (tool("Bash", elsewhere, command="git --git-dir=$'a\\0' push; git push"), "this push was"),
        (tool("Edit", elsewhere, file_path=str(elsewhere / "README")), "this edit was refused"),
        (tool("apply_patch", elsewhere, command=patch), "this edit was refused"),
        (tool("Bash", elsewhere, command="git status && git log"), ""),
        (tool("Read", elsewhere, file_path=str(elsewhere / "README")), ""),
        (event("PostToolUse", elsewhere, tool_name="Bash", tool_input={}), ""),
        (event("Stop", elsewhere, stop_hook_active=False, last_assistant_message=None), ""),
        (event("PreCompact", elsewhere, trigger="auto", custom_instructions=""), ""),
        (event("Interrupt", elsewhere, turn_id="u"), ""),
    ]
    for given, part in events:
        name = given["hook_event_name"]
        answer = said(agent, name, hooked(agent, given))
        assert part in answer, given
        assert bool(part) is bool(answer), given
    kept = lines(elsewhere)
    assert [line["event"] for line in kept] == [given["hook_event_name"] for given, _ in events]
    assert {(line["agent"], line["session_id"]) for line in kept} == {(agent, SESSION)}
    assert stat.S_IMODE((store(elsewhere) / "sessions.jsonl").stat().st_mode) == 0o600


def test_the_worktree_of_the_file_or_of_the_push_decides_not_the_session(elsewhere: Path) -> None:
    other = elsewhere.parent / "other tree"
    subprocess.run(["git", "worktree", "add", "-q", "-b", "mine", other], cwd=elsewhere, check=True)

    def refused(given: dict[str, Any]) -> bool:
        return bool(said("claude", "PreToolUse", hooked("claude", given)))

    new = "src/deep/new.txt"
    assert refused(tool("Write", other, file_path=str(elsewhere / new)))
    assert not refused(tool("Write", elsewhere, file_path=str(other / new)))
    assert not refused(tool("Write", elsewhere, file_path="/nowhere/at/all"))
    assert refused(tool("Write", other, file_path=f"../{elsewhere.name}/x"))
    (other / "link").symlink_to(elsewhere)
    assert refused(tool("Edit", other, file_path=str(other / "link" / "README")))
    assert refused(tool("Bash", other, command=f"git -C {elsewhere} push"))
    assert refused(tool("Bash", other, command=f"cd ../{elsewhere.name} && git push"))
    assert refused(tool("Bash", other, command=f"git --git-dir {elsewhere}/.git push"))
    assert not refused(tool("Bash", elsewhere, command=f"git -C '{other}' push"))
    assert not refused(tool("Bash", other, command="git push"))
    assert refused(tool("Bash", other, command="git push origin mine:feat/x"))
    assert refused(tool("Bash", other, command="git push --all"))
    assert refused(tool("Bash", elsewhere, command='git -C "$x" push'))
    # HEAD is detached, and comes back to the branch
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=elsewhere, text=True).strip()
    git_dir = elsewhere / ".git"
    (git_dir / "HEAD").write_text(head + "\n")
    assert not refused(tool("Bash", elsewhere, command="git push"))
    (git_dir / "rebase-merge").mkdir()
    (git_dir / "rebase-merge" / "head-name").write_text("refs/heads/feat/x\n")
    assert refused(tool("Bash", elsewhere, command="git push"))


def test_edits_pass_with_a_word_where_the_user_wants_only_that(elsewhere: Path) -> None:
    subprocess.run(["git", "config", "handsoff.guardEdits", "warn"], cwd=elsewhere, check=True)
    path = store(elsewhere) / "state.json"
    state = json.loads(path.read_text())
    state["settings"]["edits"] = "warn"
    path.write_text(json.dumps(state))
    edit = tool("Edit", elsewhere, file_path=str(elsewhere / "README"))
    assert "m2 carries" in json.loads(hooked("claude", edit))["systemMessage"]
    assert hooked("codex", edit) == ""


def write(text: str) -> Callable[[Path], object]:
    return lambda state: state.write_text(text)


def replace_by_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


STATES: Final[dict[str, Callable[[Path], object]]] = {
    "gone": Path.unlink,
    "damaged": write('{"version": 1, "works"'),
    "odd": write('{"version": 1, "works": [], "waits": {}, "machine": 3, "settings": []}'),
    "deep": write("[" * 100_000),
    "newer": write('{"version": 2, "works": {"feat/x": {"state": "held", "may_push": false}}}'),
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("name", STATES)
def test_without_a_state_that_can_be_read_the_agent_goes_on(name: str, elsewhere: Path) -> None:
    STATES[name](store(elsewhere) / "state.json")
    assert hooked("claude", tool("Bash", elsewhere, command="git push")) == ""


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b" " * (hook.LIMIT + 1), b"[" * 10**5])
def test_an_event_that_cannot_be_read_leaves_a_line_in_the_log(
    data: bytes, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(elsewhere)
    assert hooked("claude", data) == ""
    (line,) = (store(elsewhere) / "hook.log").read_text().splitlines()
    assert "Error: " in line


def test_where_nothing_can_be_written_the_agent_goes_on(elsewhere: Path) -> None:
    for name in ("sessions.jsonl", "hook.log", "told.json"):
        replace_by_folder(store(elsewhere) / name)
    assert hooked("claude", event("Stop", elsewhere)) == ""
    start = event("SessionStart", elsewhere, source="compact")
    assert "m2 carries" in said("claude", "SessionStart", hooked("claude", start))
    push = tool("Bash", elsewhere, command="git push")
    assert said("claude", "PreToolUse", hooked("claude", push))


def test_where_handsoff_was_never_set_up_nothing_is_left(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for given in (event("SessionStart", tmp_path), tool("Bash", tmp_path, command="git push")):
        assert hooked("claude", given) == ""
    assert not store(tmp_path).exists()


def test_our_own_programs_in_the_background_do_not_come_back(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(hooklog.BACKGROUND, "1")
    assert hooked("claude", tool("Bash", elsewhere, command="git push")) == ""
    assert not (store(elsewhere) / "sessions.jsonl").exists()


def test_the_journal_stays_small(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooklog, "_JOURNAL_LIMIT", 2000)
    for _ in range(30):
        hooked("claude", event("Stop", elsewhere))
    kept = [path.stat().st_size for path in store(elsewhere).glob("sessions.jsonl*")]
    assert len(kept) == 2
    assert max(kept) < 2500


def test_nothing_slow_is_imported(elsewhere: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from handsoff.hook import main; main()"
    for command, out in (("ls", False), ("git push", True)):
        done = subprocess.run(
            [sys.executable, "-P", "-S", "-X", "importtime", "-c", code, ROOT, "claude"],
            input=json.dumps(tool("Bash", elsewhere, command=command)).encode(),
            capture_output=True, check=True,
        )  # fmt: skip
        assert bool(done.stdout) is out
        imported = {
            line.rpartition("|")[2].strip().partition(".")[0]
            for line in done.stderr.decode().splitlines()
        }
        assert "handsoff" in imported
        assert not imported & (HEAVY if out else HEAVY | LIGHT)


def test_a_person_who_asks_for_help_is_told_how_it_is_called(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hook.main(["--help"]) == 0
    assert "handsoff-hook claude|codex < event.json" in capsys.readouterr().out
