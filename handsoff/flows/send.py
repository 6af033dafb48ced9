"""``handsoff send m2``: save this checkout's work and offer it to another machine, in one go.

    page -> record -> look -> capture + guard -> seal -> route -> receipt -> record

The push of the record is the hand-over: before it this machine is the carrier, after it the
receiver may catch. A run that was killed is taken up by typing the same command again: the
parcel is recognised by what is in it, and the record tells whether the push had landed.
"""

import hashlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from handsoff.core import manifest
from handsoff.core.lease import Recipient
from handsoff.core.pen import Pen
from handsoff.core.roster import Member
from handsoff.edge import files, hooks, seal
from handsoff.edge.git.disk import ChangedError
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Move, Outcome
from handsoff.edge.home import cache_folder
from handsoff.edge.seal import SealedFile
from handsoff.edge.steps import step
from handsoff.errors import LostRaceError, RefusedError, UsageError
from handsoff.flows import again, packing, relay
from handsoff.flows.carrying import PAGE
from handsoff.flows.desk import Desk, View
from handsoff.flows.guarding import Guarding
from handsoff.flows.notes import Notes, Sending
from handsoff.flows.packing import Packer
from handsoff.flows.pages import Written, read_page
from handsoff.flows.phases import Phases
from handsoff.flows.plan import Plan, Sent, Terms, Wishes
from handsoff.flows.routing import ROUTES, Routing

TRIES: Final = 3


@dataclass
class Sender:
    """One run of ``send``."""

    desk: Desk
    wishes: Wishes
    phases: Phases
    notes: Notes = field(init=False)
    work: str = field(init=False)
    routing: Routing = field(init=False)
    scanner: str = ""
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.notes = Notes(self.desk.checkout)
        self.work = self.desk.work(self.wishes.named)

    def run(self) -> Sent:
        """Hand the work over; every error leaves this machine the carrier."""
        if self.wishes.via not in ROUTES:
            raise UsageError(f"no route called {self.wishes.via}", hint=", ".join(ROUTES))
        if self.notes.journal():
            raise RefusedError(
                "a restore here was interrupted and is not finished",
                hint="handsoff catch, or handsoff undo, finishes it",
            )
        guarding = Guarding(
            cache_folder(), self.wishes.limit, self.wishes.allow
        )  # first: it takes time
        with self.phases.phase("page"):
            page = read_page(self.desk.checkout, self.work)
        if not hooks.is_installed(self.desk.checkout):
            self._warn("git no longer runs the pre-push hook of handsoff here: handsoff init")
        if page.unchanged:
            self._warn("the page is unchanged since it was last sent")
        self.routing = Routing(self.desk, self.wishes, self.work)
        try:
            # asking the remote costs a connection, looking costs the disk: both at once
            with ThreadPoolExecutor(1) as aside:
                reading = aside.submit(self._read_record)
                found = self._look()
                view = reading.result()
            self.desk.need_admitted(view.roster)
            to = self.desk.member(view.roster, self.wishes.to)
            if to.id == self.desk.machine.id:
                raise UsageError(f"{to.name} is this machine", hint="handsoff roster lists others")
            done = self._again(view, to) or self._hand_over(view, to, page, found, guarding)
            return replace(
                done,
                scanner=self.scanner,
                warnings=tuple(self.warnings),
                phases=self.phases.spent,
            )
        finally:
            self.routing.close()

    def _again(self, view: View, to: Member) -> Sent | None:
        """Return the outcome if an earlier run got as far as the record."""
        sending = self.notes.sending()
        done = again.already(self.desk, view, to, self.wishes.to_file)
        if done is not None and sending is not None and sending.parcel == done.parcel:
            self._finish(sending)
        return done

    def _read_record(self) -> View:
        with self.phases.phase("record.read"):
            return self.desk.view(self.work)

    def _look(self) -> Look:
        """Return what is in the checkout; UnfitError for what cannot travel."""
        with self.phases.phase("look"):
            found = packing.look_at(self.desk.checkout)
            packing.refuse_unfit(self.desk.checkout, found, self.work)
        return found

    def _hand_over(
        self, view: View, to: Member, page: Written, found: Look, guarding: Guarding
    ) -> Sent:
        self.routing.choose(to)
        again.check_is_here(self.desk, view)
        pen = Pen(
            record=view.record, by=self.desk.machine.id, sign=self.desk.machine.sign,
            now=self.desk.now,
        ).holding()  # fmt: skip
        terms = Terms(self.desk, self.work, view, to, page, pen)
        for tries in range(1, TRIES + 1):
            try:
                return self._try(terms, found, guarding)
            except ChangedError:
                # agents keep typing: what was captured is no longer what is there
                if tries == TRIES:
                    raise
                self.routing.redial(to)
                found = self._look()
        raise AssertionError("unreachable")

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def _try(self, terms: Terms, found: Look, guarding: Guarding) -> Sent:
        """Capture and deliver once; ChangedError if the checkout did not hold still."""
        checkout, phases = self.desk.checkout, self.phases
        guarding.forget()
        store = files.ensure_folder(checkout.store_dir / "parcels")
        known = self.notes.known(self.work)
        arrived = known.leaves.keys() if known is not None else ()
        packer = Packer(checkout, self.desk.shared, self.work, guarding, phases, arrived)
        have = self.routing.have(terms.to)
        with packing.scratch(store) as file, ThreadPoolExecutor(1) as aside:
            packed = packer.pack(file, found, have)
            page = packed.snapshot.taken.get(PAGE)
            if page is None or page.leaf.oid != terms.page.oid:
                raise RefusedError("the page was changed while it was sent", hint="type it again")
            still = aside.submit(packing.check_still, checkout, found, packed.snapshot)
            self.scanner = guarding.scanner.engine
            if not guarding.scanner.complete:
                self._warn(f"secrets were looked for with {self.scanner}")
            plan = Plan(terms, found, packed)
            if self.wishes.dry_run:
                still.result()
                size = packed.digest.size
                return plan.outcome(self.routing.route, parcel="", size=size, dry_run=True)
            if self.routing.direct is None:
                packing.rehearse(checkout, file, packed)
            sending = self._sealed(plan, file)
            self._deliver(sending, still.result)
        return self._conclude(plan, sending)

    def _sealed(self, plan: Plan, pack: Any) -> Sending:
        """Return the parcel: the one of an interrupted run if it is the same, else a new one."""
        before = self.notes.sending()
        fresh = Sending(
            parcel=secrets.token_hex(16),
            work=self.work,
            to=plan.terms.to.id,
            route=self.routing.route.name,
            envelope=plan.packed.sealed.envelope,
            receivers=(plan.terms.to.id,),
            record=plan.terms.view.tip,
            path="",
            size=0,
            sha256="",
            manifest_sha256="",
        )
        if before is not None and _same(before, fresh) and Path(before.path).exists():
            return before
        with self.phases.phase("seal"):
            body = manifest.encode(plan.manifest(fresh.parcel))
            signature = self.desk.machine.sign(body, manifest.NAMESPACE)
            folder = self.desk.checkout.store_dir / "parcels"
            for stale in folder.glob("*.handsoff"):
                stale.unlink()
            path = folder / f"{fresh.parcel}.handsoff"
            sealed = seal.seal(path, pack, body, signature, [plan.terms.to.card.age_key])
        sending = replace(
            fresh, path=str(path), size=sealed.size, sha256=sealed.sha256,
            manifest_sha256=hashlib.sha256(body).hexdigest(),
        )  # fmt: skip
        self.notes.set_sending(sending)
        return sending

    def _deliver(self, sending: Sending, check_still: Callable[[], None]) -> None:
        """Bring the parcel to where the receiver finds it; the checkout is looked at meanwhile."""
        sealed = SealedFile(Path(sending.path), sending.size, sending.sha256)
        with self.phases.phase("send"):
            if self.routing.direct is not None:
                self.routing.direct.deliver(
                    sending.parcel, sealed, sending.manifest_sha256,
                    lambda left: self.phases.tell("send", sealed.size - left, sealed.size),
                )  # fmt: skip
            elif sending.route == "file":
                check_still()
                assert self.wishes.to_file is not None
                relay.copy_parcel(sealed.path, self.wishes.to_file)
            else:
                check_still()
                relay.push_parcel(self.desk, self.work, sending.parcel, sealed.path)
        with self.phases.phase("recheck"):
            check_still()

    def _conclude(self, plan: Plan, sending: Sending) -> Sent:
        """Move the record, which is the hand-over; then tell and tidy up."""
        with self.phases.phase("record"):
            pen = self._record(plan, sending)
        plan.remember(self.notes)
        self.notes.set_here(sending.parcel, self.work)
        self._finish(sending)
        if self.routing.direct is not None:
            self.routing.direct.tell(pen.record.git_tip or "")
        return plan.outcome(self.routing.route, parcel=sending.parcel, size=sending.size)

    def _record(self, plan: Plan, sending: Sending) -> Pen:
        objects = Objects(self.desk.shared.objects, self.desk.checkout.common_dir / "objects")
        page_oid = objects.write("blob", plan.terms.page.body)
        pen = plan.terms.pen.saved(
            page=page_oid, envelope=sending.envelope, parcel=sending.parcel
        ).offered(Recipient(machine=plan.terms.to.id), parcel=sending.parcel, route=sending.route)
        objects.write_drafts(pen.drafts)
        assert pen.record.git_tip is not None
        step("send.record.push.before")
        ref = self.desk.shared.record_ref(self.work)
        outcome = self.desk.shared.push(Move(ref, pen.record.git_tip, plan.terms.view.tip))
        step("send.record.push.after")
        if outcome is Outcome.LOST:
            raise self._lost()
        self.desk.remember(pen.record)
        return pen

    def _lost(self) -> LostRaceError:
        view = self.desk.view(self.work)
        lease = view.record.lease.as_of(self.desk.now)
        who = view.roster.name_of(lease.carrier) if lease.carrier else "another machine"
        what = lease.state.value
        if lease.to is not None:
            what += f" to {view.roster.named_text(lease.to.shown())}"
        return LostRaceError(
            f"another hand-over of {self.work} was faster: {what} by {who}",
            hint="nothing was handed over by this command; see: handsoff status",
        )

    def _finish(self, sending: Sending) -> None:
        # a stick can be lost: only a receiver that has signed for it makes the file superfluous
        if sending.path and sending.route == "direct":
            Path(sending.path).unlink(missing_ok=True)
        self.notes.set_sending(None)


def _same(before: Sending, fresh: Sending) -> bool:
    made = {"parcel": "", "path": "", "size": 0, "sha256": "", "manifest_sha256": ""}
    return replace(before, **made) == replace(fresh, **made)  # type: ignore[arg-type]


def send(desk: Desk, wishes: Wishes, phases: Phases) -> Sent:
    """Hand this checkout's work over as ``wishes`` say."""
    with desk.checkout.lock():
        return Sender(desk, wishes, phases).run()
