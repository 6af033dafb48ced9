"""``handsoff catch WORK``: become the carrier, and have the work here, to the last byte.

    preflight -> restore point -> Caught by compare-and-swap -> apply -> compare -> page

Everything that could be overwritten, wrong or busy is found before the first write. The journal
says what was begun, so that a run that was killed anywhere is finished by the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handsoff.core import restoring
from handsoff.core.envelope import StashEntry
from handsoff.core.lease import Lease, moment
from handsoff.core.lease import State as LeaseState
from handsoff.core.page import parse
from handsoff.core.pen import Pen
from handsoff.core.trees import Change
from handsoff.edge.git import restore, snapshot
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Move, Outcome
from handsoff.edge.git.snapshot import Storing
from handsoff.edge.home import Parcel
from handsoff.edge.steps import step
from handsoff.errors import HeldError, LostRaceError, RefusedError, TrustError, UnreachableError
from handsoff.flows import applying, relay
from handsoff.flows.accept import accept
from handsoff.flows.applying import Target
from handsoff.flows.catching import CatchResult, check_first, left_behind
from handsoff.flows.desk import Desk, View
from handsoff.flows.notes import Notes
from handsoff.flows.observe import Observed, observe
from handsoff.flows.packing import PAGE
from handsoff.flows.phases import Phases


@dataclass(frozen=True)
class _Ready:
    """A catch whose preflight found nothing in the way."""

    target: Target
    parcel: Parcel
    seen: Observed
    changes: Sequence[Change]
    old_tip: str | None


@dataclass
class Catcher:
    """One run of ``catch`` in one checkout."""

    desk: Desk
    work: str
    phases: Phases
    dry_run: bool = False
    notes: Notes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = Notes(self.desk.checkout)

    def run(self) -> CatchResult:
        """Catch the work; an error before the record is moved changes nothing here."""
        with self.phases.phase("record"):
            view = self.desk.view(self.work, expect_news=True)
        self.desk.need_admitted(view.roster)
        journal = self.notes.journal()
        if journal is not None:
            done = self._take_up(view, journal)
            if done is not None:
                return done
        lease = view.record.lease.as_of(self.desk.now)
        if lease.state is LeaseState.HELD and lease.carrier == self.desk.machine.id:
            return self._already(view)
        pen = self._pen(view, lease)
        with self.phases.phase("open"):
            parcel = self._parcel(view)
            target = self._target(view, parcel)
        with self.phases.phase("preflight"):
            ready = self._preflight(target, parcel)
        if self.dry_run:
            return self._result(view, ready, lease, dry_run=True)
        with self.phases.phase("restore-point"):
            journal = self._begin(pen, ready)
        self._swap(view, pen)
        self.notes.set_journal({**journal, "phase": "applying"})
        step("catch.caught.after")
        self._apply(ready, journal)
        return self._result(view, ready, lease)

    def _pen(self, view: View, lease: Lease) -> Pen:
        if lease.state is LeaseState.FREE:
            raise RefusedError(
                f"nobody has handed over a work called {self.work}",
                hint="handsoff inbox lists what arrived; handsoff status what is known",
            )
        pen = Pen(
            record=view.record, by=self.desk.machine.id, sign=self.desk.machine.sign,
            now=self.desk.now,
        )  # fmt: skip
        try:
            return pen.caught()
        except HeldError as error:
            raise HeldError(str(error), hint=self._who_has_it(view, lease)) from error

    def _who_has_it(self, view: View, lease: Lease) -> str:
        who = view.roster.name_of(lease.carrier)
        if lease.to is not None:
            to = view.roster.named_text(lease.to.shown())
            return f"ask {to}: it is theirs to catch until {moment(lease.until)}"
        return f"ask {who}, who carries it, to hand it over: handsoff send {self.desk.machine.name}"

    def _parcel(self, view: View) -> Parcel:
        """Return the parcel that the record names: from the inbox, or from the remote."""
        saved = view.record.saved
        if saved is None or not saved.parcel:
            raise RefusedError(f"the record of {self.work} names no parcel", hint="ask its carrier")
        found = self.desk.home.parcel(saved.parcel)
        if found is None:
            sealed = relay.fetch_parcel(self.desk, self.work, saved.parcel)
            if sealed is None:
                who = view.roster.name_of(saved.by)
                raise UnreachableError(
                    f"the parcel of {self.work} is neither here nor on the remote",
                    hint=f"ask {who} for it as a file, then: handsoff receive FILE",
                )
            try:
                found = accept(self.desk.home, self.desk.machine, sealed, self.desk)
            finally:
                sealed.unlink(missing_ok=True)
        claims = found.manifest
        if (claims.envelope, claims.work) != (
            saved.envelope,
            self.work,
        ) or claims.sender != saved.by:
            raise TrustError(
                "the parcel in the inbox is not the one that the record names",
                hint=f"remove {found.folder}, and have it sent again",
            )
        return found

    def _objects(self, parcel: Parcel | None) -> Objects:
        common = self.desk.checkout.common_dir / "objects"
        first = [parcel.objects] if parcel else []
        return Objects(*first, self.desk.shared.objects, common)

    def _target(self, view: View, parcel: Parcel) -> Target:
        objects = self._objects(parcel)
        state = restore.read_state(objects, parcel.manifest.envelope)
        who = view.roster.name_of(parcel.manifest.sender)
        reason = f"handsoff: catch r{parcel.manifest.revision} from {who}"
        return Target(state, objects, state.stash, reason)

    def _preflight(self, target: Target, parcel: Parcel) -> "_Ready":
        known = self.notes.known(self.work)
        objects = target.objects
        here = self.desk.checkout.branch() or ""
        sink = Storing(self._objects(None))  # what is here now is what the restore point is made of
        seen = observe(self.desk.checkout, self.desk.shared, here, objects, sink=sink)
        applying.refuse_busy(self.desk, seen, known)
        old_tip = applying.check_branch(self.desk, target.state, parcel.objects, known)
        changes = applying.changes_to(seen.state, seen, target, known)
        current = applying.held(changes, seen, known)
        applying.check_room(self.desk, target, restoring.plan(changes), current, known)
        return _Ready(target, parcel, seen, changes, old_tip)

    def _begin(self, pen: Pen, ready: "_Ready") -> dict[str, Any]:
        """Keep the state that is here now, and note what is about to happen."""
        point = snapshot.seal_envelope(ready.seen.state, Storing(self._objects(None))).envelope
        known = self.notes.known(self.work)
        sent = known.stash if known is not None else ()
        stash = restoring.merge_stash(ready.target.state.stash, ready.seen.look.stash, sent)
        journal = {
            "verb": "catch",
            "phase": "catching",
            "work": self.work,
            "parcel": ready.parcel.manifest.parcel,
            "envelope": ready.parcel.manifest.envelope,
            "entry": pen.record.git_tip,
            "point": point,
            "head": self.desk.checkout.branch() or "",
            "old_tip": ready.old_tip or "",
            "stash": [[e.oid, e.message, e.who] for e in stash],
            "at": int(self.desk.now.timestamp()),
        }
        step("catch.journal.before")
        self.notes.set_journal(journal)
        step("catch.journal.after")
        return journal

    def _swap(self, view: View, pen: Pen) -> None:
        """Become the carrier on the record, or give up with nothing changed."""
        objects = self._objects(None)
        objects.write_drafts(pen.drafts)
        assert pen.record.git_tip is not None
        step("catch.record.push.before")
        ref = self.desk.shared.record_ref(self.work)
        outcome = self.desk.shared.push(Move(ref, pen.record.git_tip, view.tip))
        step("catch.record.push.after")
        if outcome is Outcome.LOST:
            self.notes.set_journal(None)
            now = self.desk.view(self.work)
            who = now.roster.name_of(now.record.lease.carrier)
            raise LostRaceError(
                f"{who} was faster: the record of {self.work} has moved on",
                hint="nothing was changed here; see: handsoff status",
            )
        self.desk.remember(pen.record)

    def _apply(self, ready: "_Ready", journal: dict[str, Any]) -> None:
        stash = tuple(StashEntry(*fields) for fields in journal["stash"])
        target = replace(ready.target, stash=stash)
        with self.phases.phase("apply"):
            restore.install_pack(self.desk.checkout, ready.parcel.objects)
            step("catch.apply.objects.after")
            applying.carry_out(self.desk, target, ready.seen, ready.changes, ready.old_tip)
        with self.phases.phase("compare"):
            done = applying.verify(self.desk, target, target.objects)
        self._finish(done, journal, ready.parcel)

    def _finish(self, done: Observed, journal: dict[str, Any], parcel: Parcel) -> None:
        page = done.snapshot.taken.get(PAGE)
        done.remember(self.notes, page.leaf.oid if page else "")
        kept = {name: journal[name] for name in ("work", "point", "head", "old_tip", "at")}
        self.notes.set_restore_point({**kept, "caught": done.state.head})
        step("catch.finish.before")
        self.notes.set_journal(None)
        step("catch.finish.after")
        self._tidy(parcel)

    def _tidy(self, caught: Parcel) -> None:
        """Remove what the inbox has of this work: the parcel, and any that never got so far."""
        for parcel in self.desk.home.parcels():
            if (parcel.manifest.repository, parcel.manifest.work) == (self.desk.pin, self.work):
                parcel.remove()
        caught.remove()

    def _take_up(self, view: View, journal: dict[str, Any]) -> CatchResult | None:
        """Finish an interrupted catch; None if it had not got as far as the record."""
        if journal["verb"] != "catch" or journal["work"] != self.work:
            raise RefusedError(
                f"a {journal['verb']} of {journal['work']} was interrupted here",
                hint=f"first finish it: handsoff {journal['verb']} {journal['work']}",
            )
        chain = self.desk.shared.chain(view.tip) or []
        if journal["entry"] not in [oid for oid, _ in chain]:
            self.notes.set_journal(None)
            return None
        parcel = self.desk.home.parcel(journal["parcel"])
        if parcel is None:
            raise UnreachableError(
                "the parcel of the interrupted catch is gone from the inbox",
                hint="handsoff undo goes back to what was here before",
            )
        target = self._target(view, parcel)
        here = self.desk.checkout.branch() or ""
        seen = observe(self.desk.checkout, self.desk.shared, here, target.objects)
        old_tip = self.desk.checkout.commit(f"refs/heads/{self.work}")
        origin = restore.read_state(target.objects, journal["point"])
        changes = applying.changes_to(origin, seen, target, self.notes.known(self.work))
        ready = _Ready(target, parcel, seen, changes, old_tip)
        self._apply(ready, journal)
        return self._result(view, ready, view.record.lease, finished=True)

    def _already(self, view: View) -> CatchResult:
        lease, saved = view.record.lease, view.record.saved
        left = self.desk.home.parcel(saved.parcel) if saved is not None else None
        if left is not None:
            self._tidy(left)  # an earlier run was stopped between its last word and this
        return CatchResult(
            work=self.work, sender="", leg=lease.leg, revision=lease.revision,
            top=str(self.desk.checkout.top), page=self._page(), writes=0, removals=0,
            left_behind=(), phases=self.phases.spent, already=True,
        )  # fmt: skip

    def _page(self) -> str:
        try:
            return parse(self.desk.checkout.page.read_bytes()).shown
        except (OSError, RefusedError):
            return ""

    def _result(
        self,
        view: View,
        ready: "_Ready",
        lease: Lease,
        *,
        dry_run: bool = False,
        finished: bool = False,
    ) -> CatchResult:
        saved = view.record.saved
        return CatchResult(
            work=self.work,
            sender=view.roster.name_of(saved.by if saved else lease.carrier),
            leg=lease.leg + (0 if finished else 1),
            revision=lease.revision,
            top=str(self.desk.checkout.top),
            page="" if dry_run else self._page(),
            writes=sum(1 for change in ready.changes if change.new),
            removals=sum(1 for change in ready.changes if not change.new),
            left_behind=left_behind(ready.target.state),
            phases=self.phases.spent,
            check_first=check_first(view, lease),
            dry_run=dry_run,
            finished=finished,
        )


def catch(desk: Desk, work: str, phases: Phases, *, dry_run: bool = False) -> CatchResult:
    """Catch ``work`` into the checkout of ``desk``."""
    with desk.checkout.lock():
        return Catcher(desk, work, phases, dry_run).run()
