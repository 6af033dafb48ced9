"""A stream of bytes cut at the ends of lines, in constant memory.

Lines end with LF only. What is longer than LONGEST goes by in parts, and is told apart.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from handsoff.errors import UnfitError

LONGEST: Final = 64 << 20
"""Bytes of a line, or of a document on many lines, that is still looked into."""

GROWS: Final = 4
SPARE: Final = 64 << 20
"""How much a file may grow by its paths: so many times, and so many bytes besides."""

_FIRST: Final = 64
"""Bytes in which a first line that only opens a document has its end."""

_OPENED: Final = frozenset({b"{", b"["})


def head(chunks: Iterator[bytes]) -> tuple[list[bytes], bool]:
    """Return what is read to know if a document on many lines begins; if so all, up to LONGEST."""
    read: list[bytes] = []
    size = 0
    opened = False
    for chunk in chunks:
        read.append(chunk)
        size += len(chunk)
        if not opened and (size > _FIRST or b"\n" in chunk):
            first, newline, _ = b"".join(read)[:_FIRST].partition(b"\n")
            opened = bool(newline) and first.strip() in _OPENED
            if not opened:
                break
        if size > LONGEST:
            break
    return read, opened


def cut(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield whole lines, and parts of a line that is too long, each with whether it is whole."""
    held: list[bytes] = []
    size = 0
    passing = False
    for chunk in chunks:
        rest = chunk
        if passing:
            at = rest.find(b"\n") + 1 or len(rest)
            yield rest[:at], False
            passing = not rest.endswith(b"\n", 0, at)
            rest = rest[at:]
        at = rest.rfind(b"\n") + 1
        if at:
            yield b"".join((*held, rest[:at])), True
            held, size, rest = [], 0, rest[at:]
        held.append(rest)
        size += len(rest)
        if size > LONGEST:
            yield b"".join(held), False
            held, size, passing = [], 0, True
    yield b"".join(held), True


def bounded(chunks: Iterable[bytes], sent: int) -> Iterator[bytes]:
    """Yield a file that was rewritten; UnfitError if it is far more than the ``sent`` bytes.

    A path of two letters that stands everywhere would fill the disk when it becomes a long one.
    """
    left = GROWS * sent + SPARE
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise UnfitError(
                f"rewritten it would have more than {GROWS} times its {sent} bytes",
                hint="have it sent with --transcript raw",
            )
        yield chunk


def lines(block: bytes) -> Iterator[tuple[int, int]]:
    """Yield from where to where each line of ``block`` goes."""
    end = 0
    while end < len(block):
        start, end = end, block.find(b"\n", end) + 1 or len(block)
        yield start, end
