"""Files of agents, read as far as they had grown, and written so that no link is followed.

A folder below the agent's own is opened step by step (see ``git/inside.py``). The agent's own and
the first below it, such as ``projects``, may be links of the user's, who has them on another disk
or among dotfiles; but none that lies in the checkout, where a parcel may have put it. Each file is
the old one or the new one at any moment: it is made beside its place, synced, and renamed.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from handsoff.core.transcripts.sessions import BESIDE
from handsoff.edge import files
from handsoff.edge.git.inside import Inside
from handsoff.edge.steps import step
from handsoff.errors import UnfitError, reason

CHUNK: Final = 1 << 20
ANYTHING: Final = -1
"""The length of a file that may be replaced, whatever it is."""
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MADE: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_A_FOLDER: Final = "put a folder in its place"


class ShrunkError(UnfitError):
    """A file is no longer as long as it was. Next: look again."""


class Extent:
    """A file as it was when it was looked at: from then on it may grow, and no more is read."""

    def __init__(self, path: Path, *, lines: bool, live: bool) -> None:
        """Look at ``path``; of ``lines`` that somebody may be writing, whole ones are read only."""
        with _opened(path) as handle:
            found = os.fstat(handle)
            self.path = path
            self.mtime = max(0, int(found.st_mtime))
            whole = lines and live
            self.size = _last_line(handle, found.st_size) if whole else found.st_size

    def read(self) -> Iterator[bytes]:
        """Yield the file in chunks; ShrunkError if it has less than it had."""
        left = self.size
        with _opened(self.path) as handle:
            while left:
                chunk = os.read(handle, min(CHUNK, left))
                if not chunk:
                    raise ShrunkError(
                        f"{self.path} was cut short while it was read", hint="type it again"
                    )
                left -= len(chunk)
                yield chunk


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        handle = os.open(path, _READ)
    except OSError as error:
        raise ShrunkError(f"cannot read {path}: {reason(error)}", hint="type it again") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnfitError(f"{path} is no file", hint="leave the transcript out")
        yield handle
    finally:
        os.close(handle)


def _last_line(handle: int, size: int) -> int:
    """Return where the last whole line ends."""
    end = size
    while end:
        start = max(0, end - CHUNK)
        at = os.pread(handle, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


class Folder:
    """An agent's folder, or one that is ours: files of it read and written by their names."""

    def __init__(self, top: Path, *, checkout: Path | None = None) -> None:
        """``checkout`` is that of the work, for a folder of an agent; in ours nothing is a link."""
        self.top = top
        self._checkout = checkout

    def size(self, name: str) -> int | None:
        """Return how long a file is, None if nothing stands there; OSError if what does is none."""
        with self._above(name, make=False) as above:
            if above is None:
                return None
            try:
                found = os.lstat(_last(name), dir_fd=above)
            except FileNotFoundError:
                return None
            if not stat.S_ISREG(found.st_mode):
                raise OSError(f"{name} is no file")
            return found.st_size

    def read(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield a file in chunks, from ``start`` to ``end``."""
        with self._above(name, make=False) as above:
            if above is None:
                return
            handle = os.open(_last(name), _READ, dir_fd=above)
        try:
            at = start
            while end is None or at < end:
                chunk = os.pread(handle, CHUNK if end is None else min(CHUNK, end - at), at)
                if not chunk:
                    return
                at += len(chunk)
                yield chunk
        finally:
            os.close(handle)

    def write(
        self, name: str, chunks: Iterable[bytes], mtime: int, *, stood: int | None = ANYTHING
    ) -> None:
        """Put ``chunks`` in the place of a file, whole and durable, for this user alone.

        OSError if what is there is not as long as it was said to have ``stood``; None: nothing
        may be there.
        """
        last = _last(name)
        beside = f".{os.fsdecode(os.fsencode(last)[:200])}{BESIDE}"
        with self._above(name, make=True) as above:
            assert above is not None
            with suppress(FileNotFoundError):  # what a killed run left, whatever it is
                os.unlink(beside, dir_fd=above)
            handle = os.open(beside, _MADE | os.O_EXCL, 0o600, dir_fd=above)
            try:
                with os.fdopen(handle, "wb", closefd=True) as file:
                    for chunk in chunks:
                        file.write(chunk)
                    file.flush()
                    os.utime(file.fileno(), (mtime, mtime))
                    os.fsync(file.fileno())
                step("install.file.before")
                _check_stands(last, above, stood)
                os.rename(beside, last, src_dir_fd=above, dst_dir_fd=above)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=above)
                raise
            os.fsync(above)
            step("install.file.after")

    @contextmanager
    def _above(self, name: str, *, make: bool) -> Iterator[int | None]:
        """Give a handle of the folder of ``name``, None if there is none and none is made."""
        self._check_way(self.top)
        if make:
            self.top.mkdir(mode=0o700, parents=True, exist_ok=True)
        inside = Inside(os.fsencode(self.top))
        try:
            handle = os.dup(inside.open(b""))
        except FileNotFoundError:
            yield None
            return
        finally:
            inside.close()
        try:
            parts = name.split("/")[:-1]
            for depth, part in enumerate(parts):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=handle)
                try:
                    below = self._open(parts[: depth + 1], handle)
                except FileNotFoundError:
                    yield None
                    return
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)

    def _open(self, parts: list[str], above: int) -> int:
        """Return a handle of the folder that the last of ``parts`` names."""
        name, place = parts[-1], self.top.joinpath(*parts)
        found = os.lstat(name, dir_fd=above)
        if not stat.S_ISLNK(found.st_mode):
            return os.open(name, _FOLDER, dir_fd=above)
        if len(parts) > 1 or self._checkout is None:
            raise UnfitError(f"{place} is a link, and none is followed there", hint=_A_FOLDER)
        if found.st_uid not in (0, os.geteuid()):
            raise UnfitError(f"{place} is a link of another user", hint=_A_FOLDER)
        self._check_way(place)
        try:
            return os.open(name, _FOLDER & ~os.O_NOFOLLOW, dir_fd=above)
        except OSError as error:
            said = f"{place} is a link that leads to no folder"
            raise UnfitError(said, hint=_A_FOLDER) from error

    def _check_way(self, place: Path) -> None:
        link = files.link_inside(place, self._checkout) if self._checkout else None
        if link is not None:
            raise UnfitError(
                f"{place} leads through a link in the checkout: {link}", hint=_A_FOLDER
            )


def _check_stands(name: str, above: int, size: int | None) -> None:
    try:
        stands = os.lstat(name, dir_fd=above).st_size
    except FileNotFoundError:
        stands = None
    if size not in (ANYTHING, stands):
        raise OSError(0, f"{name} was written to meanwhile")


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]
