"""What a chain's tip on the remote says about the remote, beside what was seen before.

A clone remembers the last tip that it saw of each chain, and machines in contact tell each other
theirs. Rule of the room: what another machine claims is a finding at most, never an error, since
anybody in the roster can claim anything; what this clone saw itself is believed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, TypeAlias

from handsoff.core.chain import Tips
from handsoff.core.ids import is_machine_id, is_oid

MOST: Final = 100
MOST_OF_ONE: Final = 10
"""Claims that are kept: of all machines, and of one, so that none can crowd out the others."""


def rewritten(what: str, ref: str, judged: Tips, seen: str, tip: str) -> tuple[str, str]:
    """Return what to say, and what to do, of a chain that contradicts what this clone saw."""
    said = (
        f"{what} was {judged.value} on the remote: this clone saw {seen[:12]}, "
        f"it now has {tip[:12] or 'nothing'}"
    )
    if judged is Tips.FORKED:
        return said, f"somebody rewrote {ref} there: ask who; handsoff doctor shows both histories"
    return said, f"ask who touched {ref} there; handsoff doctor --repair pushes {seen[:12]} back"


class Mend(Enum):
    """What can be done about a chain that contradicts what this clone saw."""

    NOTHING = "nothing"
    PUSH_BACK = "push back"
    PEOPLE = "people"
    """Two histories have entries that the other lacks: somebody must choose."""


def mend(judged: Tips | None) -> Mend:
    """Return what may be done; None means that what lies there is no chain of commits.

    The seen chain is pushed back only where it has all that the remote has: nothing that
    anybody wrote is lost by that.
    """
    if judged in (Tips.DELETED, Tips.REWOUND, None):
        return Mend.PUSH_BACK
    return Mend.PEOPLE if judged is Tips.FORKED else Mend.NOTHING


class Told(Enum):
    """How a tip that another machine names stands to a chain here."""

    SAME = "same"
    BEHIND = "behind"
    """Theirs is an older one of ours: they have not looked, or are shown an old state."""
    UNKNOWN = "unknown"
    """Ours does not have it: we have not looked, or are shown an old state."""


def hold_against(mine: Sequence[str], theirs: str) -> Told:
    """Compare the chain ``mine`` (ids, oldest first) with the tip that another machine names."""
    if theirs == (mine[-1] if mine else ""):
        return Told.SAME
    return Told.BEHIND if not theirs or theirs in mine else Told.UNKNOWN


@dataclass(frozen=True, slots=True)
class Claim:
    """A machine said that it saw a tip, and the remote has not shown that tip here."""

    ref: str
    """The chain: what stands behind the prefix of our refs."""
    tip: str
    by: str
    asked: bool = False
    """Whether the remote was asked since: then it shows this machine less than that one."""


Claims: TypeAlias = tuple[Claim, ...]


def hear(claims: Claims, claim: Claim) -> Claims:
    """Return the claims with one more, which takes the place of what that machine said before."""
    others = [c for c in claims if (c.ref, c.by) != (claim.ref, claim.by)]
    same = [c for c in (*others, claim) if c.by == claim.by][-MOST_OF_ONE:]
    return tuple(c for c in (*others, claim) if c.by != claim.by or c in same)[-MOST:]


def settle(claims: Claims, ref: str, chain: Collection[str]) -> Claims:
    """Return the claims that are left now that the remote was asked: ``chain`` is what it has."""
    return tuple(
        replace(claim, asked=True) if claim.ref == ref else claim
        for claim in claims
        if not (claim.ref == ref and claim.tip in chain)
    )


def encode(claims: Claims) -> list[list[Any]]:
    """Return claims as JSON has them."""
    return [[c.ref, c.tip, c.by, c.asked] for c in claims]


def decode(kept: object) -> Claims:
    """Return the claims that ``encode`` made; what does not read is left out."""
    found = []
    for item in kept if isinstance(kept, list) else ():
        match item:
            case [str(ref), str(tip), str(by), bool(asked)] if is_oid(tip) and is_machine_id(by):
                found.append(Claim(ref, tip, by, asked))
            case _:
                pass
    return tuple(found[-MOST:])


def doubt(claim: Claim, what: str, name: str, remote: str) -> str:
    """Return what to say of a claim that the remote does not bear out."""
    return (
        f"{name} saw {what} at {claim.tip[:12]}, which {remote} does not show here: it shows this "
        f"machine an older state (frozen), or another one (forked), or {name} is wrong"
    )
