"""Blobs read straight from a pack that git has indexed here: a file at a time, many thousand files.

An object database looks for each object anew, in every folder that it has, and inflates with zlib;
this knows the one pack, and asks ISA-L. It hashes nothing: the pack passed git's gate when it
arrived, and who writes a file hashes what is written (``writer.py``).
Formats: gitformat-pack(5), version 2 of the pack and of its index.
"""

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from isal import isal_zlib

from handsoff.errors import DamagedError

Read: TypeAlias = Callable[[str], bytes]

_MAGIC: Final = b"\xfftOc\0\0\0\2"
_STARTS: Final = struct.Struct(">256I")
_NAMES: Final = len(_MAGIC) + _STARTS.size
_NAME: Final = 20
_FAR: Final = 1 << 31
"""What marks an offset that stands in the second table: the pack has over two gigabytes."""
_BLOB: Final = 3
_Broken: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # says its stub
_FIRST: Final = 1 << 12
"""What is read of an object at first: most are smaller, and what is read beyond is for nothing."""
_PIECE: Final = 1 << 16


class Pack:
    """One pack, by its ``.idx``; closed when the block ends."""

    def __init__(self, index: Path) -> None:
        self._index = index.read_bytes()
        starts = [0] * 257
        if self._index.startswith(_MAGIC) and len(self._index) > _NAMES:  # else nothing is here
            starts[1:] = _STARTS.unpack_from(self._index, len(_MAGIC))
        self._count = starts[-1]
        self._first = [_NAMES + _NAME * start for start in starts]
        """Where the ids of a first byte begin, and those of the byte before it end."""
        self._pack, self._handle = index.with_suffix(".pack"), -1
        """Opened when something is found in it: a folder may have more packs than may be open."""

    def __enter__(self) -> "Pack":
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def blob(self, oid: str) -> bytes | None:
        """Return a blob, or None if it is not here, or not whole: a delta needs another object.

        DamagedError if it is broken.
        """
        at = self._offset(bytes.fromhex(oid))
        if at is None:
            return None
        if self._handle < 0:
            self._handle = os.open(self._pack, os.O_RDONLY | os.O_CLOEXEC)
        data = os.pread(self._handle, _FIRST, at)
        try:
            kind, size, start = _header(data)
            return self._inflated(data[start:], size, at + _FIRST) if kind == _BLOB else None
        except (IndexError, ValueError, _Broken) as error:
            raise DamagedError(f"the object {oid} is broken") from error

    def _inflated(self, data: bytes, size: int, at: int) -> bytes:
        stream = isal_zlib.decompressobj()
        pieces, left = [stream.decompress(data, size + 1)], size
        while data and not stream.eof and (left := left - len(pieces[-1])) >= 0:
            data = os.pread(self._handle, _PIECE, at)
            pieces.append(stream.decompress(data, left + 1))
            at += len(data)
        found = b"".join(pieces)
        if len(found) != size or not stream.eof:
            raise ValueError("an object is not of the size that it says")
        return found

    def _offset(self, oid: bytes) -> int | None:
        first, end = self._first[oid[0]], self._first[oid[0] + 1]
        at = self._index.find(oid, first, end)
        while at >= 0 and (at - first) % _NAME:  # it stands across two names
            at = self._index.find(oid, at + 1, end)
        if at < 0:
            return None
        offsets = self._first[-1] + 4 * self._count
        found = self._word(offsets + 4 * ((at - _NAMES) // _NAME))
        if found < _FAR:
            return found
        far = offsets + 4 * self._count + 8 * (found - _FAR)
        return self._word(far) << 32 | self._word(far + 4)

    def _word(self, at: int) -> int:
        return int.from_bytes(self._index[at : at + 4], "big")


def _header(data: bytes) -> tuple[int, int, int]:
    """Return kind and size of an object, and where its deflated bytes begin."""
    byte, at, shift = data[0], 1, 4
    kind, size = byte >> 4 & 7, byte & 15
    while byte & 0x80:
        byte = data[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return kind, size, at


@contextmanager
def blobs_of(objects: Path, others: Read) -> Iterator[Read]:
    """Give what reads blobs from the packs of the folder ``objects``, or else by ``others``."""
    with ExitStack() as stack:
        packs = [stack.enter_context(Pack(i)) for i in sorted((objects / "pack").glob("*.idx"))]

        def read(oid: str) -> bytes:
            for pack in packs:
                found = pack.blob(oid)
                if found is not None:
                    return found
            return others(oid)

        yield read
