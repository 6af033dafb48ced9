"""One pack file, written object by object: hashed, looked at and deflated in worker threads.

No deltas and no loose files: writing twenty thousand loose objects is what makes other ways
slow, and a pack without deltas can be written before anybody knows what the other end has.
Format: gitformat-pack(5), version 2. Deflated by ISA-L, which writes what zlib reads, four times
as fast: with zlib, a capture spends most of its time there.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Final, NamedTuple, TypeVar

from isal import isal_zlib

from handsoff.core.objects import oid_of

_KINDS: Final = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_HEADER: Final = 12
_LEVEL: Final = 1
_WORKERS: Final = 2
_AHEAD: Final = 4
_CHUNK: Final = 1 << 20
_TOGETHER: Final = 256
"""Bytes and objects that one worker holds at a time; the last object may be over it."""

_T = TypeVar("_T")


class Piece(NamedTuple):
    """An object about to leave: what it is, its bytes, and where a person would find it."""

    kind: str
    data: bytes
    path: bytes
    where: str
    judged: bool = False
    """Whether it was looked at already, as what it says and not as bytes."""
    oid: str = ""
    """Its id, if whoever has read it has hashed it as well."""


class Packed(NamedTuple):
    """An object ready to be written into the pack."""

    oid: str
    size: int
    head: bytes
    deflated: bytes


class Digest(NamedTuple):
    """What a finished pack is: bytes, SHA-256 in hex, and the bytes that it unpacks to."""

    size: int
    sha256: str
    unpacked: int


class PackWriter:
    """A pack in the making. Give it jobs; each returns the pieces that a worker then treats."""

    def __init__(self, file: IO[bytes], inspect: Callable[[Sequence[Piece]], None]) -> None:
        self._file = file
        self._inspect = inspect
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="pack")
        self._running: deque[Future[list[Packed]]] = deque()
        self.written: set[str] = set()
        self._unpacked = 0
        self._file.write(b"\0" * _HEADER)
        self._added: list[Piece] = []
        self._bytes = 0

    def submit(self, job: Callable[[], Iterable[Piece]]) -> None:
        """Let a worker run ``job`` and treat its pieces; written in the order of submission."""
        self._hand_out()
        self._start(job)

    def _start(self, job: Callable[[], Iterable[Piece]]) -> None:
        self._running.append(self._pool.submit(self._work, job))
        while len(self._running) > _AHEAD:
            self._write_next()

    def each(self, items: Iterable[_T], read: Callable[[_T], Piece | None]) -> None:
        """Let workers ``read`` all ``items`` and treat the pieces, as many as one may hold."""
        left = deque(items)

        def take() -> Iterator[Piece]:
            size = count = 0
            while size < _CHUNK and count < _TOGETHER:
                try:
                    item = left.popleft()
                except IndexError:  # another worker has taken the last one
                    return
                piece = read(item)
                if piece is not None:
                    size, count = size + len(piece.data), count + 1
                    yield piece

        while left:
            self.submit(take)

    def add(self, pieces: Sequence[Piece]) -> None:
        """Treat pieces that are already in memory: small ones many at a time."""
        self._added += pieces
        self._bytes += sum(len(piece.data) for piece in pieces)
        if len(self._added) >= _TOGETHER or self._bytes >= _CHUNK:
            self._hand_out()

    def _hand_out(self) -> None:
        if self._added:
            pieces, self._added, self._bytes = self._added, [], 0
            self._start(lambda: pieces)

    def _work(self, job: Callable[[], Iterable[Piece]]) -> list[Packed]:
        pieces = list(job())
        self._inspect(pieces)
        return [pack_object(piece.kind, piece.data, piece.oid) for piece in pieces]

    def _write_next(self) -> None:
        parts = []
        for oid, size, *entry in self._running.popleft().result():
            if oid not in self.written:
                self.written.add(oid)
                self._unpacked += size
                parts += entry
        self._file.write(b"".join(parts))

    def drain(self) -> None:
        """Wait until all that was submitted is written; raises what a worker raised."""
        self._hand_out()
        while self._running:
            self._write_next()

    def finish(self) -> Digest:
        """Complete the pack: its object count in front, its checksum at the end."""
        self.drain()
        self._pool.shutdown()
        self._file.seek(0)
        self._file.write(b"PACK" + (2).to_bytes(4, "big") + len(self.written).to_bytes(4, "big"))
        self._file.flush()
        self._file.seek(0)
        sha1, sha256 = hashlib.sha1(), hashlib.sha256()
        size = 0
        while chunk := self._file.read(_CHUNK):
            sha1.update(chunk)
            sha256.update(chunk)
            size += len(chunk)
        trailer = sha1.digest()
        sha256.update(trailer)
        self._file.write(trailer)
        self._file.flush()
        return Digest(size + len(trailer), sha256.hexdigest(), self._unpacked)

    def abandon(self) -> None:
        """Stop the workers; what was written is of no use."""
        self._pool.shutdown(cancel_futures=True)


def pack_object(kind: str, data: bytes, oid: str = "") -> Packed:
    """Return an object as it stands in a pack: its oid, its header, its deflated bytes."""
    size = len(data)
    first = (_KINDS[kind] << 4) | (size & 0x0F)
    size >>= 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first = size & 0x7F
        size >>= 7
    head.append(first)
    deflated = isal_zlib.compress(data, _LEVEL)
    return Packed(oid or oid_of(kind, data), len(data), bytes(head), deflated)
