"""Git that talks to a remote which never answers: it ends, even if nobody is left to end it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_BEGINS = """
import os, sys
from pathlib import Path
from handsoff.edge.git.begun import Begun
begun = Begun("r", ["ls-remote", "ssh://r.invalid/x"], cwd=Path("/"), env=os.environ, seconds=1)
print(begun._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_git_whose_parent_was_killed_ends_by_itself(tmp_path: Path) -> None:
    env = {**os.environ, "GIT_SSH_COMMAND": f"sleep 4 >{tmp_path}/ssh #"}
    words = [sys.executable, "-P", "-c", _BEGINS]
    # what it leaves keeps no pipe of ours open
    killed = subprocess.run(words, env=env, stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -signal.SIGKILL
    proc = Path("/proc") / killed.stdout.decode().strip()
    assert b"ls-remote" in (proc / "cmdline").read_bytes()
    for _ in range(60):
        if not proc.exists() or not (proc / "cmdline").read_bytes():
            return
        time.sleep(0.05)
    raise AssertionError("it still waits")
