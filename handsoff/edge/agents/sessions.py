"""Sessions of agents as they lie on this disk, and how little of a file is read to know one.

Files of agents are other people's words: odd, torn, huge or hostile ones are passed over and never
raise. Of a transcript only its first and last 64 KiB are read, of Codex at most its first MiB.
Links below an agent's home are not followed, apart from the folders that hold everything.
"""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Final

from handsoff.core.transcripts import sessions as rules
from handsoff.edge.processes import Process

WINDOW: Final = 64 << 10
"""Bytes that are read of each end of a transcript."""
FRESH: Final = timedelta(seconds=5)
"""Changed within this time, a session is taken for one that goes on."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its transcript, and what belongs to it."""

    agent: str
    id: str
    home: Path
    """The home of its agent, below which all its files lie."""
    main: Path
    files: tuple[Path, ...]
    """Absolute paths, the transcript first."""
    size: int
    """Of all its files together."""
    modified: float
    """When the transcript was last written."""
    prompt: str
    """What was asked first, as one safe line; "" if that is not told."""
    version: str
    """The release of the agent that wrote it."""
    cwd: str
    """The folder that it works in, by its own words; "" where they could not be read."""
    live: Process | None = None
    """The agent that has it open now, as far as that is known."""
    fresh: bool = False
    """Whether it was written to within the last seconds."""

    @property
    def goes_on(self) -> bool:
        """Whether an agent is at work in it."""
        return self.live is not None or self.fresh

    @property
    def compressed(self) -> bool:
        """Whether its transcript lies there compressed."""
        return self.main.suffix == ".zst"

    def name(self, file: Path) -> str:
        """Return the name of one of its files below the agent's home, with slashes."""
        return file.relative_to(self.home).as_posix()


@dataclass(frozen=True, slots=True)
class Live:
    """An agent that is at work in a checkout now."""

    agent: str
    id: str = ""
    """The session, "" if that is not told."""
    process: Process | None = None
    """None where only a transcript tells that somebody writes it."""
    cwd: str = ""
    status: str = ""
    """How the agent itself calls what it does, as one safe line."""
    here: bool = True
    """Whether the process works in this checkout and in none beside it, as far as it tells."""


@dataclass(frozen=True)
class Place:
    """A checkout, as sessions may name it."""

    top: Path
    spellings: tuple[str, ...]
    everywhere: bool = False
    """Every folder of this machine, whosever it is, and what names no folder."""

    def holds(self, cwd: str) -> bool:
        """Say whether ``cwd`` is in this checkout, and in no other that lies within it."""
        if self.everywhere:
            return True
        tail = rules.tail_below(cwd, self.spellings)
        if not tail:
            return tail == ""
        folder = self.top
        for name in tail.split("/"):
            folder /= name
            try:
                if os.path.lexists(folder / ".git"):
                    return False
            except (OSError, ValueError):
                return False
        return True

    def may_hold(self, project: str) -> bool:
        """Say whether a project folder of this name may have sessions of this checkout in it."""
        return self.everywhere or rules.may_hold(project, self.spellings)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that a project folder of its top has."""
        return frozenset(map(rules.project_name, self.spellings))


def place_of(top: Path | None, spellings: Collection[str] = ()) -> Place:
    """Return the checkout at ``top``, by all the names that are known of it; None is everywhere."""
    if top is None:
        return Place(Path("/"), (), everywhere=True)
    real = os.path.realpath(top)
    return Place(Path(top), tuple(dict.fromkeys([real, str(top), *spellings])))


def changed(path: Path, now: float) -> bool:
    """Say whether a file was written to a moment ago."""
    with suppress(OSError):
        return _just(path.lstat().st_mtime, now)
    return False


def _just(modified: float, now: float) -> bool:
    # not before and not after: a clock that was wrong tells nothing
    return abs(now - modified) < FRESH.total_seconds()


def regular(path: Path) -> os.stat_result | None:
    """Return what is told of a regular file, None for whatever else it is."""
    try:
        told = path.lstat()
    except (OSError, ValueError):
        return None
    return told if stat.S_ISREG(told.st_mode) else None


def head_of(path: Path, most: int = WINDOW) -> bytes:
    """Return the first bytes of a regular file; none if they cannot be had."""
    return _part(path, 0, most)


def tail_of(path: Path, most: int = WINDOW) -> bytes:
    """Return the last whole lines of a regular file; none if they cannot be had."""
    told = regular(path)
    if told is None:
        return b""
    start = max(told.st_size - most, 0)
    part = _part(path, start, most)
    return part.partition(b"\n")[2] if start else part


def _part(path: Path, start: int, most: int) -> bytes:
    # a pipe in the place of a file would wait for ever, and a link may lead anywhere
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        return os.pread(handle, most, start)
    except OSError:
        return b""
    finally:
        os.close(handle)


def folders(path: Path) -> list[Path]:
    """Return the folders in ``path``, without links, in order of their names."""
    with suppress(OSError), os.scandir(path) as found:
        return sorted(path / item.name for item in found if item.is_dir(follow_symlinks=False))
    return []


def files_in(path: Path) -> list[Path]:
    """Return the regular files in ``path`` itself, in order of their names."""
    with suppress(OSError), os.scandir(path) as found:
        return sorted(path / item.name for item in found if item.is_file(follow_symlinks=False))
    return []


def files_below(path: Path, since: float | None = None) -> Iterator[Path]:
    """Yield the regular files anywhere below ``path``, in order; no link below it is followed.

    ``since`` picks those that were written to a moment before it.
    """
    waiting = [str(path)]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as found:
                items = sorted(found, key=lambda item: item.name)
        except OSError:
            continue
        below = []
        for item in items:
            with suppress(OSError):
                if item.is_dir(follow_symlinks=False):
                    below.append(item.path)
                elif item.is_file(follow_symlinks=False) and (
                    since is None or _just(item.stat(follow_symlinks=False).st_mtime, since)
                ):
                    yield Path(item.path)
        waiting += reversed(below)


def size_of(files: Collection[Path]) -> int:
    """Return how many bytes these files have together."""
    return sum(told.st_size for file in files if (told := regular(file)))
