"""Submodules: whether one holds work that its commit alone would not bring to another machine.

The questions are asked of the submodule's own repository, with git's own words for them.
"""

import os
from pathlib import Path

from handsoff.core.checkout import paths
from handsoff.core.checkout.operation import NOTHING, Operation, kind_of
from handsoff.core.loose import quoted
from handsoff.edge.git import command, operation
from handsoff.edge.git.look import Look
from handsoff.edge.git.oddity import Oddity
from handsoff.edge.git.repo import Checkout, decode, encode


def work_in(checkout: Checkout, path: bytes, look: Look) -> Oddity | None:
    """Return what keeps the submodule at ``path`` from travelling by its commit, or None."""
    place, shown = _place(checkout, path), paths.shown(path)
    if not look.submodules.get(path):
        if path in look.submodules and any(place.iterdir()):
            return Oddity("has files, but no repository", f"move them out of {shown}")
        return None
    entries = look.entries.of(path)
    if any(entry.stage for entry in entries):
        return Oddity(
            "is in a conflict, and nobody has said which commit it is to have",
            f"check that commit out in it, then: git add {quoted(shown)}",
        )
    kind = kind_of(_operation(checkout, path))
    if kind is not None:  # before its HEAD: which commit it will have nobody knows yet
        return Oddity(
            f"has {kind.what} of its own in progress",
            f"finish it first: git -C {quoted(shown)} status",
        )
    commit = _ask(checkout, path, "rev-parse", "--verify", "-q", "HEAD^{commit}")
    if commit is None or {commit} != {entry.oid for entry in entries}:
        return Oddity(
            "has another commit checked out than the one recorded", f"git add {quoted(shown)}"
        )
    if checkout.line("rev-parse", "--verify", "-q", f"{look.head}:{decode(path)}") is None:
        return Oddity("was added and is not committed", "commit it, and hand over then")
    return _unsaved(checkout, path, shown)


def _unsaved(checkout: Checkout, path: bytes, shown: str) -> Oddity | None:
    if _ask(checkout, path, "status", "--porcelain", "--untracked-files=all") != "":
        return Oddity(
            "has changes of its own", f"commit and push them: git -C {quoted(shown)} status"
        )
    if _ask(checkout, path, "stash", "list") != "":
        return Oddity("has a stash of its own", f"git -C {quoted(shown)} stash list")
    if _ask(checkout, path, "rev-list", "-1", "HEAD", "--branches", "--not", "--remotes") != "":
        return Oddity("has commits that no remote has", f"git -C {quoted(shown)} push")
    return None


def _operation(checkout: Checkout, path: bytes) -> Operation:
    said = _ask(checkout, path, "rev-parse", "--absolute-git-dir")
    if not said:
        return NOTHING
    own = Path(os.fsdecode(encode(said)))
    return operation.read(Checkout(_place(checkout, path), own, own))


def _place(checkout: Checkout, path: bytes) -> Path:
    return checkout.top / os.fsdecode(path)


def _ask(checkout: Checkout, path: bytes, *args: str) -> str | None:
    """Return what git says in the submodule, or None if it cannot."""
    done = command.run(args, cwd=_place(checkout, path), env=command.environment())
    return decode(done.stdout).strip() if done.returncode == 0 else None
