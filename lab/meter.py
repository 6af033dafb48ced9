"""What commands cost: wall clock, CPU and peak memory, with those of the servers they use."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machines import HERE, LISTEN, Lab

Step = tuple[str, str, Sequence[str]]
"""The part of a hand-over, the machine, and the command."""

TICKS = os.sysconf("SC_CLK_TCK")


class Launcher:
    """The small process that starts the others; see launcher.py."""

    def __init__(self) -> None:
        self.process: Any = subprocess.Popen(
            [sys.executable, "-S", "-E", HERE / "launcher.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, **asked: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def start(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> int:
        """Start a command that appends to ``out`` and ``err``; return its process id."""
        words = [str(word) for word in argv]
        started = self._ask(argv=words, cwd=str(cwd), env=dict(env), out=str(out), err=str(err))
        pid: int = started["pid"]
        return pid

    def reap(self, pid: int, patience: float | None = None) -> dict[str, Any]:
        """Wait for ``pid`` to end, tell it to after ``patience`` seconds; return its cost."""
        return self._ask(reap=pid, patience=patience)

    def stop(self) -> None:
        """End it, and what it still runs."""
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Cost:
    """What one hand-over cost: seconds, bytes of memory by program, bytes moved, phases."""

    send: float = 0.0
    catch: float = 0.0
    cpu: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)
    size: int = 0
    phases: dict[str, float] = field(default_factory=dict)

    @property
    def wall(self) -> float:
        """Both parts together."""
        return self.send + self.catch


class Meter:
    """Runs commands one after the other and adds up what they and their servers cost."""

    def __init__(self, lab: Lab, launcher: Launcher, logs: Path) -> None:
        self.lab = lab
        self.launcher = launcher
        self.logs = logs
        self.servers: dict[int, tuple[str, float]] = {}
        logs.mkdir(exist_ok=True)

    def serve(self, name: str, pid: int, patience: float) -> None:
        """Count the server ``pid`` as well, which may take ``patience`` seconds to end."""
        self.servers[pid] = (name, patience)

    def listen(self, machine: str) -> str:
        """Start a listener there, which is counted, and return its address."""
        address = self.logs / "address"
        address.unlink(missing_ok=True)
        words = (*LISTEN, "--address-file", str(address))
        pid = self._start(machine, (self.lab.handsoff_program, *words), self.logs / "listen")
        self.serve("listen", pid, 3)
        for _ in range(400):
            if address.exists() and address.read_text().strip():
                return address.read_text().strip()
            time.sleep(0.05)
        raise SystemExit(f"bench: no listener: {(self.logs / 'listen').read_text()[-1000:]}")

    def time(self, steps: Sequence[Step]) -> Cost:
        """Run ``steps``, end the servers, and return the cost; stop the program if one fails."""
        cost = Cost()
        before = {pid: _used(pid) for pid in self.servers}
        for part, machine, command in steps:
            self._run(cost, part, machine, command)
        # What a server does after its client has left belongs to the hand-over as well.
        time.sleep(0.3)
        for pid, (name, patience) in self.servers.items():
            spent = self.launcher.reap(pid, patience)
            cost.cpu += spent["cpu"] - before[pid]
            cost.peaks[name] = spent["peak"]
        return cost

    def _start(
        self, machine: str, command: Sequence[str], out: Path, err: Path | None = None
    ) -> int:
        where, env = self.lab.root / machine, self.lab.env(machine)
        return self.launcher.start(command, cwd=where, env=env, out=out, err=err or out)

    def _run(self, cost: Cost, part: str, machine: str, command: Sequence[str]) -> None:
        out, err = self.logs / "out", self.logs / "err"
        for log in (out, err):
            log.unlink(missing_ok=True)
        spent = self.launcher.reap(self._start(machine, command, out, err))
        if spent["code"]:
            said = (out.read_text() + err.read_text())[-1500:]
            sys.exit(f"bench: {' '.join(command)}: exit {spent['code']}\n{said}")
        setattr(cost, part, getattr(cost, part) + spent["took"])
        cost.cpu += spent["cpu"]
        cost.peaks[part] = max(cost.peaks.get(part, 0), spent["peak"])
        if "--json" in command:
            told = json.loads(out.read_text()).get("phases") or {}
            cost.phases |= {f"{part}.{name}": float(value) for name, value in told.items()}


def _used(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, stat[11:15])) / TICKS
