"""``handsoff catch WORK --into DIR``: the work in a new worktree; the present one stays as it is.

A catch that fails takes the new worktree with it, unless the record has moved: then the worktree
and its journal stay, and the same catch typed inside it finishes.
"""

import os
import shlex
from datetime import timedelta
from pathlib import Path

from handsoff.core.plain import plain
from handsoff.edge.git import command, shape
from handsoff.edge.git.repo import open_checkout
from handsoff.errors import RefusedError, UnfitError
from handsoff.flows.catching.catcher import Catcher
from handsoff.flows.catching.catching import CatchResult
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory
from handsoff.flows.phases import Phases


def catch_into(
    desk: Desk, work: str, folder: Path, phases: Phases, hold: timedelta | None = None
) -> CatchResult:
    """Catch ``work`` into a new worktree at ``folder``."""
    if folder.exists() or folder.is_symlink():
        hint = "name a folder that does not"
        if shape.other_worktree(desk.checkout, work) == os.path.realpath(folder):
            hint = f"{plain(work)} is there: cd {plain(shlex.quote(str(folder)))}"
        raise RefusedError(f"{folder} exists already", hint=hint)
    checkout = desk.checkout
    with checkout.lock():
        head = checkout.commit("HEAD")
        if head is None:
            raise UnfitError(
                "this branch has no commit yet, so git makes no worktree beside it",
                hint="switch to a branch that has one, or catch right here",
            )
        place = str(folder.absolute())
        made = checkout.run("worktree", "add", "--detach", "--quiet", place, head)
        if made.returncode:
            said = command.failed(made.stderr, f"make a worktree at {folder}")
            raise UnfitError(str(said), hint="name a folder in a place where you may write")
        inner = Desk(open_checkout(folder), desk.home, desk.machine, desk.now)
        try:
            return Catcher(inner, work, phases, made=True, hold=hold).run()
        except BaseException:
            if Memory(inner.checkout).journal() is None:
                checkout.run("worktree", "remove", "--force", place)
            raise
