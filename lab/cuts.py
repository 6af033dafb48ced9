"""Cut a transfer everywhere: does it go on by itself, and how many bytes go twice?

    lab/.venv/bin/python lab/cuts.py [--random N] [--seed N] [--size MB]

A clean run tells after which counts of bytes a piece ended, each way. Then one transfer is cut
just before, at and just after each of those ends and at N random places, by a proxy that counts;
some places are stalled instead of cut, and the same is done to a fetch. Each must end well, with
the parcel in the inbox, and with no more than 5 % of the bytes of the clean run sent twice, another
handshake and all; of a transfer under 330 kB, no more than ``FLOOR``. Exit code: how many did not.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from handsoff.core.talk import flight  # noqa: E402
from handsoff.edge.ssh import ssh_profile  # noqa: E402
from tests.kit import monday  # noqa: E402
from tests.kit.machines import Ran, git, sealed  # noqa: E402
from tests.kit.monday import WORK, Monday  # noqa: E402
from tests.kit.proxy import Line, Proxy  # noqa: E402
from tests.kit.running import at_home, inside  # noqa: E402

SHARE = 0.05
FLOOR = flight.LEAST + flight.ROUND
"""Bytes that a cut may cost whatever the parcel's size: the least in flight, another handshake."""

MESSAGES = 12
"""Ends of pieces, each way, from the first that are tried; of the last, half as many."""

NEAR = (-1, 0, 1)
UNREACHABLE = 6


@dataclass
class Tried:
    """One transfer: what passed, and how it ended."""

    ran: Ran
    up: int
    down: int
    lines: int


class Cuts:
    """The places of one kind of transfer, tried one after the other."""

    def __init__(self, base: Path, kind: str) -> None:
        self.base = base
        self.kind = kind
        self.bad = 0
        self.tried = 0
        self.twice = 0
        self.worst = 0.0
        self.may = 0

    def once(self, *lines: Line) -> tuple[Tried, Proxy]:
        """Hand the work over through a proxy whose connections are served so."""
        world = monday.copy(self.base / self.kind, self.base / "try")
        try:
            done = self._send(world, lines) if self.kind == "send" else self._fetch(world, lines)
            inbox = [*(world.m2.home / "inbox").iterdir()] if self.kind == "send" else [1]
            assert len(inbox) == 1 or done[0].ran.code, "the parcel is not in the inbox"
            left = [p.name for p in (world.m2.home / "incoming").iterdir()]
            assert not left or done[0].ran.code, f"left in incoming: {left}"
            return done
        finally:
            shutil.rmtree(self.base / "try")

    def _send(self, world: Monday, lines: tuple[Line, ...]) -> tuple[Tried, Proxy]:
        with at_home(world.m2) as there, Proxy(there.address, *lines, Line()) as proxy:
            # from the first byte: also a cut in the handshake is one to be gone on from
            ran = inside(world.m1, "send", "m2", "--at", proxy.address, "--retry", "30s")
        return Tried(ran, proxy.up, proxy.down, len(proxy.passed)), proxy

    def _fetch(self, world: Monday, lines: tuple[Line, ...]) -> tuple[Tried, Proxy]:
        with at_home(world.m1) as there, Proxy(there.address, *lines, Line()) as proxy:
            world.m2.desk().home.remember_address(world.m1.member().id, proxy.address)
            ran = inside(world.m2, "catch", WORK)
            if ran.code == UNREACHABLE and len(proxy.passed) == 1:
                # cut before anybody had said who it is: a catch does not wait for a machine
                ran = inside(world.m2, "catch", WORK)
        return Tried(ran, proxy.up, proxy.down, len(proxy.passed)), proxy

    def run(self, count: int, rng: random.Random) -> None:
        """Try each place, and print what does not end well."""
        clean, proxy = self.once()
        clean.ran.ok()
        (passed,) = proxy.passed
        most = clean.up if self.kind == "send" else clean.down
        # those of messages: in the middle are the bytes, and the words of how far they have got
        few = [("up", at) for at in passed.ups[:MESSAGES] + passed.ups[-MESSAGES // 2 :]]
        few += [("down", at) for at in passed.downs[:MESSAGES] + passed.downs[-MESSAGES // 2 :]]
        places = {(way, at + by) for way, at in few for by in NEAR if at + by > 0}
        for _ in range(count):
            way = rng.choice(("up", "down"))
            places.add((way, rng.randrange(1, clean.up if way == "up" else clean.down)))
        self.may = int(max(SHARE * most, FLOOR))
        print(
            f"{self.kind}: {most} bytes; {len(few)} ends of messages, {len(places)} places; "
            f"at most {self.may / 1e3:.0f} kB may go twice",
            flush=True,
        )
        for number, (way, at) in enumerate(sorted(places)):
            self.place(way, at, most, stalls=number % 10 == 0)
        print(
            f"{self.kind}: {self.tried} cut or stalled, {self.bad} bad; "
            f"{self.twice / self.tried / 1e3:.0f} kB went twice on average, "
            f"at worst {self.worst:.0f} kB, {self.worst * 1e5 / most:.1f} % of all",
            flush=True,
        )

    def place(self, way: str, at: int, most: int, *, stalls: bool) -> None:
        """Cut at one place."""
        self.tried += 1
        line = Line(up=at, stalls=stalls) if way == "up" else Line(down=at, stalls=stalls)
        said = ""
        try:
            done, _ = self.once(line)
            passed = done.up if self.kind == "send" else done.down
            self.twice += max(0, passed - most)
            self.worst = max(self.worst, (passed - most) / 1e3)
            if done.ran.code:
                said = f"exit {done.ran.code}: {done.ran.err.splitlines()[-2:]}"
            elif passed > most + self.may:
                said = f"{passed} bytes passed for {most}: {passed - most} went twice"
        except (AssertionError, subprocess.SubprocessError, OSError) as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            self.bad += 1
            what = "stalled" if stalls else "cut"
            print(f"{self.kind} {what} after {at} bytes {way}: {said}", flush=True)


def main() -> None:
    """Try both kinds; exit with the number of places that did not end well."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=float, default=4.0, help="megabytes")
    asked = parser.parse_args()
    ssh_profile.SILENCE = 2.0  # a stall is noticed in half a minute; here that would be hours
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        base = Path(scratch)
        path = os.environ["PATH"]
        os.environ.clear()
        # no engine of the scanner: it starts anew with each run, and is not what is tried here
        os.environ.update({"PATH": path, **sealed(base / "sealed"), "XDG_CACHE_HOME": "/dev/null"})
        (base / "send").mkdir()
        monday.build(base / "send")
        rng = random.Random(asked.seed)
        bytes_of = rng.randbytes(int(asked.size * 1_000_000))
        (base / "send" / "m1" / "checkout" / "big.bin").write_bytes(bytes_of)
        offered = monday.copy(base / "send", base / "fetch")
        inside(offered.m1, "send", "m2", "--via", "remote").ok()
        for ref in offered.remote.refs("refs/wip/snap"):
            git(offered.remote.path, "update-ref", "-d", ref)  # the maker alone has the bytes
        bad = 0
        for kind, count in (("send", asked.random), ("fetch", asked.random // 4)):
            cuts = Cuts(base, kind)
            cuts.run(count, rng)
            bad += cuts.bad
    sys.exit(min(bad, 100))


if __name__ == "__main__":
    main()
