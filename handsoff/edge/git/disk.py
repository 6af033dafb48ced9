"""Files of a worktree as blobs: read raw, hashed by us, never through a filter of git.

No stat cache is believed here, so no edit within one second and no hidden flag can lose a byte.
A path below a link is not there: what the link leads to is somebody else's.
"""

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from handsoff.core.checkout import paths
from handsoff.core.checkout.trees import Leaf
from handsoff.core.objects import EXECUTABLE, FILE, LINK, begun_oid, oid_of
from handsoff.errors import RefusedError, UnfitError

_PIECE: Final = 1 << 20


class Signature(NamedTuple):
    """What changes whenever a file does: inode, size, and both times in nanoseconds."""

    inode: int
    size: int
    mtime: int
    ctime: int


class Content(NamedTuple):
    """One file or link as it was read."""

    path: bytes
    mode: int
    data: bytes
    signature: Signature
    links: int


def signature_of(st: os.stat_result) -> Signature:
    """Return the signature of a file from its stat data."""
    return Signature(st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns)


def leaf_of(content: Content) -> Leaf:
    """Return the leaf of a file that was read."""
    return Leaf(content.mode, oid_of("blob", content.data))


class Worktree:
    """The files below one folder, by relative bytes paths."""

    def __init__(self, top: Path) -> None:
        self._top = os.fsencode(top)
        self._plain: dict[bytes, bool] = {b"": True}

    def full(self, path: bytes) -> bytes:
        """Return the absolute path."""
        return self._top + b"/" + path

    def stat(self, path: bytes) -> os.stat_result | None:
        """Return the stat data of what stands at ``path`` itself, or None if nothing does."""
        if not self.has_folder(path.rpartition(b"/")[0]):
            return None
        try:
            return os.lstat(self.full(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(path, error) from error

    def has_folder(self, path: bytes) -> bool:
        """Say whether there is a folder at ``path`` ("" is the top), and no link on the way."""
        known = self._plain.get(path)
        if known is None:
            known = self.has_folder(path.rpartition(b"/")[0])
            if known:
                try:
                    known = stat.S_ISDIR(os.lstat(self.full(path)).st_mode)
                except (FileNotFoundError, NotADirectoryError):
                    known = False
            self._plain[path] = known
        return known

    def read(self, path: bytes, limit: int | None = None) -> Content | None:
        """Return the file or link at ``path``; None if there is neither.

        RefusedError when it cannot be read; when it is over ``limit`` bytes, its content is left
        empty and its signature says the size. UnfitError when it changes while it is read.
        """
        st = self.stat(path)
        if st is None:
            return None
        if stat.S_ISLNK(st.st_mode):
            data = os.readlink(self.full(path))
            return Content(path, LINK, data, signature_of(st), 1)
        if not stat.S_ISREG(st.st_mode):
            return None
        mode = EXECUTABLE if st.st_mode & stat.S_IXUSR else FILE
        if limit is not None and st.st_size > limit:
            return Content(path, mode, b"", signature_of(st), st.st_nlink)
        return self._read_file(path, mode, st)

    def oid(self, path: bytes) -> str:
        """Return the id that the file at ``path`` has as a blob, a piece in memory at a time.

        RefusedError when it cannot be read.
        """
        handle = self._open(path)
        try:
            digest = begun_oid("blob", os.fstat(handle).st_size)
            while piece := os.read(handle, _PIECE):
                digest.update(piece)
        except (BlockingIOError, IsADirectoryError) as error:
            raise ChangedError(path) from error
        finally:
            os.close(handle)
        return digest.hexdigest()

    def _open(self, path: bytes) -> int:
        try:
            # O_NONBLOCK: should a FIFO have taken the file's place, opening it must not hang
            return os.open(self.full(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise _unreadable(path, error) from error

    def _read_file(self, path: bytes, mode: int, before: os.stat_result) -> Content:
        handle = self._open(path)
        try:
            data = _read_whole(handle, before.st_size)
            after = os.fstat(handle)
        except (BlockingIOError, IsADirectoryError) as error:
            raise ChangedError(path) from error
        finally:
            os.close(handle)
        signature = signature_of(after)
        is_same = signature == signature_of(before) and after.st_mode == before.st_mode
        if not is_same or len(data) != after.st_size:
            raise ChangedError(path)
        return Content(path, mode, data, signature, after.st_nlink)


def _unreadable(path: bytes, error: OSError) -> RefusedError:
    return RefusedError(
        f"{paths.shown(path)} cannot be read: {(error.strerror or 'unknown').lower()}",
        hint="make it readable, or move it out of the checkout",
    )


class ChangedError(UnfitError):
    """A file changed while it was read."""

    def __init__(self, *changed: bytes) -> None:
        names = ", ".join(paths.shown(p) for p in changed[:5])
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""  # noqa: PLR2004
        super().__init__(
            f"files change while they are read: {names}{more}",
            hint="stop what writes them (an agent, a build), then send again",
        )


def _read_whole(handle: int, size: int) -> bytes:
    """Return what is in a file of ``size`` bytes, and one byte more, no further, if it grew."""
    data = os.read(handle, size + 1)
    if len(data) in (0, size):
        return data
    pieces = [data]
    left = size + 1 - len(data)
    while piece := os.read(handle, left):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
