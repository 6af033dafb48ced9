"""Looking at a checkout: what differs from HEAD, asked of git in one round, nothing touched.

Traps that this room exists for:

* a copied index loses git's guard against edits within one second: the live one is read;
* assume-unchanged, skip-worktree and core.ignoreStat hide edits from git: such entries are
  always looked at;
* what git takes for "unchanged" is trusted only where stat data say so; whatever they do not
  vouch for is hashed by us, unfiltered.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.checkout.index import (
    Entry,
    Flag,
    Listing,
    clashing,
    listing_of,
    parse_debug,
    read_index,
)
from handsoff.core.checkout.operation import NOTHING, Operation
from handsoff.core.checkout.paths import parents
from handsoff.core.checkout.resolved import MARK, parse_resolved
from handsoff.core.checkout.state import Sparse, StashEntry
from handsoff.core.objects import EMPTY_TREE
from handsoff.edge.git import carried, operation, sparse
from handsoff.edge.git.carried import OTHERS
from handsoff.edge.git.convert import without_programs
from handsoff.edge.git.modes import permissions
from handsoff.edge.git.repo import Checkout, decode, read_all, split
from handsoff.edge.git.walk import Walked, walk_folders, walk_on

_HIDDEN: Final = int(Flag.ASSUME_UNCHANGED | Flag.SKIP_WORKTREE | Flag.INTENT_TO_ADD)
_DIFF: Final = ("-z", "--no-renames", "--ignore-submodules=none")
_STASH: Final = (
    "log", "-g", "-z", "--date=raw", "--encoding=UTF-8",
    "--format=%H%x00%gs%x00%gn <%ge>%x00%gd", "refs/stash", "--",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """What a checkout holds beside HEAD's own tree. Paths are bytes, relative to the top."""

    head: str
    """The commit of HEAD, "" while the branch has none yet."""
    branch: str | None
    entries: Listing = field(repr=False)
    clashing: frozenset[bytes]
    """Unmerged paths that no tree can name beside the others."""
    resolved: tuple[Entry, ...]
    """The stages of conflicts that are resolved and not committed."""
    staged: frozenset[bytes]
    """Paths whose index entry differs from HEAD (or that only one of them has)."""
    suspects: frozenset[bytes]
    """Tracked paths whose bytes on disk git does not vouch for."""
    untracked: frozenset[bytes]
    nested: frozenset[bytes]
    ignored: frozenset[bytes]
    """Ignored paths; a trailing slash marks a folder that stands for all below it."""
    carried: frozenset[bytes]
    stash: tuple[StashEntry, ...]
    walked: Walked = field(repr=False)
    index_signature: tuple[int, int, int] | None
    modes: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    """Permission bits of the files that have others than a new one gets here."""
    submodules: Mapping[bytes, bool] = field(default_factory=dict)
    """Those whose folder is there, and whether there is a repository in it."""
    sparse: Sparse | None = None
    operation: Operation = NOTHING
    """What is in progress."""
    absent: tuple[bytes, ...] = ()
    """What is named to be carried, and is not here."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing but the bytes of suspects can differ, which are still to be read."""
        return not (self.staged or self.untracked or self.nested)

    @property
    def is_vacant(self) -> bool:
        """Whether nothing was ever checked out: to git, after a clone -n, all is removed."""
        return self.index_signature is None and not (self.untracked or self.nested)


def look(
    checkout: Checkout, carry: list[bytes], *, walk: bool = True, programs: bool = True
) -> Look:
    """Return what is in ``checkout``; ``carry`` are the patterns of ignored files to take.

    Without ``programs`` no filter of the user's runs.
    """
    head = checkout.commit("HEAD") or ""
    signature = index_signature(checkout)
    questions = _questions(checkout, head, carry, walk=walk)
    switches = [] if programs else without_programs(checkout)
    processes = [checkout.start(*switches, *words) for words in questions.values()]
    entries = read_entries(checkout)
    walked = walk_folders(checkout.top) if walk else Walked()
    modes = dict(permissions(checkout, entries.paths, walked.linked)) if walk else {}
    said = dict(zip(questions, read_all(processes, "look at this checkout"), strict=True))
    paths_of = {name: frozenset(split(text)) for name, text in said.items()}
    untracked = paths_of["others"]
    ignored = paths_of.get("ignored", frozenset())
    submodules = dict(_submodules(checkout, entries))
    known = {path.rstrip(b"/") for path in untracked}.union(submodules)
    walk_on(checkout.top, walked, lambda f: f not in known and bool(_not_ignored([f], ignored)))
    walked.empty = _not_ignored(walked.empty, ignored)
    walked.inner = _not_ignored(walked.inner, ignored)
    if walk:
        others = untracked | paths_of.get("carried", frozenset())
        modes |= permissions(checkout, others, walked.linked)
    return Look(
        head=head,
        branch=checkout.branch(),
        entries=entries,
        clashing=clashing(entries),
        resolved=_resolved(checkout),
        staged=paths_of["staged"],
        suspects=paths_of["suspects"] | _hidden(entries),
        untracked=frozenset(p for p in untracked if not p.endswith(b"/")),
        nested=frozenset(p for p in untracked if p.endswith(b"/")),
        ignored=ignored - {b".wip/", b".wip"},
        carried=paths_of.get("carried", frozenset()),
        stash=parse_stash(said["stash"]) if "stash" in said else (),
        walked=walked,
        index_signature=signature,
        modes=modes,
        submodules=submodules,
        sparse=sparse.read(checkout),
        operation=operation.read(checkout),
        absent=carried.absent(checkout.top, carry, paths_of.get("carried", ()), entries),
    )


def _questions(
    checkout: Checkout, head: str, carry: list[bytes], *, walk: bool
) -> dict[str, tuple[str, ...]]:
    """Return what git is asked, all at once, by what the answer is."""
    asked: dict[str, tuple[str, ...]] = {
        "staged": ("diff-index", "--cached", "--name-only", *_DIFF, head or EMPTY_TREE),
        "suspects": ("diff-files", "--name-only", *_DIFF),
        "others": (*OTHERS, "--exclude-standard"),
    }
    if walk:
        asked["ignored"] = (*OTHERS, "--ignored", "--exclude-standard", "--directory")
    if carry:
        asked["carried"] = carried.asked(carry)
    if checkout.commit("refs/stash"):
        asked["stash"] = _STASH
    return asked


def _hidden(entries: Listing) -> set[bytes]:
    """Return the paths whose flags hide edits from git."""
    return {path for path in entries.odd if any(e.flags & _HIDDEN for e in entries[path])}


def _not_ignored(folders: list[bytes], ignored: frozenset[bytes]) -> list[bytes]:
    """Return the folders that are not the business of what made an ignored one."""
    return [
        folder
        for folder in folders
        if not any(place + b"/" in ignored for place in (*parents(folder), folder))
    ]


def _resolved(checkout: Checkout) -> tuple[Entry, ...]:
    index = checkout.git_dir / "index"
    if not index.exists() or MARK not in index.read_bytes():
        return ()
    return tuple(parse_resolved(split(checkout.git("ls-files", "--resolve-undo", "-z"))))


def _submodules(checkout: Checkout, entries: Listing) -> Iterator[tuple[bytes, bool]]:
    for path in entries.links:
        full = os.path.join(os.fsencode(checkout.top), path)
        if os.path.isdir(full) and not os.path.islink(full):
            yield path, os.path.lexists(os.path.join(full, b".git"))


def read_entries(checkout: Checkout) -> Listing:
    """Return the entries of this worktree's index, whatever its format is."""
    try:
        data = (checkout.git_dir / "index").read_bytes()
    except FileNotFoundError:
        return listing_of([])
    found = read_index(data)
    if found is None:
        found = listing_of(parse_debug(checkout.git("ls-files", "--stage", "--debug", "-z")))
    return found


def glance(checkout: Checkout, carry: list[bytes], first: Look) -> set[bytes]:
    """Return the paths by which ``checkout`` differs from a ``first`` look at it.

    Cheaper than a second look: an index file that was not written has the same entries.
    """
    commands: list[tuple[str, ...]] = [
        ("diff-files", "--name-only", *_DIFF),
        (*OTHERS, "--exclude-standard"),
    ]
    if carry:
        commands.append(carried.asked(carry))
    listed = read_all([checkout.start(*c) for c in commands], "look at this checkout again")
    changed = {
        *(first.suspects ^ (frozenset(split(listed[0])) | _hidden(first.entries))),
        *((first.untracked | first.nested) ^ frozenset(split(listed[1]))),
    }
    if carry:
        changed |= first.carried ^ {p for p in split(listed[2]) if p in first.carried}
    now = (checkout.commit("HEAD") or "", checkout.branch(), checkout.commit("refs/stash") or "")
    if now != (first.head, first.branch, first.stash[0].oid if first.stash else ""):
        changed.add(b"HEAD or the stash")
    if operation.read(checkout) != first.operation:
        changed.add(b"the operation in progress")
    if index_signature(checkout) != first.index_signature:
        changed.add(b"the index")
    return changed


def index_signature(checkout: Checkout) -> tuple[int, int, int] | None:
    """Return what changes whenever git writes this worktree's index."""
    try:
        st = os.stat(checkout.git_dir / "index")
    except FileNotFoundError:
        return None
    return st.st_ino, st.st_size, st.st_mtime_ns


def parse_stash(text: bytes) -> tuple[StashEntry, ...]:
    """Return the stash list, newest first, with the reflog's own identity and time."""
    found = []
    fields = [decode(field) for field in split(text)]
    for at in range(0, len(fields), 4):
        oid, message, who, selector = fields[at : at + 4]
        when = selector[selector.rindex("{") + 1 : -1]
        found.append(StashEntry(oid, message, f"{who} {when}"))
    return tuple(found)
