"""The end of the program: its exit code, whatever the threads do that nobody waits for.

Python takes itself apart at its end, below the threads that are daemons: one that imports just
then, or begins another, finds locks that are freed, and SIGSEGV takes the place of the exit code.
They dial, look up and load, so an end that comes early meets them. So the last thing that is done
at exit, when all else is done, is to end the process.

Here too: what is done at the start so that the end can flush, ``complete``.
"""

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def complete() -> None:
    """Put a stream that goes nowhere in the place of each standard one that was closed.

    Else Python has None there, and the next file that anybody opens is what children print into.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nowhere)


@contextmanager
def last() -> Iterator[None]:
    """End the process with the code of the SystemExit that leaves the block.

    To be entered before anything else is registered with ``atexit``: what comes later goes first.
    Threads that are no daemons are waited for, as ever.
    """
    codes = [1]  # what Python says where another exception ends it
    atexit.register(_leave, codes)
    try:
        yield
    except SystemExit as end:
        codes[0] = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    codes[0] = 0


def _leave(codes: list[int]) -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody reads it, or the disk is full: Python has words and a code for that
    os._exit(codes[0])
