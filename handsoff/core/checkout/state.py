"""A checkout as one value: ids, and the small lists that no tree of git can hold.

Two equal states are the same to the last byte. What differs from one machine to the next without
anybody's doing (stat data, absolute paths, line ends that a checkout converts) is not in it.
"""

from dataclasses import dataclass
from typing import Final

from handsoff.core.checkout.index import Entry
from handsoff.core.checkout.operation import NOTHING, Operation

NO_TIME: Final = "0 +0000"
"""The time of a state that has no commit yet."""

USUAL_MODES: Final = frozenset({0o644, 0o755, 0o664, 0o775})
"""Permission bits that a new file gets from the common umasks."""

SPARSE_KEYS: Final = ("core.sparsecheckoutcone", "index.sparse")

KEPT_KEYS: Final = frozenset({"rebase", "pushremote", "description"})


@dataclass(frozen=True, slots=True)
class StashEntry:
    """One line of the stash list: the commit, its list message, and the reflog's identity."""

    oid: str
    message: str
    who: str
    """``name <mail> seconds zone``, as git writes it in a reflog."""


@dataclass(frozen=True, slots=True)
class BranchConfig:
    """What the checkout's configuration says of the branch."""

    remote: str = ""
    """Upstream remote: "=" for the remote that the record is on, or a name, or "." or ""."""
    merge: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """Further keys of ``branch.<name>``, such as rebase and description."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """Which part of the repository a sparse checkout shows."""

    patterns: bytes
    """What stands in ``info/sparse-checkout``."""
    settings: tuple[tuple[str, str], ...]
    """Those of ``SPARSE_KEYS`` that are set, as they are spelled."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A path that does not travel, and why; a folder stands for all that is in it."""

    path: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """All of a checkout that is somebody's work."""

    work: str
    head: str
    """The commit of HEAD, "" where there is none yet."""
    head_time: str
    """Committer date of HEAD: ``seconds zone``."""
    index_tree: str
    special: tuple[Entry, ...]
    work_tree: str
    stash: tuple[StashEntry, ...]
    branch: BranchConfig
    empty_folders: tuple[bytes, ...]
    left_behind: tuple[LeftBehind, ...] = ()
    tip: str = ""
    """The commit of the work's branch; another one than HEAD's where HEAD is detached."""
    detached: bool = False
    operation: Operation = NOTHING
    raw: tuple[bytes, ...] = ()
    """Tracked files whose bytes in ``work_tree`` are those on disk, though a checkout would make
    others of what git keeps. All other tracked files are there as git keeps them."""
    modes: tuple[tuple[bytes, int], ...] = ()
    """Permission bits of the files that have others than a checkout gives."""
    sparse: Sparse | None = None
    resolved: tuple[Entry, ...] = ()
    """The stages of conflicts that are resolved and not committed, for going back to them."""
    stale: tuple[bytes, ...] = ()
    """Tracked files that git shows as changed, by the size that the index has, and are not."""
    lfs: tuple[tuple[str, str], ...] = ()
    """Contents of large files that no server has: SHA-256, and the blob that holds it."""
