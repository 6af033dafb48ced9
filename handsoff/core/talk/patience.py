"""Whether a connection that was lost is dialled again, how soon, and for how long.

No clock: seconds come in.
"""

from typing import Final

USUAL: Final = 30.0
"""Seconds without a byte of progress after which a transfer is given up, unless asked otherwise."""

LEAST: Final = 16 << 10
"""Bytes that are progress: if one were, who gives one now and then is waited for without end."""

_FIRST: Final = 0.2
_LONGEST: Final = 5.0
_DOUBLINGS: Final = 10


def is_worth_another(*, met: bool, met_ever: bool, cut: bool, asked: bool) -> bool:
    """Say whether a try that reached no end is worth another one.

    ``met``: somebody answered in it; ``met_ever``: in it or in one before it; ``cut``: it was the
    connection that broke, and not an answer; ``asked``: the person said how long to try.
    """
    if met and not cut:
        return False  # a no of the other machine is an answer
    return met_ever or asked


def pause_before(tries: int, *, idle: float, length: float) -> float | None:
    """Return the seconds to wait before dialling for the time ``tries`` (from 1) since progress.

    None when ``idle`` seconds without progress are all of ``length``: then it is given up. The
    last pause is cut so that one more try falls into the time.
    """
    left = length - idle
    if left <= 0:
        return None
    return min(_FIRST * float(2 ** min(tries - 1, _DOUBLINGS)), _LONGEST, left)


def is_progress(position: int, *, before: int | None, size: int) -> bool:
    """Say whether ``position`` of ``size`` bytes is worth waiting on, after ``before``."""
    return before is None or position == size or position - before >= LEAST
