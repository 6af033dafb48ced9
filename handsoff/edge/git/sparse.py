"""Sparse checkouts: which patterns and settings a worktree has, and giving it others.

``git sparse-checkout`` writes and removes files by itself, so it is not used: the restore puts
every file where the state has it, and this room only lets git know (git-sparse-checkout(1),
"internals").
"""

from typing import Final

from handsoff.core.state import SPARSE_KEYS, Sparse
from handsoff.edge import files
from handsoff.edge.git.repo import Checkout, decode, split
from handsoff.edge.steps import step
from handsoff.errors import UnfitError

_ON: Final = "core.sparsecheckout"
_OWN: Final = "extensions.worktreeconfig"


def read(checkout: Checkout) -> Sparse | None:
    """Return what this worktree shows of the repository, or None if it shows all."""
    if not checkout.switch(_ON):
        return None
    place = checkout.git_dir / "info" / "sparse-checkout"
    patterns = place.read_bytes() if place.exists() else b""
    own = _own(checkout)
    return Sparse(patterns, tuple((key, own[key]) for key in SPARSE_KEYS if key in own))


def same(one: Sparse | None, other: Sparse | None) -> bool:
    """Say whether two mean the same to git."""
    return (one and one.meaning) == (other and other.meaning)


def _own(checkout: Checkout) -> dict[str, str]:
    """Return the configuration of this worktree, without that of its user."""
    found: dict[str, str] = {}
    for scope in ("--local", "--worktree"):
        listed = checkout.run("config", scope, "--includes", "--list", "-z").stdout
        found |= {
            key: value for key, _, value in (decode(i).partition("\n") for i in split(listed))
        }
    return found


def put(checkout: Checkout, wanted: Sparse | None) -> None:
    """Let git take this worktree for one that shows ``wanted``."""
    files.sweep(checkout.git_dir / "info")
    if read(checkout) == wanted:
        return
    step("catch.apply.sparse.before")
    _give_own_config(checkout)
    settings = {_ON: "true", **dict(wanted.settings)} if wanted is not None else {}
    if wanted is not None:
        place = files.ensure_folder(checkout.git_dir / "info") / "sparse-checkout"
        step("catch.apply.sparse.before")
        files.write(place, wanted.patterns, 0o644)
    # on before, and off after the others: what was cut short still shows in ``read``
    for key in (_ON, *SPARSE_KEYS) if wanted is not None else (*SPARSE_KEYS, _ON):
        step("catch.apply.sparse.before")
        if key in settings:
            checkout.git("config", "--worktree", "--replace-all", key, settings[key])
        else:
            checkout.run("config", "--worktree", "--unset-all", key)
            if key in _own(checkout):  # said for all worktrees: it is not so for this one
                checkout.git("config", "--worktree", key, "false")
    checkout.forget_config()


def _give_own_config(checkout: Checkout) -> None:
    """Let this worktree have a configuration of its own, as ``git sparse-checkout`` does."""
    alone = checkout.git_dir == checkout.common_dir and not any(
        (checkout.common_dir / "worktrees").glob("*")
    )
    if alone or checkout.switch(_OWN):
        return
    if "core.worktree" in checkout.config or checkout.switch("core.bare"):
        raise UnfitError(
            "git cannot keep the sparse patterns of this worktree apart from the others",
            hint="git worktree list; then see git-worktree(1), CONFIGURATION FILE",
        )
    checkout.git("config", "--local", _OWN, "true")
