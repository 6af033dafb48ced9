"""Changed inputs for every parser of what comes from elsewhere: does any fail in other words?

    fuzz.py [--inputs N] [--seed N] [--only WORD]

N inputs in all (default 100,000), shared out among the targets of ``tests/kit/fuzzing.py``: valid
ones that were changed, byte by byte and value by value, from starts drawn by Hypothesis. Prints a
line for each target, the count, the seconds and the peak memory. Ends with 1 if a parser raised
what is no error of ours (the input is printed), or if 300 MB were not enough. Run it with a Python
that has what the tests need.
"""

import argparse
import resource
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit.fuzzing import TARGETS, fuzz, unchanged

MOST_MB = 300


def main() -> int:
    """Fuzz each target; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets whose name has this word")
    given = parser.parse_args()
    chosen = [target for target in TARGETS if given.only in target.name]
    began, total, failed = time.monotonic(), 0, 0
    for target in chosen:
        at = time.monotonic()
        try:
            unchanged(target)
            tried = fuzz(target, -(-given.inputs // len(chosen)), given.seed)
            total += tried
            print(f"{target.name:28} {tried:7} inputs  {time.monotonic() - at:6.1f} s", flush=True)
        except Exception:  # noqa: BLE001 - that is what is looked for
            failed += 1
            print(f"{target.name:28} FAILED", flush=True)
            traceback.print_exc()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = time.monotonic() - began
    print(f"{total} inputs, {failed} targets failed, {spent:.0f} s, peak {peak} MB")
    return 1 if failed or peak > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
