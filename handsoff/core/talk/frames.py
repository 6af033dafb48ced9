"""Frames: how a stream of bytes is cut into messages.

A frame is a four-byte big-endian length, then that many bytes. A length over LIMIT is refused
as soon as it is read, before anything that follows it is kept, so that a hostile peer cannot
make us buffer what it likes.
"""

from typing import Final

from handsoff.errors import DamagedError

LIMIT: Final = 1 << 20
"""Bytes one frame may carry."""

_HEAD: Final = 4


def encode(body: bytes) -> bytes:
    """Return ``body`` as one frame."""
    assert len(body) <= LIMIT, "what we say ourselves fits in a frame"
    return len(body).to_bytes(_HEAD, "big") + body


class Decoder:
    """Bytes in, frames out: one at a time, since what follows a frame need not be frames."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pending = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in what the peer sent."""
        self._pending += data
        self._length()

    def next_frame(self) -> bytes | None:
        """Return the body of the next frame, or None until all of it is there."""
        length = self._length()
        if length is None or len(self._pending) < _HEAD + length:
            return None
        body = bytes(self._pending[_HEAD : _HEAD + length])
        del self._pending[: _HEAD + length]
        return body

    @property
    def waiting(self) -> int:
        """How many bytes came that are not part of a finished frame."""
        return len(self._pending)

    def _length(self) -> int | None:
        if len(self._pending) < _HEAD:
            return None
        length = int.from_bytes(self._pending[:_HEAD], "big")
        if length > self._limit:
            self._pending.clear()
            raise DamagedError(f"a frame of {length} bytes is over the limit of {self._limit}")
        return length
