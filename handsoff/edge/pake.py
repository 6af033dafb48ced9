"""SPAKE2: two machines turn a short code into a strong key. The one door to the spake2 library.

The group is Ed25519, the sides are A (types the code) and B (shows it), named in the identities,
so that neither a message that comes back nor one of the wrong side can be taken for an answer.
Whoever sits in between may try one code for each run, and learns only whether it was right
(RFC 9382; the library's messages are its own: a letter for the side, then 32 bytes of the point).

Traps: the library is plain Python, and how long it takes depends on the code. So an end is made
before anybody is there to hold a watch, a message that is none is turned away before the code is
looked at (``check``), and what then can be measured is one run, which uses the code up. The key
proves nothing by itself: core/machines/pairing.py confirms it.
"""

from typing import Final

from spake2 import SPAKE2_A, SPAKE2_B, SPAKEError
from spake2.ed25519_basic import NotOnCurve, bytes_to_element
from spake2.spake2 import SideA, SideB

from handsoff.core.machines.codes import Code
from handsoff.core.machines.joining import Side
from handsoff.errors import DamagedError

LENGTH: Final = 33
"""Bytes of a message; the library itself looks at no more than it needs."""

_TYPES: Final = b"handsoff-pair 1: types the code"
_SHOWS: Final = b"handsoff-pair 1: shows the code"


class Pake:
    """One end of one exchange, to be used once."""

    def __init__(self, side: Side, code: Code) -> None:
        self._side = side
        make = SPAKE2_A if side is Side.TYPES else SPAKE2_B
        self._end = make(code.spelled.encode("ascii"), idA=_TYPES, idB=_SHOWS)
        self.message: bytes = self._end.start()
        """What to send; nobody can tell the code from it."""

    def check(self, theirs: bytes) -> None:
        """Raise DamagedError unless ``theirs`` is a message of the other side.

        The code is not looked at, so that how long this takes tells nothing about it.
        """
        if len(theirs) != LENGTH or theirs[:1] != (SideB if self._side is Side.TYPES else SideA):
            raise DamagedError("not a message of the other side")
        try:
            bytes_to_element(theirs[1:])
        except (NotOnCurve, ValueError, AssertionError) as error:
            raise DamagedError("not a message of the other side: no point of the group") from error

    def finish(self, theirs: bytes) -> bytes:
        """Return the key of 32 bytes; DamagedError if ``theirs`` is not a message of the other."""
        self.check(theirs)
        try:
            return bytes(self._end.finish(theirs))
        except SPAKEError as error:
            raise DamagedError(
                f"not a message of the other side: {type(error).__name__}"
            ) from error
