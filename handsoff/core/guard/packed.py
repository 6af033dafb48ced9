"""What lies compressed in a file: gzip, bzip2, xz, and the members of a zip.

Only as much is unpacked as ``ROOM`` says, whatever a file claims of itself, so that no bomb costs
more than a file of that size. What is damaged, encrypted or of another format is passed over: the
bytes as they stand are looked at anyway.
"""

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

ROOM: Final = 32 << 20
"""Bytes that are unpacked of one file, of all its members together."""
_DEPTH: Final = 2
"""Layers, as of a gzip in a zip."""
_MEMBERS: Final = 10_000
_MEMORY: Final = 64 << 20
_FAILURES: Final = (
    zlib.error, lzma.LZMAError, zipfile.BadZipFile, OSError, EOFError, ValueError,
    RuntimeError,  # what is encrypted, or packed by a method that is unknown here
    MemoryError,  # what says that it is absurdly large
)  # fmt: skip
_STREAMS: Final[tuple[tuple[bytes, Callable[[], Any]], ...]] = (
    (b"\x1f\x8b\x08", lambda: zlib.decompressobj(wbits=31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(memlimit=_MEMORY)),
)
_ZIP: Final = b"PK\x03\x04"


def contents(data: bytes, room: int = ROOM, depth: int = _DEPTH) -> Iterator[bytes]:
    """Yield what ``data`` unpacks to, and what that unpacks to; nothing if it is no such file."""
    for plain in _members(data, room):
        room -= len(plain)
        yield plain
        if depth > 1 and room > 0:
            for inner in contents(plain, room, depth - 1):
                room -= len(inner)
                yield inner


def _members(data: bytes, room: int) -> Iterator[bytes]:
    if data.startswith(_ZIP):
        yield from _of_zip(data, room)
    for mark, opened in _STREAMS:
        if data.startswith(mark):
            plain = _of_stream(data, mark, opened, room)
            if plain:
                yield plain


def _of_stream(data: bytes, mark: bytes, opened: Callable[[], Any], room: int) -> bytes:
    """Return what a stream unpacks to, and those that stand behind it, as far as it is whole."""
    plain = bytearray()
    while data.startswith(mark) and len(plain) < room:
        stream = opened()
        try:
            plain += stream.decompress(data, room - len(plain))
        except _FAILURES:
            break
        data = stream.unused_data
    return bytes(plain)


def _of_zip(data: bytes, room: int) -> Iterator[bytes]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _FAILURES:
        return
    for info in archive.infolist()[:_MEMBERS]:
        if room <= 0:
            return
        try:
            with archive.open(info) as member:
                plain = member.read(room)
        except _FAILURES:
            continue
        room -= len(plain)
        if plain:
            yield plain
