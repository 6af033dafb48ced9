"""Kill the remote with -9 in the middle of pushes: is the record whole, does the next run settle?

    remote_killed.py [--rounds N] [--seed N]

m1 saves, and the receive-pack of its remote is killed while it takes the push: at a random moment,
or, every third round, by the remote's own hook just before or just after it moves the ref. Then:

- the ref of the record is where it was, or where the push wanted it, and nowhere else;
- git finds nothing missing or broken on the remote;
- what m1 was told is so: a save that was acknowledged is on the record;
- the next save of m1 succeeds, and the record verifies from its first entry to its last, each once.

A killed git may leave the lock of a ref behind, which whoever keeps the remote has to remove; it is
counted, must be refused as such or as a lost race, and is then removed. Run it with a Python that
has what handsoff needs, as lab/.venv has. Ends with 0 if nothing was wrong.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from machines import BRANCH, Lab, program

TOP: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from handsoff.core.works.record import Record  # noqa: E402
from handsoff.errors import HandsoffError  # noqa: E402
from handsoff.flows.desk import open_desk  # noqa: E402
from handsoff.flows.phases import Phases  # noqa: E402
from handsoff.flows.sending.send import send  # noqa: E402
from handsoff.flows.sending.wishes import Wishes  # noqa: E402
from handsoff.flows.works.letting import save_page  # noqa: E402

LEASE: Final = "refs/wip/lease/feat%2Fcny-rounding"
RECEIVE: Final = """#!/bin/sh
# receive-pack, with all its children, gone after LAB_KILL_AFTER seconds
[ "${LAB_KILL_AFTER:-0}" = 0 ] && exec git-receive-pack "$@"
exec timeout -s KILL "$LAB_KILL_AFTER" git-receive-pack "$@"
"""
HOOK: Final = """#!/bin/sh
# the git that moves the ref, gone before or after it does
cat >/dev/null
[ "$1" != "${LAB_KILL_IN:-}" ] || kill -9 "$PPID"
"""
LONGEST: Final = 0.3
"""Seconds within which a push is taken, nearly always."""


@dataclass
class Remote:
    """The bare repository, and how it is killed."""

    path: Path
    fallen: Counter[str] = field(default_factory=Counter)

    def git(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        """Run git there."""
        return subprocess.run(
            ["git", "-C", str(self.path), *words], capture_output=True, check=False
        )

    @property
    def tip(self) -> str:
        """Where the record stands, "" if there is none."""
        found = self.git("rev-parse", "-q", "--verify", LEASE).stdout
        return found.decode().strip()

    def broken(self) -> str:
        """Return what git finds missing or broken."""
        done = self.git("fsck", "--full", "--strict", "--no-dangling", "--no-progress")
        return done.stderr.decode()[:300] if done.returncode else ""

    def unlock(self) -> int:
        """Remove the locks that a killed git left, as whoever keeps the remote has to."""
        locks = [p for p in self.path.rglob("*.lock") if p.is_file()]
        for lock in locks:
            lock.unlink()
        return len(locks)


def save(lab: Lab, *, parcel: bool) -> str:
    """Save in m1, with a parcel or the page alone; return the error, or ""."""
    desk = open_desk(lab.root / "m1")
    try:
        if parcel:
            send(desk, Wishes(verb="save"), Phases("send"))
        else:
            save_page(desk, BRANCH)
    except HandsoffError as error:
        return str(error)
    return ""


def record_of(lab: Lab) -> Record:
    """Return the record on the remote, read and verified from its first entry."""
    desk = open_desk(lab.root / "m1")
    view = desk.view(BRANCH)
    return desk.history_to(view.roster, BRANCH, view.remote_tip)


def wrong_in(lab: Lab, remote: Remote, number: int, dice: random.Random) -> list[str]:
    """Run one round; return what went wrong."""
    before = record_of(lab)
    old = remote.tip
    page = lab.root / "m1" / ".wip" / "HANDOFF.md"
    page.write_text(page.read_text().split("\nRound")[0] + f"\nRound {number}.\n")
    (lab.root / "m1" / "src" / "places.py").write_text(f"ROUND = {number}\n")
    in_hook = number % 3 == 0
    if in_hook:
        os.environ["LAB_KILL_IN"] = ("prepared", "committed")[number // 3 % 2]
    else:
        os.environ["LAB_KILL_AFTER"] = f"{dice.uniform(0.002, LONGEST):.3f}"
    said = save(lab, parcel=number % 2 == 0)
    os.environ["LAB_KILL_AFTER"], os.environ["LAB_KILL_IN"] = "0", ""
    new, wrong = remote.tip, []
    if found := remote.broken():
        wrong.append(f"git finds it broken: {found}")
    after = record_of(lab)
    if (remote.path / f"{LEASE}.lock").exists() and not save(lab, parcel=False):
        wrong.append("a save was acknowledged over the lock of its ref")
    if remote.unlock():
        remote.fallen["left a lock"] += 1
    seen = {entry.oid for entry in after.entries}
    fresh = after.entries[len(before.entries) :]
    if not {entry.oid for entry in before.entries} <= seen or (new != old and not fresh):
        wrong.append("the record went back")
    if new != after.git_tip or len([e for e in fresh if e.entry and e.entry.kind == "Saved"]) > 1:
        wrong.append(f"the ref is neither old nor new: {new}")
    if not said and not fresh:
        wrong.append("a save was acknowledged, and is not there")
    ended = "moved" if fresh else "stayed"
    remote.fallen[f"the ref {ended}, and the save {'failed' if said else 'was acknowledged'}"] += 1
    if settled := save(lab, parcel=False):
        wrong.append(f"the next run does not settle it: {settled}")
    last = record_of(lab)
    if not all(entry.good for entry in last.entries):
        wrong.append("an entry is void")
    return wrong


def main() -> None:
    """Print what went wrong, and how the pushes ended; fail if anything was wrong."""
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    words.add_argument("--rounds", type=int, default=100)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="handsoff-lab."))
    lab = Lab(folder / "lab", program())
    failures = 0
    try:
        lab.build()
        lab.shell("write_page", str(lab.root), "m1")
        lab.enroll("m1")
        remote = Remote(lab.root / "remote.git")
        for path, text in ((lab.root / "receive", RECEIVE),
                           (remote.path / "hooks" / "reference-transaction", HOOK)):  # fmt: skip
            path.write_text(text)
            path.chmod(0o755)
        lab.git("m1", "config", "remote.origin.receivepack", str(lab.root / "receive"))
        os.environ.update(lab.env("m1"))
        if first := save(lab, parcel=True):
            sys.exit(f"remote_killed.py: the save without a kill already fails: {first}")
        dice = random.Random(asked.seed)
        for number in range(1, asked.rounds + 1):
            wrong = wrong_in(lab, remote, number, dice)
            failures += bool(wrong)
            for line in wrong:
                print(f"FAIL round {number}: {line}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for what, times in sorted(remote.fallen.items()):
        print(f"{times:4} times {what}")
    print(f"{asked.rounds - failures} of {asked.rounds} rounds left the record whole and settled")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
