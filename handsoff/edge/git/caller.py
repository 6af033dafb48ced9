"""The git that called us: what it was asked to do, where a hook is not told.

Read from /proc, so on Linux only; elsewhere nothing is known, and nothing is claimed.
"""

import os
from pathlib import Path
from typing import Final

_FAR: Final = 8
"""Ancestors that are looked at: hooks, shells and wrappers stand between us and git."""

_SHORTEST: Final = "--mi"
"""Git takes options cut short, as long as they are clear."""


def pushes_mirror() -> bool:
    """Say whether an ancestor is ``git push --mirror``."""
    return any(_is_mirror(words) for words in _ancestors())


def _is_mirror(words: list[str]) -> bool:
    name = Path(words[0]).name if words else ""
    if name not in ("git", "git-push") or "push" not in (name.removeprefix("git-"), *words):
        return False
    return any("--mirror".startswith(word) and word.startswith(_SHORTEST) for word in words)


def _ancestors() -> list[list[str]]:
    """Return the command lines above us, nearest first."""
    found = []
    pid = os.getppid()
    for _ in range(_FAR):
        folder = Path("/proc") / str(pid)
        try:
            line = (folder / "cmdline").read_bytes()
            # the name of a program may have blanks and brackets; its parent is the second after it
            pid = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
        found.append(os.fsdecode(line).split("\0")[:-1])
    return found
