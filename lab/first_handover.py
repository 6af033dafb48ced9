"""From two fresh checkouts to the first finished hand-over, on a LAN: how many commands, how long?

    first_handover.py [--show]

Two machines in network namespaces, each with a fresh clone and nothing of handsoff's: no keys, no
roster, no compiled rules, no address typed. Prints each command with its seconds; fails if there
are more than 6, if all of it takes 2 minutes, if the route was not the direct one, or if what
arrived is not what was sent. Needs root and iproute2. --show prints what the machines said, too.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import compare  # noqa: E402
import machines  # noqa: E402

from tests.kit.lan import Lan, NoLan, lan  # noqa: E402

COMMANDS = 6
SECONDS = 120.0
PATIENCE = 100.0


class Day:
    """The first day of two machines: what was typed, and how long it took."""

    def __init__(self, lab: machines.Lab, net: Lan, *, show: bool) -> None:
        self.lab = lab
        self.net = net
        self.show = show
        self.rows: list[tuple[str, str, float]] = []
        self.started = time.monotonic()

    def start(self, machine: str, *words: str) -> "subprocess.Popen[str]":
        """Type a command on ``machine`` that goes on running."""
        self.rows.append((machine, " ".join(["handsoff", *words]), time.monotonic()))
        # each machine compiles its own rules of the scanner, as it would in life
        cache = str(self.lab.root / "home" / machine / "cache")
        own = {"XDG_CACHE_HOME": cache, "HANDSOFF_MDNS": "on"}
        return subprocess.Popen(
            [*self.net.machine(machine).prefix, self.lab.handsoff_program, *words],
            cwd=self.lab.root / machine,
            env=self.lab.env(machine, own),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, process: "subprocess.Popen[str]") -> str:
        """Wait until a command ends, which must succeed, and return its data."""
        out, err = process.communicate(timeout=PATIENCE)
        if self.show:
            print(out + err, flush=True)
        if process.returncode:
            sys.exit(f"first_handover: {process.args}: exit {process.returncode}\n{out}{err}")
        return out

    def type(self, machine: str, *words: str) -> str:
        """Type a command on ``machine`` and wait for its end."""
        return self.end(self.start(machine, *words))


def until(stream: IO[str] | None, said: Callable[[str], bool]) -> str:
    """Return the first line of ``stream`` for which ``said`` holds."""
    assert stream is not None
    for line in stream:
        if said(line):
            return line.strip()
    sys.exit("first_handover: a command ended before it said what it should")


def hand_over(day: Day) -> str:
    """Type all that has to be typed, and return the route that was taken."""
    waits = day.start("m2", "pair", "--name", "m2", "--person", "lin")
    code = until(waits.stdout, lambda line: line.count("-") >= 2)
    day.type("m1", "pair", code, "--name", "m1", "--person", "lin", "--yes")
    day.end(waits)
    listens = day.start("m2", "listen", "--once")
    until(listens.stderr, lambda line: " listens " in line)
    day.type("m1", "page", "--no-edit")
    day.lab.shell("write_page", str(day.lab.root), "m1")  # what the person writes
    route = json.loads(day.type("m1", "send", "m2", "--json"))["route"]["name"]
    if route == "direct":
        day.end(listens)
    else:
        listens.terminate()
    day.type("m2", "catch", machines.BRANCH)
    return str(route)


def main() -> None:
    """Run it, print the table, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    show = parser.parse_args().show
    program = machines.program()
    with tempfile.TemporaryDirectory(prefix="handsoff-lab.") as folder:
        lab = machines.Lab(Path(folder) / "lab", program)
        lab.root.mkdir()
        lab.build()
        try:
            with lan("m1", "m2") as net:
                day = Day(lab, net, show=show)
                route = hand_over(day)
                took = time.monotonic() - day.started
        except NoLan as reason:
            sys.exit(f"first_handover: no network namespaces here: {reason}")
        before, after = (compare.look(lab.root / name) for name in ("m1", "m2"))
        row = compare.row("first hand-over", before, after, 0, 0)
    ends = [at for _, _, at in day.rows[1:]] + [day.started + took]
    for (machine, typed, at), end in zip(day.rows, ends, strict=True):
        print(f"{machine}$ {typed:<52} {end - at:6.1f} s")
    print(compare.table([row]))
    print(f"{len(day.rows)} commands, {took:.1f} s, route {route}")
    if len(day.rows) > COMMANDS or took >= SECONDS or route != "direct" or row["same"] != "yes":
        sys.exit(f"first_handover: more than {COMMANDS} commands or {SECONDS:.0f} s, or not whole")


if __name__ == "__main__":
    main()
