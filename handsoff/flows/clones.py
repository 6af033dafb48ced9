"""The clones on this machine: their desks, and the machines that they know."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from handsoff.core.roster import Roster
from handsoff.edge import clock
from handsoff.edge.git.repo import open_checkout
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.errors import HandsoffError, UnfitError
from handsoff.flows.desk import Desk


def desks_of(home: Home, machine: Machine, repository: str | None = None) -> list[Desk]:
    """Return the desks of the clones on this machine, of one repository or of all.

    A folder that is no clone any more, or one of another repository now, is passed by.
    """
    now, found = clock.now(), []
    for top in home.clones(repository):
        with suppress(HandsoffError):
            desk = Desk(open_checkout(top), home, machine, now)
            if repository is None or desk.pin == repository:
                found.append(desk)
    return found


def clone_of(home: Home, machine: Machine, repository: str) -> Desk:
    """Return the desk of a clone of ``repository`` on this machine; UnfitError if there is none."""
    desks = desks_of(home, machine, repository)
    if not desks:
        raise UnfitError(
            f"{machine.name} has no clone of this repository",
            hint=f"on {machine.name}: git clone it, then: handsoff init",
        )
    return desks[0]


def rosters_of(desks: Iterable[Desk]) -> Iterator[Roster]:
    """Yield the roster of each clone as it was last seen there, without asking the remote.

    One damaged clone keeps nobody from the machines of the others.
    """
    for desk in desks:
        with suppress(HandsoffError):
            roster = desk.local_roster()
            if roster is not None:
                yield roster
