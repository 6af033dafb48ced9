"""Folders of a worktree, opened one by one from the top: no link on the way is ever followed.

To look whether a path leads through a link and then to write by that path are two moments, and in
between a folder can become a link. What is opened here stays the folder that was looked at
(CVE-2026-29518 of rsync is what happens without).
"""

import os
from contextlib import suppress
from typing import Final

# O_PATH asks for no permission to read the folder; elsewhere than on Linux it must be there
_TOP: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER: Final = _TOP | os.O_NOFOLLOW


class Inside:
    """The folders below ``top``; one is held open, as files of one folder are written in turn."""

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._held: tuple[bytes, int] | None = None

    def open(self, folder: bytes) -> int:
        """Return a handle of ``folder`` ("" is the top), good until the next call.

        OSError if there is none, or a link in its place or above it.
        """
        if self._held is not None and self._held[0] == folder:
            return self._held[1]
        self.close()
        handle = os.open(self._top, _TOP)
        for name in folder.split(b"/") if folder else []:
            above = handle
            try:
                handle = os.open(name, _FOLDER, dir_fd=above)
            finally:
                os.close(above)
        self._held = (folder, handle)
        return handle

    def close(self) -> None:
        """Let go of what is held: after a folder was removed it may be another one."""
        if self._held is not None:
            with suppress(OSError):
                os.close(self._held[1])
            self._held = None
