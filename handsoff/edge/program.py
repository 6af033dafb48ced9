"""This program, run once more in a process of its own: for work that must not slow this one down.

It runs with a lower priority, and ``-P`` keeps Python from importing what lies in the checkout.
"""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from handsoff.errors import HandsoffError

_NICE = 10


class Program:
    """Runs commands with ``--json``, one at a time; ``stop`` ends the one that runs."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def told(self, *words: str) -> dict[str, Any]:
        """Return the document that a command prints; HandsoffError with its words if it fails."""
        line = [sys.executable, "-P", "-m", "handsoff", *words, "--json"]
        with self._lock:
            if self._stopped:
                raise HandsoffError("it was stopped")
            self._running = subprocess.Popen(
                line, cwd=self._cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, self._running.pid, _NICE)
        out, _ = self._running.communicate()
        try:
            document = json.loads(out)
        except ValueError as error:
            raise HandsoffError(f"handsoff {words[0]} ended without a word") from error
        if "error" in document:
            raise HandsoffError(str(document["error"]["message"]))
        found: dict[str, Any] = document
        return found

    def stop(self) -> None:
        """End what runs, and run nothing more."""
        with self._lock:
            self._stopped = True
            if self._running is not None:
                with suppress(OSError):
                    self._running.terminate()
