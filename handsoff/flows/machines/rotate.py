"""New keys for this machine: made beside the old ones, put on each roster, and then taken over.

Order, and what a kill at each point leaves: keys made (nothing else has changed) -> each roster
of this machine has the new card and not the old key (that clone is shut out until this is done)
-> one rename makes the new keys this machine's. Typed again, it goes on where it was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from handsoff.core.loose import quoted
from handsoff.core.machines import rotation
from handsoff.core.machines.cards import make_card
from handsoff.core.plain import plain
from handsoff.core.works.lease import How, State
from handsoff.edge import keys
from handsoff.edge.git.repo import open_checkout
from handsoff.edge.steps import step
from handsoff.errors import RefusedError
from handsoff.flows.desk import Desk
from handsoff.flows.remote.survey import Standing, Survey, survey
from handsoff.flows.roster.leaving import TRIES, lost, waiting
from handsoff.flows.roster.roster import Ask, push_roster
from handsoff.flows.works.pending import waiting_in

_RAN_OUT: Final = (How.LAPSE, How.OFFER_LAPSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """How it went, or would go: ids before and after, and what is to be known about it."""

    name: str
    old: str
    new: str
    fingerprint: str
    dry_run: bool
    rosters: tuple[str, ...]
    """Founding ids of the rosters in which the new keys are."""
    elsewhere: tuple[str, ...]
    """Founding ids of rosters without a usable clone here: the old keys may be members there."""
    parcels: Mapping[str, int]
    """How many parcels wait on the remotes for each work: the new keys open none of them."""

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        return {
            "name": self.name,
            "old": self.old,
            "new": self.new,
            "fingerprint": self.fingerprint,
            "dry_run": self.dry_run,
            "rosters": list(self.rosters),
            "elsewhere": list(self.elsewhere),
            "parcels": dict(self.parcels),
        }


def rotate(desk: Desk, *, ask: Ask, dry_run: bool = False) -> Rotated:
    """Give this machine new keys, under the same name, in every roster that it is in."""
    old, begun = desk.machine, keys.upcoming(desk.home.folder)
    if begun is not None and begun.id == old.id:  # killed after the switch
        keys.switch(desk.home.folder)
        return _told(desk, old, begun, {}, dry_run=dry_run)
    found = {here: survey(here) for here in _desks(desk)}
    found[desk] = _own(desk, found[desk], begun)
    taken = {here: seen for here, seen in found.items() if _takes_part(here, seen, begun)}
    for here, seen in taken.items():
        _check(here, seen, begun)
    if dry_run:
        return _told(desk, old, begun, taken, dry_run=True)
    if begun is None:
        ask(f"give {old.name} new keys, and revoke the present ones, {old.fingerprint}?")
        begun = keys.prepare(old)
        step("rotate.keys.after")
    for here in taken:
        _replace(here, begun)
        step("rotate.roster.after")
    _leave_notes(desk)
    keys.switch(desk.home.folder)
    return _told(desk, old, begun, taken, dry_run=False)


def _leave_notes(desk: Desk) -> None:
    """Forget where the old keys' chains of notes stood: the new ones begin their own.

    The remote has all of them, so a kill after this costs nothing.
    """
    for top in desk.home.clones():
        for path in (open_checkout(top).store_dir / "notes").glob("*.json"):
            path.unlink()


def _desks(desk: Desk) -> Iterator[Desk]:
    """Yield a desk in one clone of each repository that this machine knows."""
    pins = {desk.need_pin()}
    yield desk
    for top in desk.home.clones():
        here = replace(desk, checkout=open_checkout(top))
        if here.pin is not None and here.pin not in pins:
            pins.add(here.pin)
            yield here


def _own(desk: Desk, found: Survey, begun: keys.Machine | None) -> Survey:
    if not _takes_part(desk, found, begun):
        desk.need_admitted(found.roster)
    return found


def _takes_part(desk: Desk, found: Survey, begun: keys.Machine | None) -> bool:
    """Say whether this machine is a member there, by its present keys or the coming ones."""
    return found.roster.member(desk.machine.id) is not None or _is_done(desk, found, begun)


def _is_done(desk: Desk, found: Survey, begun: keys.Machine | None) -> bool:
    return begun is not None and rotation.is_rotated(found.roster, desk.machine.id, begun.id)


def _check(desk: Desk, found: Survey, begun: keys.Machine | None) -> None:
    """Raise if something would be cut off by other keys."""
    if _is_done(desk, found, begun):
        return
    left = next((left for top in desk.home.clones(desk.pin) for left in waiting_in(top)), None)
    if left is not None:
        raise RefusedError(
            f"entries about {plain(left)} wait to be sent, and are signed with the present keys",
            hint="handsoff pending --send",
        )
    for standing in found.works.values():
        if problem := _in_the_way(desk, standing):
            raise problem


def _in_the_way(desk: Desk, standing: Standing) -> RefusedError | None:
    """Return why other keys could not do what this machine is in the middle of."""
    lease, work, me = standing.record.lease.as_of(desk.now), plain(standing.work), desk.machine.id
    if standing.problem:
        return RefusedError(
            f"the record of {work} cannot be verified: {plain(standing.problem)}",
            hint="put that right first: a revocation names the tip of each record",
        )
    if lease.to is not None and lease.to.machine == me:
        return RefusedError(
            f"{work} is offered to this machine, and sealed to its present keys",
            hint=f"handsoff catch {quoted(work)}, or have the offer withdrawn",
        )
    carries = lease.state in (State.HELD, State.OFFERED) or lease.how in _RAN_OUT
    if carries and lease.carrier == me:
        return RefusedError(
            f"this machine carries {work} ({lease.state.value}), and its new keys would not",
            hint="in its checkout: handsoff send MACHINE, or "
            f"handsoff drop {quoted(work)} --reason TEXT",
        )
    return None


def _replace(desk: Desk, begun: keys.Machine) -> None:
    """Put the new keys on one roster in the place of the present ones."""
    for _ in range(TRIES):
        found = survey(desk)
        if _is_done(desk, found, begun):
            return
        _check(desk, found, begun)
        mine, at = desk.need_admitted(found.roster), int(desk.now.timestamp())
        card = make_card(
            name=mine.name,
            person=mine.person,
            sign_key=begun.public_key,
            age_key=begun.age_key,
            at=at,
            sign=begun.sign,
        )
        drafts = rotation.rotate(
            found.read, card, tips=found.tips(mine.id), by=mine.id, at=at, sign=desk.machine.sign
        )
        if push_roster(desk.shared, found.read, *drafts):
            return
    raise lost()


def _told(
    desk: Desk,
    old: keys.Machine,
    begun: keys.Machine | None,
    taken: Mapping[Desk, Survey],
    *,
    dry_run: bool,
) -> Rotated:
    done = {here.need_pin() for here in taken}
    return Rotated(
        name=old.name,
        old=old.id,
        new=begun.id if begun else "",
        fingerprint=begun.fingerprint if begun else "",
        dry_run=dry_run,
        rosters=tuple(sorted(done)),
        elsewhere=tuple(sorted({*desk.home.repositories()} - done)) if taken else (),
        parcels={k: n for seen in taken.values() for k, n in waiting(seen).items()},
    )
