"""Random states on their way: built on m1, sent to m2 as a file, caught there, and compared.

ground = prepare(folder)                      two machines with a clean clone each, made once
journey = travel(ground, folder / "7", 7)     what became of the state of seed 7
"""

import traceback
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol

from handsoff.edge.home import Home
from handsoff.errors import HandsoffError, RefusedError, UnfitError
from handsoff.flows.catching.catch import catch
from handsoff.flows.phases import Phases
from handsoff.flows.receiving.listen import receive_file
from handsoff.flows.sending.send import send
from handsoff.flows.sending.wishes import Wishes
from tests.kit.compare import untouched
from tests.kit.endings import ENDINGS, OPERATIONS
from tests.kit.hand import Hand
from tests.kit.machines import Machine, World, copied
from tests.kit.states import ATTRIBUTES, AUTOCRLF, KINDS, MODES, Made, build
from tests.kit.whole import Whole, differences, see

_DATES: Final = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "1893456000 +0100")
_ATTEMPTS: Final = ("more", "even more", "last")


class Verdict(Enum):
    """How a journey ended."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    WRONG = "wrong"


@dataclass(frozen=True)
class Journey:
    """What became of one state."""

    made: Made
    verdict: Verdict
    told: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All there is to know of it."""
        return "\n  ".join([f"{self.verdict.value}: {self.made.text}", *self.told])


def prepare(folder: Path) -> Path:
    """Build in ``folder`` what every state starts from, and return it."""
    world = World.make(folder)
    m1 = replace(world.machine("m1"), env=_DATES)
    for number, word in enumerate(_ATTEMPTS):
        for name in ("README.md", "src/a.txt", "src/b.py", "src/deep/c.md", "docs/table.csv"):
            m1.write(name, "".join(f"{name} {n} {word}\n" for n in range(8 + number)))
        m1.write(f"data/{number}.dat", f"{word}\0\1\2")
        m1.write(".gitignore", "*.log\nbuilt/\n.env*\n")
        m1.write("run", "#!/bin/sh\n").chmod(0o755)
        m1.git("add", "-A")
        m1.git("commit", "-q", "-m", word)
    m1.git("push", "-q", "origin", "HEAD")
    world.enrol(m1, world.machine("m2"))
    for sample in folder.glob("**/hooks/*.sample"):
        sample.unlink()
    return folder


class Watch(Protocol):
    """Looks at m1's checkout before the hand-over, and at m2's once the state has ``arrived``."""

    def __call__(self, made: Made, top: Path, *, arrived: bool) -> None: ...


def nobody(made: Made, top: Path, *, arrived: bool) -> None:
    """Look at nothing."""


def travel(
    ground: Path,
    folder: Path,
    seed: int,
    carried: Collection[str] = KINDS,
    watch: Watch = nobody,
) -> Journey:
    """Build the state of ``seed`` in a copy of ``ground``, hand it over, and compare.

    A state with a kind that is not ``carried`` may be refused, and no other.
    """
    _, (m1, m2) = copied(ground, folder, "m1", "m2")
    trip = _Trip(m1, m2, build(m1.top, seed), KINDS - {*carried}, watch)
    try:
        return trip.run()
    except HandsoffError as error:
        return trip.ends(Verdict.WRONG, f"{type(error).__name__}: {error} ({error.hint})")
    except Exception:  # noqa: BLE001 - a bug of any kind is told with the state that shows it
        return trip.ends(Verdict.WRONG, *traceback.format_exc().splitlines())


@dataclass(frozen=True)
class _Trip:
    m1: Machine
    m2: Machine
    made: Made
    without: frozenset[str]
    watch: Watch

    def ends(self, verdict: Verdict, *told: str) -> Journey:
        return Journey(self.made, verdict, told)

    def run(self) -> Journey:
        before, travels = untouched(self.m1.top), see(self.m1.top)
        self.watch(self.made, self.m1.top, arrived=False)
        there = untouched(self.m2.top)
        file = self.m1.home.parent / "work.handsoff"
        try:
            sent = send(self.m1.desk(), Wishes(to=self.m2.name, to_file=file), Phases("send"))
        except (RefusedError, UnfitError) as error:
            wrong = self._changed(before, travels)
            if untouched(self.m2.top) != there:
                wrong.append("a refusal changed the receiver")
            expected = self.made.kinds & self.without and not wrong
            verdict = Verdict.REFUSED if expected else Verdict.WRONG
            return self.ends(verdict, f"refused: {error}", *wrong)
        receive_file(Home(self.m2.home), self.m2.member(), file)
        catch(self.m2.desk(), sent.work, Phases("catch"))
        self.watch(self.made, self.m2.top, arrived=True)
        wrong = [*self._compare(travels), *self._changed(before, travels)]
        if not wrong and self.made.kinds & OPERATIONS.keys() and not self._converts:
            wrong = self._go_on()
        return self.ends(Verdict.WRONG if wrong else Verdict.ARRIVED, *wrong)

    @property
    def _converts(self) -> bool:
        return bool(self.made.kinds & {ATTRIBUTES, AUTOCRLF})

    def _compare(self, sent: Whole) -> list[str]:
        travels, arrived = sent.travelling(self.made.carried), see(self.m2.top)
        if MODES in self.without:
            travels, arrived = travels.coarse(), arrived.coarse()
        return differences(
            travels, arrived, filtered=self._converts, alike=AUTOCRLF not in self.made.kinds
        )

    def _changed(self, before: dict[str, Any], seen: Whole) -> list[str]:
        """Return what is not as it was on the sender."""
        after = untouched(self.m1.top)
        changed = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
        found = [f"the sender's {name} changed" for name in changed]
        return found or [f"on the sender, {line}" for line in differences(seen, see(self.m1.top))]

    def _go_on(self) -> list[str]:
        """End the operation on both machines in the same way, and compare again."""
        (name,) = self.made.kinds & OPERATIONS.keys()
        how = [("update-index", "-q", "--refresh"), *ENDINGS[name][self.made.seed % 2]]
        hands = [Hand(machine.top, Random(0)) for machine in (self.m1, self.m2)]
        codes = [[hand.git(*words, may_fail=True) for words in how] for hand in hands]
        if codes[0] != codes[1]:
            return [f"{line} (on {who})" for hand, who in zip(hands, "12", strict=True)
                    for line in hand.done]  # fmt: skip
        return [f"after {how}: {line}" for line in self._compare(see(self.m1.top))]
