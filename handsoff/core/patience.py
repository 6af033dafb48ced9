"""How long a connection that was lost is dialled again, and how soon. No clock: seconds come in."""

from typing import Final

USUAL: Final = 30.0
"""Seconds without a byte of progress after which a transfer is given up, unless asked otherwise."""

_FIRST: Final = 0.2
_LONGEST: Final = 5.0
_DOUBLINGS: Final = 10


def pause_before(tries: int, *, idle: float, length: float) -> float | None:
    """Return the seconds to wait before dialling for the time ``tries`` (from 1) since progress.

    None when ``idle`` seconds without progress are all of ``length``: then it is given up. The
    last pause is cut so that one more try falls into the time.
    """
    left = length - idle
    if left <= 0:
        return None
    return min(_FIRST * float(2 ** min(tries - 1, _DOUBLINGS)), _LONGEST, left)
