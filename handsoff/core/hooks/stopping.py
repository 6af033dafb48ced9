"""What becomes of agents that are at work in a checkout whose work was handed over.

They are always named. Who asked for it has them end, but only once the hand-over stands: the
receiver has signed for the parcel where one takes it, and the remote's record says who may catch.
While the record waits here another machine may still win the work, so nobody is asked to end.
Neither is a process that works in other folders too: it may have the work of others in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Fate(Enum):
    """What is done about one agent."""

    NAMED = "named"
    """Nobody asked for more."""
    UNKNOWN = "process unknown"
    """A transcript is written to, and it cannot be told by whom."""
    WAITS = "record waits"
    """The remote has not confirmed the hand-over."""
    ELSEWHERE = "works elsewhere too"
    NOW = "asked"
    LAST = "asked last"
    """This very command runs in it, so it is asked once everything is done and said."""


@dataclass(frozen=True, slots=True)
class Around:
    """One agent, as far as it matters here."""

    known: bool
    """Whether its process is known."""
    here: bool
    """Whether it works in this checkout, and in none beside it."""
    above: bool
    """Whether this command runs in it."""


def fates(agents: Iterable[Around], *, asked: bool, stands: bool) -> list[Fate]:
    """Return what is done about each; ``stands`` once the remote's record has the hand-over."""
    return [_fate(agent, stands=stands) if asked else Fate.NAMED for agent in agents]


def _fate(agent: Around, *, stands: bool) -> Fate:
    if not agent.known:
        return Fate.UNKNOWN
    if not stands:
        return Fate.WAITS
    if not agent.here:
        return Fate.ELSEWHERE
    return Fate.LAST if agent.above else Fate.NOW
