"""Whom a verb is for: the machines that can open the parcel, and whom the work is offered to."""

from handsoff.core.lease import Recipient
from handsoff.core.roster import Roster
from handsoff.errors import UsageError
from handsoff.flows.desk import Desk
from handsoff.flows.plan import Aim, Wishes


def aim_of(desk: Desk, roster: Roster, wishes: Wishes) -> Aim:
    """Return whom ``wishes`` are for.

    What ``send`` makes is for one machine. A save is for whoever comes after a drop, so every
    machine can open it; so is an offer, since only the record says who may catch.
    """
    everyone = tuple(roster.members())
    if wishes.verb == "save":
        return Aim(everyone, None, "")
    if wishes.verb == "offer" and not wishes.to:
        return Aim(everyone, Recipient(), "anyone")
    if wishes.verb == "offer" and roster.named(wishes.to) is None:
        theirs = roster.of_person(wishes.to)
        if theirs:
            return Aim(everyone, Recipient(person=theirs[0].person), theirs[0].person)
    member = desk.member(roster, wishes.to)
    if member.id == desk.machine.id:
        raise UsageError(f"{member.name} is this machine", hint="handsoff roster lists others")
    to = Recipient(machine=member.id)
    return Aim((member,) if wishes.verb == "send" else everyone, to, member.name)
