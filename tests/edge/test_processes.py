"""Real processes, told apart by their start, and asked to end."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.edge.processes import (
    Ending,
    Process,
    ancestors,
    ask_to_end,
    folder_of,
    is_alive,
    named,
    opened_by,
    process_of,
)
from tests.kit.agents import Agents

SOON = timedelta(milliseconds=300)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="only Linux tells when a process started"
)


@pytest.mark.parametrize(
    ("ignores", "ending", "signals"),
    [("", Ending.ENDED, ["SIGINT"]), ("SIGINT", Ending.TERMINATED, ["SIGINT", "SIGTERM"]),
     ("SIGINT SIGTERM", Ending.STAYS, ["SIGINT", "SIGTERM"])],
)  # fmt: skip
def test_a_process_is_asked_and_then_told_and_never_killed(
    tmp_path: Path, ignores: str, ending: Ending, signals: list[str]
) -> None:
    told: list[str] = []
    with Agents(tmp_path).running("claude", tmp_path, ignores=ignores) as process:
        # what the child ends by itself must not be waited for
        patience = timedelta(seconds=20) if not ignores else SOON
        assert ask_to_end(process, patience=patience, tell=told.append) is ending
        assert is_alive(process) == (ending is Ending.STAYS)
    assert told == signals
    assert ask_to_end(process) is Ending.GONE


def test_another_process_with_the_pid_is_never_signalled(tmp_path: Path) -> None:
    told: list[str] = []
    with Agents(tmp_path).running("claude", tmp_path) as process:
        before = Process(process.pid, process.started - 1)
        assert not is_alive(before)
        assert ask_to_end(before, tell=told.append) is Ending.GONE
        assert is_alive(process)
    assert told == []


def test_what_has_ended_and_is_not_collected_yet_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process_of(child.pid) is None
    child.communicate()


def test_this_process_and_the_first_of_all_are_never_asked() -> None:
    for pid in (os.getpid(), 1, 0, -1):
        process = process_of(pid) or Process(pid, 0)
        assert ask_to_end(process, tell=lambda _: pytest.fail("a signal")) is Ending.REFUSED


def test_those_in_which_this_process_runs_are_known() -> None:
    above = list(ancestors())
    assert above[0] == process_of(os.getppid())
    assert process_of(os.getpid()) not in above


def test_a_process_is_found_by_its_name_with_its_folder_and_its_files(tmp_path: Path) -> None:
    held = tmp_path / "held"
    held.touch()
    with Agents(tmp_path).running("codex x) 1", tmp_path, opens=held) as process:
        assert process in named("codex x) 1")
        assert process not in named("claude")
        assert folder_of(process) == str(tmp_path)
        assert str(held) in opened_by(process)
    assert (folder_of(process), opened_by(process)) == ("", [])
