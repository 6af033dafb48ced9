"""One file of a session: what stands here and what comes, compared, and made one.

Everything is read in chunks, as often as it is needed; nothing is held.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from handsoff.core.transcripts import blocks, whereabouts
from handsoff.core.transcripts import installing as rules
from handsoff.core.transcripts.baggage import File, Packed
from handsoff.core.transcripts.installing import Pair, Relation, Verdict, mapped
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.sessions import CLAUDE, told_by_claude
from handsoff.edge.agents.transcripts import Folder
from handsoff.edge.git.baggage import Arrived


@dataclass
class Splice:
    """A file as it was sent, and what stands in its place."""

    arrived: Arrived
    session: Packed
    file: File
    name: str
    """Its name here, below the agent's ``folder``."""
    folder: Folder
    cwd: str
    """Where the agent is to run here."""
    mapping: PathMap
    """From the sender's places to those here; false for a file that is not rewritten."""
    size: int | None = field(init=False)
    """How long the file is that stands here, None if none does."""
    _theirs: int = field(init=False)
    """Bytes of what comes, without the line that says where it was on the sender."""
    _ours: int = field(init=False)
    """Bytes of what stands here, without the line that says where it is."""
    _pair: Pair = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.folder.size(self.name)
        self._theirs, self._ours = self.file.size, self.size or 0
        if self._is_marked:
            places = {self.session.cwd, self.session.top, *self.session.spellings}
            tail = self.arrived.tail(self.file, whereabouts.TAIL)
            self._theirs -= whereabouts.marked(tail, self.session.id, places)
            self._ours -= self._marker_here()
        ours = self._here if self.size is not None else None
        self._pair = Pair(ours, self._coming, self.mapping)

    @property
    def is_main(self) -> bool:
        """Whether it is the transcript itself."""
        return self.file is self.session.files[self.session.main]

    @property
    def _is_marked(self) -> bool:
        return self.session.agent == CLAUDE and self.is_main

    def relation(self) -> Relation | None:
        """Return how both begin, None if nothing stands here."""
        return self._pair.relation()

    def carry_out(self, verdict: Verdict, now: int) -> dict[str, Any]:
        """Write what is to stand here, if anything is to be written; return what it is now."""
        digest, back, sent = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        if verdict.writes:
            time = rules.time_here(self.file.mtime, now)
            self.folder.write(self.name, self._result(verdict), time, stood=self.size)
        for chunk in self.folder.read(self.name):
            digest.update(chunk)
        length = (self.folder.size(self.name) or 0) - self._marker_here()
        stands = self.folder.read(self.name, end=length)
        for chunk in mapped(stands, self.mapping.inverse()):
            back.update(chunk)
        for chunk in self._coming():
            sent.update(chunk)
        return {
            "name": self.name, "result": verdict.value, "sha256_sent": self.file.sha256,
            "sha256_here": digest.hexdigest(), "returns": back.digest() == sent.digest(),
        }  # fmt: skip

    def _coming(self) -> Iterator[bytes]:
        return rules.without_end(self.arrived.pieces(self.file), self._theirs)

    def _here(self) -> Iterator[bytes]:
        return self.folder.read(self.name, end=self._ours)

    def _result(self, verdict: Verdict) -> Iterator[bytes]:
        stood = self.size or 0
        yield from blocks.bounded(self._pair.result(), self.file.size + stood)
        yield self._marker(verdict)

    # --- the line that says where a transcript of Claude Code is --------------------------------

    def _marker(self, verdict: Verdict) -> bytes:
        """Return that line, if what is written needs one."""
        if not self._is_marked:
            return b""
        grown = verdict is Verdict.EXTENSION
        head = next(self._here() if grown else self._pair.incoming(), b"")[: whereabouts.TAIL]
        cut = self.file.size - self._theirs
        tail = self.arrived.tail(self.file, whereabouts.TAIL + cut)
        tail = b"".join(mapped([tail[: len(tail) - cut]], self.mapping))
        torn = tail[-1:] != b"\n"  # nothing can be put behind a line that is not whole
        if torn or told_by_claude(head, tail).cwd == self.cwd:
            return b""
        return whereabouts.marker(self.session.id, self.cwd)

    def _marker_here(self) -> int:
        size = self.folder.size(self.name)
        if not size or not self._is_marked:
            return 0
        tail = b"".join(self.folder.read(self.name, max(0, size - whereabouts.TAIL)))
        return whereabouts.marked(tail, self.session.id, {self.cwd})
