"""A transcript is read before it leaves, as its reader would: in decoded strings, not as JSON text.

What is found is named by session and line. With ``redacted`` a marker of its kind stands in place
of each finding that is known by then, and what is left is read once more: the bytes that travel
are always those that were read last.
"""

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.guard import guard, masking, patterns
from handsoff.core.guard.guard import Finding
from handsoff.core.transcripts import transcript
from handsoff.edge.scan import Scanner

_NAME: Final = re.compile(r"[\w.-]{1,48}")
_WORD: Final = re.compile(r'[^\s"\\]{1,256}')
"""What is told in quotes behind a name, as it stands in JSON: a password is one word."""
_RANDOM: Final = re.compile(r"[A-Za-z0-9+/=_-]{100,}")
_RUN: Final = re.compile(rb"[A-Za-z0-9_-]+")
_KEY: Final = 512
"""Characters of the longest key of a known shape."""
OVERLAP: Final = 64 << 10
"""Bytes that are looked at again with what follows them, in a file that has no lines of JSON."""


@dataclass(frozen=True, slots=True)
class Label:
    """What a file of a session is called in a finding."""

    text: str
    waived: str
    """The same where it stays the same on every machine: part of the fingerprint."""
    lines: bool


@dataclass
class Proofreader:
    """Reads blocks of transcripts, in several threads at once, and keeps what it finds."""

    scanner: Scanner
    secrets: dict[str, str] = field(default_factory=dict)
    """What is to be redacted, and the marker of its kind."""
    images: set[str] = field(default_factory=set)
    """The files in which there are images."""
    _found: dict[str, tuple[int, Finding]] = field(default_factory=dict)
    _plain: dict[str, tuple[str, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def findings(self) -> list[Finding]:
        """Each finding once, by the first line that has it."""
        return [finding for _, finding in self._found.values()]

    def will_redact(self, allowed: Collection[str]) -> None:
        """Redact from now on what was found so far, but for what is ``allowed``; begin anew."""
        names = {name.strip().lower() for name in allowed}
        self.secrets = {
            secret: masking.marker(kind)
            for name, (secret, kind) in self._plain.items()
            if name not in names
        }
        self._found.clear()
        self._plain.clear()
        self.images.clear()

    def read(self, block: bytes, label: Label, first: int, before: bytes = b"") -> None:
        """Look at a block of whole lines, of which the first has the number ``first``.

        ``before`` is the end of what came before it, in a file without lines.
        """
        if not label.lines:
            for hit in self.scanner.scan([(0, before + block)]):
                self._note(label, 0, hit.kind, hit.secret)
            return
        lines = block.split(b"\n")
        for hit in self.scanner.scan([(n, told(line)) for n, line in enumerate(lines) if line]):
            self._note(label, first + hit.key, hit.kind, hit.secret)
        if any(transcript.has_image(line) for line in lines):
            with self._lock:
                self.images.add(label.text)

    def refuse(self, label: Label, kind: str) -> None:
        """Note a file that cannot be looked into at all."""
        self._note(label, 0, kind, b"")

    def _note(self, label: Label, line: int, kind: str, secret: bytes) -> None:
        name = guard.fingerprint(kind, label.waived.encode("utf-8", "surrogateescape"), secret)
        where = f"{label.text}, line {line}" if line else label.text
        seen = guard.shown(secret) if secret else ""
        path = where.encode("utf-8", "surrogateescape")
        finding = Finding(path, kind, seen, "", name)
        with self._lock:
            if name not in self._found or line < self._found[name][0]:
                self._found[name] = (line, finding)
            if secret:
                self._plain[name] = (secret.decode("utf-8", "surrogateescape"), kind)

    def redacted(self, block: bytes, label: Label) -> bytes:
        """Return a block with a marker in place of each secret that is known."""
        if not self.secrets:
            return block
        clues = [(_clue(secret), secret) for secret in self.secrets]
        if not any(clue in block for clue, _ in clues):
            return block
        if not label.lines:
            return _replaced(block, self.secrets)
        lines = block.split(b"\n")
        return b"\n".join(
            transcript.redact(line, self.secrets) if any(c in line for c, _ in clues) else line
            for line in lines
        )


def told(line: bytes) -> bytes:
    """Return a line as text: each string on lines of its own, a name before what it names.

    What is random letters only (a signature, an image) says nothing, and would be found to have
    anything in it.
    """
    return "".join(_told(line)).encode("utf-8", "surrogatepass")


def _told(line: bytes) -> Iterator[str]:
    named = False
    for text in transcript.strings(line):
        value = text.value
        if text.opaque and _RANDOM.fullmatch(value):
            # whoever put a key there alone did not sign or encrypt it
            value = value[:_KEY]
            if not any(hit.at == 0 for hit in patterns.find(value.encode())):
                continue
        yield f'"{value}"' if named and _WORD.fullmatch(value) else value
        named = _NAME.fullmatch(value) is not None
        yield ": " if named else "\n"


def _clue(secret: str) -> bytes:
    """Return a part of a secret that is spelled in one way only, in JSON as well."""
    runs: Sequence[bytes] = _RUN.findall(secret.encode("utf-8", "surrogateescape"))
    return max(runs, key=len, default=b"")


def _replaced(block: bytes, secrets: Mapping[str, str]) -> bytes:
    for secret in sorted(secrets, key=len, reverse=True):
        old = secret.encode("utf-8", "surrogateescape")
        block = block.replace(old, secrets[secret].encode())
    return block
