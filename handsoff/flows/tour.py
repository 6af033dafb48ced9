"""``handsoff tour``: a story of two machines is played on this one, and all it says is checked.

The story is data (core/tour/story.py), the place is a folder of its own (edge/playground.py).
What does not come out as the story says ends the tour with an error: it serves as a test.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from handsoff.core.tour.tour import (
    Act,
    Compares,
    Ends,
    Fact,
    Hidden,
    Starts,
    Step,
    Types,
    Writes,
    compare,
    filled,
    shown,
)
from handsoff.core.tour.toy import FIRST
from handsoff.edge import clock, scan
from handsoff.edge.playground import Playground, Said, has, playground
from handsoff.errors import HandsoffError, UnfitError

MACHINES: Final = ("m1", "m2")


@dataclass(slots=True)
class Ran:
    """One command of a tour."""

    machine: str
    command: str
    expected: int
    exit: int | None = None
    output: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ended as it was to end."""
        return self.exit == self.expected


@dataclass(slots=True)
class Played:
    """One step of a tour as it was played."""

    number: int
    title: str
    commands: list[Ran] = field(default_factory=list)
    facts: list[tuple[str, bool]] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as a document."""
        return {
            "number": self.number,
            "title": self.title,
            "ok": not self.error,
            "error": self.error or None,
            "skipped": self.skipped or None,
            "seconds": round(self.seconds, 2),
            "commands": [{**asdict(ran), "ok": ran.ok} for ran in self.commands],
            "facts": [{"text": text, "ok": ok} for text, ok in self.facts],
        }


class Voice(Protocol):
    """Who tells of a tour while it is played."""

    def opens(self, folder: str) -> bool:
        """It begins, in this folder; say whether to go on."""

    def begins(self, number: int, of: int, step: Step) -> None:
        """A step begins."""

    def typed(self, machine: str, line: str) -> None:
        """A command is typed."""

    def output(self, lines: Sequence[str]) -> None:
        """A command said this."""

    def goes_on(self, machine: str, *, waits: bool) -> None:
        """A command that was started waits, or comes to its end."""

    def writes(self, text: str) -> None:
        """Somebody writes a file."""

    def compares(self, lines: Sequence[str]) -> None:
        """Both ends were compared."""

    def fact(self, text: str, *, ok: bool) -> None:
        """Something was looked at."""

    def skips(self, why: str) -> None:
        """A step is left out."""

    def ended(self) -> bool:
        """A step has ended, and another follows; say whether to go on."""


@dataclass
class Tour:
    """One tour, and how far it came."""

    ground: Playground
    voice: Voice
    values: dict[str, str] = field(default_factory=dict)
    played: list[Played] = field(default_factory=list)

    def play(self, story: Sequence[Step]) -> None:
        """Play a story, from what both have before it begins."""
        if not scan.is_warm(self.ground.cache):  # else both machines would do so at once
            self.voice.writes("the rules of the secret scanner are compiled; some seconds, once")
            scan.warm(self.ground.cache)
        before = Played(0, "")
        for act in FIRST:
            self._act(act, before)
        for number, step in enumerate(story, 1):
            try:
                self._step(number, len(story), step)
            except HandsoffError as error:
                raise HandsoffError(
                    f"the tour failed in step {number}, {step.title}: {error}",
                    hint="to look at what is there: handsoff tour --no-wait --keep DIR",
                ) from error
            if number < len(story) and not self.voice.ended():
                return

    def _step(self, number: int, of: int, step: Step) -> None:
        played = Played(number, step.title)
        self.played.append(played)
        self.voice.begins(number, of, step)
        began = clock.monotonic()
        try:
            if step.needs and not has(step.needs):
                played.skipped = f"{step.needs} is not installed"
                self.voice.skips(played.skipped)
                return
            for act in step.acts:
                self._act(act, played)
            for fact in step.facts:
                self._check(fact, played)
        except HandsoffError as error:
            played.error = str(error)
            raise
        finally:
            played.seconds = clock.monotonic() - began

    def _act(self, act: Act, played: Played) -> None:
        match act:
            case Types(machine, line, code):
                ran = self._typed(machine, line, code, played)
                self._ended(ran, self.ground.run(machine, ran.command))
            case Starts(machine, line, until):
                ran = self._typed(machine, line, 0, played)
                ran.output, found = self.ground.start(machine, ran.command, until)
                self.values.update(found)
                self._said(ran.machine, ran.output)
                self.voice.goes_on(machine, waits=True)
            case Ends(machine):
                ran = next(r for r in played.commands if r.machine == machine and r.exit is None)
                self.voice.goes_on(machine, waits=False)
                self._ended(ran, self.ground.end(machine))
            case Writes(machine, path, text, said):
                self.ground.write(machine, path, text)
                if said:
                    self.voice.writes(said)
            case Hidden(machine, script):
                self._hide(machine, script)
            case Compares():
                self._compare(act, played)

    def _compare(self, act: Compares, played: Played) -> None:
        looks = (self.ground.look(act.first), self.ground.look(act.second))
        told = compare((act.first, act.second), *looks, act.stays)
        text = f"{told.count} files, index, status, stash and commits are the same on both"
        played.facts.append((text, told.same))
        if act.brief and told.same:
            self.voice.fact(text, ok=True)
        else:
            self.voice.compares(told.lines)
        if not told.same:
            raise HandsoffError(f"{act.first} and {act.second} do not hold the same")

    def _check(self, fact: Fact, played: Played) -> None:
        ok = self.ground.run(fact.machine, fact.check).code == 0
        played.facts.append((fact.text, ok))
        self.voice.fact(fact.text, ok=ok)
        if not ok:
            raise HandsoffError(f"this is not so: {fact.text}")

    def _hide(self, machine: str, script: str) -> None:
        hidden = self.ground.run(machine, filled(script, self.values))
        if hidden.code:
            raise HandsoffError(f"{script} ended with {hidden.code}: {hidden.output.strip()}")

    def _typed(self, machine: str, line: str, code: int, played: Played) -> Ran:
        ran = Ran(machine, filled(line, self.values), code)
        played.commands.append(ran)
        self.voice.typed(machine, ran.command)
        return ran

    def _ended(self, ran: Ran, said: Said) -> None:
        ran.exit = said.code
        ran.output += said.output
        self._said(ran.machine, said.output)
        if not ran.ok:
            raise HandsoffError(
                f"on {ran.machine}, {ran.command!r} ended with {ran.exit}, not with {ran.expected}"
            )

    def _said(self, machine: str, output: str) -> None:
        self.voice.output(shown(output, str(self.ground.home(machine))))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a tour."""

    played: tuple[Played, ...]
    of: int
    folder: str
    """The folder that was kept, if it was."""
    error: HandsoffError | None

    @property
    def whole(self) -> bool:
        """Whether it was played to its end."""
        return self.error is None and len(self.played) == self.of

    def as_dict(self) -> dict[str, Any]:
        """Return it as a document."""
        return {
            "ok": self.whole,
            "error": None if self.error is None else str(self.error),
            "folder": self.folder or None,
            "steps": [played.as_dict() for played in self.played],
        }


def play(story: Sequence[Step], voice: Voice, keep: Path | None) -> Outcome:
    """Play a story from its beginning; what it says is true, or the outcome has an error."""
    with playground(keep, *MACHINES) as ground:
        tour = Tour(ground, voice, {"remote": ground.remote})
        error = None
        try:
            if voice.opens(str(ground.folder)):
                tour.play(story)
        except HandsoffError as wrong:
            error = wrong
        kept = "" if keep is None else str(ground.folder)
    if not kept and ground.folder.exists():
        error = error or UnfitError(
            f"{ground.folder} could not be removed", hint="remove it by hand"
        )
    return Outcome(tuple(tour.played), len(story), kept, error)
