"""A captured state on its way: sealed, brought to where it is found, and put on the record.

The entries are made before the parcel is sealed, since they travel in it; they count from the push
that ends this. A parcel of an interrupted run is taken up if it holds the very same.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from handsoff.core.parcels import manifest
from handsoff.core.works.entry import seconds
from handsoff.core.works.pen import Pen
from handsoff.edge import files, seal
from handsoff.edge.git.objects import store_of
from handsoff.edge.seal import SealedFile
from handsoff.errors import HandsoffError, LostRaceError
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory, Sending
from handsoff.flows.phases import Phases
from handsoff.flows.remote import relay
from handsoff.flows.sending.plan import Plan, Terms
from handsoff.flows.sending.routing import Routing
from handsoff.flows.sending.wishes import Wishes
from handsoff.flows.works import ledger
from handsoff.flows.works.shelf import Kept, Shelf, put_away


@dataclass
class Delivery:
    """One parcel, from its making to the record that names it."""

    desk: Desk
    wishes: Wishes
    phases: Phases
    routing: Routing
    terms: Terms
    parcel: str
    memory: Memory = field(init=False)
    pen: Pen = field(init=False)
    anew: str = field(default="", init=False)
    """Why a parcel that was on its way before is not gone on with."""

    def __post_init__(self) -> None:
        self.memory = Memory(self.desk.checkout)
        self.pen = self.terms.pen

    def along(self, envelope: str) -> bytes:
        """Make the entries for the state of ``envelope``; return the record that travels along."""
        terms = self.terms
        objects = store_of(self.desk.shared)
        page = objects.write("blob", terms.page.body)
        self.pen = self._pen(self.parcel, page, envelope)
        objects.write_drafts(self.pen.drafts)
        return ledger.packed_chain(self.desk, terms.view, self.pen)

    def _pen(self, parcel: str, page: str, envelope: str) -> Pen:
        terms, route = self.terms, self.routing.route.name
        pen = terms.pen.saved(page=page, envelope=envelope, parcel=parcel, hold=terms.hold)
        return self._offered(pen, parcel, route)

    def _offered(self, pen: Pen, parcel: str, route: str) -> Pen:
        to = self.terms.aim.to
        if to is None:
            return pen
        return pen.offered(to, parcel=parcel, route=route, within=self.wishes.within)

    def left_before(self, plan: Plan) -> bool:
        """Say whether the remote has a parcel with this very state for the same receivers.

        Then no other is made, and the entries name that one. While the remote is away there is
        one made: whoever fetches it has the record from it alone, and that must tell of the offer.
        """
        kept, left = self.terms.view.record.kept, self.memory.left()
        if self.routing.route.name != "remote" or kept is None or self.terms.view.away:
            return False
        wanted = {member.id for member in self.terms.aim.receivers}
        same = kept.envelope == plan.packed.sealed.envelope and kept.parcel == left["parcel"]
        if not same or not wanted <= set(left["receivers"]):
            return False
        saved, page = self.terms.view.record.saved, self.terms.page.oid
        held = self.terms.aim.to is not None and not self.terms.pen.drafts
        if held and saved == kept and kept.page == page:
            self.pen = self._offered(self.terms.pen, kept.parcel, "remote")
        else:
            self.pen = self._pen(kept.parcel, page, kept.envelope)
        self.parcel = kept.parcel
        Shelf(self.desk).set_given(kept.parcel, "")  # that was of an offer that is over
        return True

    def sealed(self, plan: Plan, pack: IO[bytes]) -> Sending:
        """Return the parcel: the one of an interrupted run if it is the same, else a new one."""
        before, receivers = self.memory.sending(), self.terms.aim.receivers
        lease = self.pen.record.lease
        fresh = Sending(
            parcel=self.parcel,
            work=self.terms.work,
            to=self.terms.aim.name,
            route=self.routing.route.name,
            envelope=plan.packed.sealed.envelope,
            receivers=tuple(member.id for member in receivers),
            record=self.terms.view.tip,
            path="",
            size=0,
            sha256="",
            manifest_sha256="",
            entries=self.pen.record.git_tip or "",
            until=seconds(lease.until) if lease.until else 0,
            transcript=plan.packed.transcript,
        )
        if before is not None and self._goes_on(before, fresh):
            ahead = self.desk.shared.chains.line(before.entries, self.terms.view.tip) or []
            self.pen = replace(self.pen, record=self.terms.view.record.extend(ahead))
            self.parcel = before.parcel
            return before
        self.anew = self._why_anew(before, fresh) if before is not None else ""
        with self.phases.phase("seal"):
            body = manifest.encode(plan.manifest(fresh.parcel))
            signature = self.desk.machine.sign(body, manifest.NAMESPACE)
            shelf = Shelf(self.desk)
            files.ensure_folder(shelf.folder)
            shelf.make_room(self.terms.work)
            path = shelf.path(fresh.parcel)
            keys = [member.card.age_key for member in receivers]
            done = seal.seal(path, pack, body, signature, keys)
        sending = replace(
            fresh, path=str(path), size=done.size, sha256=done.sha256,
            manifest_sha256=hashlib.sha256(body).hexdigest(),
        )  # fmt: skip
        shelf.put(
            Kept(
                parcel=sending.parcel, work=sending.work, receivers=sending.receivers,
                size=sending.size, sha256=sending.sha256, manifest=sending.manifest_sha256,
                at=int(self.desk.now.timestamp()),
            )
        )  # fmt: skip
        self.memory.set_along(sending.parcel, plan.mark)
        self.memory.set_sending(sending)
        return sending

    def _goes_on(self, before: Sending, fresh: Sending) -> bool:
        in_time = before.until > seconds(self.desk.now)
        return _same(before, fresh) and in_time and Path(before.path).exists()

    def _why_anew(self, before: Sending, fresh: Sending) -> str:
        if (before.work, before.to, before.route) != (fresh.work, fresh.to, fresh.route):
            return ""
        if before.envelope != fresh.envelope:
            return "the work changed since it was sent in part: sent anew"
        if before.record != fresh.record:
            return "the record has moved since the work was sent in part: sent anew"
        return "what was sent in part counts no more: sent anew"

    def deliver(self, sending: Sending, check_still: Callable[[], None]) -> None:
        """Bring the parcel to where the receiver finds it; the checkout is looked at meanwhile."""
        sealed = SealedFile(Path(sending.path), sending.size, sending.sha256)
        with self.phases.phase("send"):
            if self.routing.connection is not None:
                self.routing.deliver(
                    sending.parcel, sealed, sending.manifest_sha256,
                    lambda done: self.phases.tell("send", done, sealed.size),
                )  # fmt: skip
            elif sending.route == "file":
                check_still()
                assert self.wishes.to_file is not None
                relay.copy_parcel(sealed.path, self.wishes.to_file)
            elif not self.terms.view.away:
                check_still()
                relay.push_parcel(self.desk, self.terms.work, sending.parcel, sealed.path)
        with self.phases.phase("recheck"):
            check_still()

    def record(self, plan: Plan, sending: Sending | None) -> ledger.Written:
        """Move the record, which is the hand-over; then tell and tidy up."""
        waits = sending is not None and sending.route == "remote" and bool(self.terms.view.away)
        with self.phases.phase("record"):
            try:
                done = ledger.put(
                    self.desk, self.terms.view, self.pen, self.wishes.verb, where="send",
                    parcel=self.parcel, path=sending.path if sending and waits else "",
                )  # fmt: skip
            except LostRaceError:
                self.memory.set_sending(None)  # it was sealed for a record that has moved
                raise
        plan.remember(self.memory)
        self.memory.set_here(self.parcel, self.terms.work)
        if self.routing.route.name == "remote":
            receivers = [member.id for member in self.terms.aim.receivers]
            self.memory.set_left(self.parcel, receivers)
        if sending is not None:
            put_away(self.desk, sending)
        if self.routing.connection is not None:
            # what the remote may never show as it is would make it look like a forger there
            seen = done.record.git_tip if done.landed else self.terms.view.remote_tip
            self.routing.connection.tell(seen or "")
        if done.landed and self.routing.route.name == "remote":
            with suppress(HandsoffError):  # what is left over is swept another time
                relay.sweep_parcels(self.desk, self.desk.history(done.record))
        return done


def _same(before: Sending, fresh: Sending) -> bool:
    made = {"parcel": "", "path": "", "size": 0, "sha256": "", "manifest_sha256": ""}
    made |= {"entries": "", "until": 0}
    return replace(before, **made) == replace(fresh, **made)  # type: ignore[arg-type]
