"""Whom a verb is for: the machines that can open the parcel, and whom the work is offered to."""

from handsoff.core.machines.roster import Member, Roster
from handsoff.core.reach import routes
from handsoff.core.reach.destination import Destination, is_destination, parse_destination
from handsoff.core.works.lease import Recipient
from handsoff.edge.ssh import openssh
from handsoff.errors import UsageError
from handsoff.flows.desk import Desk
from handsoff.flows.reach.ways import ssh_words
from handsoff.flows.sending.plan import Aim
from handsoff.flows.sending.wishes import Wishes


def aim_of(desk: Desk, roster: Roster, wishes: Wishes, met: Member | None = None) -> Aim:
    """Return whom ``wishes`` are for; ``met`` is who answered, where they name a place.

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
    member = met or roster.named(wishes.to) or roster.member(wishes.to)
    if member is None and wishes.verb == "send":
        names = ", ".join(sorted(m.name for m in everyone))
        raise UsageError(
            f"no machine called {wishes.to} in the roster, and ssh knows no host of that name",
            hint=f"there are {names}; let one in: handsoff admit CARD; for ssh: USER@HOST",
        )
    member = desk.member(roster, member.id if member is not None else wishes.to)
    if member.id == desk.machine.id:
        raise UsageError(f"{member.name} is this machine", hint="handsoff roster lists others")
    to = Recipient(machine=member.id)
    return Aim((member,) if wishes.verb == "send" else everyone, to, member.name)


def aim_at(desk: Desk, roster: Roster, place: Destination) -> Aim:
    """Return whom a parcel to ``place`` would be for, where nobody is asked (a dry run)."""
    before = roster.member(desk.home.by_ssh(place.text) or "")
    if before is not None:
        return Aim((before,), Recipient(machine=before.id), before.name)
    return Aim(tuple(roster.members()), Recipient(), f"whoever is at {place.text}")


def place_of(desk: Desk, roster: Roster, wishes: Wishes) -> Destination | None:
    """Return the destination of ssh that ``wishes`` name in place of a machine, if they do."""
    is_machine = (roster.named(wishes.to) or roster.member(wishes.to)) is not None
    if wishes.verb != "send" or (wishes.at is not None and not is_destination(wishes.to)):
        return None  # beside a place only a machine can be named
    place = routes.is_place(wishes.to, is_machine=is_machine, via=wishes.via)
    if place is None:
        # what ssh could misread is no alias either
        named = _alias(wishes.to)
        place = named is not None and openssh.knows(ssh_words(desk.checkout), named.host)
    if not place:
        return None
    if wishes.at is not None or wishes.to_file is not None or wishes.via not in ("auto", "ssh"):
        raise UsageError(
            f"{wishes.to} is a destination of ssh, and goes by no other route",
            hint="name a machine; handsoff roster lists them",
        )
    return parse_destination(wishes.to)


def _alias(text: str) -> Destination | None:
    try:
        return parse_destination(text)
    except UsageError:
        return None
