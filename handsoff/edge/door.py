"""The one listener of a machine: who it is, where, and since when.

HANDSOFF_HOME/
  listener.lock   held as long as a listener runs; the system lets go of it with the process
  listener.json   its pid, address and start; counts only while the lock is held
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Final

from handsoff.core.times import moment
from handsoff.core.works.entry import time_of
from handsoff.edge import clock, files
from handsoff.errors import DamagedError, RefusedError

_LOCK: Final = "listener.lock"
_NOTE: Final = "listener.json"
_TRIES: Final = 4
_PAUSE: Final = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class Running:
    """A listener that runs; ``started`` is a time, ``address`` HOST:PORT."""

    pid: int
    address: str
    started: int


def running(home: Path) -> Running | None:
    """Return the listener of the machine at ``home``, None if there is none that runs."""
    try:
        with (home / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            files.unlock(lock)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return noted(home)
    return None


def noted(home: Path) -> Running | None:
    """Return what the last listener said of itself, whether it runs or was killed."""
    try:
        kept = files.read_json(home / _NOTE)
        return Running(int(kept["pid"]), str(kept["address"]), int(kept["started"]))
    except (DamagedError, KeyError, TypeError, ValueError):
        return None  # it has not come to that yet


@contextmanager
def only_listener(home: Path) -> Iterator[Callable[[str], None]]:
    """Be the listener of this machine; RefusedError that names the one that is.

    Gives a function to note the address with, once it is known.
    """
    with (home / _LOCK).open("ab") as lock:
        (home / _LOCK).chmod(0o600)
        _take(lock, home)
        (home / _NOTE).unlink(missing_ok=True)  # of one that was killed

        def note(address: str) -> None:
            now = int(clock.now().timestamp())
            files.write_json(home / _NOTE, asdict(Running(os.getpid(), address, now)))

        try:
            yield note
        finally:
            (home / _NOTE).unlink(missing_ok=True)
            files.unlock(lock)


def _take(lock: IO[bytes], home: Path) -> None:
    for tries in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tries + 1 < _TRIES:  # whoever looks whether one runs has the lock for a moment
                clock.sleep(_PAUSE)
        else:
            return
    other = noted(home)
    who = f"process {other.pid} at {other.address}" if other else "another process"
    since = f", since {moment(time_of(other.started))}" if other else ""
    raise RefusedError(
        f"a listener of this machine runs already: {who}{since}",
        hint=f"use that one, or stop it first: kill {other.pid}" if other else "use that one",
    )
