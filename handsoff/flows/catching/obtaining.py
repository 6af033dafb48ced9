"""The parcel that the record names, wherever it is: the inbox, its maker's listener, the remote.

The listener is asked first where it was last; only if the remote has nothing is it looked for. And
without the remote, the machines that are found are asked what they offer.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.machines.roster import Member
from handsoff.core.reach.routes import Route
from handsoff.core.works.lease import Saved
from handsoff.core.works.lease import State as LeaseState
from handsoff.edge.git import clone
from handsoff.edge.home import Parcel
from handsoff.errors import HandsoffError, RefusedError, TrustError, UnfitError, UnreachableError
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Memory
from handsoff.flows.phases import Phases
from handsoff.flows.receiving.accept import accept, complete
from handsoff.flows.remote import relay

_ASKED: Final = 8
"""Machines that are asked for an offer of which nothing is known."""


@dataclass
class Obtaining:
    """One look for the parcel of a work; ``route`` is how it came, once it is here."""

    desk: Desk
    view: View
    phases: Phases
    route: Route = field(default=Route("", ""), init=False)
    _answered: bool = field(default=False, init=False)
    """Whether its maker has answered, and had nothing."""
    _why: list[str] = field(default_factory=list, init=False)
    """What came of the ways that were tried."""

    def parcel(self) -> Parcel:
        """Return the parcel that the record names, verified."""
        saved, work = self.view.record.kept, self.view.record.work
        if saved is None:
            raise RefusedError(
                f"no revision of {work} left a parcel, so there are no bytes to catch",
                hint="to carry on with its page alone: "
                f"handsoff catch {shlex.quote(work)} --page-only",
            )
        found = self._found(saved)
        claims = found.manifest
        if (claims.envelope, claims.work, claims.sender) != (saved.envelope, work, saved.by):
            raise TrustError(
                "the parcel in the inbox is not the one that the record names",
                hint=f"remove {found.folder}, and have it sent again",
            )
        checkout = self.desk.checkout
        complete(self.desk, claims)  # what no ref named may have been collected since it came
        clone.fetch_trees(checkout, [tip for tip in [checkout.commit("HEAD")] if tip])
        return found

    def _found(self, saved: Saved) -> Parcel:
        found = self.desk.home.parcel(saved.parcel)
        if found is not None:
            self.desk.home.keep_only_whole(saved.parcel)
            self.route = Route("inbox", "it had arrived")
            return found
        maker = self.view.roster.member(saved.by)
        if maker is not None and maker.id == self.desk.machine.id:
            maker = None
        found = self._fetched(maker, saved, search=False) or self._from_the_remote(saved)
        found = found or self._fetched(maker, saved, search=True)
        if found is None:
            raise self._nowhere(saved)
        return found

    def _fetched(self, maker: Member | None, saved: Saved, *, search: bool) -> Parcel | None:
        known = maker is not None and self.desk.home.address_of(maker.id) is not None
        if maker is None or self._answered or not (known or search):
            return None
        from handsoff.flows.catching.fetching import Fetch  # noqa: PLC0415 - most parcels are here by now

        work, tell = self.view.record.work, self.phases.tell
        fetch = Fetch(
            self.desk, maker, work, saved.parcel, lambda *far: tell("fetch", *far), search
        )
        try:
            found = fetch.run()
        except HandsoffError as error:
            self._answered = not isinstance(error, UnreachableError)
            self._why.append(str(error))
            return None
        self.route = Route("direct", f"from the listener of {maker.name}")
        return found

    def _from_the_remote(self, saved: Saved) -> Parcel | None:
        if self.view.away:
            self._why.append("the remote does not answer")
            return None
        desk = self.desk
        with relay.fetched(desk, self.view.record.work, saved.parcel) as sealed:
            if sealed is None:
                return None
            found = accept(desk.home, desk.machine, sealed, desk)
        self.route = Route("remote", "; ".join(self._why) or "it waited there")
        return found

    def _nowhere(self, saved: Saved) -> HandsoffError:
        work, carrier = self.view.record.work, self.view.record.lease.carrier
        memory = Memory(self.desk.checkout)
        mine = carrier == self.desk.machine.id
        if mine and memory.here(work) == saved.parcel:
            offered = self.view.record.lease.as_of(self.desk.now).state is LeaseState.OFFERED
            save = "handsoff save takes the work up again, and leaves them on the remote"
            return UnfitError(
                f"the bytes of {work} are nowhere but here",
                hint="handsoff withdraw takes the offer back" if offered else save,
            )
        point = memory.restore_point() or {}
        if mine and point.get("work") == work:
            return UnfitError(
                f"{work} was undone here, or is in another checkout of this machine",
                hint="handsoff undo brings back what was undone",
            )
        name, maker = self.view.roster.name_of(carrier), self.view.roster.name_of(saved.by)
        tried = f" ({'; '.join(self._why)})" if self._why else ""
        return UnreachableError(
            f"the parcel of {work} is neither here nor on the remote{tried}",
            hint=f"on {name}: handsoff save, which leaves one there; or on {maker}: handsoff "
            "listen, and catch again; or, of a parcel in a file: handsoff receive FILE",
        )


def ask_around(desk: Desk, view: View, phases: Phases) -> bool:
    """Say whether a parcel of the work came from a machine that offers it, without the remote.

    The record comes along in it. Asked are those whose address is known, the carrier first; then
    those that are near by.
    """
    work, home = view.record.work, desk.home
    if not view.away or _is_to_be_had(desk, view):
        return False
    from handsoff.flows.catching.fetching import Fetch  # noqa: PLC0415 - as above
    from handsoff.flows.reach.peers import look_around  # noqa: PLC0415 - as above

    asked: set[str] = set()
    for look in (False, True):
        if look:
            look_around()  # whoever is near by and proves who it is has an address after that
        for member in _likely(desk, view):
            address = home.address_of(member.id)
            if address is None or address in asked:
                continue
            asked.add(address)
            try:
                Fetch(desk, member, work, "", lambda *far: phases.tell("fetch", *far)).run()
            except HandsoffError:
                continue
            return True
    return False


def _is_to_be_had(desk: Desk, view: View) -> bool:
    """Say whether this machine carries the work, or has what it needs to catch it."""
    lease, kept = view.record.lease.as_of(desk.now), view.record.kept
    mine = lease.state is LeaseState.HELD and lease.carrier == desk.machine.id
    return mine or (kept is not None and desk.home.parcel(kept.parcel) is not None)


def _likely(desk: Desk, view: View) -> Iterator[Member]:
    carrier = view.record.lease.carrier
    others = [m for m in view.roster.members() if m.id != desk.machine.id]
    yield from sorted(others, key=lambda member: member.id != carrier)[:_ASKED]
