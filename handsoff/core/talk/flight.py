"""How much of a parcel is on its way at once: what is, when a line is cut, goes twice.

The receiver says now and then what it has written, and the sender never gets further ahead of that
than ``in_flight``. So a cut costs that, and another handshake (``ROUND``): a ``SHARE`` of the
parcel together, but for one so small that ``LEAST`` and the handshake are more.
"""

from typing import Final

SHARE: Final = 20
"""One of so many bytes may go twice."""

ROUND: Final = 8 << 10
"""Bytes of another connection, up to the parcel's."""

LEAST: Final = 8 << 10
"""Bytes in flight of the smallest parcel: fewer would cost more turns than they save bytes."""

_STEPS: Final = 4
"""Words of the receiver for each ``in_flight``: with one alone, the line would rest meanwhile."""

_SHORTEST: Final = 4 << 10
"""Bytes between two words at least: each costs a packet, some seventy bytes both ways."""


def in_flight(size: int) -> int:
    """Return how many bytes of a parcel of ``size`` may be on their way at once."""
    return max(LEAST, size // SHARE - ROUND)


def stride(size: int) -> int:
    """Return how many more bytes of a parcel of ``size`` are worth a word."""
    return max(_SHORTEST, in_flight(size) // _STEPS)


def room(size: int, *, sent: int, got: int) -> int:
    """Return how many bytes may leave next, where ``sent`` have left and ``got`` are there.

    At most a stride: what leaves at once is a packet, and one that does not arrive whole is lost
    whole.
    """
    return min(size - sent, stride(size), got + in_flight(size) - sent)


def is_worth_a_word(size: int, *, here: int, told: int) -> bool:
    """Say whether the sender is to hear that ``here`` bytes are here, after ``told``.

    Not at the end, where there is a receipt.
    """
    return here < size and here - told >= stride(size)
