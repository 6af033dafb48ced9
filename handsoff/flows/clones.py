"""The clones on this machine: their desks, and the machines that they know."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from handsoff.core.machines.roster import Member, Roster
from handsoff.core.parcels.welcome import who_knows
from handsoff.edge import clock
from handsoff.edge.git.repo import open_checkout
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.errors import HandsoffError, TrustError, UnfitError
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


def host_of(desks: Sequence[Desk], machine: str) -> tuple[Desk, Member]:
    """Return a clone of one repository that has ``machine`` in its roster, and that member.

    TrustError where none has it, or one knows that it was revoked.
    """
    known = [(desk, roster) for desk in desks for roster in rosters_of([desk])]
    at = who_knows([roster for _, roster in known], machine)
    if at is not None:
        return known[at][0], known[at][1].everyone[machine]
    problem: HandsoffError | None = None
    for desk in desks:
        try:
            member = desk.fresh_roster().member(machine)
        except HandsoffError as error:
            problem = problem or error
            continue
        if member is not None:
            return desk, member
    raise problem or TrustError(f"{machine} is not in the roster of this repository")
