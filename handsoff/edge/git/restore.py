"""From a state to a checkout: index, refs, stash and branch configuration; files by ``writer.py``.

Every step can be taken twice: a run that was killed is taken up by comparing what is there with
what should be, and doing what is missing.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from handsoff.core.checkout import envelope, index, paths
from handsoff.core.checkout.index import (
    NO_STAT,
    WRONG_SIZE,
    Encoded,
    Entry,
    Listing,
    Stat,
    encode_entry,
)
from handsoff.core.checkout.resolved import encode_resolved
from handsoff.core.checkout.restoring import Standing
from handsoff.core.checkout.state import NO_TIME, BranchConfig, StashEntry, State
from handsoff.core.checkout.trees import Change, Leaf, Read, differences, leaf_at
from handsoff.core.objects import EMPTY_TREE, FILE, TREE, TreeEntry, parse_tree
from handsoff.core.parcels import bounds
from handsoff.core.remote.refs import HEADS
from handsoff.edge import files
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.quarantine import check_trees
from handsoff.edge.git.repo import Checkout, decode, split
from handsoff.edge.git.sinks import Taken
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, UnfitError

_ROOT: Final = 64
"""Entries that the tree of an envelope may have; it has sixteen at most."""


def standing(worktree: Worktree, path: bytes, leaf: Leaf) -> Standing:
    """Return what stands at ``path`` on disk, compared with ``leaf``."""
    st = worktree.stat(path)
    if st is None:
        return Standing.NOTHING
    if stat.S_ISDIR(st.st_mode):
        return Standing.FOLDER
    content = worktree.read(path)
    same = content is not None and Taken(content).leaf == leaf
    return Standing.SAME if same else Standing.OTHER


def unwritable(worktree: Worktree, wanted: Collection[bytes]) -> list[bytes]:
    """Return the folders above ``wanted`` that are there and that nobody like us may change."""
    return sorted(
        folder
        for folder in ([b"", *paths.folders_above(wanted)] if wanted else ())
        if os.path.isdir(worktree.full(folder))
        and not os.access(worktree.full(folder), os.W_OK | os.X_OK)
    )


def vouches(look: Look) -> Callable[[bytes, Stat], bool]:
    """Return what says whether stat data are those that the index has for a path."""

    def same(path: bytes, found: Stat) -> bool:
        return any(e.plain and _cut(e.stat) == _cut(found) for e in look.entries.of(path))

    return same


def _cut(whole: Stat) -> Stat:
    return whole._replace(dev=0, ino=whole.ino & 0xFFFFFFFF, size=whole.size & 0xFFFFFFFF)


def files_below(worktree: Worktree, folder: bytes) -> Iterator[bytes]:
    """Yield every file below ``folder``, relative to the top."""
    full = worktree.full(folder)
    for where, folders, names in os.walk(full):
        links = [name for name in folders if os.path.islink(os.path.join(where, name))]
        for name in (*names, *links):
            yield folder + (os.path.join(where, name))[len(full) :]


def new_entries(
    read: Read,
    look: Look,
    changes: Iterable[Change],
    target: State,
    written: Mapping[bytes, tuple[Leaf, Stat]],
    *,
    doubtful: Iterable[bytes] = (),
) -> list[Encoded]:
    """Return the index that ``target`` has, with stat data where they are known to be right.

    ``changes`` lead to it from the index that ``look`` has seen. ``written`` are the files that
    git may take for unchanged, with what git has of them; ``doubtful`` those that were written
    too, and of which git has to see for itself.
    """
    listed = look.entries
    special = {entry.path for entry in target.special}
    fresh: dict[bytes, Entry | None] = dict.fromkeys([*listed.odd, *special])
    for change in changes:
        leaf = change.new
        fresh[change.path] = Entry(change.path, leaf.mode, leaf.oid) if leaf else None
    for path in listed.odd:  # what an odd entry stood for in the tree is a plain one now
        leaf = leaf_at(read, target.index_tree, path)
        fresh[path] = Entry(path, leaf.mode, leaf.oid) if leaf else None
    # stat data that are right can hide an edit: one within the second in which git wrote its index
    # shows by the age of that index alone, and one by attributes that went not even by that
    edited = (change.path for change in differences(read, target.index_tree, target.work_tree))
    for path in (*look.suspects, *doubtful, *edited):
        if path not in fresh and (entry := _plain(listed, path)):
            fresh[path] = entry._replace(stat=NO_STAT)
    for path, (leaf, stat_data) in written.items():
        entry = fresh.get(path) if path in fresh else _plain(listed, path)
        if entry is not None:
            same = Leaf(entry.mode, entry.oid) == leaf
            fresh[path] = entry._replace(stat=stat_data if same else NO_STAT)
    for path in target.stale:
        entry = fresh.get(path) if path in fresh else _plain(listed, path)
        if entry is not None:
            fresh[path] = entry._replace(stat=WRONG_SIZE)
    kept = [listed.encoded(path) for path in listed.paths if path not in fresh]
    plain = (entry for path, entry in fresh.items() if entry and path not in special)
    return [*kept, *map(encode_entry, plain), *map(encode_entry, target.special)]


def _plain(listed: Listing, path: bytes) -> Entry | None:
    return next(iter(listed.of(path)), None)


def write_index(
    checkout: Checkout, entries: Iterable[Encoded], resolved: Sequence[Entry] = ()
) -> None:
    """Put ``entries`` in place of the checkout's index, under git's own lock."""
    lock = checkout.git_dir / "index.lock"
    try:
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError as error:
        raise UnfitError(
            f"another git process holds {lock}",
            hint="when it has ended, or if none runs, remove that file and type it again",
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(index.encode(entries, encode_resolved(resolved)))
            file.flush()
            os.fsync(file.fileno())
        lock.replace(checkout.git_dir / "index")
    except BaseException:
        lock.unlink(missing_ok=True)
        raise


def install_pack(checkout: Checkout, objects: Path) -> None:
    """Bring the packs of an object folder into the clone's own objects, durably."""
    target = checkout.objects_dir / "pack"
    target.mkdir(parents=True, exist_ok=True)
    files.sweep(target)
    packs = sorted((objects / "pack").glob("pack-*.pack"))
    # the .idx last: git takes a pack as present when it sees the index
    for source in [*packs, *(pack.with_suffix(".idx") for pack in packs)]:
        place = target / source.name
        if not place.exists():
            with source.open("rb") as data, files.replacing(place, 0o444) as file:
                while chunk := data.read(1 << 20):
                    file.write(chunk)


@dataclass(frozen=True)
class Refs:
    """Branch, HEAD, stash and branch configuration of one checkout."""

    checkout: Checkout
    reason: str

    def move(self, state: State, old: str | None) -> None:
        """Let the branch of the work and HEAD be those of ``state``; the branch named ``old``."""
        ref = HEADS + state.work
        if state.tip and old != state.tip:
            self.checkout.git("update-ref", "-m", self.reason, ref, state.tip, old or "0" * 40)
        if state.detached:
            self.leave("", state.head)
        elif self.checkout.branch() != state.work:
            self.checkout.git("symbolic-ref", "-m", self.reason, "HEAD", ref)

    def leave(self, branch: str, head: str) -> None:
        """Let HEAD name ``branch`` (or, if "", the commit ``head`` itself)."""
        if branch:
            self.checkout.git("symbolic-ref", "-m", self.reason, "HEAD", HEADS + branch)
        else:
            self.checkout.git("update-ref", "--no-deref", "-m", self.reason, "HEAD", head)
        self.checkout.forget_config()

    def reset_branch(self, work: str, tip: str) -> None:
        """Let the branch of ``work`` name ``tip`` again, or go if it was not there.

        Commits that this leaves without a branch stay in HEAD's reflog.
        """
        ref = HEADS + work
        if tip:
            self.checkout.git("update-ref", "-m", self.reason, ref, tip)
        elif self.checkout.commit(ref):
            self.checkout.git("update-ref", "-d", ref)

    def set_stash(self, wanted: tuple[StashEntry, ...], current: tuple[StashEntry, ...]) -> None:
        """Make the stash list read ``wanted``, newest first, with its messages and times."""
        if [e.oid for e in wanted] == [e.oid for e in current]:
            return
        if current:
            self.checkout.git("update-ref", "-d", "refs/stash", current[0].oid)
        for entry in reversed(wanted):
            step("catch.apply.stash.before")
            who, _, when = entry.who.rpartition("> ")
            name, _, mail = who.partition(" <")
            # git takes no empty message but none; and a time before 1973 only with an @
            message = ("-m", entry.message) if entry.message.strip() else ()
            self.checkout.git(
                "update-ref", "--create-reflog", *message, "refs/stash", entry.oid,
                GIT_COMMITTER_NAME=name or "unknown", GIT_COMMITTER_EMAIL=mail,
                GIT_COMMITTER_DATE=f"@{when}",
            )  # fmt: skip

    def configure(self, work: str, branch: BranchConfig, remote: str) -> None:
        """Set the branch's upstream so that a plain ``git push`` works, and its further keys.

        A branch without upstream gets one on ``remote`` under its own name.
        """
        self.checkout.forget_config()  # it may depend on the branch, and is to be what it is now
        places = (*self.checkout.remotes(), ".")
        upstream = branch.remote if branch.remote in places else remote
        wanted = {"remote": upstream, "merge": branch.merge or HEADS + work}
        # a place to push to that is not known here would make a plain push fail, or go astray
        others = [(k, v) for k, v in branch.others if k != "pushremote" or v in places]
        there = {key: value for scope, key, value in self.checkout.scoped if scope == "local"}
        for key, value in (*wanted.items(), *others):
            name = f"branch.{work}.{key}"
            if there.get(name) != value:
                self.checkout.set_config(name, value)

    def reset_settings(self, work: str, wanted: list[list[str]]) -> None:
        """Let the clone's own configuration say of the branch of ``work`` what it once said."""
        if branch_settings(self.checkout, work) == wanted:
            return
        self.checkout.run("config", "--local", "--remove-section", f"branch.{work}")
        for key, value in wanted:
            step("undo.apply.config.before")
            self.checkout.git("config", "--local", "--add", key, value)
        self.checkout.forget_config()


def branch_config(checkout: Checkout, work: str, remote: str) -> BranchConfig:
    """Return what the configuration says of the branch, with ``remote`` spelled "="."""
    found = {key: checkout.setting(f"branch.{work}.{key}") for key in (
        "remote", "merge", "rebase", "pushremote", "description")}  # fmt: skip
    upstream = found.pop("remote") or ""
    merge = found.pop("merge") or ""
    others = tuple((key, value) for key, value in found.items() if value is not None)
    return BranchConfig("=" if upstream == remote else upstream, merge, others)


def branch_settings(checkout: Checkout, work: str) -> list[list[str]]:
    """Return what the clone's own configuration says of the branch of ``work``."""
    listed = split(checkout.git("config", "--local", "--list", "-z"))
    items = (decode(item).partition("\n") for item in listed)
    return [[k, v] for k, _, v in items if k.rpartition(".")[0] == f"branch.{work}"]


def read_state(objects: Objects, envelope_id: str) -> State:
    """Return the state that an envelope binds; DamagedError if it is not one of ours."""
    outer = objects.commit(envelope_id)
    inner = objects.commit(outer.parents[0]) if outer.parents else None
    if inner is None or len(inner.parents) not in (1, 2):
        raise DamagedError("the parcel's envelope is not one of handsoff's")
    head, index_commit = inner.parents if len(inner.parents) > 1 else ("", inner.parents[0])
    head_time = " ".join(objects.commit(head).committer.rsplit(" ", 2)[1:]) if head else NO_TIME
    root = parse_tree(objects.tree(outer.tree))
    if len(root) > _ROOT:
        raise DamagedError("the parcel's envelope is not one of handsoff's")
    limit = bounds.LIST_LIMIT
    lists = {entry.name: objects.blob(entry.oid, limit) for entry in root if entry.mode == FILE}
    named = {entry.name: entry.oid for entry in root if entry.mode == TREE}
    large = parse_tree(objects.tree(named[b"lfs"])) if b"lfs" in named else ()
    bound = envelope.Bound(
        head, head_time, objects.commit(index_commit).tree, inner.tree, tuple(large)
    )
    state = envelope.decode_lists(lists, _operation_files(objects, root), bound)
    if list(outer.parents[1:]) != envelope.anchors(state):
        raise DamagedError("the parcel's envelope does not bind all commits of its state")
    if named.get(b"auto-merge", "") != state.operation.merged:
        raise DamagedError("the parcel's envelope does not bind the tree of a merge")
    return state


def _operation_files(objects: Objects, root: list[TreeEntry]) -> dict[bytes, bytes]:
    tree = next((e.oid for e in root if (e.mode, e.name) == (TREE, b"operation")), EMPTY_TREE)
    check_trees(objects, [tree], bounds.OPERATION_FILES, "files of an operation")
    found = list(differences(objects.tree, EMPTY_TREE, tree))
    limit = bounds.LIST_LIMIT
    return {c.path: objects.blob(c.new.oid, limit) for c in found if c.new and c.new.mode == FILE}
