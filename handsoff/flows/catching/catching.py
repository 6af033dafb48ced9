"""What a catch needs, entry and parcel, and what it has to tell: page, what stayed, warnings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handsoff.core.checkout import restoring
from handsoff.core.checkout.operation import commands_in, kind_of
from handsoff.core.checkout.state import StashEntry, State
from handsoff.core.checkout.trees import differences
from handsoff.core.loose import quoted
from handsoff.core.parcels import autorun
from handsoff.core.reach.routes import Route
from handsoff.edge.git import shape
from handsoff.edge.git.local import Local, between
from handsoff.edge.git.repo import Checkout
from handsoff.edge.home import Parcel
from handsoff.flows.capture.carrying import for_people
from handsoff.flows.capture.observe import Observed
from handsoff.flows.capture.pages import shown_page
from handsoff.flows.catching import applying
from handsoff.flows.catching.applying import Target
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Memory
from handsoff.flows.phases import Phases
from handsoff.flows.works.becoming import check_first, page_of_revision


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchResult:
    """What was caught, or with a dry run what would be."""

    work: str
    sender: str
    leg: int
    revision: int
    top: str
    page: str
    writes: int
    removals: int
    left_behind: tuple[dict[str, str], ...]
    phases: dict[str, int]
    check_first: tuple[str, ...] = ()
    """What to check before anything is done again, after a drop or a lapse."""
    blocked: str = ""
    """Why the last carrier blocked the work, "" if it did not."""
    saved_page: str = ""
    """The page of the last revision, where that is newer than the bytes that were caught."""
    bytes_of: int = 0
    """The revision that the bytes are of."""
    until: str = ""
    """When the lease runs out, in UTC."""
    provisional: bool = False
    """Whether the remote has not confirmed the catch yet."""
    operation: str = ""
    """What is in progress, such as "a rebase"."""
    go_on: str = ""
    warnings: tuple[str, ...] = ()
    route: str = ""
    """How the bytes came: they were in the inbox, or came directly, or by the remote."""
    route_why: str = ""
    runs: tuple[str, ...] = ()
    """The shell commands that going on will run."""
    autorun: tuple[dict[str, str], ...] = ()
    """Files that tools run or obey by themselves, new or changed here, of another person."""
    transcripts: tuple[dict[str, Any], ...] = ()
    """The sessions of agents that came along, and what became of each."""
    already: bool = False
    finished: bool = False
    """Whether this run took up one that was interrupted."""
    dry_run: bool = False


@dataclass(frozen=True)
class Ready:
    """A catch whose preflight found nothing in the way."""

    target: Target
    parcel: Parcel
    seen: Observed
    local: Local
    old_tip: str | None
    route: Route
    before: str
    """The tree of the files that were here before the first write."""
    warnings: tuple[str, ...] = ()
    transcripts: tuple[dict[str, Any], ...] = ()
    """What became of the transcripts that came along; in a dry run, which they are."""


def result_of(
    desk: Desk,
    view: View,
    ready: Ready,
    phases: Phases,
    *,
    dry_run: bool = False,
    finished: bool = False,
    provisional: bool = False,
) -> CatchResult:
    """Return what was caught; ``view`` is the record as it was before, unless ``finished``."""
    saved, kept = view.record.saved, view.record.kept
    lease = view.record.lease if finished else view.record.lease.as_of(desk.now)
    operation = ready.target.state.operation
    kind = kind_of(operation)
    return CatchResult(
        work=ready.target.state.work,
        sender=view.roster.name_of(saved.by if saved else lease.carrier),
        leg=lease.leg + (0 if finished else 1),
        revision=lease.revision,
        top=str(desk.checkout.top),
        page="" if dry_run else shown_page(desk.checkout),
        writes=sum(1 for change in ready.local.changes if change.new),
        removals=sum(1 for change in ready.local.changes if not change.new),
        left_behind=for_people((*ready.target.state.left_behind, *ready.local.told)),
        phases=phases.spent,
        check_first=tuple(check_first(desk, view, lease)),
        blocked=(lease.reason or "for no reason given") if lease.blocked else "",
        bytes_of=kept.revision + 1 if kept else lease.revision,
        saved_page="" if saved == kept else page_of_revision(desk, saved),
        provisional=provisional or (finished and view.provisional),
        warnings=(*view.news, *ready.warnings),
        route=ready.route.name,
        route_why=ready.route.why,
        operation=kind.what if kind else "",
        go_on=kind.command if kind else "",
        runs=tuple(commands_in(operation)),
        autorun=tuple(arriving_by_itself(desk, view, ready)),
        transcripts=ready.transcripts,
        dry_run=dry_run,
        finished=finished,
    )


def already_of(desk: Desk, view: View, phases: Phases) -> CatchResult:
    """Return the outcome where the work is here already."""
    work, lease = view.record.work, view.record.lease
    return CatchResult(
        warnings=tuple(_not_here(desk.checkout, work)),
        work=work, sender="", leg=lease.leg, revision=lease.revision,
        top=str(desk.checkout.top), page=shown_page(desk.checkout), writes=0, removals=0,
        left_behind=(), phases=phases.spent, already=True, provisional=view.provisional,
    )  # fmt: skip


def _not_here(checkout: Checkout, work: str) -> Iterator[str]:
    """Yield where the work is, if another branch is checked out here."""
    branch = checkout.branch()
    if branch in (None, work):
        return
    where = shape.other_worktree(checkout, work)
    if where is not None:
        yield f"the branch {work} is checked out in {where}"
    else:
        yield f"another branch is checked out here, {branch}: git switch {quoted(work)}"


def arriving_by_itself(desk: Desk, view: View, ready: Ready) -> Iterator[dict[str, str]]:
    """Yield the files that tools run by themselves, if the work comes from another person."""
    whose = view.roster.person_of(ready.parcel.manifest.sender)
    if whose is not None and whose == view.roster.person_of(desk.machine.id):
        return
    read = ready.seen.snapshot.reader(ready.target.objects)
    changes = differences(read, ready.before, ready.target.state.work_tree)
    for path, what in autorun.arriving(changes):
        yield {"path": path.decode("utf-8", "surrogateescape"), "by": what}


def moved_branch(desk: Desk, view: View, state: State, arrived: Path) -> Iterator[str]:
    """Yield a warning if the remote's branch has commits that the work does not build on.

    ``arrived`` is the object folder of the parcel.
    """
    ref = f"refs/heads/{state.work}"
    follows = state.branch.remote in ("", "=") and state.branch.merge in ("", ref)
    if not (view.branch and state.tip and follows):
        return
    if not shape.is_ancestor(desk.checkout, view.branch, state.tip, arrived):
        name = f"{desk.shared.name}/{state.work}"
        yield (
            f"{name} has moved on: it has commits that this work does not build on, and a plain "
            f"git push will be refused; see: git fetch; git log ..{quoted(name)}"
        )


def local_changes(desk: Desk, origin: State, seen: Observed, target: Target) -> Local:
    """Return what is still to be done here to reach ``target``; see ``applying.still_to_do``."""
    known = Memory(desk.checkout).known(target.state.work)
    apart = between(desk.checkout, seen.snapshot, target.state, target.objects)
    changes = applying.changes_to(apart, seen, target, known)
    local = applying.localize(desk, target, seen, apart, changes)
    return applying.still_to_do(origin, seen, target, changes, local)


def journal_of_stash(
    arriving: Sequence[StashEntry], own: Sequence[StashEntry], sent: Sequence[str]
) -> dict[str, Any]:
    """Return what the journal keeps of the stash: the list to reach, and what of it is new here."""
    before = {entry.oid for entry in own}
    stash = restoring.merge_stash(arriving, own, sent)
    return {
        "stash": [[e.oid, e.message, e.who] for e in stash],
        "arrived": [e.oid for e in arriving if e.oid not in before],
    }
