"""How long an agent waits for its hook: beside a Python that does nothing, in turns.

Run from the repository root: python lab/bench_hook.py [RUNS]. Each event is answered RUNS times
(default 20), each run followed by one of bare Python, so that a busy machine slows both; the table
has the medians of wall and processor time in milliseconds. 1000 works are known in the clone. Exit
code 1 if an event takes over 80 ms of wall time.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST = 0.080
ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from handsoff.hook import main; main()"


def clone(top: Path) -> None:
    """Make a clone in which the work of its branch is elsewhere, and 999 others are."""
    subprocess.run(["git", "init", "-q", "-b", "feat/0", top], check=True)
    entry = {
        "state": "held", "carrier": {"id": "b", "name": "m2"}, "here": False, "last_here": False,
        "leg": 2, "revision": 3, "since": 1_790_000_000, "until": 0, "to": "", "traps": ["a", "b"],
        "offered_to_me": False, "may_push": False, "may_push_then": False, "drop": None,
        "next": "Make the rounding test pass. " * 10, "tips": ["0" * 40], "seen": "0" * 40,
    }  # fmt: skip
    state = {
        "version": 1, "machine": {"id": "a", "name": "m1"}, "written_at": 1, "home": "",
        "settings": {"edits": "deny", "save_every": 600}, "waits": [],
        "works": {f"feat/{n}": entry for n in range(1000)},
    }  # fmt: skip
    store = top / ".git" / "handsoff"
    store.mkdir()
    (store / "state.json").write_text(json.dumps(state))
    for chore in ("refresh", "save"):  # begun just now: the bench starts nothing
        (store / f"hooked-{chore}").touch()


def events(top: Path) -> dict[str, dict[str, object]]:
    def tool(name: str, **given: str) -> dict[str, object]:
        return {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": given}

    return {
        "a tool that is not ours": tool("Read", file_path=str(top / "x")),
        "a shell line": tool("Bash", command="ls -l && grep -rn foo src | head"),
        "a push, refused": tool("Bash", command="cd . && git push"),
        "an edit, refused": tool("Edit", file_path=str(top / "x")),
        "a prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
        "a session starts": {"hook_event_name": "SessionStart", "source": "compact"},
    }


def timed(words: list[str], given: bytes, cwd: Path) -> tuple[float, float]:
    """Run a program; return its wall and processor time."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(words, input=given, cwd=cwd, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, os.times()
    assert done.returncode == 0, done.stderr
    used = after.children_user + after.children_system
    return wall, used - before.children_user - before.children_system


def main(runs: int) -> None:
    hook = [sys.executable, "-P", "-c", PROGRAM, str(ROOT), "claude"]
    bare = [sys.executable, "-P", "-c", "pass"]
    print(f"{'event':26}{'wall':>8}{'bare':>8}{'cpu':>8}{'bare':>8}   (ms, medians of {runs})")
    with tempfile.TemporaryDirectory() as folder:
        top, worst = Path(folder), 0.0
        clone(top)
        for name, event in events(top).items():
            given = json.dumps({"session_id": "s", "cwd": folder, **event}).encode()
            pairs = [(timed(hook, given, top), timed(bare, b"", top)) for _ in range(runs)]
            columns = [[p[who][what] for p in pairs] for what in (0, 1) for who in (0, 1)]
            worst = max(worst, statistics.median(columns[0]))
            print(f"{name:26}" + "".join(f"{statistics.median(c) * 1000:8.1f}" for c in columns))
    sys.exit(worst > MOST)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)
