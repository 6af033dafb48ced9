"""A walk of the folders of a checkout, for what git has no word for."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Walked:
    """What only a walk of the folders can tell."""

    special: dict[bytes, str] = field(default_factory=dict)
    empty: list[bytes] = field(default_factory=list)
    unreadable: list[bytes] = field(default_factory=list)
    inner: list[bytes] = field(default_factory=list)
    """Folders that have a .git in them, whatever git makes of it."""
    linked: dict[tuple[int, int], set[bytes]] = field(default_factory=dict)
    """Files that have several names, by device and inode, with those of the names that travel."""


def walk_folders(top: Path) -> Walked:
    """Walk all folders but git's own and those with a .git in them, and note what is there."""
    found = Walked()
    _walk(top, found, [b""], lambda _: False)
    return found


def walk_on(top: Path, found: Walked, is_plain: Callable[[bytes], bool]) -> None:
    """Walk the folders with a .git that git looks into as into any other, and note it as well.

    It takes the .git for none, or has files in that folder already.
    """
    plain = [folder for folder in found.inner if is_plain(folder)]
    found.inner = [folder for folder in found.inner if folder not in plain]
    _walk(top, found, plain, is_plain)


def _walk(
    top: Path, found: Walked, pending: list[bytes], is_plain: Callable[[bytes], bool]
) -> None:
    root = os.fsencode(top)
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(root + b"/" + folder) as entries:
                names = list(entries)
            # of one that lists its names only, git takes the files for unchanged: it cannot ask
            os.lstat(root + b"/" + folder + b"/.")
        except PermissionError:
            found.unreadable.append(folder)
            continue
        except FileNotFoundError:
            continue
        if not names and folder:
            found.empty.append(folder)
        if folder and any(entry.name == b".git" for entry in names):
            found.inner.append(folder)
            if not is_plain(folder):
                continue  # a repository of its own; git names it where it counts
        pending += _note_entries(found, folder, names)


def _note_entries(
    found: Walked, folder: bytes, names: list["os.DirEntry[bytes]"]
) -> Iterator[bytes]:
    for entry in names:
        path = folder + b"/" + entry.name if folder else entry.name
        if entry.name == b".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield path
        elif not (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
            mode = entry.stat(follow_symlinks=False).st_mode
            found.special[path] = _kind(mode)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a FIFO"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
