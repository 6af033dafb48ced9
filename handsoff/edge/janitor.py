"""Tidying up after this process, whatever ends it, also SIGKILL.

A small shell in a session of its own reads from a pipe of ours which children there are. Once
the pipe ends it kills those and removes the folder; an ordinary end closes the pipe, too. A child
that was started in our last moment is not known: it ends by itself, so the shell tries for a while.
"""

import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

# "kill -KILL -- -PID" is an "Illegal number" to dash; with -s every shell takes it (POSIX, kill)
_JANITOR: Final = r"""
trap '' INT HUP TERM
children=
while read -r line; do children=$line; done
for child in $children; do kill -s KILL -- "-$child" 2>/dev/null; done
[ -n "$1" ] || exit 0
try=0
while [ "$try" -lt 60 ]; do
    try=$((try + 1))
    rm -rf -- "$1" 2>/dev/null
    [ -e "$1" ] || exit 0
    sleep 1
done
"""


class Janitor:
    """Waits for our end. Children are leaders of process groups; all of the group is killed."""

    def __init__(self, folder: Path | None) -> None:
        """Wait to remove ``folder``, if there is one to remove."""
        self._process = subprocess.Popen(
            ["sh", "-c", _JANITOR, "handsoff-janitor", "" if folder is None else str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def knows(self, children: Iterable[int]) -> None:
        """Tell the janitor which children there are now."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(" ".join(map(str, children)).encode() + b"\n")
            self._process.stdin.flush()

    def close(self) -> None:
        """Let it begin, and wait until it has done."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
