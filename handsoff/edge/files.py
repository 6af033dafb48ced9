"""Files of our own: written whole or not at all, readable by their owner only."""

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from handsoff.edge.steps import step
from handsoff.errors import DamagedError, HandsoffError, UnfitError, reason

_BESIDE: Final = ".handsoff-new"
_FIT: Final = "check that the place is there, is yours, and has room"
_LINKS: Final = 40
"""Links on the way to one file that the system follows."""


def ensure_folder(path: Path) -> Path:
    """Make ``path`` and its parents, private to this user; a link in its place is refused."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UnfitError(
            f"{path} is no folder", hint="handsoff keeps its files in a real folder"
        ) from error
    except PermissionError as error:
        raise UnfitError(f"{path} cannot be used: {reason(error)}", hint=_FIT) from error
    if path.is_symlink():
        raise UnfitError(f"{path} is a link", hint="handsoff keeps its files in a real folder")
    return path


def sync_folder(path: Path) -> None:
    """Make a rename in ``path`` last through a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_filesystem(path: Path) -> None:
    """Make all that was written below ``path`` last: one call, not one for each file."""
    import ctypes  # noqa: PLC0415 - 10 ms that pre-push need not pay

    syncfs = getattr(ctypes.CDLL(None), "syncfs", None)
    if syncfs is None:  # not Linux: everything, then
        os.sync()
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        syncfs(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Give a file to write; when the block ends well, it takes the place of ``path`` durably.

    What killed runs left beside it goes.
    """
    sweep(path.parent)
    handle, name = _beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            step("file.replace.before")
            Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def unlock(handle: int | IO[bytes]) -> None:
    """Give up a lock on an open file at once: closing it alone may leave the lock for a moment.

    A child that another thread has just begun holds a copy of every open file until it has become
    another program, and the lock lasts as long as any copy (flock(2)).
    """
    import fcntl  # noqa: PLC0415 - POSIX only, and said so in README

    fcntl.flock(handle, fcntl.LOCK_UN)


def _beside(path: Path) -> tuple[int, str]:
    """Make the file that will take the place of ``path``, locked as long as it is open."""
    import fcntl  # noqa: PLC0415 - as above

    while True:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_BESIDE, dir=path.parent)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():  # else somebody swept before it was locked
            return handle, name
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what killed runs left half written in ``folder``; what is being written stays.

    Others may write into the folder too: a pipe of theirs would keep us waiting, and what is not
    ours is not for us to remove.
    """
    import fcntl  # noqa: PLC0415 - as above

    for left in folder.glob(f".*{_BESIDE}"):
        with suppress(OSError):
            handle = os.open(left, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                found = os.fstat(handle)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.unlink()
            finally:
                os.close(handle)


def write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Put ``data`` at ``path``, whole and durable."""
    with saying(f"cannot write {path}"), replacing(path, mode) as file:
        file.write(data)


def write_whole(handle: int, data: bytes) -> None:
    """Write all of ``data``; one call of the system, as a rule."""
    done = os.write(handle, data)
    while done < len(data):
        done += os.write(handle, memoryview(data)[done:])


def write_json(path: Path, value: Any) -> None:
    """Put ``value`` at ``path`` as JSON."""
    write(path, json.dumps(value, sort_keys=True).encode("ascii") + b"\n")


def read_json(path: Path) -> Any:
    """Return the JSON object that ``path`` holds, or None if there is no such file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:  # root's, after a sudo; a folder
        raise UnfitError(
            f"{path} cannot be read: {reason(error)}",
            hint="it has to be a file that is yours: ls -ld shows what it is, chown makes it yours",
        ) from error
    except ValueError as error:
        raise DamagedError(f"{path} is not JSON", hint="restore or remove it") from error
    if not isinstance(value, dict):
        raise DamagedError(f"{path} is no JSON object", hint="restore or remove it")
    return value


@contextmanager
def saying(what: str) -> Iterator[None]:
    """Turn an error of the operating system into ours, which names what was being done."""
    try:
        yield
    except HandsoffError:
        raise
    except OSError as error:
        raise UnfitError(
            f"{what}: {reason(error)}",
            hint=_FIT,
        ) from error


def link_inside(path: Path, folder: Path) -> Path | None:
    """Return the first link on the way to ``path`` that lies in ``folder``, None if none does."""
    within = Path(os.path.realpath(folder))
    path = path.absolute()
    at, waiting, seen = Path(path.anchor), [*path.parts[:0:-1]], 0
    while waiting:
        name = waiting.pop()
        at = at.parent if name == ".." else at / name
        if not at.is_symlink():
            continue
        seen += 1
        if at.is_relative_to(within):
            return at
        if seen > _LINKS:
            return None  # a circle, which nobody can open
        leads = at.readlink()
        waiting += reversed(leads.parts[1:] if leads.is_absolute() else leads.parts)
        at = Path(leads.anchor) if leads.is_absolute() else at.parent
    return None
