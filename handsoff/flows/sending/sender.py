"""One run of ``send``, ``offer`` or ``save``, in the order that flows/sending/send.py gives."""

import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

from handsoff.core.works.holding import taken_up
from handsoff.core.works.pen import Pen
from handsoff.edge import files, hooks
from handsoff.edge.git import objects
from handsoff.edge.git.disk import ChangedError
from handsoff.edge.git.look import Look
from handsoff.edge.scan import Scanner
from handsoff.errors import RefusedError
from handsoff.flows.capture import carrying, judging, packing
from handsoff.flows.capture.carrying import PAGE
from handsoff.flows.capture.guarding import Guarding
from handsoff.flows.capture.packing import Packer
from handsoff.flows.capture.pages import Written, read_page
from handsoff.flows.desk import Desk, View
from handsoff.flows.holds import hold_of
from handsoff.flows.memory import Memory
from handsoff.flows.phases import Phases
from handsoff.flows.reach.redialling import Redialling
from handsoff.flows.remote import branches
from handsoff.flows.sending import again, transcripts
from handsoff.flows.sending.delivering import Delivery
from handsoff.flows.sending.plan import Aim, Plan, Sent, Terms
from handsoff.flows.sending.routing import Routing
from handsoff.flows.sending.transcripts import Chosen, Stuffing
from handsoff.flows.sending.wishes import Wishes
from handsoff.flows.works import ledger
from handsoff.flows.works.shelf import put_away, refuse_given

TRIES: Final = 3


@dataclass
class Sender:
    """One run of ``send``, ``offer`` or ``save``."""

    desk: Desk
    wishes: Wishes
    phases: Phases
    work: str
    secrets_in: Scanner
    memory: Memory = field(init=False)
    routing: Routing = field(init=False)
    scanner: str = ""
    redacted: int = 0
    chosen: Chosen | None = None
    """The transcripts that go along."""
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = Memory(self.desk.checkout)

    def run(self) -> Sent:
        """Hand the work over; every error leaves this machine the carrier."""
        if self.memory.journal():
            raise RefusedError(
                "a restore here was interrupted and is not finished",
                hint="handsoff catch, or handsoff undo, finishes it",
            )
        guarding = Guarding(
            self.secrets_in, self.wishes.limit, self.wishes.allow, redacted=self.wishes.redact
        )
        objects.preload()
        with self.phases.phase("page"):
            page = read_page(self.desk.checkout, self.work)
        if not hooks.is_installed(self.desk.checkout):
            self._warn("git no longer runs the pre-push hook of handsoff here: handsoff init")
        if page.unchanged:
            self._warn("the page is unchanged since it was last sent")
        again_soon = Redialling(tell=lambda: self.phases.tell("dial again", 0, 0))
        self.routing = Routing(self.desk, self.wishes, self.work, redialling=again_soon)
        try:
            # asking the remote costs a connection, looking costs the disk: both at once
            with ThreadPoolExecutor(1) as aside:
                reading = aside.submit(self._read_record)
                found = self._look()
                view = reading.result()
            doubts = (*branches.warnings(self.desk, view), *carrying.warnings(found))
            for news in (*view.news, *doubts):
                self._warn(news)
            self.desk.need_admitted(view.roster)
            aim = self.routing.aim(view.roster)
            if doubt := transcripts.refuse_strangers(self.desk, view, aim, self.wishes):
                self._warn(doubt)
            self.chosen = transcripts.choose(self.desk, self.wishes, os.environ)
            done = self._again(view, aim, page) or self._hand_over(view, aim, page, found, guarding)
            return replace(
                done,
                verb=self.wishes.verb,
                dry_run=self.wishes.dry_run,
                scanner=self.scanner,
                redacted=self.redacted,
                warnings=(*self.warnings, *self.routing.doubts),
                phases=self.phases.spent,
            )
        finally:
            self.routing.close()

    def _again(self, view: View, aim: Aim, page: Written) -> Sent | None:
        """Return the outcome if an earlier run got as far as the record."""
        sending = self.memory.sending()
        done = again.already(self.desk, view, aim, self.wishes.to_file, self.chosen)
        if done is not None and sending is not None and sending.parcel == done.parcel:
            put_away(self.desk, sending)
        if done is None and not self.wishes.dry_run:
            done = again.settled(self.desk, view, aim, page.oid)
        return done

    def _read_record(self) -> View:
        with self.phases.phase("record.read"):
            return ledger.look(self.desk, self.work)

    def _look(self) -> Look:
        """Return what is in the checkout; UnfitError for what cannot travel."""
        with self.phases.phase("look"):
            found = packing.look_at(self.desk.checkout)
            packing.refuse_unfit(self.desk.checkout, found, self.work)
        return found

    def _hand_over(
        self, view: View, aim: Aim, page: Written, found: Look, guarding: Guarding
    ) -> Sent:
        self.routing.choose(aim, away=bool(view.away))
        again.check_is_here(self.desk, view)
        refuse_given(self.desk, view)
        hold = hold_of(self.desk.checkout, self.wishes.hold)
        pen = Pen(
            record=view.record, by=self.desk.machine.id, sign=self.desk.machine.sign,
            now=self.desk.now,
        )  # fmt: skip
        kind = "Saved" if aim.to is None else "Offered"
        with ledger.on_the_record(self.desk, view, kind, dry_run=self.wishes.dry_run):
            pen = pen.holding(hold=hold)
        if pen.drafts and (said := taken_up(view.record.lease.as_of(self.desk.now))):
            self._warn(f"{self.work}: {view.roster.named_text(said)}")
        terms = Terms(self.desk, self.work, view, aim, page, pen, hold)
        for tries in range(1, TRIES + 1):
            try:
                return self._try(terms, found, guarding)
            except ChangedError:
                # agents keep typing: what was captured is no longer what is there
                if tries == TRIES:
                    raise
                self.routing.redial()
                found = self._look()
                self.chosen = transcripts.choose(self.desk, self.wishes, os.environ)
        raise AssertionError("unreachable")

    def _tell_of(self, guarding: Guarding, stuffing: Stuffing | None) -> None:
        """Note with what secrets were looked for, and what became of those in a transcript."""
        self.scanner = guarding.scanner.engine
        if not guarding.scanner.complete:
            self._warn(f"secrets were looked for with {self.scanner}")
        if stuffing:
            self.redacted = len(stuffing.proof.secrets)
            for warning in stuffing.warnings:
                self._warn(warning)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def _try(self, terms: Terms, found: Look, guarding: Guarding) -> Sent:
        """Capture and deliver once; ChangedError if the checkout did not hold still."""
        checkout, phases = self.desk.checkout, self.phases
        guarding.forget()
        store = files.ensure_folder(checkout.store_dir / "parcels")
        known = self.memory.known(self.work)
        arrived = known.leaves.keys() if known is not None else ()
        have = self.routing.have()
        delivery = Delivery(
            self.desk, self.wishes, phases, self.routing, terms, secrets.token_hex(16)
        )
        stuffing = Stuffing(self.chosen, guarding, self.wishes.redact) if self.chosen else None
        packer = Packer(
            checkout, self.desk.shared, self.work, guarding, phases, delivery.along, arrived,
            stuffing.pack if stuffing else None,
        )  # fmt: skip
        with packing.scratch(store) as file, ThreadPoolExecutor(1) as aside:
            packed = packer.pack(file, found, have)
            page = packed.snapshot.taken.get(PAGE)
            if page is None or page.leaf.oid != terms.page.oid:
                raise RefusedError("the page was changed while it was sent", hint="type it again")
            still = aside.submit(packing.check_still, checkout, found, packed.snapshot)
            self._tell_of(guarding, stuffing)
            plan = Plan(
                terms, found, packed,
                self.chosen.mark() if self.chosen else "",
                self.chosen.shown if self.chosen else (),
            )  # fmt: skip
            size, record = packed.digest.size, delivery.pen.record
            if self.wishes.dry_run:
                still.result()
                return plan.outcome(self.routing.route, record, parcel="", size=size)
            sending = None
            if delivery.left_before(plan):
                still.result()
            else:
                if self.routing.connection is None:
                    envelope, leaves = packed.sealed.envelope, packed.snapshot.leaves
                    judging.rehearse(checkout, file, envelope, leaves, packed.bases)
                sending = delivery.sealed(plan, file)
                if delivery.anew:
                    self._warn(delivery.anew)
                delivery.deliver(sending, still.result)
        done = delivery.record(plan, sending)
        outcome = plan.outcome(
            self.routing.route, done.record, parcel=delivery.parcel,
            size=sending.size if sending is not None else 0,
        )  # fmt: skip
        resumed, lost = self.routing.offset or 0, self.routing.redialling.lost
        return replace(outcome, pending=not done.landed, resumed=resumed, lost=lost)
