"""What must hold of a walk: after each verb that was typed, and at its end.

Checkouts are seen by ``tests/kit/whole.py`` and records by ``walk_record.py``; neither shares code
with handsoff.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from machines import BRANCH, Done
from walk_deeds import LISTED, SECOND, WORKS, carried
from walk_record import STATES
from walk_world import MACHINES, FaultError, Looks, Words, World

from tests.kit.whole import Whole, differences, see

MAKERS: Final = ("send", "save", "offer")
"""Verbs that make a parcel of the checkout."""
PUSHES: Final = ("git", "push")
"""Verbs that may change what git says of the upstream, and nothing else."""
PARTS: Final = ("unfinished", "verbs", "notes", "roster")
"""What can wait for the remote."""


class Typed(NamedTuple):
    """A verb that was typed at a step, and the one that was killed before it, if any was."""

    number: int
    machine: str
    words: Words
    killed: str = ""

    @property
    def verb(self) -> str:
        return self.words[0]


class Made(NamedTuple):
    """What a parcel must bring. Of one whose maker was killed or not alone, the revision is 0."""

    work: str
    maker: str
    revision: int
    whole: Whole
    may: frozenset[bytes]
    """Carried files that came to its maker: while they stand there they go on, list or not."""


@dataclass
class Checks:
    """What has happened to the works so far, and the judge of what a verb did."""

    world: World
    made: list[Made] = field(default_factory=list)
    holder: dict[str, str] = field(default_factory=lambda: {BRANCH: "m1", SECOND: "m2"})
    """Who caught each work last."""
    offers: dict[str, str] = field(default_factory=dict)
    """Whom each work was offered to, as far as the walk knows."""
    brought: dict[str, frozenset[bytes]] = field(default_factory=dict)
    """Carried files that came to each machine."""

    def judge(self, typed: Typed, before: Looks, done: Done) -> dict[str, Any]:
        """Raise FaultError if the verb did what it must not; return its document if it was done."""
        world, machine, verb = self.world, typed.machine, typed.verb
        told = world.answer(typed.words, done)
        why = told.get("error", {}).get("message", "")
        world.say(typed.number, machine, f"{' '.join(typed.words)}: {done.returncode} {why}")
        world.forget(machine)
        after = world.looks()
        did = done.returncode in (0, 6) and not why
        if did:
            self._remember(typed, before[machine].whole, told)
        if verb == "catch" and did:
            self._caught(typed, before, after, told)
        elif verb == "undo" and did:
            if typed.killed == "catch":
                unchanged(before, after, "undo of a killed catch")
            elif not typed.killed:
                self._undone(typed, before, after)
        elif verb in PUSHES:
            unchanged(_but_upstream(before, machine), _but_upstream(after, machine), verb)
        elif typed.killed not in ("catch", "undo"):
            unchanged(before, after, f"{typed.words}, exit {done.returncode},")
        return told if did else {}

    def _remember(self, typed: Typed, whole: Whole, told: dict[str, Any]) -> None:
        """Keep what became of the works."""
        if typed.verb in MAKERS and not told.get("already", True):
            self.note_made(typed, whole, told["revision"], told["work"])
        if typed.verb in ("send", "offer"):
            self.offers[told["work"]] = typed.words[1]
            self.holder[told["work"]] = typed.machine
        if typed.verb in ("withdraw", "catch"):
            self.offers.pop(told["work"], None)
        if typed.verb == "catch":
            self.holder[told["work"]] = typed.machine

    def note_made(self, typed: Typed, whole: Whole, revision: int = 0, work: str = "") -> None:
        """Keep what a parcel must bring."""
        ref = os.fsdecode(whole.head["ref"]).removeprefix("refs/heads/")
        work = work or (SECOND if "--as" in typed.words else ref)
        came = self.brought.get(typed.machine, frozenset())
        self.made.append(Made(work, typed.machine, revision, whole, came))

    def _caught(self, typed: Typed, before: Looks, after: Looks, told: dict[str, Any]) -> None:
        """Raise FaultError unless what came is what its maker had, and nothing else changed."""
        rest = {m: look for m, look in before.items() if m != typed.machine}
        unchanged({**after, **rest}, after, "catch, elsewhere,")
        if "--page-only" in typed.words or told.get("already"):
            return
        top = Path(told["top"])
        if "--into" in typed.words:
            run = self.world.lab.run
            run(typed.machine, "git", "worktree", "remove", "-ff", str(top))
            run(typed.machine, "git", "switch", "-q", "main", check=False)
            self.world.forget()
            return
        came = see(top)
        which = (told["work"], told["sender"])
        found = [
            _unlike(made, came, before[typed.machine].whole) for made in self.made
            if (made.work, made.maker) == which and made.revision in (0, told["bytes_of"])
        ]  # fmt: skip
        if [] not in found:
            best = min(found, key=len, default=["nobody made that"])
            raise FaultError(f"{typed.words}: not what {told['sender']} had: {best} {told}")
        carried_here = frozenset(n for n in came.ignored if n.startswith(LISTED))
        self.brought[typed.machine] = self.brought.get(typed.machine, frozenset()) | carried_here

    def _undone(self, typed: Typed, before: Looks, after: Looks) -> None:
        """Raise FaultError unless undo twice comes to nothing, and thrice to once."""
        wanted = [(before, "twice"), (after, "three times"), (before, "four times")]
        for want, name in wanted[: 2 + (typed.number % 4 > 0)]:
            done = self.world.run(typed.machine, ("undo",))
            self.world.say(typed.number, typed.machine, f"undo, {name}: {done.returncode}")
            self.world.answer(("undo",), done)
            if done.returncode:
                raise FaultError(f"undo, {name}: {os.fsdecode(done.stdout)}")
            self.world.forget(typed.machine)
            unchanged(want, self.world.looks(), f"undo, {name},")

    def pushed(self, machine: str, before: dict[str, str]) -> None:
        """Raise FaultError if the branch of a work moved that this machine may not push."""
        world, after = self.world, self.world.branches()
        for work in WORKS:
            if before.get(f"refs/heads/{work}") == after.get(f"refs/heads/{work}"):
                continue
            world.told.append(f"       moved {work}")
            last = world.members.last(world.lab, world.remote, work)
            if not last.lets_push(machine):  # but for a catch that waits there, and lands
                world.answer(("pending",), world.run(machine, ("pending", "--send")))
                last = world.members.last(world.lab, world.remote, work)
            if not last.lets_push(machine):
                raise FaultError(f"{machine} pushed {work}: {last}")

    def end(self) -> None:
        """Bring the remote back, let everything land, and look at it as a whole."""
        world = self.world
        before = world.looks()
        world.forget()
        unchanged(before, world.looks(), "a verb on another machine")
        world.move_remote(away=False)
        for machine in MACHINES:
            world.answer(("pending",), world.run(machine, ("pending", "--send")))
        views: dict[str, dict[str, Any]] = {}
        for machine in MACHINES:
            self._settled(machine, views)
        for work in views:
            bad = world.members.unsigned(world.lab, world.remote, work)
            if bad:
                raise FaultError(f"entries of {work} that git does not verify: {bad}")
        told = world.answer(("audit",), world.run("m3", ("audit",)))
        bad = [e for w in told["works"] for e in w["entries"] if not e["good"]]
        if bad:
            raise FaultError(f"audit: entries that do not hold: {bad}")
        for top in (*MACHINES, world.remote.name):
            words = ("git", "-C", str(world.lab.root / top), "fsck", "--no-dangling")
            done = world.lab.run("m1", *words, check=False)
            if done.returncode:
                raise FaultError(f"fsck of {top}: {done.stdout!r} {done.stderr!r}")

    def _settled(self, machine: str, views: dict[str, dict[str, Any]]) -> None:
        """Raise FaultError if a machine left anything, or tells of a work what others do not."""
        world = self.world
        told = world.answer(("status",), world.run(machine, ("status",)))
        left = world.answer(("pending",), world.run(machine, ("pending",)))
        for part in PARTS:
            if left[part]:
                raise FaultError(f"{machine}: still pending: {part}: {left[part]}")
        if told["unfinished"]:
            raise FaultError(f"{machine}: unfinished: {told['unfinished']}")
        for work in told["works"]:
            if work["state"] == "free":
                continue
            view = {k: work[k] for k in ("carrier", "leg", "revision", "state")}
            if work["provisional"] or (work["mine"] and work["carrier"] != machine):
                raise FaultError(f"{machine} tells this at the end: {work}")
            last = world.members.last(world.lab, world.remote, work["work"])
            if work["state"] not in STATES[last.kind] or work["carrier"] != last.holder:
                raise FaultError(f"{machine} tells {view} of {work['work']}, the record {last}")
            if views.setdefault(work["work"], view) != view:
                other = views[work["work"]]
                raise FaultError(f"{machine} tells {view} of {work['work']}, others {other}")


def unchanged(before: Looks, after: Looks, what: str) -> None:
    """Raise FaultError if any checkout is not what it was."""
    for machine in MACHINES:
        if before[machine] != after[machine]:
            found = differences(before[machine].whole, after[machine].whole)
            refs = (before[machine].refs, after[machine].refs)
            raise FaultError(f"{what} changed {machine}: {found} refs: {refs}")


def _but_upstream(looks: Looks, machine: str) -> Looks:
    """Return what was seen, without what git says of the upstream there."""
    look = looks[machine]
    return {**looks, machine: replace(look, whole=replace(look.whole, upstream={}))}


def _unlike(made: Made, came: Whole, had: Whole) -> list[str]:
    """Return how ``came`` is not what was ``made``, on a machine that ``had`` something."""
    whole = made.whole
    listed = whole.files.get(b".wip/carry")
    along = carried(listed.data if listed else b"", whole.ignored)
    want = whole.travelling(along | {n for n in made.may if n in came.files})
    if not want.head["ref"]:
        want = replace(want, head={**want.head, "ref": came.head["ref"]})
    stays = {n for n in had.ignored | came.ignored if n in had.files and n not in want.files}
    files = {n: f for n, f in came.files.items() if n not in stays}
    stash = came.stash[: len(want.stash)]
    return differences(want, replace(came, files=files, stash=stash))
