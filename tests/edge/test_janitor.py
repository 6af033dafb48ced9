"""The janitor ends whom it was told of, in every shell that /bin/sh may be."""

import subprocess
import sys
from pathlib import Path

from tests.kit.running import wait_for

_LEADER = """
import subprocess, sys, time
from pathlib import Path
from handsoff.edge.janitor import Janitor

janitor = Janitor(Path(sys.argv[1]))
child = subprocess.Popen(["sleep", "300"], start_new_session=True)
janitor.knows([child.pid])
print(child.pid, flush=True)
time.sleep(300)
"""


def is_there(pid: int) -> bool:
    """Say whether a process is there and runs: one that ended may wait for its reaper."""
    try:
        return ") Z " not in (Path("/proc") / str(pid) / "stat").read_text()
    except FileNotFoundError:
        return False


def test_a_child_that_would_go_on_ends_with_a_process_that_was_killed(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    words = [sys.executable, "-c", _LEADER, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        child = int(leader.stdout.readline())
        assert is_there(child)
        leader.kill()
    wait_for(lambda: not is_there(child))
    wait_for(lambda: not folder.exists())
