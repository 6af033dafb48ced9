"""Whose parcels a listener takes, of all those machines that the roster lets in."""

from enum import Enum

from handsoff.core.roster import Member
from handsoff.errors import RefusedError


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
