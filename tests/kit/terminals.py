r"""Shells at a terminal: what a person types, TAB and Enter and all, and which words then arrive.

    arrived("fish", folder, setup, ["handsoff catch fe\t"])  ->  [["catch", "feat/cny"]]

``handsoff`` and ``git-handsoff`` are programs there that note their words: what counts is what the
shell makes of the line that was completed, and not what it looks like.
"""

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

START: Final = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
_NOTES: Final = '#!/bin/sh\nprintf "%s\\0" "$@" >>"$NOTES"; printf "\\n" >>"$NOTES"\n'
_SECONDS: Final = 30.0


def need(shell: str) -> None:
    """Skip the test where there is no such shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


def programs(folder: Path) -> Path:
    """Put the programs that are called into ``folder``."""
    folder.mkdir()
    names = f'#!/bin/sh\nexec {sys.executable} -m handsoff.complete "$@"\n'
    for name, text in {
        "handsoff": _NOTES,
        "git-handsoff": _NOTES,
        "handsoff-complete": names,
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def arrived(shell: str, folder: Path, setup: str, lines: Sequence[str]) -> list[list[str]]:
    """Return the words of handsoff's for each of ``lines``, typed in ``folder``."""
    scratch = folder.parent
    notes, start = scratch / "notes", scratch / f"setup.{shell}"
    start.write_text(setup)
    notes.write_bytes(b"")
    path = f"{programs(scratch / 'bin')}:{os.environ['PATH']}"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *START[shell]], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "PATH": path, "NOTES": str(notes), "TERM": "xterm", "HISTFILE": ""},
    )  # fmt: skip
    os.close(theirs)
    os.set_blocking(ours, False)
    try:
        os.write(ours, f". {start}\r".encode())
        for number, line in enumerate(lines, 1):
            os.write(ours, f"{line}\r".encode())
            _wait(ours, notes, number, line)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    found = notes.read_bytes().removesuffix(b"\n").split(b"\n")
    return [[word.decode() for word in line.split(b"\0")[:-1]] for line in found]


def _wait(terminal: int, notes: Path, number: int, line: str) -> None:
    shown, until = b"", time.monotonic() + _SECONDS
    while notes.read_bytes().count(b"\n") < number:
        try:
            shown += os.read(terminal, 65536)
        except (BlockingIOError, OSError):
            time.sleep(0.005)
        said = shown.decode(errors="replace")
        assert time.monotonic() < until, f"nothing came of {line!r}:\n{said}"
