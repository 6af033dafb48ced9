"""``handsoff push``: the branch of a work and its record, in one atomic push.

    branch -> record -> may this machine? -> what has to move? -> the user's hook -> push

Both refs move with the exact values seen here, so the remote itself refuses a machine that has
lost the work meanwhile, whatever hooks there are. Everything is decided before the remote is
written to; what was meant is noted before, so that the next run can tell how a push ended whose
end nobody saw.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from handsoff.core.loose import quoted
from handsoff.core.plain import plain
from handsoff.core.remote.pushing import (
    NOTHING_THERE,
    Deed,
    Meant,
    decide,
    last_pushed,
    unsaid,
    way_on,
)
from handsoff.core.works.entry import seconds
from handsoff.core.works.lease import State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge import files, hooks
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, HeldError, LostRaceError, RefusedError, UnreachableError
from handsoff.flows import cached
from handsoff.flows.desk import Desk, View
from handsoff.flows.holds import hold_of
from handsoff.flows.memory import Memory
from handsoff.flows.sending.branching import branch_of
from handsoff.flows.waiting import Pending, judging
from handsoff.flows.works import ledger, notebook

_TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of a push; ``moved`` is one of the deeds of ``core/remote/pushing.py``."""

    work: str
    remote: str
    branch: str
    old: str
    new: str
    moved: str
    leg: int
    caught: bool = False
    commits: int | None = None
    upstream_set: bool = False
    notice: str = ""
    pending: bool = False
    """Whether both wait for the remote."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the remote said: the record, the branch, and what this machine may write."""

    view: View
    tip: str
    pen: Pen
    notice: str


class Pusher:
    """One run of ``push``."""

    def __init__(self, desk: Desk, named: str | None, *, force: bool) -> None:
        self.desk, self.force = desk, force
        self.work = desk.work(named)
        self.branch = branch_of(desk.checkout, desk.shared, self.work)
        self.want, self.target, self.ref = self.branch.tip, self.branch.target, self.branch.ref
        self.asked_hook = False

    def run(self, *, dry_run: bool) -> Done:
        """Push; every error but one about the remote leaves both refs as they were."""
        for _ in range(_TRIES):
            seen = self._look(dry_run=dry_run)
            deed, gap = self._decide(seen)
            pen = self._written(seen, deed, gap)
            done = self._done(seen, deed, pen)
            if dry_run:
                return replace(done, dry_run=True)
            if seen.view.away:
                return self._wait(seen, deed, done, pen)
            if deed is Deed.NOTHING or self._push(seen, deed, pen) is Outcome.MOVED:
                return self._conclude(done, deed, pen)
            self._explain_loss(seen)
        raise LostRaceError(
            f"the record of {plain(self.work)} moves all the time", hint="try again"
        )

    def _look(self, *, dry_run: bool) -> _Seen:
        """Ask the remote; HeldError unless this machine may push the branch."""
        desk, branch = self.desk, self.target.branch
        works = list(dict.fromkeys((self.work, branch)))
        waited = Pending(desk.checkout).of(self.work) is not None
        view = ledger.look(desk, self.work)  # what waits here goes first
        known = view.away or (works == [self.work] and not waited)
        views = {self.work: view} if known else desk.views(works)
        if any(found.record.behind for found in views.values()):
            views = desk.views(works)
        view = views[self.work]
        desk.need_admitted(view.roster)
        with ledger.on_the_record(desk, view, "Pushed", dry_run=dry_run):
            judged = [record for found in views.values() for record in judging(desk, found.record)]
            notice, *_ = [self._judge(record) for record in judged]
            if not view.away and Pending(desk.checkout).of(self.work) is not None:
                raise RefusedError(
                    f"entries of {plain(self.work)} wait here, and go first",
                    hint="handsoff pending --send",
                )
            pen = Pen(
                record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now
            ).holding(hold=hold_of(desk.checkout, None))
        tip = self.branch.last_known if view.away else views[branch].branch
        return _Seen(view, tip, pen, notice)

    def _judge(self, record: Record) -> str:
        machine, now = self.desk.machine, self.desk.now
        if record.behind:
            raise DamagedError(
                f"the record of {plain(record.work)} cannot be verified: {plain(record.behind)}",
                hint="try again; if it stays so, ask who wrote to it last",
            )
        verdict = record.may_push(machine.id, now)
        if not verdict.allowed:
            said = record.roster.named_text(verdict.reason)
            raise HeldError(
                f"{plain(record.work)}: {said}; {machine.name} may not push it",
                hint=way_on(record, machine.id, machine.name, now),
            )
        return record.roster.named_text(verdict.notice)

    def _decide(self, seen: _Seen) -> tuple[Deed, Meant | None]:
        """Return what has to move, and the move that was made already and no entry tells of."""
        record, branch, meant = seen.view.record, self.target.branch, self._meant()
        said = last_pushed(self.desk.history(record), branch)
        # without the remote nobody knows where the branch is now
        words = () if seen.view.away else record.pushed
        last = next((e for e in words if e.branch == branch), None)
        deed = decide(said, meant, tip=seen.tip, want=self.want, last=last)
        return deed, unsaid(said, meant, tip=seen.tip, last=last)

    def _written(self, seen: _Seen, deed: Deed, gap: Meant | None) -> Pen:
        """Return the pen after the entry that ``deed`` asks for, or as it read the record."""
        branch = self.target.branch
        if deed is Deed.BOTH:
            self._check_goes_on(seen.tip)
            return seen.pen.pushed(branch, old=seen.tip or NOTHING_THERE, new=self.want)
        if deed is Deed.RECORD and gap is not None:
            return seen.pen.pushed(branch, old=gap.old or NOTHING_THERE, new=gap.new)
        if deed is Deed.BRANCH:
            self._check_goes_on(seen.tip)
        return replace(seen.pen, record=seen.view.record, drafts=())

    def _check_goes_on(self, tip: str) -> None:
        """Refuse what git refuses: to leave behind commits that the remote's branch has."""
        if not tip or self.force:
            return
        shared = self.desk.shared
        if (
            shared.has(tip)
            and not shared.run("merge-base", "--is-ancestor", tip, self.want).returncode
        ):
            return
        raise RefusedError(
            f"{plain(self.target.branch)} on {shared.name} has commits that are not in what you "
            f"push ({tip[:10]})",
            hint=f"git pull {shared.name} {quoted(plain(self.target.branch))}; to replace just "
            "them: handsoff push --force",
        )

    def _push(self, seen: _Seen, deed: Deed, pen: Pen) -> Outcome:
        shared, roster = self.desk.shared, seen.view.roster_read.git_tip or ""
        self._ask_hook(seen.tip)
        # trap: a remote that hides our refs from pushers drops the new record from the "atomic"
        # push, and moves the branch. A lease on the roster, which stays, stops it before; it also
        # stops a push of a machine that was revoked meanwhile.
        moves = [Move(shared.roster_ref, roster, roster)]
        if pen.drafts:
            objects = store_of(shared)
            objects.write_drafts(pen.drafts)
            assert pen.record.git_tip is not None
            moves.append(Move(shared.record_ref(self.work), pen.record.git_tip, seen.view.tip))
        if deed is not Deed.RECORD:
            moves.append(Move(self.ref, self.want, seen.tip))
            self._note(Meant(self.target.branch, seen.tip, self.want))
        step("push.push.before")
        outcome = shared.push(*moves)
        step("push.push.after")
        return outcome

    def _ask_hook(self, tip: str) -> None:
        """Run the user's own pre-push hook, once; RefusedError if it says no."""
        if self.asked_hook:
            return
        self.asked_hook = True
        checkout, name = self.desk.checkout, self.desk.shared.name
        url = checkout.line("remote", "get-url", "--push", name) or name
        line = f"{self.branch.source} {self.want} {self.ref} {tip or NOTHING_THERE}\n"
        if hooks.run_users(checkout, name, url, line):
            raise RefusedError(
                "your own pre-push hook refuses it; nothing was pushed",
                hint="it says why above; it is run as git push runs it",
            )

    def _wait(self, seen: _Seen, deed: Deed, done: Done, pen: Pen) -> Done:
        """Let the entry wait for the remote: the branch moves with it, in the same push."""
        if deed is Deed.NOTHING:
            return done
        if deed is not Deed.BOTH:  # half a push needs to see where the branch is
            raise UnreachableError(seen.view.away, hint="handsoff push, when it answers again")
        self._ask_hook(seen.tip)
        ledger.put(self.desk, seen.view, pen, "push")
        return replace(done, pending=True)

    def _explain_loss(self, before: _Seen) -> None:
        """Raise unless the next try may do better: somebody else moved what we had seen."""
        desk, branch = self.desk, self.target.branch
        works = list(dict.fromkeys((self.work, branch)))
        views = desk.views(works)
        view = views[self.work]
        record = view.record
        lease = record.lease.as_of(desk.now)
        if not record.may_push(desk.machine.id, desk.now).allowed:
            who = record.roster.name_of(lease.carrier)
            state = "" if lease.state is State.HELD else f" ({lease.state.value})"
            said = (
                f"{plain(self.work)} is {who}'s now{state}: the remote {desk.shared.name} took "
                "neither the branch nor the entry"
            )
            old = before.view.record.lease
            notebook.refuse(desk, view, [("Pushed", old.leg, old.revision)], said)
            hint = way_on(record, desk.machine.id, desk.machine.name, desk.now)
            raise LostRaceError(said, hint=hint)
        if (view.tip, views[branch].branch, view.roster_read.git_tip) == (
            before.view.tip, before.tip, before.view.roster_read.git_tip,
        ):  # fmt: skip
            raise RefusedError(
                f"the remote {desk.shared.name} does not move {plain(branch)}, and nobody else did",
                hint="look at receive.deny*, receive.hideRefs and the hooks there",
            )

    def _done(self, seen: _Seen, deed: Deed, pen: Pen) -> Done:
        return Done(
            work=self.work,
            remote=self.desk.shared.name,
            branch=self.target.branch,
            old=seen.tip,
            new=self.want,
            moved=deed.value,
            leg=pen.record.lease.leg,
            caught=len(pen.drafts) > 1,
            commits=self.branch.count(seen.tip) if deed is not Deed.NOTHING else None,
            upstream_set=self.target.sets_upstream
            and self.branch.local
            and deed is not Deed.NOTHING,
            notice=seen.notice,
        )

    def _conclude(self, done: Done, deed: Deed, pen: Pen) -> Done:
        """Do here what ``git push`` does after one that arrived."""
        if pen.drafts:
            self.desk.remember(pen.record)
            cached.write(self.desk, pen.record.roster, [self.work])
        self.branch.arrived(upstream=deed is not Deed.NOTHING or self._meant() is not None)
        self._path.unlink(missing_ok=True)
        return done

    @property
    def _path(self) -> Path:
        return self.desk.checkout.own_dir / "pushing.json"

    def _note(self, meant: Meant) -> None:
        files.write_json(self._path, {**asdict(meant), "at": seconds(self.desk.now)})

    def _meant(self) -> Meant | None:
        """Return what this checkout was about to push, and did not see the end of."""
        kept = files.read_json(self._path)
        if not kept or kept.get("branch") != self.target.branch:
            return None
        return Meant(str(kept["branch"]), str(kept["old"]), str(kept["new"]))


def push(
    desk: Desk, *, named: str | None = None, force: bool = False, dry_run: bool = False
) -> Done:
    """Push the branch of this checkout's work, and its record with it."""
    with desk.checkout.lock():
        if Memory(desk.checkout).journal():
            raise RefusedError(
                "a restore here was interrupted and is not finished",
                hint="handsoff catch, or handsoff undo, finishes it",
            )
        return Pusher(desk, named, force=force).run(dry_run=dry_run)
