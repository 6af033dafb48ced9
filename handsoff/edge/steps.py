"""Named steps: the seams at which the lab stops a verb to see what a crash there leaves.

``step`` does nothing unless the environment says so, once, at start-up:

    HANDSOFF_STEPS_LOG=FILE        append the name of each step as it is reached
    HANDSOFF_KILL_AT=NAME[#N]      SIGKILL this process there (the N-th time)
    HANDSOFF_PAUSE_AT=NAME:SECONDS sleep there
"""

import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Final

_LOG: Final = os.environ.get("HANDSOFF_STEPS_LOG", "")
_KILL: Final = os.environ.get("HANDSOFF_KILL_AT", "")
_PAUSE: Final = os.environ.get("HANDSOFF_PAUSE_AT", "")
_ACTIVE: Final = bool(_LOG or _KILL or _PAUSE)
_reached: Counter[str] = Counter()


def step(name: str) -> None:
    """Say that the step ``name`` was reached."""
    if _ACTIVE:
        _stop_at(name)


def _stop_at(name: str) -> None:
    _reached[name] += 1
    if _LOG:
        with Path(_LOG).open("a") as log:
            log.write(name + "\n")
    if _KILL in (f"{name}#{_reached[name]}", name):
        os.kill(os.getpid(), signal.SIGKILL)
    paused, _, seconds = _PAUSE.partition(":")
    if paused == name:
        # in slices: a signal that comes just before a sleep begins is seen only after it
        until = time.monotonic() + float(seconds)
        while time.monotonic() < until:
            time.sleep(0.05)
