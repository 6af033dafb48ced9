"""Sparse checkouts: which patterns and settings a worktree has, and giving it others.

``git sparse-checkout`` writes and removes files by itself, so it is not used: the restore puts
every file where the state has it, and this room only lets git know (git-sparse-checkout(1),
"internals").
"""

from typing import Final

from handsoff.core.checkout.state import SPARSE_KEYS, Sparse
from handsoff.edge import files
from handsoff.edge.git.repo import TRUE, Checkout, decode, split
from handsoff.edge.steps import step
from handsoff.errors import UnfitError

_ON: Final = "core.sparsecheckout"
_OWN: Final = "extensions.worktreeconfig"
_DEFAULTS: Final = {"core.sparsecheckoutcone": "true", "index.sparse": "false"}


def read(checkout: Checkout) -> Sparse | None:
    """Return what this worktree shows of the repository, or None if it shows all."""
    if not checkout.switch(_ON):
        return None
    place = checkout.git_dir / "info" / "sparse-checkout"
    patterns = place.read_bytes() if place.exists() else b""
    own = _own(checkout)
    return Sparse(patterns, tuple((key, own[key]) for key in SPARSE_KEYS if key in own))


def _own(checkout: Checkout) -> dict[str, str]:
    """Return the configuration of this worktree, without that of its user."""
    found: dict[str, str] = {}
    for scope in ("--local", "--worktree"):
        listed = checkout.run("config", scope, "--includes", "--list", "-z").stdout
        found |= {
            key: value for key, _, value in (decode(i).partition("\n") for i in split(listed))
        }
    return found


def same(one: Sparse | None, two: Sparse | None) -> bool:
    """Say whether both show the same, whichever of the settings are left to git's defaults."""
    if one is None or two is None:
        return one is two
    return one.patterns == two.patterns and _switches(one) == _switches(two)


def _switches(sparse: Sparse) -> list[bool]:
    settings = {**_DEFAULTS, **dict(sparse.settings)}
    return [settings[key].lower() in TRUE for key in SPARSE_KEYS]


def put(checkout: Checkout, wanted: Sparse | None) -> None:
    """Let git take this worktree for one that shows ``wanted``."""
    files.sweep(checkout.git_dir / "info")
    if read(checkout) == wanted:
        return
    check(checkout, wanted)
    step("catch.apply.sparse.before")
    if _shares_config(checkout):
        checkout.git("config", "--local", _OWN, "true")
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
    checkout.forget_config()
    for key, default in {_ON: "false", **_DEFAULTS}.items():
        if key not in settings and checkout.setting(key) not in (None, default):
            # all worktrees, or all clones of this user, say so
            checkout.git("config", "--worktree", key, default)
    checkout.forget_config()


def check(checkout: Checkout, wanted: Sparse | None) -> None:
    """Raise UnfitError if this worktree cannot be made to show ``wanted``."""
    if same(read(checkout), wanted) or not _shares_config(checkout):
        return
    if "core.worktree" in checkout.config or checkout.switch("core.bare"):
        raise UnfitError(
            "git cannot keep the sparse patterns of this worktree apart from the others",
            hint="git worktree list; then see git-worktree(1), CONFIGURATION FILE",
        )


def _shares_config(checkout: Checkout) -> bool:
    """Say whether this worktree has no configuration of its own, though there are others."""
    return not checkout.alone and not checkout.switch(_OWN)
