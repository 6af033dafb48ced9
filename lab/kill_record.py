"""Kill the verbs of the record with -9 at each named step, with the remote and without it.

    kill_record.py [--journey NAME] [--only PATTERN ...] [--jobs N] [--list]

A journey is what two machines type, one after the other, until m2 holds the work (JOURNEYS); where
it says so, their remote is out of reach. It runs whole once. Then, for each step that a command of
it passes, the machines are put back to where they were before that command, it is killed there with
-9, and typed again; the rest of the journey follows. The end must be the one without a kill:

- the record has the same entries, each once and in their order; stock git verifies each of them;
  they add up to one holder, m2 (``refold.py``, which shares no code with handsoff);
- nothing waits, nothing is unfinished, and nothing was refused on either machine;
- m2 has the same files, index, refs and stash, and m1 is what it was, to the byte;
- no lock and no temporary file is left.

PATTERN picks kills by name, as in ``away:*`` or ``*push*``. A step that is passed more than twice
is tried the first and the last time; steps at which nothing of the record is written are left to
``kill.py``.
"""

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any, Final

from machines import BRANCH, Lab, program
from refold import LEASE, record_faults
from stages import SCRAP, Bench, first_lines
from states_to_kill import STATES

TRIES: Final = 3
KILLED: Final = -9
DONE: Final = (0, 6)
"""Exit codes of a verb that was done; 6 says that it waits for the remote."""
REFUSED: Final = 3
SHOWN: Final = 4
NOWHERE: Final = "/nowhere/at/all.git"


@dataclass(frozen=True)
class Move:
    """What is typed where, and whether the remote is out of reach meanwhile."""

    machine: str
    words: tuple[str, ...]
    away: bool = False
    tried: bool = True
    """Whether it is killed in this journey."""


def typed(machine: str, *words: str, tried: bool = True) -> Move:
    """Return a command with the remote at hand."""
    return Move(machine, words, tried=tried)


def away(machine: str, *words: str, tried: bool = True) -> Move:
    """Return a command without the remote."""
    return Move(machine, words, away=True, tried=tried)


FILE: Final = "../work.handsoff"
DROP: Final = ("drop", "--reason", "the train arrives")
CATCH: Final = ("catch", BRANCH)
JOURNEYS: Final = {
    "saved": (
        typed("m1", "save"),
        typed("m1", "save", "--page-only"),
        typed("m1", *DROP),
        typed("m2", *CATCH),
    ),
    "offered": (typed("m1", "offer", "--anyone"), typed("m2", *CATCH)),
    "withdrawn": (
        typed("m1", "offer", "--anyone", tried=False),
        typed("m1", "withdraw"),
        typed("m1", *DROP, tried=False),
        typed("m2", *CATCH, tried=False),
    ),
    "away": (
        away("m1", "save"),
        away("m1", *DROP),
        typed("m1", "pending", "--send"),
        typed("m2", *CATCH, tried=False),
    ),
    "apart": (
        away("m1", "send", "m2", "--to-file", FILE),
        away("m2", "receive", FILE),
        away("m2", *CATCH),
        typed("m1", "status"),
        typed("m2", "status"),
    ),
    "back": (
        away("m1", "send", "m2", "--to-file", FILE, tried=False),
        away("m2", "receive", FILE, tried=False),
        away("m2", *CATCH, tried=False),
        typed("m2", "pending", "--send"),
        typed("m1", "status"),
    ),
}
ELSEWHERE: Final = re.compile(
    r"send\.(page|look|record\.read|capture|history|guard|pack)\.|scratch\.|catch\.(?!record|caught)"
)
"""Steps at which nothing of the record is written: ``kill.py`` kills there."""


@dataclass(frozen=True)
class Kill:
    """Where to kill: the ``time``-th time that a move of a journey passes ``step``."""

    journey: str
    number: int
    step: str
    time: int

    @property
    def move(self) -> Move:
        """What is killed."""
        return JOURNEYS[self.journey][self.number]

    def __str__(self) -> str:
        return f"{self.journey}:{self.number + 1}-{self.move.words[0]}:{self.step}#{self.time}"


def run(
    bench: Bench, move: Move, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Type a move, with or without the remote."""
    url = NOWHERE if move.away else str(bench.root / "remote.git")
    bench.git(move.machine, "remote", "set-url", "origin", url)
    done = bench.handsoff(move.machine, *move.words, env=env, check=False)
    bench.git(move.machine, "remote", "set-url", "origin", str(bench.root / "remote.git"))
    return done


def entries(bench: Bench) -> list[str]:
    """Return what the record on the remote says, entry by entry, read without handsoff.

    A save that says what the entry before it says was typed twice, and is told once.
    """
    remote = str(bench.root / "remote.git")
    form = "--format=%an%n%n%b%x00"
    told = bench.git("m1", "-C", remote, "log", "--reverse", form, LEASE).split("\0")
    found, before = [], None
    for name, body in (text.strip().split("\n\n", 1) for text in told if text.strip()):
        read = json.loads(body)
        says = [name, read["kind"], read["leg"], *map(read.get, ("page", "envelope", "parcel"))]
        if read["kind"] != "Saved" or says != before:
            found.append(f"{read['kind']} by {name} on leg {read['leg']}")
        before = says
    return found


def left(bench: Bench) -> dict[str, Any]:
    """Return what waits, is unfinished, or was refused on the machines."""
    found: dict[str, Any] = {}
    for machine in ("m1", "m2"):
        told = bench.told(machine, "pending")
        found[machine] = {part: told[part] for part in ("verbs", "notes", "unfinished", "lost")}
    remote = str(bench.root / "remote.git")
    found["remote"] = {"refused": bench.git("m1", "-C", remote, "for-each-ref", "refs/wip/notes")}
    return found


@dataclass(frozen=True)
class Goal:
    """The end of a journey without a kill."""

    entries: list[str]
    left: dict[str, Any]


def run_whole(bench: Bench, journey: str) -> tuple[Goal, list[Kill]]:
    """Run a journey without a kill; return its end, and where one can be killed."""
    bench.put_back("start")
    kills = []
    for number, move in enumerate(JOURNEYS[journey]):
        bench.keep(f"{journey}{number}")
        log = bench.copies / f"{journey}{number}.steps"
        done = run(bench, move, {"HANDSOFF_STEPS_LOG": str(log)})
        if done.returncode not in DONE:
            said = first_lines(done.stderr.splitlines())
            sys.exit(f"kill_record.py: {journey}, {move.words}: {done.returncode}: {said}")
        passed = Counter(log.read_text().split() if log.exists() else ())
        for step, times in passed.items():
            if move.tried and not ELSEWHERE.match(step):
                kills += [Kill(journey, number, step, time) for time in sorted({1, times})]
    bench.keep(journey)
    goal = Goal(entries(bench), left(bench))
    wrong = record_faults(bench) + bench.end_faults()
    wrong += [f"{m}: {k}: {v}" for m, parts in goal.left.items() for k, v in parts.items() if v]
    if wrong:
        sys.exit(
            f"kill_record.py: {journey} already fails without a kill:\n  " + "\n  ".join(wrong)
        )
    return goal, kills


def attempt(bench: Bench, kill: Kill, goal: Goal) -> list[str]:
    """Put the machines back, kill, try again, go on to the end; return what went wrong."""
    bench.put_back(f"{kill.journey}{kill.number}")
    before, wrong = bench.bytes_of("m1"), []
    dead = run(bench, kill.move, {"HANDSOFF_KILL_AT": f"{kill.step}#{kill.time}"})
    if dead.returncode != KILLED:
        return [f"the step was not reached this time: exit {dead.returncode}"]
    for move in JOURNEYS[kill.journey][kill.number :]:
        for _ in range(TRIES):
            done = run(bench, move)
            # what was done before it was killed may be refused now: the end tells
            if done.returncode in (*DONE, *((REFUSED,) if move is kill.move else ())):
                break
        else:
            said = first_lines(done.stderr.splitlines())
            wrong.append(f"{move.words[0]}: exit {done.returncode}: {said}")
    if (told := entries(bench)) != goal.entries:
        wrong.append(f"the record says {told}, not {goal.entries}")
    if (found := left(bench)) != goal.left:
        wrong.append(f"left on the machines: {found}")
    after = bench.bytes_of("m1")
    wrong += [f"m1: its {part} changed" for part in before if before[part] != after[part]]
    wrong += record_faults(bench)
    wrong += [f"m2: {line}" for line in bench.ends[kill.journey].m2.unlike(bench.look("m2"))]
    return wrong + [f"left over: {name}" for name in bench.end().places if SCRAP.search(name)]


def run_all(bench_of: "Queue[Bench]", asked: argparse.Namespace, pool: ThreadPoolExecutor) -> int:
    """Kill at each step that was asked for; print what came of it, and return what failed."""
    failures = tried = known = 0
    benches = [bench_of.get() for _ in range(asked.jobs)]
    for bench in benches:
        bench_of.put(bench)
    for journey in asked.journey or JOURNEYS:
        wholes = list(pool.map(lambda bench, name=journey: run_whole(bench, name), benches))
        goal, kills = wholes[0]
        only = asked.only or ["*"]
        chosen = [k for k in kills if any(fnmatch.fnmatch(str(k), word) for word in only)]
        known, tried = known + len(kills), tried + len(chosen)
        if asked.list:
            print("\n".join(map(str, chosen)))
            continue

        def one(kill: Kill, goal: Goal = goal) -> list[str]:
            bench = bench_of.get()
            try:
                return attempt(bench, kill, goal)
            except (OSError, subprocess.SubprocessError, ValueError, KeyError, SystemExit) as error:
                return [f"the lab stumbled: {error!r}"]
            finally:
                bench_of.put(bench)

        for kill, wrong in zip(chosen, pool.map(one, chosen), strict=True):
            failures += bool(wrong)
            told = [text.replace("\n", " ")[:400] for text in wrong[:SHOWN]]
            print(f"{'FAIL' if wrong else 'ok':4} {kill}", *told, sep="\n       ", flush=True)
    print(f"\n{known} kills known, {tried} tried, {failures} failed", flush=True)
    return failures


def main() -> None:
    """Print one line for each kill, then the counts; fail if any kill lost something."""
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    words.add_argument("--journey", choices=tuple(JOURNEYS), action="append", help="by default all")
    words.add_argument("--only", action="append", help="which kills, as in 'away:*'")
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--list", action="store_true", help="print the kills and stop")
    asked = words.parse_args()
    handsoff = program()
    folder = Path(tempfile.mkdtemp(prefix="handsoff-lab."))
    os.environ.update(Lab(folder, handsoff).env("nobody"))
    failures = 1
    benches: Queue[Bench] = Queue()
    try:
        with ThreadPoolExecutor(asked.jobs) as pool:
            places = [folder / f"bench{number}" for number in range(asked.jobs)]
            for place in places:
                place.mkdir()
            make = pool.map(lambda p: Bench(p, handsoff, "remote", STATES["monday"]), places)
            for bench in make:
                benches.put(bench)
            failures = run_all(benches, asked, pool)
    finally:
        if os.environ.get("KEEP"):
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
