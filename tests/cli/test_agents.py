"""The sessions of a checkout as they are told, and agents at work after a hand-over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handsoff.edge import clock
from handsoff.edge.processes import is_alive, process_of
from tests.kit.agents import Agents, session_id
from tests.kit.machines import Machine, Ran, World
from tests.kit.monday import Monday
from tests.kit.running import at_home, away, inside, wait_for

A, B, C = map(session_id, range(3))

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="only Linux tells who is at work"
)


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    """Return the agents of m1's person."""
    (tmp_path / "agents").mkdir()
    return Agents(tmp_path / "agents")


def homes(agents: Agents) -> dict[str, str]:
    """Return where the agents' homes are; git's and ours stay where they were."""
    return {
        "CLAUDE_CONFIG_DIR": str(agents.home / ".claude"), "CODEX_HOME": str(agents.home / ".codex")
    }  # fmt: skip


def ran(machine: Machine, agents: Agents, *words: str, cwd: Path | None = None) -> Ran:
    env = homes(agents)
    return inside(
        machine, *words, cwd=cwd, CLAUDE_CONFIG_DIR=env["CLAUDE_CONFIG_DIR"],
        CODEX_HOME=env["CODEX_HOME"],
    )  # fmt: skip


def test_sessions_are_told_in_any_checkout_and_outside_only_all_of_them(
    world: World, agents: Agents, tmp_path: Path
) -> None:
    m1: Machine = world.machine("m1")
    now = clock.now().timestamp()
    agents.claude(m1.top, A, at=now - 7200, prompt="Fix\x1b[2J the " + "rounding " * 30)
    agents.codex(m1.top / "src", B, at=now - 90)
    agents.claude(tmp_path / "other", C, at=now - 3 * 86400)
    (m1.top / ".aider.input.history").touch()
    with agents.running("codex", m1.top) as process:
        said = ran(m1, agents, "sessions").ok().out.splitlines()
        assert [line.split("  ")[0] for line in said] == [
            "codex", "", "claude", "", f"codex (pid {process.pid}) is at work, and its session is "
            "not written down yet", "aider: travels if .wip/carry names it: "
            f"{m1.top}/.aider.input.history",
        ]  # fmt: skip
        assert said[0].split() == ["codex", B, "1", "min", *said[0].split()[4:]]
        assert said[1] == "        Fix the rounding"
        assert said[3].startswith("        Fix[2J the rounding")
        assert max(map(len, said[:4])) <= 80
        found = ran(m1, agents, "sessions", "--json").ok().json
        assert [one["pid"] for one in found["at_work"]] == [process.pid]
    assert [(one["agent"], one["id"], one["at_work"]) for one in found["sessions"]] == [
        ("codex", B, False), ("claude", A, False),
    ]  # fmt: skip
    assert found["top"] == str(m1.top)
    refused = ran(m1, agents, "sessions", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    every = ran(m1, agents, "sessions", "--all", cwd=tmp_path).ok().out
    assert [C in every, f"in {tmp_path}/other" in every, "aider" in every] == [True, True, False]
    nothing = ran(m1, Agents(Path("/nowhere")), "sessions").ok()
    assert nothing.err.startswith("no session of Claude Code or Codex in ")


def test_after_a_send_who_is_at_work_is_named_and_ended_only_if_that_was_asked(
    monday: Monday, agents: Agents
) -> None:
    m1, top = monday.m1, monday.m1.top
    agents.claude(top, A)
    with (
        agents.running("node", top.parent) as claude,
        agents.running("codex", top / "src") as codex,
        agents.running("codex", top.parent) as elsewhere,
        at_home(monday.m2) as there,
    ):
        agents.at_work(claude, A, top)
        words = ("send", "m2", "--at", there.address)
        dry = ran(m1, agents, *words, "--dry-run", "--stop-agent", "--json").ok().json
        named = [("claude", A, claude.pid, "named"), ("codex", "", codex.pid, "named")]
        told = [tuple(map(one.get, ("agent", "id", "pid", "outcome"))) for one in dry["agents"]]
        assert told == named
        sent = ran(m1, agents, *words).ok()
        assert f"claude ({A}, pid {claude.pid}, busy) is at work here and goes on" in sent.err
        assert sent.err.splitlines()[-1] == f"next: end it yourself: kill {claude.pid} {codex.pid}"
        assert is_alive(claude)
        assert is_alive(codex)
        again = ran(m1, agents, *words, "--stop-agent", "--json").ok().json
        assert again["already"]
        ended = [tuple(map(one.get, ("pid", "outcome"))) for one in again["agents"]]
        assert ended == [(claude.pid, "ended"), (codex.pid, "ended")]
        assert not is_alive(claude)
        assert not is_alive(codex)
        assert is_alive(elsewhere)
    assert monday.carrier[0] == "offered"


def test_while_the_record_waits_nobody_is_asked_to_end(monday: Monday, agents: Agents) -> None:
    with (
        away(monday.m1, monday.m2),
        at_home(monday.m2) as there,
        agents.running("claude", monday.m1.top) as process,
    ):
        words = ("send", "m2", "--at", there.address, "--stop-agent", "-q")
        sent = ran(monday.m1, agents, *words)
        assert sent.code == 6
        assert "not asked to end, as the record waits for the remote" in sent.err
        assert is_alive(process)


def test_a_send_that_fails_ends_nobody_and_a_save_names_nobody(
    monday: Monday, agents: Agents
) -> None:
    with agents.running("claude", monday.m1.top) as process:
        failed = ran(monday.m1, agents, "send", "m9", "--stop-agent")
        assert failed.code == 2
        saved = ran(monday.m1, agents, "save", "--json").ok().json
        assert saved["agents"] == []
        assert is_alive(process)


def test_an_agent_that_hands_over_by_itself_ends_after_the_last_word(
    monday: Monday, agents: Agents, tmp_path: Path
) -> None:
    m1, out = monday.m1, tmp_path / "out"
    (agents.home / "bin").mkdir()
    program = agents.home / "bin" / "claude"
    program.symlink_to(os.path.realpath(sys.executable))
    agent = (
        "import signal,subprocess,sys,time\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "with open(sys.argv[1], 'w') as out: subprocess.run(sys.argv[2:], stdout=out)\n"
        "time.sleep(60)\n"
    )
    with at_home(monday.m2) as there:
        words = ["send", "m2", "--at", there.address, "--stop-agent", "--json"]
        command = [str(program), "-S", "-c", agent, str(out), sys.executable, "-m", "handsoff"]
        env = {**os.environ, "HANDSOFF_HOME": str(m1.home), **m1.env, **homes(agents)}
        child = subprocess.Popen([*command, *words], cwd=m1.top, env=env, stderr=subprocess.PIPE)
        process = process_of(child.pid)
        assert process is not None
        child.communicate(timeout=60)
        assert child.returncode == -2
    assert monday.carrier[0] == "offered"
    wait_for(lambda: out.read_text().endswith("}\n"))
    (one,) = json.loads(out.read_text())["agents"]
    assert (one["pid"], one["started"], one["outcome"]) == (
        process.pid, process.started, "asked last",
    )  # fmt: skip
