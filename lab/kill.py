"""Kill a hand-over with -9 at each named step, try again, and look whether anything is lost.

    kill.py [--route direct|remote] [--only PATTERN] [--jobs N] [--list]

One hand-over (send to a listener, catch) runs whole, and each program writes down the steps
it passes. Then, for each of them, the prepared state is put back, the hand-over starts again,
and the program is killed at that step: ``send``, ``listen`` or ``catch``. What was killed is
started once more, with the same words. The end must be the end of the run without a kill:

- m2 holds the same files, index, stash and branch, and m1 is what it was, to the byte;
- the record is one chain whose every entry stock git verifies, and folds to one holder, m2;
- at no time in between may both machines push the branch;
- no lock and no temporary file is left in a checkout, its git folder, or the machines' homes.

PATTERN picks steps by name, as in ``catch:*`` or ``*record*``. A step that is passed more than
four times is tried at the first, second, middle and last time.
"""

import argparse
import fnmatch
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
from typing import Any

from compare import differences, look
from machines import BRANCH, Lab, Listener, program
from refold import has_record, record_faults

PROGRAMS = ("send", "listen", "catch")
TRIES = 3
KILLED = -9
SHOWN = 5
SCRAP = re.compile(r"\.lock$|(^|/)tmp_|\.tmp$|\.part$|~$")


@dataclass(frozen=True)
class Kill:
    """Where to kill: the ``time``-th time ``program`` passes ``step``."""

    program: str
    step: str
    time: int

    def __str__(self) -> str:
        return f"{self.program}:{self.step}#{self.time}"


@dataclass(frozen=True)
class End:
    """What is left when a hand-over is over."""

    m1: dict[str, Any]
    m2: dict[str, Any]
    places: frozenset[str]


class Bench(Lab):
    """A lab that can be put back to its prepared state; its path never changes."""

    def __init__(self, folder: Path, handsoff: str, route: str) -> None:
        super().__init__(folder / "lab", handsoff)
        self.route = route
        self.prepared = folder / "prepared"
        self.build()
        self.shell("write_page", str(self.root), "m1")
        self.enroll("m1", "m2")
        # The scanner compiles its rules once; not again in each of the many runs to come.
        self.handsoff("m1", "send", "m2", "--via", "remote", "--dry-run")
        shutil.copytree(self.root, self.prepared, symlinks=True)

    def put_back(self) -> None:
        """Return everything to where it was before the hand-over."""
        shutil.rmtree(self.root)
        shutil.copytree(self.prepared, self.root, symlinks=True)
        for machine in ("m1", "m2"):
            self.run(machine, "git", "update-index", "-q", "--refresh", check=False)

    def places(self) -> frozenset[str]:
        """Return the names of all files but git objects, with ids and numbers left out."""
        found = set()
        for folder, inner, names in os.walk(self.root):
            if folder.endswith("/objects"):
                inner[:] = [name for name in inner if len(name) != 2]
            for name in names:
                path = (Path(folder) / name).relative_to(self.root)
                found.add(re.sub(r"[0-9a-f]{16,}|[0-9]{6,}", "ID", str(path)))
        return frozenset(name for name in found if "/" in name)

    def end(self) -> End:
        """Return what there is now."""
        m1 = look(self.root / "m1")
        m1["index bytes"] = (self.root / "m1/.git/index").read_bytes().hex()
        m1["refs"] = self.git("m1", "for-each-ref")
        m2 = look(self.root / "m2")
        m2["refs"] = self.git("m2", "for-each-ref", "refs/heads", "refs/stash")
        return End(m1, m2, self.places())


@dataclass
class Run:
    """One hand-over; ``env`` is for the first time that each program is started."""

    bench: Bench
    env: dict[str, dict[str, str]]
    listener: Listener | None = None
    fired: bool = False

    def hand_over(self) -> list[str]:
        """Send and catch, each again until it succeeds; return what went wrong."""
        wrong = []
        for machine, verb, *words in (("m1", "send", "m2"), ("m2", "catch", BRANCH)):
            extra = self.env.get(verb)
            for attempt in range(TRIES):
                route = self._route(attempt) if verb == "send" else ()
                run = self.bench.handsoff(machine, verb, *words, *route, env=extra, check=False)
                self.fired |= run.returncode == KILLED
                extra = None
                if run.returncode == 0:
                    break
                wrong += self._carriers()
                said = os.fsdecode(run.stderr).strip().splitlines()[:2]
                if run.returncode != KILLED and attempt:
                    wrong.append(f"{verb} again: exit {run.returncode}: {' / '.join(said)}")
            if verb == "send" and self.listener:
                self.fired |= _settle(self.listener) == KILLED
        return wrong

    def _route(self, attempt: int) -> tuple[str, str]:
        """Return the words that choose the route, with a listener up where it needs one."""
        if self.bench.route != "direct":
            return "--via", self.bench.route
        extra = None if attempt else self.env.get("listen")
        if self.listener:
            # It may have been killed, or have taken its one parcel and be about to end.
            self.fired |= _settle(self.listener) == KILLED
        self.listener = self.bench.listen("m2", extra)
        return "--at", self.listener.address

    def _carriers(self) -> list[str]:
        """Return a fault if, after a kill and before the next try, both machines may push."""
        if not has_record(self.bench):
            return []  # then anybody may
        push = ("git", "push", "--dry-run", "origin", f"HEAD:refs/heads/{BRANCH}")
        may = [m for m in ("m1", "m2") if not self.bench.run(m, *push, check=False).returncode]
        return [] if len(may) < 2 else ["between the tries both machines may push"]


def _settle(listener: Listener) -> int:
    """Give a listener the time to end by itself, then end it."""
    try:
        return listener.process.wait(2)
    except subprocess.TimeoutExpired:
        return listener.stop()


def faults(bench: Bench, whole: End, before: End) -> list[str]:
    """Return how the end that there is now differs from the end of the ``whole`` run."""
    wrong = []
    # The names first: reading the record makes git write some of its own.
    end = bench.end()
    for machine, want, got in (("m1", before.m1, end.m1), ("m2", whole.m2, end.m2)):
        unlike = differences(want, got, absent=())
        wrong += [f"{machine} {part}: {' | '.join(x)[:300]}" for part, x in unlike.items()]
    extra = sorted(end.places - whole.places)
    scrap = sorted(name for name in end.places if SCRAP.search(name))
    wrong += [f"left over: {name}" for name in sorted({*extra, *scrap})]
    return wrong + record_faults(bench)


def steps_of(logs: dict[str, Path]) -> list[Kill]:
    """Return where to kill, from the steps that the whole run wrote down."""
    kills = []
    for name, log in logs.items():
        passed = Counter(log.read_text().split() if log.exists() else ())
        for step, times in passed.items():
            picked = {1, 2, (times + 1) // 2, times} if times > 4 else range(1, times + 1)
            kills += [Kill(name, step, time) for time in sorted(picked)]
    return kills


def run_whole(bench: Bench, folder: Path) -> tuple[End, list[Kill]]:
    """Hand over without a kill; return the end and the steps."""
    before = bench.end()
    logs = {name: folder / f"{name}.steps" for name in PROGRAMS}
    env = {name: {"HANDSOFF_STEPS_LOG": str(log)} for name, log in logs.items()}
    wrong = Run(bench, env).hand_over()
    whole = bench.end()
    unlike = differences(before.m1, {**whole.m2, **_only(before.m1)})
    wrong += [f"m2 {part}: {values[:2]}" for part, values in unlike.items()]
    wrong += record_faults(bench)
    if wrong:
        sys.exit("kill.py: the run without a kill already fails:\n  " + "\n  ".join(wrong))
    return whole, steps_of(logs)


def _only(m1: dict[str, Any]) -> dict[str, Any]:
    """Return what only m1 is asked for, and its refs, which are its own."""
    return {"index bytes": m1["index bytes"], "refs": m1["refs"]}


def main() -> None:
    """Print one line for each kill, then the counts; fail if any kill lost something."""
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("--only", default="*", help="which steps, as in 'catch:*'")
    words.add_argument("--route", choices=("direct", "remote"), default="direct")
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--list", action="store_true", help="print the steps and stop")
    asked = words.parse_args()
    handsoff = program()
    folder = Path(tempfile.mkdtemp(prefix="handsoff-lab."))
    os.environ.update(Lab(folder, handsoff).env("nobody"))
    try:
        failures = run_all(folder, handsoff, asked)
    finally:
        if os.environ.get("KEEP"):
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    sys.exit(failures > 0)


def run_all(folder: Path, handsoff: str, asked: argparse.Namespace) -> int:
    """Kill at each step that was asked for; return how many went wrong."""
    with ThreadPoolExecutor(asked.jobs) as pool:
        places = [folder / f"bench{number}" for number in range(asked.jobs)]
        benches = list(pool.map(lambda place: Bench(place, handsoff, asked.route), places))
        whole, kills = run_whole(benches[0], folder)
        chosen = [kill for kill in kills if fnmatch.fnmatch(str(kill), asked.only + "*")]
        if asked.list:
            print("\n".join(map(str, chosen)))
            return 0
        free: Queue[Bench] = Queue()
        for bench in benches:
            free.put(bench)

        def attempt(kill: Kill) -> list[str]:
            bench = free.get()
            try:
                bench.put_back()
                at = {kill.program: {"HANDSOFF_KILL_AT": f"{kill.step}#{kill.time}"}}
                before = bench.end()
                run = Run(bench, at)
                wrong = run.hand_over()
                if not run.fired:
                    wrong.append("the step was not reached this time")
                return wrong + faults(bench, whole, before)
            except (OSError, subprocess.SubprocessError, ValueError, KeyError, SystemExit) as error:
                return [f"the lab stumbled: {error!r}"]
            finally:
                free.put(bench)

        failures = 0
        for kill, wrong in zip(chosen, pool.map(attempt, chosen), strict=True):
            failures += bool(wrong)
            told = [text.replace("\n", " ")[:200] for text in wrong[:SHOWN]]
            print(f"{'FAIL' if wrong else 'ok':4} {kill}", *told, sep="\n       ", flush=True)
    steps = len({(kill.program, kill.step) for kill in kills})
    print(f"\n{steps} steps, {len(kills)} kills known, {len(chosen)} tried, {failures} failed")
    return failures


if __name__ == "__main__":
    main()
