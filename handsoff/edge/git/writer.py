"""Writing files into a worktree: each is the old one or the new one at any moment.

A file is made beside the worktree, in the git folder, and renamed into place, so that a kill
leaves no half of one and no stray name. Links are written as they are and never followed.
"""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Final, TypeAlias, TypeVar

from handsoff.core.checkout import paths
from handsoff.core.checkout.index import Stat
from handsoff.core.checkout.trees import Change, Leaf
from handsoff.core.objects import EXECUTABLE, GITLINK, LINK, oid_of
from handsoff.edge import files
from handsoff.edge.git.disk import Worktree, leaf_of, signature_of
from handsoff.edge.git.inside import Inside
from handsoff.edge.git.modes import umask
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, UnfitError

_STAGED: Final = b"new"
_BESIDE: Final = b".handsoff-new"
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_Place: TypeAlias = tuple[int, bytes]
"""The handle of a folder, and a name in it."""
_Made = TypeVar("_Made")
_ELSEWHERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""What says that a folder is not there, or is a link now."""


class Writer:
    """Makes changes in one worktree. ``written`` collects what git may believe of the files.

    Each file is looked at once more just before it is replaced or removed, by the same handle of
    its folder: what is neither the old content nor the new one was written meanwhile, and stops
    the run. ``vouched`` says whether stat data prove that a path still has its old content, and
    ``read`` gives the blobs of ids in their order.
    """

    def __init__(
        self,
        checkout: Checkout,
        read: Callable[[Iterable[str]], Generator[bytes]],
        vouched: Callable[[bytes, Stat], bool],
        modes: Mapping[bytes, int],
    ) -> None:
        self._checkout = checkout
        self._top = os.fsencode(checkout.top)
        self._worktree = Worktree(checkout.top)
        self._inside = Inside(self._top)
        self._vouched = vouched
        self._staging = Inside(os.fsencode(files.ensure_folder(checkout.own_dir / "staging")))
        self._read = read
        self._modes = modes
        self._hidden = umask()
        self.written: dict[bytes, tuple[Leaf, Stat]] = {}

    def carry_out(
        self,
        changes: Sequence[Change],
        keep_folders: Iterable[bytes],
        drop_folders: Iterable[bytes] = (),
    ) -> None:
        """Remove, write, and make the empty folders; ``drop_folders`` are empty ones to remove."""
        try:
            self._carry_out(changes, set(keep_folders), drop_folders)
        finally:
            self._inside.close()
            self._staging.close()

    def _carry_out(
        self, changes: Sequence[Change], kept: set[bytes], drop_folders: Iterable[bytes]
    ) -> None:
        for change in changes:
            if change.new is None:
                step("catch.apply.remove.before")
                self._check(change)
                self._remove(change.path, kept)
        new = [(change, change.new) for change in changes if change.new is not None]
        with closing(self._read(leaf.oid for _, leaf in new if leaf.mode != GITLINK)) as blobs:
            for change, leaf in new:
                step("catch.apply.file.before")
                self._check(change)
                if leaf.mode == GITLINK:
                    self._make_submodule(change.path)
                else:
                    self._write(change.path, leaf, next(blobs))
        for folder in sorted({*drop_folders} - kept):
            step("catch.apply.folder.before")
            self._remove_folders(folder, kept)
        for folder in sorted(kept):
            self._folder(folder)
        step("catch.apply.files.after")

    def set_modes(self, before: Iterable[bytes]) -> None:
        """Give the files their permission bits, and those that are odd ``before`` the usual ones.

        Of files that were just written that is done already.
        """
        worktree = Worktree(self._checkout.top)  # a folder may have become a link since
        for path in sorted({*self._modes, *before}):
            st = worktree.stat(path)
            if st is None or not stat.S_ISREG(st.st_mode):
                continue
            usual = (0o777 if st.st_mode & stat.S_IXUSR else 0o666) & ~self._hidden
            wanted = self._modes.get(path, usual)
            if stat.S_IMODE(st.st_mode) != wanted:
                step("catch.apply.mode.before")
                os.chmod(os.path.join(self._top, path), wanted)

    def _check(self, change: Change) -> None:
        """Raise UnfitError if what stands there now is neither the old file nor the new one."""
        above, _, name = change.path.rpartition(b"/")
        try:
            st = os.lstat(name, dir_fd=self._inside.open(above))
        except OSError as error:
            if error.errno in _ELSEWHERE:
                return  # nothing stands there, or it is below a link, where nothing of ours is
            raise
        if not (stat.S_ISREG(st.st_mode) or stat.S_ISLNK(st.st_mode)):
            return  # a folder, or a pipe or the like: it has no content
        if change.old and self._vouched(change.path, stat_of(st)):
            return
        content = self._worktree.read(change.path)
        # it is read by its path, which may lead to another file by now
        read = content if content and content.signature == signature_of(st) else None
        if not any(read and leaf and same_content(leaf_of(read), leaf) for leaf in change[1:]):
            raise UnfitError(
                f"{paths.shown(change.path)} was written here while it was to be replaced",
                hint="copy it somewhere else, put the old one back, and type it again",
            )

    def _remove(self, path: bytes, kept: set[bytes]) -> None:
        above, _, name = path.rpartition(b"/")
        try:
            handle = self._inside.open(above)
            is_folder = stat.S_ISDIR(os.lstat(name, dir_fd=handle).st_mode)
            if not is_folder:
                os.unlink(name, dir_fd=handle)
        except OSError as error:
            if error.errno in _ELSEWHERE:
                return  # it is gone, or below a link, and what that leads to is not ours
            raise
        self._remove_folders(path if is_folder else above, kept)

    def _remove_folders(self, folder: bytes, kept: set[bytes]) -> None:
        """Remove ``folder`` and those above it, up to one that is kept or holds something."""
        while folder and folder not in kept and self._remove_folder(folder):
            folder = folder.rpartition(b"/")[0]

    def _remove_folder(self, folder: bytes) -> bool:
        above, _, name = folder.rpartition(b"/")
        try:
            os.rmdir(name, dir_fd=self._inside.open(above))
        except OSError:
            return False  # one that holds something is not ours
        self._inside.close()
        return True

    def _folder(self, folder: bytes) -> int:
        """Return a handle of ``folder``, good until the next call; it is made if it is not there.

        UnfitError if something else is there, or above it.
        """
        with suppress(OSError):
            return self._inside.open(folder)
        if folder:
            above, _, name = folder.rpartition(b"/")
            parent = self._folder(above)
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
        try:
            return self._inside.open(folder)
        except OSError as error:
            if error.errno in _ELSEWHERE:
                raise _no_folder(folder) from error
            raise

    def _write(self, path: bytes, leaf: Leaf, data: bytes) -> None:
        above, _, name = path.rpartition(b"/")
        # the compare at the end believes the stat data of what the index has: this is its look
        if oid_of("blob", data) != leaf.oid:
            raise DamagedError(f"the object {leaf.oid} is broken")
        place = self._folder(above), name
        try:
            st = self._put_at(place, leaf, data, self._modes.get(path))
        except FileNotFoundError as error:
            raise _no_folder(above) from error
        self.written[path] = (leaf, stat_of(st))

    def _put_at(self, place: _Place, leaf: Leaf, data: bytes, bits: int | None) -> os.stat_result:
        """Put a file or link at its ``place``: it is made in the git folder, or else beside it."""
        try:
            return _put((self._staging.open(b""), _STAGED), place, leaf, data, bits)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        # the git folder is on another file system
        return _put((place[0], _BESIDE), place, leaf, data, bits)

    def _make_submodule(self, path: bytes) -> None:
        """Make the folder of a submodule; what belongs in it is git's business."""
        above, _, name = path.rpartition(b"/")
        with suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=self._folder(above))
        self._folder(path)


def _put(made: _Place, place: _Place, leaf: Leaf, data: bytes, bits: int | None) -> os.stat_result:
    """Make a file or link at ``made``, rename it to its ``place``, and return its stat."""
    folder, name = made
    if leaf.mode == LINK:
        _anew(made, lambda: os.symlink(data, name, dir_fd=folder))
        _rename(made, place)
        return os.lstat(place[1], dir_fd=place[0])
    mode = 0o777 if leaf.mode == EXECUTABLE else 0o666
    handle = _anew(made, lambda: os.open(name, _NEW, mode, dir_fd=folder))
    try:
        files.write_whole(handle, data)
        if bits is not None:
            os.fchmod(handle, bits)
        _rename(made, place)
        return os.fstat(handle)  # not before: a rename changes the ctime
    finally:
        os.close(handle)


def _anew(place: _Place, make: Callable[[], _Made]) -> _Made:
    """Return what ``make`` makes at ``place``, where a killed run may have left another."""
    try:
        return make()
    except FileExistsError:
        folder, name = place
        os.unlink(name, dir_fd=folder)
        return make()


def _rename(made: _Place, place: _Place) -> None:
    (source, old), (target, new) = made, place
    try:
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)
    except IsADirectoryError:
        _remove_empty_folders(new, target)
        os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)


def _no_folder(folder: bytes) -> UnfitError:
    return UnfitError(
        f"{paths.shown(folder) or 'the checkout'} is no longer a folder",
        hint="something else writes here; stop it and type the command again",
    )


def _remove_empty_folders(name: bytes, parent: int) -> None:
    # the plan emptied it; a folder that still holds a file makes rmdir, and so the run, stop
    try:
        for _, folders, _, handle in os.fwalk(name, topdown=False, dir_fd=parent):
            for folder in folders:
                os.rmdir(folder, dir_fd=handle)
        os.rmdir(name, dir_fd=parent)
    except OSError as error:
        raise UnfitError(
            f"the folder {paths.shown(name)} is not empty",
            hint="something else writes here; stop it and type the command again",
        ) from error


def same_content(one: Leaf, other: Leaf) -> bool:
    """Say whether two files differ in the executable bit at most."""
    return one.oid == other.oid and (one.mode == LINK) == (other.mode == LINK)


def stat_of(st: os.stat_result) -> Stat:
    """Return stat data as an index entry keeps them."""
    ctime, mtime = divmod(st.st_ctime_ns, 10**9), divmod(st.st_mtime_ns, 10**9)
    return Stat(ctime, mtime, st.st_dev, st.st_ino, st.st_uid, st.st_gid, st.st_size)
