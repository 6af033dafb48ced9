"""What this machine claims about itself and its clone when it pairs.

Nothing is written: a machine that has no keys yet gets some that are in memory only, until both
ends have agreed (``keep``), so that a name that will not do can still be changed.
"""

from dataclasses import dataclass, replace
from typing import Final

from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.cards import Card
from handsoff.core.machines.joining import Claims
from handsoff.core.machines.pairtalk import ROOTS_LIMIT
from handsoff.core.machines.roster import Roster
from handsoff.edge import clock, keys
from handsoff.edge.git.remote import open_shared
from handsoff.edge.git.repo import Checkout
from handsoff.edge.home import Home
from handsoff.errors import UnreachableError, UsageError
from handsoff.flows.desk import Desk
from handsoff.flows.machine import choose_names, keep_card, new_card, own_card
from handsoff.flows.machines.init import Gate, check_name_is_free, fit_checkout

_SHALLOW: Final = ("rev-parse", "--is-shallow-repository")
_ROOTS: Final = ("rev-list", "--max-parents=0", "--branches", "--remotes")


@dataclass(frozen=True)
class Own:
    """This machine, which may be new, and its clone as it stands now."""

    desk: Desk
    new: bool
    roster: Roster | None
    claims: Claims

    @property
    def card(self) -> Card:
        """What others are to know this machine by."""
        return self.claims.card

    def keep(self) -> "Own":
        """Write the keys of a new machine; return it as one that is known."""
        if not self.new:
            return self
        found = keys.load(self.desk.machine.home)
        if found is not None and found.id != self.desk.machine.id:
            raise UsageError("this machine got keys meanwhile", hint="handsoff pair again, on both")
        machine = keys.keep(self.desk.machine)
        keep_card(machine, self.card)
        return replace(self, desk=replace(self.desk, machine=machine), new=False)


def look(name: str | None, person: str | None) -> Own:
    """Return what is so here; raise for what stands against pairing, before anybody is asked."""
    checkout, home, now = fit_checkout(), keys.home_folder(), clock.now()
    known = keys.load(home)
    names = choose_names(known, name=name, person=person, setting=checkout.setting)
    machine = known or keys.draft(names.machine, names.person, home)
    desk = Desk(checkout, Home(home), machine, now)
    read = roster_now(desk, known)
    roster = read.roster if read is not None else desk.local_roster() if desk.pin else None
    check_name_is_free(names, known, roster)
    claims = Claims(
        card=own_card(machine, now) if known else new_card(machine, now),
        trusts=desk.pin or _founded_by(machine, roster),
        sees=roster.founding if read is not None and roster is not None else "",
        away=read is None,
        member=roster is not None and roster.member(machine.id) is not None,
        roots=_roots(checkout),
    )
    return Own(desk, new=known is None, roster=roster, claims=claims)


def roster_now(desk: Desk, known: keys.Machine | None) -> RosterRead | None:
    """Return the roster that the remote has now, trusted or not; None if it does not answer."""
    try:
        if desk.pin is not None:
            return desk.live_roster()
        shared = open_shared(desk.checkout)
        return Gate(shared, known, pinned=None, trust=None, ask=lambda _: None).read()
    except UnreachableError:
        return None


def _founded_by(machine: keys.Machine, roster: Roster | None) -> str:
    """Return the founding id of a roster of our own, which an init that was cut off left."""
    if roster is None or next(iter(roster.everyone)) != machine.id:
        return ""
    return roster.founding


def _roots(checkout: Checkout) -> tuple[str, ...]:
    if checkout.line(*_SHALLOW) != "false":
        return ()
    found = (checkout.line(*_ROOTS) or "").split()
    return tuple(found[:ROOTS_LIMIT])
