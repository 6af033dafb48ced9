"""Where a path is in git, told from files alone: a hook has no time to run git.

Sources: gitrepository-layout(5): .git as a folder or a file, commondir, HEAD, packed-refs. In a
repository whose refs are not files HEAD names no branch, so no work is found: pre-push asks git.
"""

from __future__ import annotations

import os

_HEADS = "refs/heads/"
_MOST = 64 * 1024
_ASIDE = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
"""Where the branch stands that HEAD comes back to."""


class Place:
    """A worktree, or a bare git folder (``top`` ""): where its own and its shared files are."""

    __slots__ = ("common_dir", "git_dir", "top")

    def __init__(self, top: str, git_dir: str) -> None:
        self.top = top
        self.git_dir = git_dir
        shared = _line(os.path.join(git_dir, "commondir"))
        self.common_dir = os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir

    @property
    def store(self) -> str:
        """The store of the clone; where it is none, handsoff was never set up."""
        return os.path.join(self.common_dir, "handsoff")

    @property
    def own(self) -> str:
        """The folder of this worktree's own state."""
        return os.path.join(self.git_dir, "handsoff")

    def head(self) -> str:
        """Return the branch that HEAD names or comes back to, "" if there is none."""
        found = _line(os.path.join(self.git_dir, "HEAD"))
        if found.startswith("ref: "):
            return found[len("ref: ") :].strip().removeprefix(_HEADS)
        aside = (_line(os.path.join(self.git_dir, name)) for name in _ASIDE)
        return next((name.removeprefix(_HEADS) for name in aside if name), "")

    def has_branch(self, name: str) -> bool:
        """Say whether the clone has the branch ``name``."""
        ref = _HEADS + name
        if os.path.exists(os.path.join(self.common_dir, ref)):
            return True
        try:
            with open(os.path.join(self.common_dir, "packed-refs"), "rb", opener=at_once) as file:
                return any(line.endswith(b" " + os.fsencode(ref) + b"\n") for line in file)
        except OSError:
            return False


def place_of(path: str) -> Place | None:
    """Return the worktree that ``path`` (which need not exist) is in; links are followed."""
    try:
        folder = os.path.realpath(path)
    except ValueError:  # a NUL, or what is no text: no file has such a name
        return None
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return Place(folder, git)
        named = _line(git)
        if named.startswith("gitdir: "):
            return Place(folder, os.path.normpath(os.path.join(folder, named[len("gitdir: ") :])))
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def place_at(git_dir: str) -> Place | None:
    """Return the place whose git folder is named."""
    try:
        git_dir = os.path.realpath(git_dir)
    except ValueError:
        return None
    return Place("", git_dir) if os.path.isdir(git_dir) else None


def at_once(path: str, flags: int) -> int:
    """Open a file for ``open``: a pipe in its place, as a stranger may lay one, is empty."""
    return os.open(path, flags | os.O_NONBLOCK)


def _line(path: str) -> str:
    """Return the first line of a file, "" if there is no such file."""
    try:
        with open(path, "rb", opener=at_once) as file:
            return os.fsdecode(file.read(_MOST)).partition("\n")[0].removesuffix("\r")
    except OSError:
        return ""
