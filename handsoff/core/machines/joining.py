"""Who lets whom in, when two machines have proved the same code to each other.

Both ends judge the same two claims by this one function, so they come to the same answer without
a word more. What a claim says of the roster is not believed for longer than that: the gate reads
the roster again before it lets anybody in, and the guest before it trusts one.

    gate    the machine that lets the other one in; where there is no roster, it founds one
    guest   the machine that is let in
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from handsoff.core.machines.cards import Card
from handsoff.core.machines.roster import Roster
from handsoff.errors import RefusedError, TrustError, UsageError

_AGAIN: Final = "then handsoff pair again on both"


class Side(Enum):
    """Which end of a pairing: it types the code, and dials; or it shows the code, and waits."""

    TYPES = "types"
    SHOWS = "shows"

    @property
    def other(self) -> "Side":
        """The other end."""
        return Side.SHOWS if self is Side.TYPES else Side.TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a machine says of itself and its clone."""

    card: Card
    trusts: str
    """The founding id of the roster that its clone trusts, "" if none."""
    sees: str
    """The founding id of the roster on its remote, "" if there is none or it did not answer."""
    away: bool
    """Whether its remote did not answer."""
    member: bool
    """Whether that roster has this machine in it."""
    roots: tuple[str, ...]
    """First commits of its clone; none where not all of the history is there."""

    @property
    def admits(self) -> bool:
        """Whether it may let others in."""
        return self.member and bool(self.trusts)


def will_let_in(own: Claims, side: Side) -> bool:
    """Say whether this end is likely to be the gate, as far as it can tell by itself."""
    founds = side is Side.TYPES and not own.trusts and not own.sees
    return own.admits or founds


def check_shares(
    guest: Claims, gate: Card, founding: str, *, waits: bool, seen: str | None
) -> None:
    """Raise TrustError unless the guest may trust the roster ``founding`` of the gate.

    ``seen`` is the founding id on the guest's remote now, "" if there is no roster, None if it
    does not answer; ``waits`` says that the gate's remote has not got the roster yet.
    """
    hint = "look whether both clones have the same remote: git remote -v"
    if guest.trusts not in ("", founding):
        raise TrustError(
            f"{gate.name} has the roster {founding[:12]}, and this clone trusts "
            f"{guest.trusts[:12]}", hint=hint,
        )  # fmt: skip
    if seen is None or seen == founding or (waits and not seen):
        return
    shown = f"shows {seen[:12]}" if seen else "shows none"
    raise TrustError(
        f"{gate.name} has the roster {founding[:12]}, and the remote of {guest.card.name} {shown}",
        hint=hint,
    )


def check_not_revoked(roster: Roster | None, card: Card) -> None:
    """Raise TrustError if ``card``, whose machine claims to be in ``roster``, was revoked there.

    It may not have heard of it: its remote is away, or it would rather not.
    """
    if roster is None or card.id not in roster.everyone or roster.member(card.id) is not None:
        return
    raise TrustError(
        f"{roster.name_of(card.id)} was revoked, and takes itself for a member",
        hint="handsoff roster tells by whom; it comes back with new keys only",
    )


def gate_of(types: Claims, shows: Claims) -> Side | None:
    """Return which end lets the other one in, None if both are in already; raise if neither can."""
    _check_apart(types, shows)
    if types.admits and shows.admits:
        if types.trusts != shows.trusts:
            raise _two_rosters(types, shows)
        return None
    if not types.admits and not shows.admits:
        _check_unfounded(types, shows)
    gate = Side.SHOWS if shows.admits else Side.TYPES
    host, guest = (shows, types) if gate is Side.SHOWS else (types, shows)
    if any(other not in ("", host.trusts) for other in (guest.trusts, guest.sees)):
        raise _two_rosters(host, guest)
    if host.sees and not guest.sees and not guest.away:
        raise RefusedError(
            f"the remote of {guest.card.name} has no roster, and that of {host.card.name} has one",
            hint="look whether both clones have the same remote: git remote -v",
        )
    if not guest.member and guest.card.name.casefold() == host.card.name.casefold():
        raise RefusedError(
            f"both machines are called {host.card.name}",
            hint=f"on one that is in no roster yet: handsoff pair --name OTHER; {_AGAIN}",
        )
    return gate


def _check_apart(types: Claims, shows: Claims) -> None:
    if types.card.id == shows.card.id:
        raise UsageError(
            f"both ends are the same machine, {types.card.name}", hint="pair with another machine"
        )
    if types.roots and shows.roots and not set(types.roots) & set(shows.roots):
        raise RefusedError(
            "the two clones are of different repositories: they have no first commit in common",
            hint="on both, go to a clone of the same repository; then handsoff pair again",
        )


def _check_unfounded(types: Claims, shows: Claims) -> None:
    """Refuse two machines of which neither is in the roster that there is."""
    known = next((f for c in (types, shows) for f in (c.trusts, c.sees) if f), "")
    if known:
        raise RefusedError(
            f"neither {types.card.name} nor {shows.card.name} is in the roster {known[:12]}, or "
            "trusts it in this clone",
            hint=f"pair with a machine that is in it; or on one that is: handsoff init, {_AGAIN}",
        )


def _two_rosters(first: Claims, second: Claims) -> TrustError:
    one, other = (c.trusts or c.sees for c in (first, second))
    return TrustError(
        f"{first.card.name} has the roster {one[:12]}, and {second.card.name} has {other[:12]}",
        hint="look whether both clones have the same remote: git remote -v; its roster stands",
    )
