"""How large a parcel may be: told from the headers of its pack, before git unpacks any of it.

A few kilobytes can be made to unpack to gigabytes: by zeros, by deltas on deltas, by trees that
name one another many times over. A pack of ours has no deltas, its manifest says what it unpacks
to, and each header of the pack says how large its object is: nothing is believed that
is more than was said, and nobody may say more than ``most``. What trees add up to is counted
beside the objects, in ``edge/git/quarantine.py``, with the limits that stand here.

Format: gitformat-pack(5), version 2.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from handsoff.errors import DamagedError, RefusedError

UNPACKED: Final = "unpacked"
"""The name among a manifest's counts of the bytes that the pack unpacks to."""
FILES: Final = "files"
"""The name of the most files that the work has."""

FILES_LIMIT: Final = 500_000
COMMIT_LIMIT: Final = 8 << 20
TREE_LIMIT: Final = 16 << 20
"""Trees and commits are taken apart in memory, blobs are not."""
LIST_LIMIT: Final = 32 << 20
"""Bytes that one list of an envelope may have, and one file of an operation."""
OPERATION_FILES: Final = 10_000

_SAID: Final = 1 << 30
_UNSAID: Final = 1 << 28
_RATIO: Final = 50
"""Beyond what is small, no work that people write shrinks to less than this part of itself."""

_KINDS: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_DELTAS: Final = (6, 7)
_LIMITS: Final = {"commit": COMMIT_LIMIT, "tree": TREE_LIMIT, "tag": COMMIT_LIMIT}
_LONGEST: Final = 10
"""Bytes of the longest header of an object: 4 bits, and 7 of each further byte."""
_CHECKSUM: Final = 20
_PIECE: Final = 1 << 16
_OUT: Final = 1 << 18


class Unpacked(NamedTuple):
    """What a pack holds: objects, and bytes of all of them unpacked."""

    objects: int
    size: int


def most(pack_size: int, counts: Mapping[str, int]) -> int:
    """Return how many bytes a pack of ``pack_size`` bytes may unpack to.

    That is what its manifest says in ``counts``, or where an older sender said nothing, what any
    may. RefusedError if it says more than any may.
    """
    room = _SAID + _RATIO * pack_size
    said = counts.get(UNPACKED, _UNSAID + _RATIO * pack_size)
    if said > room:
        raise RefusedError(
            f"the parcel would unpack to {said} bytes from {pack_size}, and {room} is the most",
            hint="files of nothing but zeros, or of one line over and over, are better made anew",
        )
    return said


def _to_nobody(_passed: bytes) -> None:
    """Take bytes that passed, where nobody wants them."""


def measure(
    read: Callable[[int], bytes], limit: int, passed: Callable[[bytes], object] = _to_nobody
) -> Unpacked:
    """Return what the pack holds that ``read`` gives piece by piece, each object looked at once.

    ``passed`` gets its bytes as soon as they were looked at, so never the whole header of an object
    that is too large.

    RefusedError for a delta, for an object that is too large for its kind, and as soon as all
    together are over ``limit``; DamagedError for what is no pack. Whether objects are
    what they are called is git's to say.
    """
    source = _Source(read, passed)
    if source.take(8) != b"PACK\0\0\0\2":
        raise DamagedError("the pack has no beginning")
    objects, size = int.from_bytes(source.take(4), "big"), 0
    for _ in range(objects):
        kind, length = _header(source)
        size += length
        if size > limit:
            raise RefusedError(
                f"the parcel unpacks to more than {limit} bytes, which is more than it may"
            )
        if length > _LIMITS.get(kind, limit):
            raise RefusedError(f"the parcel has a {kind} of {length} bytes")
        source.skip(length)
    source.end()
    return Unpacked(objects, size)


def _header(source: "_Source") -> tuple[str, int]:
    byte = source.take(1)[0]
    number, size, shift = byte >> 4 & 7, byte & 0x0F, 4
    if number in _DELTAS:
        raise RefusedError("the parcel's pack has deltas, which no pack of handsoff has")
    for _ in range(_LONGEST):
        if not byte & 0x80:
            break
        byte = source.take(1)[0]
        size |= (byte & 0x7F) << shift
        shift += 7
    if byte & 0x80 or number not in _KINDS:
        raise DamagedError("an object of the pack has no proper header")
    return _KINDS[number], size


class _Source:
    """The bytes of a pack, of which no more than a piece is held at a time."""

    def __init__(self, read: Callable[[int], bytes], passed: Callable[[bytes], object]) -> None:
        self._read = read
        self._passed = passed
        self._held = b""
        self._at = 0

    def take(self, count: int) -> bytes:
        """Return the next ``count`` bytes; DamagedError if there are fewer."""
        data = self._next(count)
        if len(data) < count:
            raise DamagedError("the pack ends early")
        self._at += count
        return data

    def skip(self, length: int) -> None:
        """Pass over one deflated object, which must unpack to ``length`` bytes and no other."""
        inflating, left = zlib.decompressobj(), length
        while not inflating.eof:
            given = inflating.unconsumed_tail
            fresh = b"" if given else self._next(min(_PIECE, left + (left >> 8) + 64))
            try:
                out = inflating.decompress(given or fresh, min(_OUT, left + 1))
            except zlib.error as error:
                raise DamagedError("an object of the pack is not deflated") from error
            self._at += len(fresh) - len(inflating.unused_data)
            left -= len(out)
            if left < 0 or not (given or fresh):
                raise DamagedError("an object of the pack is not as long as it says")
        if left:
            raise DamagedError("an object of the pack is not as long as it says")

    def end(self) -> None:
        """Pass over the checksum, with which a pack ends."""
        self.take(_CHECKSUM)
        if self._next(1):
            raise DamagedError("the pack goes on after its end")
        self._let_go()

    def _next(self, count: int) -> bytes:
        while len(self._held) - self._at < count:
            more = self._read(_PIECE)
            if not more:
                break
            self._let_go()
            self._held += more
        return self._held[self._at : self._at + count]

    def _let_go(self) -> None:
        self._passed(self._held[: self._at])
        self._held, self._at = self._held[self._at :], 0
