"""Kill a hand-over, and the undo of it, with -9 at each named step; is anything lost?

    kill.py [--state monday|session|rebase|mixed] [--route direct|remote] [--only PATTERN]
            [--jobs N] [--every] [--list]

For each state (``states_to_kill.py``; all of them, one after the other) one hand-over runs whole:
send to a listener, catch, undo, and the undo of that. Each program writes down the steps it
passes. Then, for each of them, the machines are put back to where they were before that program,
it is started again, and killed at that step. What was killed is started once more, with the same
words; that is tried for ``send``, ``listen``, ``catch``, ``undo`` and ``redo``. ``back`` kills
``catch`` and types ``undo`` in its place, and then has the work here all the same. The end must
be the end of the run without a kill:

- m2 holds the same files, modes, index, operation, sparse patterns, refs, stash and settings, and
  after an undo those that it had before the catch; its agent has the session that came along, and
  keeps it; m1 is what it was, to the byte;
- an operation in progress goes on at m2 with plain git, and comes to the end it has on m1;
- the record is one chain whose every entry stock git verifies, and folds to one holder, m2;
- at no time in between may both machines push the branch;
- no lock and no temporary file is left in a checkout, its git folder, or the machines' homes;
- and no process of the machines' goes on.

PATTERN picks steps by name, as in ``catch:*`` or ``*record*``. A step that is passed more than
four times is tried at the first, second, middle and last time, or with ``--every`` each time.
"""

import argparse
import fnmatch
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Final

from machines import BRANCH, Lab, Listener, program
from refold import has_record, record_faults
from stages import PROGRAMS, WORDS, Bench, first_lines, settle
from states_to_kill import STATES

TRIES: Final = 3
KILLED: Final = -9
SHOWN: Final = 5
FEW: Final = 4


@dataclass(frozen=True)
class Kill:
    """Where to kill: the ``time``-th time ``name``, which runs ``program``, passes ``step``."""

    name: str
    step: str
    time: int

    @property
    def program(self) -> str:
        """The program that is killed: "back" is a catch that is not typed again."""
        return "catch" if self.name == "back" else self.name

    def __str__(self) -> str:
        return f"{self.name}:{self.step}#{self.time}"


@dataclass
class Run:
    """One hand-over, or the end of one, in which one program is killed once."""

    bench: Bench
    kill: Kill
    fired: bool = False

    def attempt(self) -> list[str]:
        """Put the machines back, kill, try again; return what went wrong."""
        journeys: dict[str, tuple[str, Callable[[], list[str]]]] = {
            "send": ("start", self._hand_over),
            "listen": ("start", self._hand_over),
            "catch": ("sent", self._catch),
            "undo": ("caught", self._undo),
            "redo": ("undone", self._redo),
            "back": ("sent", self._back),
        }
        stage, journey = journeys[self.kill.name]
        self.bench.put_back(stage)
        before = self.bench.bytes_of("m1")
        wrong = journey()
        after = self.bench.bytes_of("m1")
        wrong += [f"m1: its {part} changed" for part in before if before[part] != after[part]]
        wrong += self.bench.end_faults() + record_faults(self.bench) + self.bench.alive()
        return wrong if self.fired else [*wrong, "the step was not reached this time"]

    def _hand_over(self) -> list[str]:
        return self._until_done("send") + self._catch()

    def _catch(self) -> list[str]:
        return self._until_done("catch") + self.bench.faults("caught")

    def _undo(self) -> list[str]:
        wrong = self._until_done("undo") + self.bench.faults("undone")
        return wrong + self._until_done("redo") + self.bench.faults("redone")

    def _redo(self) -> list[str]:
        wrong = self._until_done("redo") + self.bench.faults("redone")
        wrong += self._until_done("undo") + self.bench.faults("undone")
        return wrong + self._until_done("redo")

    def _back(self) -> list[str]:
        """Kill a catch and undo it; then catch, or, where it had come to its end, undo the undo."""
        bench = self.bench
        sent = bench.ends["sent"].m2
        self._type("catch")
        wrong = self._carriers()
        undone = self._type("undo")
        if undone.returncode:
            # before its first write there is nothing to go back to
            found = bench.handsoff("m2", "undo", "--dry-run", check=False)
            if b"nothing to undo" not in found.stderr:
                wrong.append(f"undo: {first_lines(undone.stderr.splitlines())}")
        wrong += [f"after undo: {line}" for line in sent.unlike(bench.look("m2"))]
        if self._type("catch").returncode:
            wrong += self._until_done("redo")
        return wrong + bench.faults("caught", "redone")

    def _until_done(self, verb: str) -> list[str]:
        """Type it again until it succeeds; return what went wrong."""
        wrong: list[str] = []
        for attempt in range(TRIES):
            listener = None
            route: tuple[str, ...] = ()
            if verb == "send":
                route, listener = self.bench.route_words(None if attempt else self._env("listen"))
            more = self.bench.state.send if verb == "send" else ()
            run = self._type(verb, *more, *route)
            if listener:
                self._settle(listener)
            if run.returncode == 0:
                return wrong
            wrong += self._carriers()
            if run.returncode != KILLED and attempt:
                said = first_lines(run.stderr.splitlines())
                wrong.append(f"{verb} again: exit {run.returncode}: {said}")
        return [*wrong, f"{verb}: did not succeed"]

    def _type(self, verb: str, *more: str) -> "subprocess.CompletedProcess[bytes]":
        machine, *words = WORDS[verb]
        run = self.bench.handsoff(machine, *words, *more, env=self._env(verb), check=False)
        self.fired |= run.returncode == KILLED
        return run

    def _settle(self, listener: Listener) -> None:
        # it may have been killed, or have taken its one parcel and be about to end
        self.fired |= settle(listener) == KILLED

    def _env(self, name: str) -> dict[str, str] | None:
        """Return what kills ``name``, as long as nothing was killed."""
        if self.fired or name != self.kill.program:
            return None
        return {"HANDSOFF_KILL_AT": f"{self.kill.step}#{self.kill.time}"}

    def _carriers(self) -> list[str]:
        """Return a fault if, after a kill and before the next try, both machines may push."""
        if not has_record(self.bench):
            return []  # then anybody may
        push = ("git", "push", "--force", "--dry-run", "origin", f"HEAD:refs/heads/{BRANCH}")
        may = [m for m in ("m1", "m2") if not self.bench.run(m, *push, check=False).returncode]
        return [] if len(may) < 2 else ["between the tries both machines may push"]


def steps_of(logs: dict[str, Path], most: float) -> list[Kill]:
    """Return where to kill, from the steps that the whole run wrote down.

    Not each time where a step was passed more than ``most`` times.
    """
    kills = []
    for name, log in logs.items():
        passed = Counter(log.read_text().split() if log.exists() else ())
        for step, times in passed.items():
            picked = {1, 2, (times + 1) // 2, times} if times > most else range(1, times + 1)
            kills += [Kill(name, step, time) for time in sorted(picked)]
    return kills + [Kill("back", k.step, k.time) for k in kills if k.name == "catch"]


def run_whole(bench: Bench, most: float) -> list[Kill]:
    """Hand over without a kill; return where one can be."""
    logs = {name: bench.copies / f"{name}.steps" for name in PROGRAMS}
    wrong = bench.run_whole({n: {"HANDSOFF_STEPS_LOG": str(log)} for n, log in logs.items()})
    if wrong:
        sys.exit("kill.py: the run without a kill already fails:\n  " + "\n  ".join(wrong))
    return steps_of(logs, most)


def main() -> None:
    """Print one line for each kill, then the counts; fail if any kill lost something."""
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("--state", choices=tuple(STATES), action="append", help="all, if not given")
    words.add_argument("--only", default="*", help="which steps, as in 'catch:*'")
    words.add_argument("--route", choices=("direct", "remote"), default="direct")
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--every", action="store_true", help="each time that a step is passed")
    words.add_argument("--list", action="store_true", help="print the steps and stop")
    asked = words.parse_args()
    handsoff = program()
    folder = Path(tempfile.mkdtemp(prefix="handsoff-lab."))
    os.environ.update(Lab(folder, handsoff).env("nobody"))
    failures = 0
    try:
        for state in asked.state or STATES:
            (folder / state).mkdir()
            failures += run_all(folder / state, handsoff, asked)
    finally:
        if os.environ.get("KEEP"):
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    sys.exit(failures > 0)


def run_all(folder: Path, handsoff: str, asked: argparse.Namespace) -> int:
    """Kill at each step that was asked for, in one state; return how many went wrong."""
    state, most = folder.name, math.inf if asked.every else FEW
    with ThreadPoolExecutor(asked.jobs) as pool:
        places = [folder / f"bench{number}" for number in range(asked.jobs)]
        args = (handsoff, asked.route, STATES[state])
        benches = list(pool.map(lambda place: Bench(place, *args), places))
        found = list(pool.map(lambda bench: run_whole(bench, most), benches))
        chosen = [k for k in found[0] if fnmatch.fnmatch(str(k), asked.only + "*")]
        if asked.list:
            print("\n".join(f"{state} {kill}" for kill in chosen))
            return 0
        failures = kill_all(pool, benches, chosen, state)
    steps = len({(kill.name, kill.step) for kill in found[0]})
    print(f"\n{state}: {steps} steps, {len(found[0])} kills known, {len(chosen)} tried, "
          f"{failures} failed\n", flush=True)  # fmt: skip
    return failures


def kill_all(
    pool: ThreadPoolExecutor, benches: Iterable[Bench], chosen: list[Kill], state: str
) -> int:
    """Kill at each step of ``chosen``, print what came of it, and count what went wrong."""
    free: Queue[Bench] = Queue()
    for bench in benches:
        free.put(bench)

    def attempt(kill: Kill) -> list[str]:
        bench = free.get()
        try:
            return Run(bench, kill).attempt()
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, SystemExit) as error:
            return [f"the lab stumbled: {error!r}"]
        finally:
            free.put(bench)

    failures = 0
    for kill, wrong in zip(chosen, pool.map(attempt, chosen), strict=True):
        failures += bool(wrong)
        told = [text.replace("\n", " ")[:200] for text in wrong[:SHOWN]]
        line = f"{'FAIL' if wrong else 'ok':4} {state} {kill}"
        print(line, *told, sep="\n       ", flush=True)
    return failures


if __name__ == "__main__":
    main()
