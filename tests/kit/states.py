"""Random states of a checkout: built from a seed, and able to tell how.

    made = build(top, seed)    leaves the clean clone at ``top`` in the middle of some work
    print(made.text)           the seed, what kinds of state it has, and each step as it was typed

The same seed builds the same state each time, down to the ids of its commits.
"""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tests.kit.edits import EDITS, Action
from tests.kit.endings import OPERATIONS
from tests.kit.hand import Hand
from tests.kit.staging import COMMITTING, HIDING, STAGING, STASHING

MODES: Final = "modes"
ATTRIBUTES: Final = "attributes"
AUTOCRLF: Final = "autocrlf"
KINDS: Final = frozenset({*OPERATIONS, MODES, ATTRIBUTES, AUTOCRLF})
"""What may be special about a state, beside its files, index, stash and branch."""

PAGE: Final = b"""# Handoff

## Next

1. Make the rounding test pass.

Done when: `pytest -q` is green.

## Tried and failed

Rounding half even everywhere: invoice 2019-0042 is off by one cent.

## Do not touch

The table of places: finance owns it.
"""
_BRANCHES: Final = ("feat/cny", "\u820d\u5165", "it's-$HOME", "x%2Fy", "a/b/c", "n" * 120)
_ATTRIBUTES: Final = (
    b"* text=auto", b"*.txt text eol=crlf", b"*.dat -text", b"*.md ident", b"* ident",
    b"*.csv text", b"* text=auto eol=lf", b"*.py text eol=lf",
)  # fmt: skip
_IN_PROGRESS: Final = 3
"""One in so many seeds ends in an operation; each kind has its turn."""
_USUAL: Final = (0o644, 0o755)


@dataclass(frozen=True)
class Made:
    """A state that was built."""

    seed: int
    kinds: frozenset[str]
    carried: frozenset[bytes]
    done: tuple[str, ...]

    @property
    def text(self) -> str:
        """How it was made, for whoever reads a failure."""
        lines = [f"seed {self.seed} ({', '.join(sorted(self.kinds)) or 'plain'}):", *self.done]
        return "\n    ".join(lines)


def build(top: Path, seed: int) -> Made:
    """Leave the clean clone at ``top`` in the state of ``seed``."""
    hand = Hand(top, Random(seed))
    kinds = set(_begin(hand))
    for _ in range(hand.rng.randrange(1, 3)):
        _some(hand, EDITS, 1, 4)
        hand.one(COMMITTING)(hand)
    for _ in range(hand.one((0, 0, 1, 1, 3))):
        _some(hand, EDITS, 1, 3)
        _some(hand, STAGING, 0, 1)
        hand.one(STASHING)(hand)
    if seed % _IN_PROGRESS == 0:
        name = sorted(OPERATIONS)[seed // _IN_PROGRESS % len(OPERATIONS)]
        OPERATIONS[name](hand)
        kinds.add(name)
    else:
        _some(hand, EDITS, 0, 2)
    for _ in range(hand.rng.randrange(0, 4)):
        _some(hand, EDITS, 0, 2)
        _some(hand, (*STAGING, *HIDING), 0, 3)
    _some(hand, EDITS, 0, 2)
    if _odd_modes(hand):
        kinds.add(MODES)
    return Made(seed, frozenset(kinds), hand.carried, tuple(hand.done))


def _begin(hand: Hand) -> list[str]:
    """Write the page, make the branch, and set in some cases how git converts lines."""
    hand.write(b".wip/HANDOFF.md", PAGE)
    branch = hand.one(_BRANCHES)
    hand.git("switch", "-q", "-c", branch, *hand.one(([], ["--no-track"])))
    upstream = hand.rng.randrange(4)
    if upstream == 0:
        hand.git("push", "-q", "--no-verify", "-u", "origin", branch)
    elif upstream == 1:
        hand.git("branch", "-q", "-u", "origin/main")
    kinds = []
    if hand.chance(20):
        lines = hand.rng.sample(_ATTRIBUTES, hand.rng.randrange(1, 4))
        hand.write(b".gitattributes", b"".join(line + b"\n" for line in lines))
        hand.tell(f"write .gitattributes: {lines}")
        kinds.append(ATTRIBUTES)
    if hand.chance(10):
        hand.git("config", "core.autocrlf", hand.one(("true", "input")))
        kinds.append(AUTOCRLF)
    return kinds


def _some(hand: Hand, actions: Sequence[Action], least: int, most: int) -> None:
    for _ in range(hand.rng.randrange(least, most + 1)):
        hand.one(actions)(hand)


def _odd_modes(hand: Hand) -> bool:
    places = [hand.path(name) for name in (*hand.regular(), *sorted(hand.carried))]
    modes = [path.lstat().st_mode for path in places]
    return any(stat.S_ISREG(m) and stat.S_IMODE(m) not in _USUAL for m in modes)
