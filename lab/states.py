"""Random states of a checkout, sent and caught: which do not arrive whole?

    states.py [--seeds A-B] [--jobs N] [--without KIND,...] [--show SEED]

Each seed is a state that somebody could have left a checkout in, built with plain git by
``tests/kit/states.py``: edits, odd names, modes, links, stashes, conversions, operations that
stopped half way. m1 sends it as a file, m2 catches it, and what stands there then is compared with
what stood on m1 by ``tests/kit/whole.py`` and, where CASES_DIR has it, by the oracle
``fingerprint.py`` too (default: ../shared/cases beside this repository; it is not part of it). An
operation is then ended on both machines in the same way, and they are compared again.

Prints each seed that fails, with the steps that made it, and the counts. ``--without`` names kinds
that may be refused, "all" means each; ``--show`` prints how a state is made, and tries only that.
Run it with a Python that has what handsoff needs, as lab/.venv has. Ends with 0 if nothing was
wrong.
"""

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from handsoff.edge.home import cache_folder  # noqa: E402
from handsoff.edge.scan import warm  # noqa: E402
from tests.kit.journeys import Journey, Verdict, prepare, travel  # noqa: E402
from tests.kit.machines import sealed  # noqa: E402
from tests.kit.states import ATTRIBUTES, AUTOCRLF, KINDS, MODES, Made  # noqa: E402

CASES = Path(os.environ.get("CASES_DIR") or TOP.parent / "shared" / "cases")
CONVERTING = {ATTRIBUTES, AUTOCRLF}


@cache
def oracle() -> ModuleType | None:
    """Return the oracle of CASES_DIR, if there is one."""
    spec = importlib.util.spec_from_file_location("fingerprint", CASES / "fingerprint.py")
    if spec is None or spec.loader is None or not (CASES / "fingerprint.py").exists():
        return None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@dataclass
class SecondOpinion:
    """What the oracle, if there is one, says of a journey."""

    modes: bool
    before: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def __call__(self, made: Made, top: Path, *, arrived: bool) -> None:
        judge = oracle()
        if judge is None:
            return
        seen = judge.fingerprint(str(top), map(os.fsdecode, made.carried), with_ignored=True)
        if not arrived:
            self.before = seen
            return
        soft = {"empty_dirs", "resolve_undo", *(["perms"] if self.modes else [])}
        # where machines convert lines in different ways, it has no word for what may differ
        ignored = ["worktree", "status"] if made.kinds & CONVERTING else []
        found = judge.compare(self.before, seen, [*ignored, *(set(judge.SOFT) - soft)], soft=True)
        self.told = [f"oracle, {kind}: {json.dumps(what)}" for kind, what in found.items()]


def attempt(ground: Path, without: frozenset[str], seed: int) -> Journey:
    """Try one seed in a folder of its own."""
    opinion = SecondOpinion(modes=MODES not in without)
    with tempfile.TemporaryDirectory(prefix="state-", dir=ground.parent) as folder:
        journey = travel(ground, Path(folder) / "trip", seed, KINDS - without, opinion)
    if opinion.told:
        return replace(journey, verdict=Verdict.WRONG, told=(*journey.told, *opinion.told))
    return journey


def journeys(
    ground: Path, seeds: list[int], without: frozenset[str], jobs: int
) -> Iterator[Journey]:
    """Try all seeds, ``jobs`` at a time, and yield what became of them, in order."""
    if jobs == 1:
        yield from (attempt(ground, without, seed) for seed in seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(attempt, ground, without), seeds)


def arguments() -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    parser.add_argument("--seeds", default="0-499", help="the first and the last (0-499)")
    parser.add_argument("--jobs", type=int, default=jobs, help="how many at once (JOBS)")
    parser.add_argument("--without", default="", help=", ".join(sorted(KINDS)))
    parser.add_argument("--show", type=int)
    typed = parser.parse_args()
    names = set(typed.without.split(",")) - {""}
    typed.without = KINDS if "all" in names else frozenset(names)
    if typed.without - KINDS:
        parser.error(f"no such kind: {', '.join(sorted(typed.without - KINDS))}")
    first, _, last = typed.seeds.partition("-")
    typed.seeds = [*range(int(first), int(last or first) + 1)]
    if typed.show is not None:
        typed.seeds = [typed.show]
    return typed


def main() -> int:
    """Print what fails, and the counts."""
    typed = arguments()
    print("second opinion:", CASES if oracle() else "none")
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="handsoff-states-") as scratch:
        env = sealed(Path(scratch) / "sealed")
        os.environ.clear()
        os.environ.update(env)
        warm(cache_folder())
        (Path(scratch) / "ground").mkdir()
        ground = prepare(Path(scratch) / "ground")
        for journey in journeys(ground, typed.seeds, typed.without, typed.jobs):
            counts[journey.verdict.value] += 1
            if journey.verdict is Verdict.REFUSED:
                counts[f"  {journey.told[0].split(':')[1].strip()}"] += 1
            if journey.verdict is Verdict.WRONG or typed.show is not None:
                print(journey.text, flush=True)
    for name, count in sorted(counts.items(), key=lambda item: (item[0][0] == " ", -item[1])):
        print(f"{count:5}  {name}")
    return 1 if counts[Verdict.WRONG.value] else 0


if __name__ == "__main__":
    sys.exit(main())
