"""Before a restore: everything that could be overwritten, wrong or busy, found before any write."""

import shutil
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Final

from handsoff.core.checkout import paths, restoring
from handsoff.core.checkout.index import Flag
from handsoff.core.checkout.restoring import Obstacle, Plan, Standing
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Change
from handsoff.core.loose import quoted
from handsoff.core.objects import GITLINK, LINK
from handsoff.core.remote.refs import HEADS
from handsoff.edge.git import restore, shape, sparse
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import store_of
from handsoff.errors import UnfitError
from handsoff.flows.capture.observe import Observed
from handsoff.flows.catching.applying import Target, listed
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Known

_NAMED: Final = 10
_SPARE: Final = 1 << 20


def refuse_busy(
    desk: Desk, seen: Observed, known: Known | None, target: State, *, made: bool = False
) -> None:
    """Raise UnfitError if the checkout is no place to restore ``target`` over.

    One that was ``made`` for it may show what it likes until then.
    """
    shape.refuse(shape.clone_shape(desk.checkout))
    shape.refuse(shape.lost_stash(desk.checkout, seen.look))
    if target.stash:
        shape.refuse(shape.log_without_stash(desk.checkout, seen.look))
    sparse.check(desk.checkout, target.sparse)
    objects = store_of(desk.shared)
    if seen.is_known(known, objects):
        return  # exactly what it sent, or caught: safe elsewhere
    shown = seen.state.sparse
    if shown is not None and not made and not sparse.same(shown, target.sparse):
        raise UnfitError(
            "this checkout is sparse, and the work shows other parts of the repository",
            hint="git sparse-checkout disable; or catch into a worktree of its own: --into DIR",
        )
    shape.refuse(shape.operations(seen.look))
    if shape.has_loose_commits(desk.checkout):
        raise UnfitError(
            "HEAD is detached here on commits that no branch has",
            hint="give them a name: git switch -c NAME; or catch with --into DIR",
        )
    if not (seen.is_clean or seen.look.is_vacant):
        names = [*seen.look.untracked, *seen.look.staged, *seen.snapshot.changed_paths(seen.look)]
        # git has a branch in one worktree only
        other = "" if seen.look.branch == target.work else ", or catch beside it: --into DIR"
        raise UnfitError(
            f"this checkout has work of its own: {listed(names)}",
            hint=_show_again(seen.look, names) or "git stash -u puts it aside" + other,
        )


def _show_again(look: Look, names: Iterable[bytes]) -> str:
    """Return how git is told to see one of ``names`` again, which it would not stash; or ""."""
    for path in names:
        for entry in look.entries.of(path):
            if entry.flags & (Flag.SKIP_WORKTREE | Flag.ASSUME_UNCHANGED):
                hidden = entry.flags & Flag.SKIP_WORKTREE
                option = "--no-skip-worktree" if hidden else "--no-assume-unchanged"
                again = f"git update-index {option} {quoted(paths.shown(path))}"
                return f"git was told to overlook edits of it: {again}; then git stash"
    return ""


def check_branch(desk: Desk, target: State, arrived: Path, known_tip: str) -> str | None:
    """Return where the work's branch stands here; UnfitError if commits would be lost from it.

    ``arrived`` is the object folder of the parcel; commits up to ``known_tip`` are safe elsewhere.
    """
    checkout = desk.checkout
    shape.refuse(shape.taken_elsewhere(checkout, target.work))
    shape.refuse(shape.locked(checkout, target.work))
    clash = shape.clashing_branch(checkout, target.work)
    if clash is not None:
        raise UnfitError(
            f"the branch {clash} keeps a branch called {target.work} from being made",
            hint=f"rename it: git branch -m {quoted(clash)} NAME",
        )
    shape.refuse(shape.misshapen(checkout, target.work))  # the log of such a branch is no folder
    other = shape.stands_for(checkout, target.work)
    if other is not None:
        raise UnfitError(
            f"the branch {target.work} is another name for {other} here, which would move with it",
            hint=f"git symbolic-ref --delete {quoted(HEADS + target.work)}",
        )
    old = checkout.commit(f"refs/heads/{target.work}")
    if old is None or old in (target.tip, known_tip):
        return old
    if not target.tip or not shape.is_ancestor(checkout, old, target.tip, arrived):
        raise UnfitError(
            f"the branch {target.work} has commits here that are not in the parcel",
            hint=f"keep them under another name: git branch -m {quoted(target.work)} NAME",
        )
    return old


def check_room(
    desk: Desk, target: Target, plan: Plan, current: Container[bytes], known: Known | None
) -> None:
    """Raise UnfitError for what is in the way, cannot be written here, or does not fit."""
    checkout = desk.checkout
    if not checkout.has_links:
        links = [path for path, leaf in plan.writes if leaf.mode == LINK]
        if links:
            raise UnfitError(
                f"core.symlinks is off here, and these are links: {listed(links)}",
                hint="catch on a file system that has links",
            )
    arriving = [path for path, _ in plan.writes]
    if shape.folds_names(checkout) and (pairs := paths.collisions(arriving)):
        raise UnfitError(
            f"this file system takes two names for one: {listed(pairs[0])}",
            hint="rename one of them on the sender",
        )
    worktree = Worktree(checkout.top)
    if locked := restore.unwritable(worktree, [*plan.removals, *arriving]):
        raise UnfitError(
            f"this user may not write in {listed(locked) or 'the checkout'}",
            hint="change who owns it (chown) or its mode, then catch again",
        )
    refuse_obstacles(checkout.top, plan, current, known)
    blobs = (leaf.oid for _, leaf in plan.writes if leaf.mode != GITLINK)
    need = sum(map(target.objects.size, blobs)) + _SPARE
    free = shutil.disk_usage(checkout.top).free
    if free < need:
        raise UnfitError(f"the disk has {free} bytes free, and {need} are needed", hint="make room")


def refuse_populated(top: Path, changes: Iterable[Change]) -> None:
    """Raise UnfitError for a submodule that goes and has files here: no snapshot knows those."""
    worktree = Worktree(top)
    for path, old, new in changes:
        goes = old is not None and old.mode == GITLINK and (new is None or new.mode != GITLINK)
        if goes and any(restore.files_below(worktree, path)):
            shown = paths.shown(path)
            raise UnfitError(
                f"the submodule {shown} goes, and there are files in it here",
                hint=f"see that all of it is pushed, then: git submodule deinit {quoted(shown)}",
            )


def refuse_obstacles(top: Path, plan: Plan, current: Container[bytes], known: Known | None) -> None:
    """Raise UnfitError naming what stands in the way of ``plan``."""
    found = in_the_way(top, plan, current, known)
    if found:
        lines = "\n  ".join(f"{paths.shown(o.path)}: {o.what}" for o in found[:_NAMED])
        more = f"\n  and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise UnfitError(
            f"files of this machine are in the way:\n  {lines}{more}",
            hint="move them away, or catch into a worktree of its own: --into DIR",
        )


def already_there(top: Path, changes: Iterable[Change]) -> list[bytes]:
    """Return the files that come with bytes that this machine has there, and no state of it knows.

    They are its own, ignored by git: what takes away again what came leaves them.
    """
    worktree = Worktree(top)
    return [
        path
        for path, old, new in changes
        if old is None and new and restore.standing(worktree, path, new) is Standing.SAME
    ]


def in_the_way(
    top: Path, plan: Plan, current: Container[bytes], known: Known | None
) -> list[Obstacle]:
    """Return what stands on disk where the plan writes, and is safe nowhere else.

    ``current`` are the paths that the restore point holds as they are.
    """
    worktree = Worktree(top)

    def is_known(path: bytes) -> bool:
        if path in current:
            return True
        leaf = known.leaves.get(path) if known is not None else None
        return leaf is not None and restore.standing(worktree, path, leaf) is Standing.SAME

    return restoring.obstacles(
        plan,
        is_known,
        lambda path, leaf: restore.standing(worktree, path, leaf),
        lambda folder: restore.files_below(worktree, folder),
    )
