"""The steps of a walk: which machine does what, and what is typed there.

What is chosen comes from the seed and the number of the step, and from who carries what by then.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Final

from machines import BRANCH
from walk_checks import MAKERS, PUSHES, Checks, Typed, unchanged
from walk_deeds import DEEDS, SECOND, WORKS, Turn, clean, make_room, page
from walk_world import MACHINES, Looks, Words, World

KINDS: Final = {
    "deed": 40, "verb": 20, "hand over": 30, "kill": 12, "push": 12, "two": 4, "remote": 4,
}  # fmt: skip
"""How often each kind of step is taken."""
KILLED: Final = -9
STEPS: Final = {
    "": ("pending.push.before", "pending.push.after", "pending.write.after", "note.push.before"),
    "send": ("send.record.push.before", "send.record.push.after", "memory.sending.before",
             "send.receipt.after", "memory.here.before", "pending.write.before"),
    "catch": ("catch.record.push.before", "catch.record.push.after", "catch.journal.after",
              "catch.apply.index.before", "catch.finish.before", "pending.write.before"),
    "undo": ("undo.apply.stash.before", "undo.apply.head.before", "memory.here.before"),
    "push": ("push.push.before", "push.push.after"),
}  # fmt: skip
"""Steps at which verbs can be killed before a walk has seen them pass any."""
ALONE: Final = ("git", "undo", "prune", "doctor")
"""Verbs that are not typed while another machine types one; nor is one that needs a listener."""


class Walk:
    """One walk: what is chosen, and typed."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.checks = Checks(world)

    def take(self, number: int) -> None:
        """Take the step of this number."""
        rng = Random(f"{self.seed}:{number}")
        machine = rng.choice(MACHINES)
        kind = rng.choices([*KINDS], [*KINDS.values()])[0]
        if kind == "deed":
            work = rng.choice(WORKS)
            if rng.random() < 0.75 and work not in self.checks.offers:
                machine = self.checks.holder[work]
            turn = self.turn(number, machine, rng)
            self.world.say(number, machine, rng.choice(DEEDS)(turn))
        elif kind == "hand over":
            self.hand_over(number, rng)
        elif kind == "push":
            branch = f"HEAD:refs/heads/{rng.choice(WORKS)}"
            pushing = Typed(number, machine, ("git", "push", "-qf", "origin", branch))
            self.typed(pushing, self.world.looks())
        elif kind == "remote":
            self.world.move_remote(away=not self.world.away)
        elif kind == "two":
            self.two(number, rng)
        else:
            words = self.words(machine, rng)
            self.verb(number, machine, rng, words, kill=kind == "kill")

    def turn(self, number: int, machine: str, rng: Random) -> Turn:
        """Let plain git have a machine, which is then looked at again."""
        self.world.forget(machine)
        return Turn(self.world.lab, machine, rng, f"token-{self.seed}-{number:05}-{machine}")

    def words(self, machine: str, rng: Random) -> Words:
        """Return a verb with its words."""
        work = rng.choice((BRANCH, BRANCH, BRANCH, SECOND))
        other = rng.choice([m for m in MACHINES if m != machine])
        hold = rng.choice(((), (), (), (), ("--hold", "2s")))
        name = ("--as", SECOND) if rng.random() < 0.1 else ()
        return rng.choice((
            ("send", other, "--via", "remote", *name, *hold), ("send", other, "--via", "remote"),
            ("send", other, "--direct", *name), ("send", other, "--file"),
            ("send", other, "--via", "remote"), ("send", other, "--direct"),
            ("catch", work, *hold), ("catch", work), ("catch", work), ("catch", work),
            ("catch", work), ("catch", work), ("catch", work, "--page-only"),
            ("catch", work, "--into"), ("save", *hold, *name), ("save", "--page-only"), ("save",),
            ("offer", "--anyone"), ("offer", "--to", other), ("withdraw", work),
            ("undo",), ("undo",), ("undo",), ("drop", work, "--reason", "tired"),
            ("close", work, "--outcome", rng.choice(("merged", "abandoned"))),
            ("note", f"seen by {machine}", "--work", work),
            ("push",), ("push", "--force"), ("git", "push", "-q", "-u", "origin", "HEAD"),
            ("git", "push", "-q", "-u", "origin", "HEAD"),
            ("git", "push", "-qf", "-u", "origin", "HEAD"),
            ("git", "push", "-q", "--all"), ("git", "fetch", "-q"),
            ("status",), ("history", work), ("pending", "--send"), ("inbox",), ("audit",),
            ("prune", "--yes"), ("doctor",), ("doctor", "--repair"),
        ))  # fmt: skip

    def hand_over(self, number: int, rng: Random) -> None:
        """Have whoever is likely to carry a work hand it over, and the other one catch it."""
        work = rng.choice((BRANCH, BRANCH, SECOND))
        machine = self.checks.holder[work]
        other = rng.choice([m for m in MACHINES if m != machine])
        how = rng.choice((("--via", "remote"), ("--direct",), ("--file",)))
        if work not in self.checks.offers or rng.random() < 0.2:
            self.stand_on(number, machine, rng, work)
            words = rng.choice((*[("send", other, *how)] * 4, ("offer", "--anyone")))
            self.verb(number, machine, rng, words, kill=rng.random() < 0.2)
            if rng.random() < 0.5:
                return
        to = self.checks.offers.get(work, other)
        other = to if to in MACHINES else other
        self.verb(number, other, rng, ("catch", work), kill=rng.random() < 0.2)

    def stand_on(self, number: int, machine: str, rng: Random, work: str) -> None:
        """Have the machine stand on the branch of the work."""
        run = self.world.lab.run
        told = run(machine, "git", "symbolic-ref", "-q", "--short", "HEAD", check=False).stdout
        if os.fsdecode(told).strip() != work:
            clean(self.turn(number, machine, rng))
            run(machine, "git", "switch", "-q", work, check=False)
            self.world.say(number, machine, f"clean and switch to {work}")

    def verb(self, number: int, machine: str, rng: Random, words: Words, *, kill: bool) -> None:
        """Type a verb; or kill it at one of its steps, and type it again."""
        if words[0] == "catch" and rng.random() < 0.85:
            make_room(self.turn(number, machine, rng))
        if words[0] in MAKERS and rng.random() < 0.8:
            page(self.turn(number, machine, rng))
        typed = Typed(number, machine, words)
        before = self.world.looks()
        if kill and words[0] != "git":
            self.killed(typed, rng, before)
        else:
            self.typed(typed, before)

    def killed(self, typed: Typed, rng: Random, before: Looks) -> None:
        """Kill a verb at one of its steps, and type it again, or undo the catch that was begun."""
        world, machine, words, verb = self.world, typed.machine, typed.words, typed.verb
        seen = world.steps.get(verb, set())
        at = rng.choice(sorted(seen.union(STEPS.get(verb, STEPS[""]))))
        remote = world.branches()
        dead = world.run(machine, words, f"{at}#{rng.choice((1, 1, 1, 2, 3))}")
        told = f"{' '.join(words)}, to be killed at {at}: {dead.returncode}"
        world.say(typed.number, machine, told)
        if verb in PUSHES and not world.away:
            self.checks.pushed(machine, remote)
        if dead.returncode != KILLED:  # it did not pass there
            self.checks.judge(typed, before, dead)
            return
        if verb in MAKERS:
            self.checks.note_made(typed, before[machine].whole)
        world.forget(machine)
        if verb not in ("catch", "undo", "push"):
            unchanged(before, world.looks(), f"{words}, killed at {at},")
        if rng.random() < 0.2:
            world.move_remote(away=not world.away)
        begun = (world.lab.root / machine / ".git/handsoff/journal.json").exists()
        again = ("undo",) if begun and verb == "catch" and rng.random() < 0.4 else words
        self.typed(Typed(typed.number, machine, again, killed=verb), before)

    def typed(self, typed: Typed, before: Looks) -> None:
        """Type a verb and judge what comes of it; some catches are undone at once."""
        remote = self.world.branches()
        done = self.world.run(typed.machine, typed.words)
        told = self.checks.judge(typed, before, done)
        if typed.verb in PUSHES and not self.world.away:
            self.checks.pushed(typed.machine, remote)
        came = typed.verb == "catch" and told and not told.get("already") and len(typed.words) == 2
        if came and Random(f"{self.seed}:{typed.number}:undo").random() < 0.3:
            self.typed(Typed(typed.number, typed.machine, ("undo",)), self.world.looks())

    def two(self, number: int, rng: Random) -> None:
        """Type two verbs at once on two machines; each is judged as if it were alone."""
        pairs = []
        for machine in rng.sample(MACHINES, 2):
            words = self.words(machine, rng)
            while words[0] in ALONE or "--direct" in words:
                words = self.words(machine, rng)
            if words[0] == "catch":
                make_room(self.turn(number, machine, rng))
            page(self.turn(number, machine, rng))
            pairs.append(Typed(number, machine, words))
        before = self.world.looks()
        with ThreadPoolExecutor(2) as pool:
            runs = [*pool.map(lambda typed: self.world.run(typed.machine, typed.words), pairs)]
        for typed in pairs:
            if typed.verb in MAKERS:
                self.checks.note_made(typed, before[typed.machine].whole)
        for typed, done in zip(pairs, runs, strict=True):
            mine = {**self.world.looks(), typed.machine: before[typed.machine]}
            self.checks.judge(typed, mine, done)
