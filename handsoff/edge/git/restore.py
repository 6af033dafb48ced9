"""From a state to a checkout: files, index, refs, stash and branch configuration.

Every step can be taken twice: a run that was killed is taken up by comparing what is there with
what should be, and doing what is missing. A file is written beside the worktree and renamed into
place, so it is the old one or the new one at any moment, never half of one.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from handsoff.core import envelope, index, paths
from handsoff.core.envelope import BranchConfig, StashEntry, State
from handsoff.core.index import Entry, Stat
from handsoff.core.objects import EXECUTABLE, FILE, LINK, parse_tree
from handsoff.core.restoring import Plan, Standing
from handsoff.core.trees import Leaf, Read, differences
from handsoff.edge import files
from handsoff.edge.git import snapshot
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, UnfitError

_HEADS: Final = "refs/heads/"


class Writer:
    """Writes leaves into one worktree. ``written`` collects what git may believe of them."""

    def __init__(self, checkout: Checkout, read: Callable[[str], bytes]) -> None:
        self._top = os.fsencode(checkout.top)
        self._staging = os.fsencode(files.ensure_folder(checkout.own_dir / "staging"))
        self._read = read
        self._folders: set[bytes] = {b""}
        self.written: dict[bytes, tuple[Leaf, Stat]] = {}

    def carry_out(self, plan: Plan, keep_folders: Iterable[bytes]) -> None:
        """Remove, write, and make the empty folders."""
        kept = set(keep_folders)
        for path in plan.removals:
            step("catch.apply.remove.before")
            self._remove(path, kept)
        for path, leaf in plan.writes:
            step("catch.apply.file.before")
            self._write(path, leaf)
        for folder in sorted(kept):
            self._make_folder(folder)
        step("catch.apply.files.after")

    def _remove(self, path: bytes, kept: set[bytes]) -> None:
        full = os.path.join(self._top, path)
        try:
            os.unlink(full)
        except (FileNotFoundError, NotADirectoryError):
            return
        except IsADirectoryError:
            return  # a folder took the place; it holds something that is not ours to remove
        for parent in reversed(paths.parents(path)):
            if parent in kept:
                return
            try:
                os.rmdir(os.path.join(self._top, parent))
            except OSError:
                return
            self._folders.discard(parent)

    def _make_folder(self, folder: bytes) -> None:
        if folder in self._folders:
            return
        self._make_folder(folder.rpartition(b"/")[0])
        full = os.path.join(self._top, folder)
        try:
            os.mkdir(full)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(full).st_mode):
                raise UnfitError(
                    f"{paths.shown(folder)} is no longer a folder",
                    hint="something else writes here; stop it and type the command again",
                ) from None
        self._folders.add(folder)

    def _write(self, path: bytes, leaf: Leaf) -> None:
        self._make_folder(path.rpartition(b"/")[0])
        full = os.path.join(self._top, path)
        temporary = os.path.join(self._staging, b"new")
        data = self._read(leaf.oid)
        try:
            self._place(temporary, full, leaf, data)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = os.path.join(os.path.dirname(full), b".handsoff-new")
            self._place(beside, full, leaf, data)  # the git folder is on another file system
        self.written[path] = (leaf, stat_of(os.lstat(full)))

    @staticmethod
    def _place(temporary: bytes, full: bytes, leaf: Leaf, data: bytes) -> None:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if leaf.mode == LINK:
            os.symlink(data, temporary)
        else:
            mode = 0o777 if leaf.mode == EXECUTABLE else 0o666
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            with os.fdopen(handle, "wb", buffering=0) as file:
                file.write(data)
        try:
            os.rename(temporary, full)
        except IsADirectoryError:
            _remove_empty_folders(full)
            os.rename(temporary, full)


def _remove_empty_folders(full: bytes) -> None:
    # the plan emptied it; a folder that still holds a file makes rmdir, and so the run, stop
    for folder, _, _ in os.walk(full, topdown=False):
        os.rmdir(folder)


def stat_of(st: os.stat_result) -> Stat:
    """Return stat data as an index entry keeps them."""
    ctime, mtime = divmod(st.st_ctime_ns, 10**9), divmod(st.st_mtime_ns, 10**9)
    return Stat(ctime, mtime, st.st_dev, st.st_ino, st.st_uid, st.st_gid, st.st_size)


def standing(worktree: Worktree, path: bytes, leaf: Leaf) -> Standing:
    """Return what stands at ``path`` on disk, compared with ``leaf``."""
    st = worktree.stat(path)
    if st is None:
        return Standing.NOTHING
    if stat.S_ISDIR(st.st_mode):
        return Standing.FOLDER
    content = worktree.read(path)
    same = content is not None and snapshot.Taken(content).leaf == leaf
    return Standing.SAME if same else Standing.OTHER


def files_below(worktree: Worktree, folder: bytes) -> Iterator[bytes]:
    """Yield every file below ``folder``, relative to the top."""
    full = worktree.full(folder)
    for where, _, names in os.walk(full):
        for name in names:
            yield folder + (os.path.join(where, name))[len(full) :]


def new_entries(
    read: Read,
    look: Look,
    current: State,
    target: State,
    written: Mapping[bytes, tuple[Leaf, Stat]],
) -> list[Entry]:
    """Return the index that ``target`` has, with stat data where they are known to be right."""
    plain = {p: e for p, found in look.entries.items() for e in found if e.plain}
    for change in differences(read, current.index_tree, target.index_tree):
        if change.new is None:
            plain.pop(change.path, None)
        else:
            plain[change.path] = Entry(change.path, change.new.mode, change.new.oid)
    for path, (leaf, stat_data) in written.items():
        entry = plain.get(path)
        if entry is not None and Leaf(entry.mode, entry.oid) == leaf:
            plain[path] = entry._replace(stat=stat_data)
    special = {entry.path for entry in target.special}
    return [*(e for p, e in plain.items() if p not in special), *target.special]


def write_index(checkout: Checkout, entries: Iterable[Entry]) -> None:
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
            file.write(index.encode(entries))
            file.flush()
            os.fsync(file.fileno())
        lock.replace(checkout.git_dir / "index")
    except BaseException:
        lock.unlink(missing_ok=True)
        raise


def install_pack(checkout: Checkout, objects: Path) -> None:
    """Bring the packs of an object folder into the clone's own objects, durably."""
    target = checkout.common_dir / "objects" / "pack"
    target.mkdir(parents=True, exist_ok=True)
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

    def move_branch(self, work: str, new: str, old: str | None) -> None:
        """Let the branch of ``work`` name ``new`` (it named ``old``), and HEAD the branch."""
        ref = _HEADS + work
        if old != new:
            self.checkout.git("update-ref", "-m", self.reason, ref, new, old or "0" * 40)
        if self.checkout.branch() != work:
            self.checkout.git("symbolic-ref", "-m", self.reason, "HEAD", ref)

    def set_stash(self, wanted: tuple[StashEntry, ...], current: tuple[StashEntry, ...]) -> None:
        """Make the stash list read ``wanted``, newest first, with its messages and times."""
        if [e.oid for e in wanted] == [e.oid for e in current]:
            return
        if current:
            self.checkout.git("update-ref", "-d", "refs/stash")
        for entry in reversed(wanted):
            step("catch.apply.stash.before")
            who, _, when = entry.who.rpartition("> ")
            name, _, mail = who.partition(" <")
            self.checkout.git(
                "update-ref", "--create-reflog", "-m", entry.message, "refs/stash", entry.oid,
                GIT_COMMITTER_NAME=name or "unknown", GIT_COMMITTER_EMAIL=mail,
                GIT_COMMITTER_DATE=when,
            )  # fmt: skip

    def configure(self, work: str, branch: BranchConfig, remote: str) -> None:
        """Set the branch's upstream so that a plain ``git push`` works, and its further keys.

        A branch without upstream gets one on ``remote`` under its own name.
        """
        upstream = remote if branch.remote in ("=", "") else branch.remote
        if upstream not in (*self.checkout.remotes(), "."):
            upstream = remote
        wanted = {"remote": upstream, "merge": branch.merge or _HEADS + work}
        for key, value in (*wanted.items(), *branch.others):
            name = f"branch.{work}.{key}"
            if self.checkout.line("config", "--local", "--get", name) != value:
                self.checkout.git("config", "--local", "--replace-all", name, value)


def branch_config(checkout: Checkout, work: str, remote: str) -> BranchConfig:
    """Return what the configuration says of the branch, with ``remote`` spelled "="."""
    found = {key: checkout.line("config", "--get", f"branch.{work}.{key}") for key in (
        "remote", "merge", "rebase", "pushremote", "description")}  # fmt: skip
    upstream = found.pop("remote") or ""
    merge = found.pop("merge") or ""
    others = tuple((key, value) for key, value in found.items() if value is not None)
    return BranchConfig("=" if upstream == remote else upstream, merge, others)


def read_state(objects: Objects, envelope_id: str) -> State:
    """Return the state that an envelope binds; DamagedError if it is not one of ours."""
    outer = objects.commit(envelope_id)
    inner = objects.commit(outer.parents[0]) if outer.parents else None
    if inner is None or len(inner.parents) != 2:  # noqa: PLR2004 - HEAD and the index
        raise DamagedError("the parcel's envelope is not one of handsoff's")
    head, index_commit = inner.parents
    lists = {
        entry.name: objects.blob(entry.oid)
        for entry in parse_tree(objects.tree(outer.tree))
        if entry.mode == FILE
    }
    state = envelope.decode_lists(
        lists,
        head=head,
        head_time=" ".join(objects.commit(head).committer.rsplit(" ", 2)[1:]),
        index_tree=objects.commit(index_commit).tree,
        work_tree=inner.tree,
    )
    if set(outer.parents[1:]) != {entry.oid for entry in state.stash}:
        raise DamagedError("the parcel's envelope and its stash list disagree")
    return state
