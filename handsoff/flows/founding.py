"""A roster that was founded without the remote: it waits here until the remote has it.

The pin of the clone says so (``waits``). Two rosters may be founded apart like this: the one on the
remote stands, and the machines of the other are admitted anew.
"""

from collections.abc import Mapping
from typing import Any, Final

from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.core.plain import plain
from handsoff.edge import files
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.errors import TrustError

PIN: Final = "roster.json"


def pinned(checkout: Checkout) -> dict[str, Any]:
    """Return what the clone keeps of its roster: founding id, last tip, and whether it waits."""
    kept = files.read_json(checkout.store_dir / PIN)
    return kept if isinstance(kept, dict) else {}


def pin(
    checkout: Checkout,
    founding: str,
    tip: str,
    roster: Roster | None = None,
    *,
    waits: bool = False,
) -> None:
    """Trust the roster ``founding``, seen up to ``tip``, from now on.

    The names in ``roster`` are kept beside it for shells to complete, and decide nothing.
    """
    before = pinned(checkout).get("members", {})
    members = before if roster is None else {
        m.id: {"name": m.name, "person": m.person} for m in roster.members()
    }  # fmt: skip
    kept = {"founding": founding, "tip": tip, "members": members}
    files.write_json(checkout.store_dir / PIN, kept | ({"waits": True} if waits else {}))


def waits(checkout: Checkout) -> bool:
    """Say whether the roster was founded here and the remote has not got it yet."""
    return bool(pinned(checkout).get("waits"))


def settle(shared: Shared, tips: Mapping[str, str]) -> Mapping[str, str]:
    """Put a roster that waits on the remote, whose refs are ``tips``; return the refs after it.

    TrustError if another roster stands there: both are named, and what to do.
    """
    kept = pinned(shared.checkout)
    if not waits(shared.checkout):
        return tips
    ref, tip = shared.roster_ref, str(kept["tip"])
    there = tips.get(ref, "")
    if not there:
        step("founding.push.before")
        moved = shared.push(Move(ref, tip, "")) is Outcome.MOVED
        there = tip if moved else shared.tips(ref).get(ref, "")
    shared.bring({ref: there})
    if tip not in [oid for oid, _ in shared.chains.line(there) or []]:
        raise _apart(shared, str(kept["founding"]), there)
    pin(shared.checkout, str(kept["founding"]), tip)
    return {**tips, ref: there}


def _apart(shared: Shared, ours: str, there: str) -> TrustError:
    theirs = RosterRead().extend(shared.chains.line(there) or []).roster
    if theirs is None:
        return TrustError(f"what stands in {shared.roster_ref} on {shared.name} is no roster")
    founder = next(iter(theirs.everyone.values()))
    return TrustError(
        f"two rosters were founded apart: the one on {shared.name} by {plain(founder.name)} "
        f"({theirs.founding}), and one here without it ({ours[:12]}); the one there stands",
        hint=f"handsoff init --trust {theirs.founding}, then have this machine admitted",
    )
