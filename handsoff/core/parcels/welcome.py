"""Whose parcels a listener takes, of all those machines that the roster lets in."""

from collections.abc import Sequence
from enum import Enum

from handsoff.core.machines.roster import Member, Roster
from handsoff.errors import RefusedError, TrustError


class Welcome(Enum):
    """Whose parcels are taken: of every machine of the roster, of my person's, or as I answer."""

    ALL = "all"
    MINE = "mine"
    ASK = "ask"


def turned_away(welcome: Welcome, sender: Member, name: str, person: str) -> RefusedError | None:
    """Return the refusal of ``sender`` by the machine ``name`` of ``person``, None if welcome."""
    if welcome is not Welcome.MINE or sender.card.person.casefold() == person.casefold():
        return None
    return RefusedError(
        f"{name} takes parcels of {person}'s machines only, and {sender.name} is "
        f"{sender.card.person}'s",
        hint=f"ask {person}, or leave it on the remote: handsoff send {name} --via remote",
    )


def who_knows(rosters: Sequence[Roster | None], machine: str) -> int | None:
    """Return which of several clones' rosters of one repository has ``machine``, None if none.

    TrustError where one of them knows that it was revoked: that is for good, and the others have
    only not heard of it.
    """
    known = [roster for roster in rosters if roster is not None and machine in roster.everyone]
    gone = next((roster for roster in known if roster.member(machine) is None), None)
    if gone is not None:
        raise TrustError(f"{gone.name_of(machine)} was revoked in the roster of this repository")
    return next((n for n, r in enumerate(rosters) if r is not None and r.member(machine)), None)
