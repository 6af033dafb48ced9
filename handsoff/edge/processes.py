"""Processes of this machine: told apart by their start, and asked to end.

A pid is used again after its process has ended. What stays is the pair of pid and start time, so
a process is looked at by both before each signal, and signalled through a pidfd, which keeps
meaning the one that was looked at. Where the system tells no start time nothing is signalled.

Source: proc_pid_stat(5): field 4 is the parent, field 22 the start in clock ticks since boot;
pidfd_open(2), pidfd_send_signal(2). All of it is Linux's.
"""

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_STATE, _PARENT, _START = 0, 1, 19
"""Fields 3, 4 and 22 of ``stat``, counted from what follows the name in brackets."""
_DEAD: Final = frozenset("ZX")
PATIENCE: Final = timedelta(seconds=5)
"""How long a process has after each signal."""


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """One process: its pid, and its start in clock ticks since the system came up."""

    pid: int
    started: int


class Ending(Enum):
    """What came of asking a process to end."""

    GONE = "gone"
    """It had ended before it was asked."""
    ENDED = "ended"
    """It ended after SIGINT."""
    TERMINATED = "terminated"
    """It ended after SIGTERM."""
    STAYS = "stays"
    """It is still there."""
    REFUSED = "refused"
    """It is not ours to signal, or its start cannot be checked here."""


def process_of(pid: int) -> Process | None:
    """Return the process that has ``pid`` now, None if there is none that lives."""
    fields = _stat(pid)
    return None if fields is None else Process(pid, int(fields[_START]))


def is_alive(process: Process) -> bool:
    """Say whether this very process is there, and not only its pid."""
    return process_of(process.pid) == process


def ancestors() -> Iterator[Process]:
    """Yield the processes in which this one runs, from its parent up."""
    pid, seen = os.getppid(), set[int]()
    while pid > 0 and pid not in seen:
        seen.add(pid)
        fields = _stat(pid)
        if fields is None:
            return
        yield Process(pid, int(fields[_START]))
        pid = int(fields[_PARENT])


def ask_to_end(
    process: Process,
    *,
    patience: timedelta = PATIENCE,
    tell: Callable[[str], None] = lambda _: None,
) -> Ending:
    """Send SIGINT, and SIGTERM if that is not enough; return once it ended, or did not.

    ``tell`` is told each signal before it is sent.
    """
    if process.pid <= 1 or process.pid == os.getpid():
        return Ending.REFUSED
    if not hasattr(os, "pidfd_open") or not (_PROC / "self" / "stat").exists():
        return Ending.REFUSED
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return Ending.GONE
    except OSError:
        return Ending.REFUSED
    try:
        return _end(process, handle, patience, tell)
    finally:
        os.close(handle)


def _end(process: Process, handle: int, patience: timedelta, tell: Callable[[str], None]) -> Ending:
    asked = ((signal.SIGINT, Ending.ENDED), (signal.SIGTERM, Ending.TERMINATED))
    for number, then in asked:
        # looked at after the handle was opened: if it is the one now, the handle means it
        if not is_alive(process):
            return Ending.GONE if number is signal.SIGINT else Ending.ENDED
        if not is_ours(process):
            return Ending.REFUSED
        tell(number.name)
        try:
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return then
        except OSError:
            return Ending.REFUSED
        if _ends(handle, patience):
            return then
    return Ending.STAYS


def _ends(handle: int, patience: timedelta) -> bool:
    """Wait for the end of the process that ``handle`` means; it can be read once that is so."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(int(patience.total_seconds() * 1000)))


def is_ours(process: Process) -> bool:
    """Say whether the process runs as this very user."""
    try:
        return (_PROC / str(process.pid)).stat().st_uid == os.geteuid()
    except OSError:
        return False


def named(prefix: str) -> Iterator[Process]:
    """Yield this user's processes whose name begins with ``prefix``."""
    try:
        pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return
    for pid in pids:
        with suppress(OSError):
            name = (_PROC / str(pid) / "comm").read_text("utf-8", "replace")
            if pid != os.getpid() and name.startswith(prefix):
                process = process_of(pid)
                if process is not None and is_ours(process):
                    yield process


def folder_of(process: Process) -> str:
    """Return the working folder of a process, "" if that is not told."""
    try:
        return os.readlink(_PROC / str(process.pid) / "cwd")  # noqa: PTH115 - any bytes
    except OSError:
        return ""


def opened_by(process: Process) -> list[str]:
    """Return the paths of what a process has open."""
    found = []
    with suppress(OSError):
        for descriptor in os.scandir(_PROC / str(process.pid) / "fd"):
            with suppress(OSError):
                found.append(os.readlink(descriptor.path))  # noqa: PTH115
    return found


def _stat(pid: int) -> list[str] | None:
    """Return what follows the name in ``stat``; None if no such process lives."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # a name may have brackets and blanks in it
    whole = len(fields) > _START and fields[_STATE] not in _DEAD
    return fields if whole and fields[_START].isdigit() else None
