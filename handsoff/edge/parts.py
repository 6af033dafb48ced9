"""Parcels on their way in: what has come of each so far, written by one connection at a time.

    HANDSOFF_HOME/incoming/<machine>.<parcel>.<digest>.part
    HANDSOFF_HOME/incoming/<parcel>.part    what comes from the shared remote

A part belongs to the machine that it comes from and to the very bytes that were offered (the first
16 digits of their SHA-256), so nobody can write into what another sends. Bytes go to the system at
once: a listener that is killed loses none of them. A power cut may; the digest at the end tells.
What comes from the remote always comes anew. Of a parcel that is in the inbox no part stays.
"""

import errno
import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

from handsoff.core.ids import is_machine_id, is_parcel_id
from handsoff.edge import clock, files
from handsoff.errors import UnfitError

KEPT: Final = 3 * 86400.0
"""Seconds after which a part that nothing was added to is thrown away."""

_TICK: Final = timedelta(milliseconds=50)
_ENDING: Final = ".part"


class Part:
    """What has come of one parcel, held by this connection."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    @property
    def size(self) -> int:
        """How many bytes are here."""
        return os.fstat(self._handle).st_size

    def write(self, data: bytes) -> None:
        """Add ``data`` at the end."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._handle, view) :]

    def empty(self) -> None:
        """Begin anew."""
        os.ftruncate(self._handle, 0)

    def remove(self) -> None:
        """Throw the part away; nobody who waits for it takes it for theirs."""
        self.path.unlink(missing_ok=True)

    @classmethod
    def hold(cls, path: Path) -> Self | None:
        """Return the part at ``path``, made if there is none; None if another writes it."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            handle = os.open(path, flags, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), path.lstat()):
                        return cls(path, handle)
            except OSError as error:
                os.close(handle)
                if error.errno in (errno.EAGAIN, errno.EACCES):
                    return None
                raise
            os.close(handle)  # whoever had it before has ended it, and removed it

    def let_go(self) -> None:
        """Let others go on with it."""
        files.unlock(self._handle)
        os.close(self._handle)


@contextmanager
def part_of(
    incoming: Path, machine: str, parcel: str, sha256: str, *, wait: float
) -> Iterator[Part]:
    """Give what has come of a parcel from ``machine``; nobody else has it meanwhile.

    Where another connection of that machine still writes it, ``wait`` seconds at most are waited.
    """
    assert is_machine_id(machine), machine
    assert is_parcel_id(parcel), parcel
    with _held(incoming / f"{machine}.{parcel}.{sha256[:16]}{_ENDING}", wait) as part:
        yield part


@contextmanager
def part_from_remote(incoming: Path, parcel: str, *, wait: float) -> Iterator[Part]:
    """Give an empty part for a parcel from the shared remote; it is gone after the block."""
    assert is_parcel_id(parcel), parcel
    with _held(incoming / f"{parcel}{_ENDING}", wait) as part:
        part.empty()
        try:
            yield part
        finally:
            part.empty()


@contextmanager
def _held(path: Path, wait: float) -> Iterator[Part]:
    until = clock.monotonic() + wait
    with files.saying("cannot keep the parcel"):
        while (part := Part.hold(path)) is None:
            if clock.monotonic() > until:
                raise UnfitError(
                    "another connection is bringing this parcel", hint="let it end, or try again"
                )
            clock.sleep(_TICK)
    try:
        yield part
    finally:
        if part.path.exists() and not part.size:
            part.remove()
        part.let_go()


def sizes(incoming: Path) -> dict[str, tuple[str, int]]:
    """Return, by the name of each part, whom it comes from and how many bytes are here."""
    return {name: (name.partition(".")[0], told.st_size) for name, told in _told(incoming).items()}


def oldest(incoming: Path) -> float:
    """Return for how many seconds nothing was added to the part that rests for longest."""
    now = clock.now().timestamp()
    return max((now - told.st_mtime for told in _told(incoming).values()), default=0.0)


def _told(incoming: Path) -> dict[str, os.stat_result]:
    found = {}
    for path in incoming.glob(f"*{_ENDING}"):
        with suppress(FileNotFoundError):
            found[path.name] = path.lstat()
    return found


def leave(incoming: Path, machine: str, count: int, *, besides: Collection[str]) -> None:
    """Throw away all but the newest ``count`` parts of ``machine``; held ones stay."""
    there = []
    for path in incoming.glob(f"{machine}.*{_ENDING}"):
        with suppress(FileNotFoundError):  # its transfer ended just now
            if path.name not in besides:
                there.append((path.lstat().st_mtime, path))
    for _, path in sorted(there, reverse=True)[count:]:
        _throw_away(path)


def forget(incoming: Path, parcel: str) -> None:
    """Throw away all parts of a parcel, whoever they come from; held ones stay."""
    assert is_parcel_id(parcel), parcel
    for path in [incoming / f"{parcel}{_ENDING}", *incoming.glob(f"*.{parcel}.*{_ENDING}")]:
        if path.exists():
            _throw_away(path)


def sweep(incoming: Path, *, older_than: float = KEPT) -> None:
    """Throw away parts that nothing was added to for so many seconds; held ones stay."""
    now = clock.now().timestamp()
    for path in incoming.glob(f"*{_ENDING}"):
        with suppress(OSError):
            if now - path.lstat().st_mtime >= older_than:
                _throw_away(path)


def _throw_away(path: Path) -> None:
    with suppress(OSError):
        if not path.is_symlink() and (part := Part.hold(path)) is not None:
            part.remove()
            part.let_go()
