"""What ``handsoff status`` costs with many works on the remote, seen by a clone that is new.

Run from the repository root: python lab/bench_status.py [--works 50] [--entries 100]

Real keys, real git, a bare remote on the same disk. Prints for a first run, a second, and one
after each work got an entry more: seconds, connections to the remote, and fetches among these.
Exit code 1 if a run needs more than one fetch, or the second needs one or a second of its own.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from handsoff.core.works.pen import Pen  # noqa: E402 - found beside this file
from handsoff.edge.git.moves import Move  # noqa: E402
from tests.kit.machines import Machine, World, sealed, store  # noqa: E402

_NETWORK = ("ls-remote", "fetch", "push")
_LIMIT = 1.0


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--works", type=int, default=50)
    parser.add_argument("--entries", type=int, default=100)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        env = sealed(scratch)
        os.environ.clear()
        os.environ.update(env)
        counted = _counting(scratch)
        world = World.make(scratch)
        m1, m2 = world.members("m1", "m2")
        works = [f"task/{number:04}" for number in range(chosen.works)]
        _write(m1, works, chosen.entries)
        runs = {"the first time": _run(m2, counted), "again": _run(m2, counted)}
        _write(m1, works, 1)
        runs["each work one entry on"] = _run(m2, counted)
    print(f"status, {chosen.works} works of {chosen.entries} entries:")
    for name, (seconds, commands) in runs.items():
        fetches = commands.count("fetch")
        print(f"  {name:24} {seconds:5.2f} s, {len(commands)} connections, {fetches} fetches")
    bad = [name for name, (_, commands) in runs.items() if commands.count("fetch") > 1]
    seconds, commands = runs["again"]
    sys.exit(1 if bad or "fetch" in commands or seconds > _LIMIT else 0)


def _counting(scratch: Path) -> Path:
    """Put a git before the real one that notes what it was asked for; return where."""
    log, folder = scratch / "asked", scratch / "bin"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    return log


def _write(machine: Machine, works: list[str], entries: int) -> None:
    """Put ``entries`` more on each record, all in one push."""
    desk = machine.desk()
    moves = []
    for work, view in desk.views(works).items():
        pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
        for _ in range(entries):
            pen = pen.saved(envelope="1" * 40) if pen.record.lease.leg else pen.caught()
        store(desk).write_drafts(pen.drafts)
        moves.append(Move(desk.shared.record_ref(work), pen.record.git_tip or "", view.tip))
    desk.shared.push(*moves)


def _run(machine: Machine, log: Path) -> tuple[float, list[str]]:
    """Return how long one status took, start of the program and all, and what git was asked."""
    log.write_text("")
    env = {**os.environ, "HANDSOFF_HOME": str(machine.home)}
    began = time.perf_counter()
    words = [sys.executable, "-m", "handsoff", "status", "--json"]
    subprocess.run(words, cwd=machine.top, env=env, check=True, stdout=subprocess.DEVNULL)
    spent = time.perf_counter() - began
    asked = [word for line in log.read_text().splitlines() for word in line.split()
             if word in _NETWORK]  # fmt: skip
    return spent, asked


if __name__ == "__main__":
    main()
