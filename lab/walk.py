"""Random walks over the whole product: what do three machines and their remote come to?

    walk.py [--seed S] [--walks N] [--steps K] [--only 3,7,9] [--shrink]

A walk is a list of steps (``walk_steps.py``): something with plain git and plain files
(``walk_deeds.py``), a verb, a hand-over, a verb that is killed at one of its steps and typed again,
two verbs at once on two machines, a push, the remote taken away or brought back. What it does comes
from the seed and the number of the step, so that a walk can be taken again without some of its
steps: ``--only`` takes these, ``--shrink`` looks for the fewest that still end in a fault, which
takes minutes.

After each verb, and at the end of the walk, with the remote back (``walk_checks.py``):

- it ends with an exit code that is documented, and a failure says what is so and what to do;
- only ``catch`` and ``undo`` change a checkout, and only when they are done; a refusal changes
  nothing, a kill is made good by typing the verb again;
- what is caught is what its maker had when it was made; ``undo`` brings back what was there before,
  and ``undo`` of that the rest: so nothing is lost on the way;
- a push of the branch of a work gets through only if nobody has caught the work, if it is closed,
  or if it comes from whoever caught it last and it is not on offer (a catch that was made without
  the remote counts if it lands);
- nothing is left unfinished, one machine at most carries a work, and all tell the same of it, which
  is what the record says when it is read with plain git;
- each entry holds, for the audit and for git, and ``git fsck`` finds nothing, on any machine and on
  the remote.

Prints each walk, of one that ends in a fault what was done in it, and the counts: walks, steps,
faults. ``WALK_TALK=1`` prints each step as it is taken, ``WALK_ENDS=1`` how often each verb ended
in each way, ``KEEP=1`` keeps the machines.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from machines import Lab, program

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from walk_deeds import SECOND, Turn, page
from walk_record import Members
from walk_steps import Walk
from walk_world import MACHINES, FaultError, World

GROUND = "ground"
"""The folder with the machines as each walk finds them."""


def walk(lab: Lab, members: Members, seed: int, numbers: list[int]) -> tuple[World, int, str]:
    """Take a walk from the start; return what was done, its last step, and the fault or ""."""
    shutil.rmtree(lab.root)
    shutil.copytree(lab.root.with_name(GROUND), lab.root, symlinks=True)
    for machine in MACHINES:  # the copies have times of their own
        lab.run(machine, "git", "update-index", "-q", "--refresh", check=False)
    one = Walk(World(lab, members), seed)
    number, fault = 0, ""
    try:
        for number in numbers:
            one.take(number)
        one.checks.end()
    except FaultError as error:
        fault = str(error)
    except (ValueError, LookupError, TypeError, AssertionError, SystemExit) as error:
        fault = f"the walk stumbled: {error!r}"
    return one.world, number, fault


def shrink(lab: Lab, members: Members, seed: int, numbers: list[int]) -> list[int]:
    """Return the fewest steps that still end in a fault, taking away ever smaller parts."""
    size = max(1, len(numbers) // 2)
    while True:
        at = 0
        while at < len(numbers):
            less = numbers[:at] + numbers[at + size :]
            if less and walk(lab, members, seed, less)[2]:
                numbers = less
            else:
                at += size
        if size == 1:
            return numbers
        size //= 2


def prepare(lab: Lab) -> None:
    """Make the machines: one with Monday's state, one with a work of its own, a clean one.

    The two works have an executable file each.
    """
    lab.build()
    lab.enroll(*MACHINES)
    lab.run("m2", "git", "switch", "-qc", SECOND)
    for machine in ("m1", "m2"):
        page(Turn(lab, machine, Random(0), f"page-{machine}"))
        lab.run(machine, "chmod", "+x", "src/rounding.py")
    lab.run("m2", "git", "rm", "-q", "src/legacy_round.py")


def arguments() -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=0, help="of the first walk (0)")
    parser.add_argument("--walks", type=int, default=10, help="how many (10)")
    parser.add_argument("--steps", type=int, default=40, help="in each (40)")
    parser.add_argument("--only", type=lambda t: [*map(int, t.split(","))], help="these steps")
    parser.add_argument("--shrink", action="store_true", help="look for the fewest steps")
    return parser.parse_args()


def main() -> int:
    """Print each walk, and the counts."""
    asked = arguments()
    folder = Path(tempfile.mkdtemp(prefix="handsoff-lab."))
    lab = Lab(folder / "lab", program())
    os.environ.update(lab.env("nobody"))
    ends: Counter[str] = Counter()
    numbers = asked.only or [*range(1, asked.steps + 1)]
    faults = 0
    try:
        prepare(lab)
        members = Members(lab)
        shutil.copytree(lab.root, folder / GROUND, symlinks=True)
        for seed in range(asked.seed, asked.seed + asked.walks):
            world, number, fault = walk(lab, members, seed, numbers)
            ends += world.ends
            faults += bool(fault)
            print(f"{'FAIL' if fault else 'ok':4} --seed {seed}", flush=True)
            if fault:
                print("\n".join([f"     at step {number}: {fault}", *world.told]), flush=True)
            if fault and asked.shrink:
                less = shrink(lab, members, seed, [n for n in numbers if n <= number])
                print(f"     --seed {seed} --walks 1 --only {','.join(map(str, less))}", flush=True)
    finally:
        if os.environ.get("KEEP"):
            print(f"kept {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    if os.environ.get("WALK_ENDS"):
        print("\n".join(f"{count:6} {end}" for end, count in sorted(ends.items())))
    print(f"{asked.walks} walks of {len(numbers)} steps, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
