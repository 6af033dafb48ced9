"""The work of a checkout: the branch that HEAD names, or that it comes back to."""

from handsoff.core.remote.places import PREFIX, is_ours
from handsoff.edge import files
from handsoff.edge.git import operation
from handsoff.edge.git.repo import Checkout
from handsoff.errors import RefusedError, UnfitError, UsageError


def work_here(checkout: Checkout, named: str | None = None) -> str:
    """Return the work of this checkout, which needs no remote.

    A HEAD that is detached for no rebase or bisect has the name that it is given, or that it was
    caught under.
    """
    branch = checkout.branch() or operation.branch(checkout)
    if branch is not None:
        prefix = checkout.setting("handsoff.refs") or PREFIX
        if branch.startswith("-"):  # git makes none, but what writes refs by itself can
            raise UnfitError(
                f"git and its users take {branch} for an option, not for a branch",
                hint="rename it: git branch -m NAME",
            )
        if is_ours(prefix, f"refs/heads/{branch}"):
            raise UsageError(f"{branch} is handsoff's own", hint="git switch YOUR-BRANCH")
        if named not in (None, branch):
            raise UsageError(
                f"this checkout stands on {branch}", hint="only a detached HEAD is named with --as"
            )
        return branch
    if named is not None:
        _check_name(checkout, named)
        return named
    kept = files.read_json(checkout.own_dir / "here.json")
    if kept and kept.get("work"):
        return str(kept["work"])
    raise UnfitError(
        "HEAD is detached, so there is no work to name",
        hint="switch to its branch first (git switch BRANCH), or name it: --as NAME",
    )


def need_work(checkout: Checkout, work: str, *, known: bool) -> None:
    """Refuse to write about ``work``, which somebody typed, unless it is ``known`` or a branch.

    A record that a slip of the pen begins is nobody's, and stays on the remote.
    """
    if not known and checkout.commit(f"refs/heads/{work}") is None:
        raise RefusedError(
            f"nobody has handed over a work called {work}", hint="handsoff status lists the works"
        )


def _check_name(checkout: Checkout, named: str) -> None:
    done = checkout.run("check-ref-format", f"refs/heads/{named}")
    if done.returncode or named.startswith("-"):
        raise UsageError(f"{named!r} is no name for a branch", hint="such as --as fix/rounding")
