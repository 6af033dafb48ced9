"""Time handsoff beside a WIP commit and rsync, on the same state, in one run.

    bench.py [--sizes monday,medium,large] [--runs N] [--peers handsoff,wip,rsync] [--no-bytes]

Every run starts from a fresh copy on tmpfs, with its index refreshed, and takes the peers in
turn, each time in another order. The remote of handsoff and of the WIP commit is one bare
repository behind a private sshd on loopback; rsync uses the same sshd; the listener is up
before the clock starts. A run counts only if the restored state was compared and is the same.
CPU and memory are those of the commands and of all that serves them: sshd, its children, the
listener. Bytes come from one more run through a counting relay, which is not timed.

Needs git, ssh, sshd (apt-get install openssh-server) and, for its row, rsync.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compare import STAYS, Look, differences, look
from machines import BRANCH, HERE, Lab, program
from meter import Cost, Launcher, Meter
from private_sshd import Sshd, missing
from repos import generate

PEERS = {
    "handsoff": "handsoff send, catch",
    "wip": "WIP commit: push, pull, reset",
    "rsync": "rsync -a -e ssh",
}
ROW = "{:<30} {:>4} {:>8} {:>8} {:>8} {:>8} {:>9} {:>13}"


class Stage(Lab):
    """One size of repository, put back before each run."""

    def __init__(self, folder: Path, size: str, handsoff: str) -> None:
        super().__init__(folder / "run", handsoff)
        self.prepared = folder / size
        made = Lab(self.prepared, handsoff)
        if size == "monday":
            made.build()
            made.git("m2", "switch", "-q", BRANCH)
        else:
            generate(size, self.prepared)
            for machine in ("m1", "m2"):
                made.shell("make_home", str(self.prepared), machine)
        made.shell("write_page", str(self.prepared), "m1")
        for machine in ("m1", "m2"):
            url = f"ssh://bench{self.root}/remote.git"
            made.git(machine, "remote", "set-url", "origin", url)
        self.warmed = False
        self.before: Look = look(self.prepared / "m1")

    def put_back(self, ssh: str) -> None:
        """Make a fresh copy in which git has nothing to look at twice."""
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run(["cp", "-a", self.prepared, self.root], check=True)
        for machine in ("m1", "m2"):
            command = ("config", "--global", "core.sshCommand", ssh)
            self.git(machine, *command)
            self.run(machine, "git", "update-index", "-q", "--refresh", check=False)

    def warm(self) -> None:
        """See that the scanner's rules are compiled, as after any send before this one."""
        if not self.warmed:
            self.handsoff("m1", "send", "m2", "--via", "remote", "--dry-run")
            self.warmed = True


def run_handsoff(stage: Stage, meter: Meter, sshd: Sshd) -> Cost:
    """Send straight to a listener, and catch."""
    stage.enroll("m1", "m2")
    stage.warm()
    address = sshd.counted(meter.listen("m2"))
    send = (stage.handsoff_program, "send", "m2", "--at", address, "--json")
    catch = (stage.handsoff_program, "catch", BRANCH, "--json")
    return meter.time([("send", "m1", send), ("catch", "m2", catch)])


def run_wip(_stage: Stage, meter: Meter, _sshd: Sshd) -> Cost:
    """Commit everything, push it, pull it, and take the commit apart again."""
    return meter.time(
        [
            ("send", "m1", ("git", "add", "-A")),
            ("send", "m1", ("git", "commit", "-q", "-m", "WIP")),
            ("send", "m1", ("git", "push", "-q", "origin", BRANCH)),
            ("catch", "m2", ("git", "pull", "-q", "--ff-only")),
            ("catch", "m2", ("git", "reset", "-q", "HEAD~1")),
        ]
    )


def run_rsync(stage: Stage, meter: Meter, sshd: Sshd) -> Cost:
    """Copy the directory into an empty one."""
    shutil.rmtree(stage.root / "m2")
    (stage.root / "m2").mkdir()
    words = ("rsync", "-a", "-e", sshd.command, "./", f"bench:{stage.root}/m2/")
    return meter.time([("send", "m1", words)])


RUNNERS = {"handsoff": run_handsoff, "wip": run_wip, "rsync": run_rsync}


def faults(peer: str, before: Look, after: Look) -> Mapping[str, list[str]]:
    """Return what did not arrive that this peer is there to move."""
    if peer == "handsoff":
        return differences(before, after, absent=STAYS)
    if peer == "rsync":
        return differences(before, after, absent=())
    seen = {k: v for k, v in before["files"].items() if k not in before["ignored"]}
    arrived = {k: v for k, v in after["files"].items() if k not in after["ignored"]}
    return {} if seen == arrived else {"files": sorted(seen.keys() ^ arrived.keys())[:5]}


def run_once(stage: Stage, peer: str, folder: Path, launcher: Launcher, *, count: bool) -> Cost:
    """Run one peer from a fresh copy; stop the program if its end is not the same."""
    sshd = Sshd(folder / "sshd", launcher, count=count)
    stage.put_back(sshd.command)
    meter = Meter(stage, launcher, folder / "logs")
    meter.serve("sshd", sshd.pid, 0)
    cost = RUNNERS[peer](stage, meter, sshd)
    unlike = faults(peer, stage.before, look(stage.root / "m2"))
    if unlike:
        told = "\n  ".join(f"{part}: {values[:3]}" for part, values in unlike.items())
        sys.exit(f"bench: void: {peer} did not restore the state:\n  {told}")
    cost.size = sshd.total()
    return cost


def medians(costs: list[Cost], size: int) -> dict[str, Any]:
    """Return the figures of one row."""
    middle = {
        name: statistics.median(getattr(cost, name) for cost in costs)
        for name in ("wall", "send", "catch", "cpu")
    }
    phases = defaultdict(list)
    peaks: dict[str, int] = defaultdict(int)
    for cost in costs:
        for name, took in cost.phases.items():
            phases[name].append(took)
        for name, peak in cost.peaks.items():
            peaks[name] = max(peaks[name], peak)
    return {
        **{name: round(value, 3) for name, value in middle.items()},
        "runs": len(costs),
        "walls": [round(cost.wall, 3) for cost in costs],
        "peak_mb": round(max(peaks.values()) / 1e6, 1),
        "peaks_mb": {name: round(peak / 1e6, 1) for name, peak in peaks.items()},
        "bytes": size,
        "phases": {name: round(statistics.median(took), 1) for name, took in phases.items()},
    }


def show(size: str, rows: dict[str, dict[str, Any]]) -> None:
    """Print the table of one size, its ratios and the phases."""
    print(f"\n{size}")
    print(ROW.format("", "runs", "send s", "catch s", "both s", "CPU s", "peak MB", "bytes"))
    for peer, row in rows.items():
        figures = (f"{row[name]:.2f}" for name in ("send", "catch", "wall", "cpu"))
        size_told = f"{row['bytes']:,}" if row["bytes"] else "-"
        print(ROW.format(PEERS[peer], row["runs"], *figures, row["peak_mb"], size_told))
    ours = rows.get("handsoff")
    for peer in ("wip", "rsync"):
        if ours and peer in rows:
            told = [f"wall {ours['wall'] / rows[peer]['wall']:.2f}"]
            told.append(f"CPU {ours['cpu'] / rows[peer]['cpu']:.2f}")
            if ours["bytes"] and rows[peer]["bytes"]:
                told.append(f"bytes {ours['bytes'] / rows[peer]['bytes']:.2f}")
            print(f"handsoff / {peer:6} {', '.join(told)}")
    if ours:
        told = [f"{name} {peak:g}" for name, peak in ours["peaks_mb"].items()]
        print("handsoff, peak MB:", ", ".join(told), "(each with its children)")
    if ours and ours["phases"]:
        print("phases, ms:", ", ".join(f"{name} {took:g}" for name, took in ours["phases"].items()))


def measure(
    size: str, folder: Path, launcher: Launcher, handsoff: str, asked: argparse.Namespace
) -> dict[str, Any]:
    """Measure all peers on one size of repository."""
    stage = Stage(folder, size, handsoff)
    peers = [peer for peer in asked.peers if peer in RUNNERS]
    costs: dict[str, list[Cost]] = defaultdict(list)
    for number in range(asked.runs):
        turn = number % len(peers)
        for peer in [*peers[turn:], *peers[:turn]]:
            costs[peer].append(run_once(stage, peer, folder, launcher, count=False))
    sizes = dict.fromkeys(peers, 0)
    if asked.bytes:
        sizes = {peer: run_once(stage, peer, folder, launcher, count=True).size for peer in peers}
    rows = {peer: medians(costs[peer], sizes[peer]) for peer in peers}
    show(size, rows)
    shutil.rmtree(stage.root)
    shutil.rmtree(stage.prepared)
    return rows


def ask() -> argparse.Namespace:
    """Return what the command line asks for."""
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    comma = lambda text: text.split(",")  # noqa: E731
    words.add_argument("--sizes", type=comma, default=["monday", "medium", "large"])
    words.add_argument("--peers", type=comma, default=list(PEERS))
    words.add_argument("--runs", type=int, default=3)
    words.add_argument("--no-bytes", dest="bytes", action="store_false")
    asked = words.parse_args()
    if lacking := missing():
        sys.exit(f"bench: {lacking}")
    if "rsync" in asked.peers and not shutil.which("rsync"):
        print("bench: no rsync here, its row is left out (apt-get install rsync)", file=sys.stderr)
        asked.peers.remove("rsync")
    return asked


def main() -> None:
    """Measure each size that was asked for, and write lab/out/bench.json."""
    asked = ask()
    handsoff = program() if "handsoff" in asked.peers else "handsoff"
    memory = Path("/dev/shm")
    if not memory.is_dir():
        print("bench: no /dev/shm: figures from a disk are not comparable", file=sys.stderr)
    where = memory if memory.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="handsoff-bench.", dir=where))
    launcher = Launcher()
    os.environ.update(Lab(folder, handsoff).env("nobody"))
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{cores} cores, load {load:.1f} at the start; medians, best read as ratios")
    try:
        found = {s: measure(s, folder, launcher, handsoff, asked) for s in asked.sizes}
    finally:
        launcher.stop()
        if os.environ.get("KEEP"):
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "bench.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
