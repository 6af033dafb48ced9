"""One run of ``catch`` in one checkout, in the order that flows/catching/catch.py gives."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from handsoff.core.checkout import restoring
from handsoff.core.checkout.state import StashEntry
from handsoff.core.loose import quoted
from handsoff.core.reach.routes import Route
from handsoff.core.works.lease import State as LeaseState
from handsoff.core.works.pen import Pen
from handsoff.edge import files
from handsoff.edge.git import keeping, objects, restore, snapshot
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import decode
from handsoff.edge.git.sinks import Storing
from handsoff.edge.home import Parcel
from handsoff.edge.steps import step
from handsoff.errors import (
    HandsoffError,
    HeldError,
    RefusedError,
    UnfitError,
    UnreachableError,
)
from handsoff.flows import cached
from handsoff.flows.capture.carrying import PAGE
from handsoff.flows.capture.observe import Observed, observe
from handsoff.flows.catching import applying, comparing, preflight
from handsoff.flows.catching.applying import Target
from handsoff.flows.catching.catching import (
    CatchResult,
    Ready,
    already_of,
    journal_of_stash,
    local_changes,
    moved_branch,
    result_of,
)
from handsoff.flows.catching.installing import foresee, install
from handsoff.flows.catching.obtaining import Obtaining, ask_around
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Memory, finishing
from handsoff.flows.phases import Phases
from handsoff.flows.remote import branches
from handsoff.flows.works import ledger
from handsoff.flows.works.becoming import pen_of
from handsoff.flows.works.shelf import refuse_given

_ELSEWHERE: Final = (
    "this machine carried it already: what another checkout of it has and did not save stays there"
)


@dataclass
class Catcher:
    """One run of ``catch`` in one checkout."""

    desk: Desk
    work: str
    phases: Phases
    dry_run: bool = False
    made: bool = False
    """Whether the checkout was made for this catch."""
    hold: timedelta | None = None
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.desk.checkout)

    def run(self) -> CatchResult:
        """Catch the work; an error before the record is moved changes nothing here."""
        objects.preload()
        with self.phases.phase("record"):
            view = ledger.look(self.desk, self.work, expect_news=True)
            if ask_around(self.desk, view, self.phases):
                view = ledger.look(self.desk, self.work)
        self.desk.need_admitted(view.roster)
        journal = self.memory.journal()
        if journal is not None:
            done = self._take_up(view, journal)
            if done is not None:
                return done
        lease = view.record.lease.as_of(self.desk.now)
        mine = lease.state is LeaseState.HELD and lease.carrier == self.desk.machine.id
        if mine and self._is_here(view):
            return self._already(view)
        refuse_given(self.desk, view)
        undone = self.memory.restore_point() is not None
        # carried by this machine, but its bytes never came here: they do now, on the same leg
        with ledger.on_the_record(self.desk, view, "Caught", dry_run=self.dry_run):
            pen = None if mine else pen_of(self.desk, view, self.hold)
        with self.phases.phase("open"):
            obtaining = Obtaining(self.desk, view, self.phases)
            parcel = obtaining.parcel()
            target = self._target(view, parcel)
        with self.phases.phase("preflight"):
            ready = self._preflight(view, target, parcel, obtaining.route)
        if self.dry_run:
            return result_of(self.desk, view, foresee(ready), self.phases, dry_run=True)
        with self.phases.phase("restore-point"):
            entry = pen.record.git_tip if pen is not None else view.tip
            journal = self._begin(entry or "", ready)
        landed = self._swap(view, pen) if pen is not None else True
        if not landed:  # the entry may be signed anew, or refused, while the rest is half done
            journal["begun"] = True
            self.memory.set_journal(journal)
        step("catch.caught.after")
        ready = self._apply(view, ready, journal)
        done = result_of(self.desk, view, ready, self.phases, finished=mine, provisional=not landed)
        return (
            done
            if not mine or undone
            else replace(done, finished=False, warnings=(*done.warnings, _ELSEWHERE))
        )

    def _is_here(self, view: View) -> bool:
        saved = view.record.kept
        return saved is None or self.memory.here(self.work) == saved.parcel

    def _objects(self, parcel: Parcel | None) -> Objects:
        common = self.desk.checkout.objects_dir
        first = [parcel.objects] if parcel else []
        return Objects(*first, self.desk.shared.objects, common)

    def _target(self, view: View, parcel: Parcel) -> Target:
        objects = self._objects(parcel)
        state = restore.read_state(objects, parcel.manifest.envelope)
        who = view.roster.name_of(parcel.manifest.sender)
        reason = f"handsoff: catch r{parcel.manifest.revision} from {who}"
        return Target(state, objects, state.stash, reason)

    def _preflight(self, view: View, target: Target, parcel: Parcel, route: Route) -> Ready:
        known = self.memory.known(self.work)
        objects = target.objects
        here = self.desk.checkout.branch() or self.work
        sink = Storing(self._objects(None))  # what is here now is what the restore point is made of
        seen = observe(self.desk.checkout, self.desk.shared, here, objects, sink=sink)
        preflight.refuse_busy(self.desk, seen, known, target.state, made=self.made)
        known_tip = self.memory.known_tip(self.work)
        old_tip = preflight.check_branch(self.desk, target.state, parcel.objects, known_tip)
        local = local_changes(self.desk, seen.state, seen, target)
        preflight.refuse_populated(self.desk.checkout.top, local.changes)
        current = applying.held(local.changes, seen, as_sent=seen.is_known(known, objects))
        preflight.check_room(
            self.desk,
            target,
            restoring.plan(local.changes, target.state.empty_folders),
            current,
            known,
        )
        moved = (
            *moved_branch(self.desk, view, target.state, parcel.objects),
            *branches.warnings(self.desk, view, parcel.objects),
            *branches.followed_elsewhere(self.desk, target.state),
        )
        before = seen.state.work_tree
        return Ready(target, parcel, seen, local, old_tip, route, before, moved)

    def _begin(self, entry: str, ready: Ready) -> dict[str, Any]:
        """Keep the state that is here now, and note what is about to happen."""
        point = snapshot.seal_envelope(ready.seen.state, Storing(self._objects(None))).envelope
        files.sync_filesystem(self.desk.checkout.store_dir)
        stash = ready.target.state.stash, ready.seen.look.stash
        known, changes = self.memory.known(self.work), ready.local.changes
        journal = {
            **journal_of_stash(*stash, known.stash if known is not None else ()),
            "verb": "catch",
            "work": self.work,
            "parcel": ready.parcel.manifest.parcel,
            "envelope": ready.parcel.manifest.envelope,
            "entry": entry,
            "point": point,
            "head": self.desk.checkout.branch() or "",
            "old_tip": ready.old_tip or "",
            "here": self.memory.all_here(),
            # over another work's branch only what is that branch's own is caught: see refuse_busy
            "gone": self.memory.going(self.desk.checkout.branch(), bare=True),
            "settings": restore.branch_settings(self.desk.checkout, self.work),
            "stood": [*map(decode, preflight.already_there(self.desk.checkout.top, changes))],
            # whether the point has objects that no ref names after this
            "keep": not ready.seen.is_clean or bool(ready.old_tip),
            "at": int(self.desk.now.timestamp()),
        }
        step("catch.journal.before")
        self.memory.set_journal(journal)
        step("catch.journal.after")
        return journal

    def _swap(self, view: View, pen: Pen) -> bool:
        """Become the carrier; say whether the remote has confirmed it."""
        try:
            return ledger.put(self.desk, view, pen, "catch").landed
        except UnreachableError:
            raise  # whether it landed nobody knows: the journal lets the next run look
        except HandsoffError:
            self.memory.set_journal(None)
            raise

    def _apply(self, view: View, ready: Ready, journal: dict[str, Any]) -> Ready:
        stash = tuple(StashEntry(*fields) for fields in journal["stash"])
        target = replace(ready.target, stash=stash)
        with self.phases.phase("apply"):
            restore.install_pack(self.desk.checkout, ready.parcel.objects)
            step("catch.apply.objects.after")
            applying.carry_out(self.desk, target, ready.seen, ready.local, ready.old_tip)
        with self.phases.phase("compare"):
            done = comparing.verify(self.desk, target, ready.local)
        came = install(self.desk, view, ready, self.phases)
        journal["transcripts"] = [item["name"] for item in came if item["files"]]
        self._finish(done, journal, ready)
        return replace(ready, transcripts=came)

    def _finish(self, done: Observed, journal: dict[str, Any], ready: Ready) -> None:
        page = done.snapshot.taken.get(PAGE)
        came = {e.oid for e in ready.target.state.stash}
        own = [e.oid for e in ready.seen.look.stash if e.oid not in came]
        known = self.memory.known(self.work)
        private = [oid for oid in own if known is None or oid not in known.stash]
        done.remember(self.memory, page.leaf.oid if page else "", private)
        if journal["keep"]:
            keeping.keep(self.desk.shared, journal["point"])
        names = (
            "work", "point", "head", "old_tip", "arrived", "here", "settings", "at", "envelope",
            "transcripts", "stood",
        )  # fmt: skip
        self.memory.set_restore_point({name: journal[name] for name in names if name in journal})
        self.memory.set_here(journal["parcel"], self.work, gone=str(journal.get("gone", "")))
        step("catch.finish.before")
        self.memory.set_journal(None)
        step("catch.finish.after")
        self._tidy(ready.parcel)

    def _tidy(self, caught: Parcel) -> None:
        """Remove what the inbox has of this work: the parcel, and any that never got so far."""
        for parcel in self.desk.home.parcels():
            if (parcel.manifest.repository, parcel.manifest.work) == (self.desk.pin, self.work):
                self.desk.home.keep_only_whole(parcel.manifest.parcel)
                parcel.remove()
        caught.remove()
        cached.write(self.desk, None)

    def _take_up(self, view: View, journal: dict[str, Any]) -> CatchResult | None:
        """Finish an interrupted catch; None if it had not got as far as the record."""
        if journal["verb"] != "catch" or journal["work"] != self.work:
            raise RefusedError(
                f"a {journal['verb']} of {journal['work']} was interrupted here",
                hint=f"first finish it: handsoff {finishing(journal)}",
            )
        chain = self.desk.shared.chains.line(view.tip) or []
        begun = bool(journal.get("begun"))
        if journal["entry"] not in [oid for oid, _ in chain] and not begun:
            if not self.dry_run:
                self.memory.set_journal(None)
            return None
        if self.dry_run:
            raise RefusedError(
                f"a catch of {self.work} was interrupted here", hint="without --dry-run it ends"
            )
        lease, kept = view.record.lease, view.record.kept
        mine = lease.carrier == self.desk.machine.id and kept is not None
        obtaining = Obtaining(self.desk, view, self.phases)
        parcel = obtaining.parcel() if mine else None
        if parcel is None or parcel.manifest.parcel != journal["parcel"]:
            raise HeldError(
                f"{self.work} has moved on since this catch was interrupted",
                hint="handsoff undo goes back to what was here before",
            )
        target = self._target(view, parcel)
        here = self.desk.checkout.branch() or self.work
        seen = observe(self.desk.checkout, self.desk.shared, here, target.objects, programs=False)
        tip = self.desk.checkout.commit(f"refs/heads/{self.work}")
        if (tip or "") not in (journal["old_tip"], target.state.tip):
            raise UnfitError(
                f"the branch {self.work} has commits of its own since this catch was interrupted",
                hint=f"keep them under another name: git branch -m {quoted(self.work)} NAME",
            )
        origin = restore.read_state(target.objects, journal["point"])
        local = local_changes(self.desk, origin, seen, target)
        ready = Ready(target, parcel, seen, local, tip, obtaining.route, origin.work_tree)
        ready = self._apply(view, ready, journal)
        done = result_of(self.desk, view, ready, self.phases, finished=True)
        state = lease.as_of(self.desk.now).state.value
        let_go = (
            () if state == "held" else (f"nobody carries it, it is {state}: handsoff save does",)
        )
        return replace(done, warnings=(*done.warnings, *let_go))

    def _already(self, view: View) -> CatchResult:
        saved = view.record.kept
        left = self.desk.home.parcel(saved.parcel) if saved is not None else None
        if left is not None and not self.dry_run:
            self._tidy(left)  # an earlier run was stopped between its last word and this
        return already_of(self.desk, view, self.phases)
