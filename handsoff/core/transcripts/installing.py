"""What becomes of a session that arrives: file by file, decided by the bytes that are here.

    new        nothing stands there                      written
    same       these very bytes stand there              left alone
    extension  what stands there is how it begins        ours, and the rest of theirs
    shorter    it is how what stands there begins        ours stays: it has grown here
    fork       the two went apart                        the session is refused, both are kept
    replaced   no transcript but a small file that an agent writes anew, such as a task: theirs
               where the session has grown there; ours is put aside
    kept       the same, where it has not: ours

Whatever comes, what stands here is how the result begins, or it is kept aside: no byte is lost. But
for one line: the last of ours, if it says only that the session is here, is put behind what comes,
where that needs it. In the middle it would be a line that no other machine has, and the next way
back a fork.

A place is part of a transcript, so a line is the same in either spelling: theirs as it is written
here, or ours as it was written there, since not each map can be turned around. A session that went
there and back gives its first machine its own bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from handsoff.core.transcripts import blocks, transcript
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.transcript import Lines

SWEPT: Final = 30 * 86_400
"""Seconds after which both agents throw away what nobody has written to."""


Source: TypeAlias = Callable[[], Iterator[bytes]]


class Relation(Enum):
    """How two files begin."""

    SAME = "same"
    GROWN = "grown"
    """Theirs begins with all of ours."""
    SHORTER = "shorter"
    """Ours begins with all of theirs."""
    OTHER = "other"


class Verdict(Enum):
    """What becomes of one file."""

    NEW = "new"
    SAME = "same"
    EXTENSION = "extension"
    SHORTER = "shorter"
    FORK = "fork"
    REPLACED = "replaced"
    KEPT = "kept"

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return self in (Verdict.NEW, Verdict.EXTENSION, Verdict.REPLACED)


_OF: Final = {
    Relation.SAME: Verdict.SAME,
    Relation.GROWN: Verdict.EXTENSION,
    Relation.SHORTER: Verdict.SHORTER,
    Relation.OTHER: Verdict.FORK,
}


def relation(ours: Iterable[bytes], theirs: Iterable[bytes]) -> Relation:
    """Return how two files begin, each read once, chunk by chunk, as far as they are equal."""
    left, right = iter(ours), iter(theirs)
    mine, yours = b"", b""
    while True:
        mine = mine or next((chunk for chunk in left if chunk), b"")
        yours = yours or next((chunk for chunk in right if chunk), b"")
        if not mine or not yours:
            break
        both = min(len(mine), len(yours))
        if mine[:both] != yours[:both]:
            return Relation.OTHER
        mine, yours = mine[both:], yours[both:]
    if not mine and not yours:
        return Relation.SAME
    return Relation.SHORTER if mine else Relation.GROWN


@dataclass
class Pair:
    """One file here and there, as both are to be compared; read as often as it takes."""

    ours: Source | None
    """None if nothing stands here."""
    theirs: Source
    mapping: PathMap
    """From the sender's places to those here; false for what is not rewritten."""
    _known: int | None = None
    """The bytes of theirs that ours says in other words; None where both were compared as they
    are spelled here."""
    _end: bytes = b""
    """The rest of a line that ours only begins."""

    def relation(self) -> Relation | None:
        """Return how both begin, None if nothing stands here."""
        if self.ours is None:
            return None
        found = relation(self.ours(), self.incoming())
        if found is not Relation.OTHER or not self.mapping:
            return found
        return self._line_by_line(_lines(self.ours()), _lines(self.theirs()))

    def _line_by_line(self, ours: Iterator[bytes], theirs: Iterator[bytes]) -> Relation:
        """Compare lines: one is the same if it is in either spelling.

        Trap: no one spelling does for all, where either machine wrote of the other's place.
        """
        here, there = Lines(self.mapping), Lines(self.mapping.inverse())
        self._known = 0
        for mine in ours:
            yours = next(theirs, b"")
            if not yours:
                return Relation.SHORTER
            written = here.line(yours)
            if mine not in (written, yours) and there.line(mine) != yours:
                return self._torn(mine, written, next(theirs, b""))
            self._known += len(yours)
        return Relation.GROWN if next(theirs, b"") else Relation.SAME

    def _torn(self, mine: bytes, written: bytes, more: bytes) -> Relation:
        """Return what it means that two lines differ: one may be the beginning of the other."""
        if written.startswith(mine) and not mine.endswith(b"\n"):
            self._end = written[len(mine) :]
            return Relation.GROWN
        shorter = mine.startswith(written) and not written.endswith(b"\n") and not more
        return Relation.SHORTER if shorter else Relation.OTHER

    def incoming(self) -> Iterator[bytes]:
        """Yield what comes, as it is spelled here."""
        return mapped(self.theirs(), self.mapping)

    def result(self) -> Iterator[bytes]:
        """Yield what is to stand here, where anything is to be written."""
        if self.ours is None or self._known is None:
            yield from self.incoming()
            return
        yield from self.ours()
        rest = _lines(without_start(self.theirs(), self._known))
        if self._end:
            yield self._end
            next(rest, b"")
        yield from mapped(rest, self.mapping)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long to be looked into in parts."""
    for block, whole in blocks.cut(chunks):
        if whole:
            for start, end in blocks.lines(block):
                yield block[start:end]
        elif block:
            yield block


def mapped(chunks: Iterable[bytes], mapping: PathMap) -> Iterator[bytes]:
    """Yield a file with the paths of ``mapping`` replaced."""
    return transcript.rewrite(chunks, mapping) if mapping else iter(chunks)


def settle(found: Mapping[str, Relation | None], main: str) -> dict[str, Verdict]:
    """Return what becomes of each file of a session; None is a file that is not there.

    One fork makes all of it a fork: half of a session of each machine is nobody's.
    """
    of_main = _verdict(found[main])
    verdicts = {name: _verdict(relation) for name, relation in found.items()}
    for name, verdict in verdicts.items():
        if verdict is Verdict.FORK and not name.endswith(".jsonl"):
            goes_on = of_main in (Verdict.NEW, Verdict.EXTENSION)
            verdicts[name] = Verdict.REPLACED if goes_on else Verdict.KEPT
    if Verdict.FORK in verdicts.values():
        return dict.fromkeys(verdicts, Verdict.FORK)
    return verdicts


def _verdict(found: Relation | None) -> Verdict:
    return Verdict.NEW if found is None else _OF[found]


def without_end(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes of a file."""
    for chunk in chunks:
        if size <= 0:
            return
        yield chunk[:size]
        size -= len(chunk)


def without_start(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield what follows the first ``size`` bytes of a file."""
    for chunk in chunks:
        if len(chunk) > size:
            yield chunk[size:]
        size = max(0, size - len(chunk))


def time_here(mtime: int, now: int) -> int:
    """Return the time that a file is given: its own, or now if it would be swept for its age."""
    return mtime if now - SWEPT < mtime <= now else now
