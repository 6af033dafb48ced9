"""Where HEAD, the branches and the stash stand, read from the files in which git keeps them.

They are asked for several times in each command, and what must be fresh stays so: a file is read
when it is asked for. What is not as plain as git writes it (refs in another format, links, names
that lead to names, tags, what a worktree has for itself) is ``UNCLEAR``, and git is asked.
``place.py`` reads HEAD as well, for hooks: those import next to nothing, and ask git nothing.

Sources: gitrepository-layout(5), git-pack-refs(1), git's refs/files-backend.c: a loose ref counts
before a packed one, and goes only after it was packed, so they are read in that order.
"""

import os
import re
from pathlib import Path
from typing import Final

UNCLEAR: Final = "?"
"""No answer: git has to be asked."""

_LOOSE: Final = re.compile(rb"([0-9a-f]{40})\n")
_NAMED: Final = re.compile(rb"ref: (refs/heads/[^\n\r\0]+)\n")
_SHARED: Final = re.compile(r"refs/(?:stash|heads/[^\n\r\0]+|remotes/[^\n\r\0]+)")
_ODD: Final = re.compile(r"(?:^|/)(?:\.|/|$)")
"""Names that no ref has; some lead out of the folder of refs."""
_ELSEWHERE: Final = b"ref: refs/heads/.invalid\n"
"""HEAD of a clone whose refs are not files."""


def head(git_dir: Path, common_dir: Path) -> tuple[str | None, str | None]:
    """Return the ref that HEAD names (None: it is detached) and its commit (None: unborn)."""
    data = _read(git_dir, "HEAD")
    if found := _LOOSE.fullmatch(data or b""):
        return None, found[1].decode()
    named = _NAMED.fullmatch(data or b"")
    name = named[1].decode("utf-8", "surrogateescape") if named else ""
    commit = tip(common_dir, name)
    return (UNCLEAR, UNCLEAR) if commit == UNCLEAR else (name, commit)


def tip(common_dir: Path, name: str) -> str | None:
    """Return what the full ref ``name`` of a clone points to, None if it is not there."""
    if not _SHARED.fullmatch(name) or _ODD.search(name):
        return UNCLEAR
    data = _read(common_dir, name)
    if data == b"":
        data = _packed(common_dir, name)
    if data == b"":
        return UNCLEAR if _read(common_dir, "HEAD") in (None, b"", _ELSEWHERE) else None
    found = _LOOSE.fullmatch(data or b"")
    return found[1].decode() if found else UNCLEAR


def _packed(common_dir: Path, name: str) -> bytes | None:
    """Return the id of a packed ref as a loose one has it, b"" if it is not there."""
    data = _read(common_dir, "packed-refs")
    end = (data or b"").find(b" %b\n" % name.encode("utf-8", "surrogateescape"))
    if not data or end < 0:
        return data and b""
    return data[data.rfind(b"\n", 0, end) + 1 : end] + b"\n"


def _read(folder: Path, name: str) -> bytes | None:
    """Return a file, b"" if there is none or a folder in its place; None if it is odd."""
    path = folder / os.fsdecode(name.encode("utf-8", "surrogateescape"))
    try:
        return None if path.is_symlink() else path.read_bytes() or None
    except (FileNotFoundError, IsADirectoryError):
        return b""
    except OSError:
        return None
