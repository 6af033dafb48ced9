"""Which routes a parcel may take, in which order, and whether one stands in for another.

``auto`` is direct where an address is known, else ssh where a destination is, else the remote. What
the person named by hand is tried alone: nothing stands in for it in silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from handsoff.core.reach.destination import is_destination
from handsoff.errors import UsageError

ROUTES: Final = ("auto", "direct", "ssh", "remote")


@dataclass(frozen=True, slots=True)
class Route:
    """How a parcel goes, and why so."""

    name: str
    why: str


def in_order(via: str, *, at: str | None, to_file: bool, known: Sequence[str]) -> tuple[str, ...]:
    """Return the routes to try, in order; ``known`` are those whose address is remembered."""
    if via not in ROUTES:
        raise UsageError(f"no route called {via}", hint=", ".join(ROUTES))
    if to_file:
        return ("file",)
    if at is not None:
        named = "ssh" if via == "ssh" or is_destination(at) else "direct"
        if via not in ("auto", named):
            raise UsageError(f"--at {at} does not go with --via {via}", hint=f"--via {named}")
        return (named,)
    if via != "auto":
        return (via,)
    return (*(route for route in ("direct", "ssh") if route in known), "remote")


def is_place(to: str, *, is_machine: bool, via: str) -> bool | None:
    """Say whether ``to`` names a place for ssh and no machine; None if only ssh can tell."""
    if is_machine:
        return False
    if is_destination(to) or via == "ssh":
        return True
    return None if via == "auto" else False
