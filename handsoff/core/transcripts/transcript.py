r"""Transcripts of agents, line by line: paths rewritten, strings shown, secrets taken out.

A line is an object of JSON (both agents write JSON lines). Whatever else stands there passes
untouched: blank lines, bare strings, the torn last line of a program that still writes, and
lines of hashed requests (``api-request...``), and lines that are nothing but millions of values or
paths. A file that is one document on many lines is one line here. Lines end with LF only; a CR
before it belongs to the line.

Most lines are never parsed: a part of each path has letters that JSON can only spell as they are or
as ``\u`` escapes, and whole blocks are searched for both.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core.transcripts import blocks, jsontext
from handsoff.core.transcripts.pathmap import PathMap, Span, TooManyError, splice

DENSE: Final = 4_000_000
"""Quotes and opening brackets in a line; one that has more passes as it is."""
_HASHED: Final = "api-request"
_ESCAPED: Final = re.compile(rb"\\u(?!00[01])")
_IMAGE: Final = re.compile(rb"data:image\\*/[\w.+-]+;base64,")
_IMAGES: Final = (("type", "image"), ("type", "input_image"), ("type", "base64"))


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded string or key of a line; ``opaque``: must not be changed."""

    value: str
    opaque: bool


class Lines:
    """Lines with the paths of ``mapping`` replaced, but for those longer than LONGEST."""

    def __init__(self, mapping: PathMap) -> None:
        self._mapping = mapping
        self._needles = tuple(needle.encode() for needle in mapping.needles)

    def line(self, raw: bytes) -> bytes:
        """Return one line, with or without its end, or a document on many lines."""
        return self._suspect(raw) if any(self._suspects(raw)) else raw

    def block(self, block: bytes) -> bytes:
        """Return any number of whole lines."""
        pieces: list[bytes] = []
        done = 0
        for start, end in self._suspects(block):
            pieces += (block[done:start], self._suspect(block[start:end]))
            done = end
        return b"".join([*pieces, block[done:]]) if pieces else block

    def _suspect(self, raw: bytes) -> bytes:
        """Return a line that may have such a path."""
        if len(raw.removesuffix(b"\n")) > blocks.LONGEST or _is_dense(raw):
            return raw
        text = _text(raw)
        document = _document(text)
        if document is None or _is_hashed(document):
            return raw
        try:
            spans = jsontext.edits(text, document, self._mapping)
        except TooManyError:
            return raw
        return _bytes(splice(text, spans)) if spans else raw

    def _suspects(self, block: bytes) -> Iterator[tuple[int, int]]:
        """Yield from where to where the lines of ``block`` go that may have such a path."""
        searched = block.lower() if self._mapping.folded else block
        seen = dict.fromkeys(self._needles, -1)
        escape = -1
        end = 0
        while self._needles and end < len(block):
            for needle, place in seen.items():
                if place < end:
                    found = searched.find(needle, end)
                    seen[needle] = len(block) if found < 0 else found
            if escape < end:
                match = _ESCAPED.search(block, end)
                escape = match.start() if match else len(block)
            place = min(escape, *seen.values())
            if place >= len(block):
                return
            start = block.rfind(b"\n", end, place) + 1 or end
            end = block.find(b"\n", place) + 1 or len(block)
            yield start, end


def rewrite(chunks: Iterable[bytes], mapping: PathMap) -> Iterator[bytes]:
    """Yield the file that ``chunks`` are, with the paths of ``mapping`` replaced.

    However it is cut, the outcome is the same. No more is held than a chunk and the longest line.
    """
    lines = Lines(mapping)
    rest = iter(chunks)
    head, opened = blocks.head(rest)
    if opened and sum(map(len, head)) <= blocks.LONGEST:
        document = b"".join(head)
        if _document_of(document) is not None:
            yield lines.line(document)
            return
    for block, whole in blocks.cut(itertools.chain(head, rest)):
        yield lines.block(block) if whole else block


def strings(raw: bytes) -> Iterator[Text]:
    """Yield the strings and keys of a line, of JSON in them too; a line that is none as it is."""
    text = _text(raw)
    document = jsontext.parse(text)
    found = None if document is None else jsontext.leaves(document)
    if found is None:
        yield Text(text.rstrip("\r\n"), opaque=False)
    else:
        yield from _shown(found, hashed=_is_hashed(document), layer=0)


def _shown(found: list[tuple[str, bool]], *, hashed: bool, layer: int) -> Iterator[Text]:
    for value, opaque in found:
        document = jsontext.inner(value) if layer < jsontext.LAYERS and not opaque else None
        inside = None if document is None else jsontext.leaves(document)
        if inside is None:
            yield Text(value, opaque=opaque or hashed)
        else:
            yield from _shown(inside, hashed=hashed, layer=layer + 1)


def redact(raw: bytes, secrets: Mapping[str, str]) -> bytes:
    """Return a line with each of ``secrets`` (decoded) replaced by its marker, never in opaque."""
    finder = _Secrets(secrets)
    text = _text(raw)
    document = jsontext.parse(text)
    if _is_hashed(document) or not secrets:
        return raw
    spans = None if document is None else jsontext.edits(text, document, finder)
    if spans is None:  # no JSON: what stands there is the text itself, or a torn literal
        spelled = {jsontext.spell(old): jsontext.spell(new) for old, new in secrets.items()}
        spans = _Secrets({**spelled, **secrets}).spans(text)
    return _bytes(splice(text, spans)) if spans else raw


class _Secrets:
    """Finds secrets, the longest first."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = {secret: marker for secret, marker in secrets.items() if secret}
        longest = sorted(self._secrets, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest)) or r"(?!)")

    def candidates(self, decoded: list[str]) -> list[int]:
        return list(range(len(decoded)))

    def spans(self, decoded: str) -> list[Span]:
        found = self._pattern.finditer(decoded)
        return [(match.start(), match.end(), self._secrets[match[0]]) for match in found]


def has_image(raw: bytes) -> bool:
    """Say whether a line has a picture or another file in base64, which no scan looks into."""
    if _IMAGE.search(raw):
        return True
    if b"base64" not in raw and b"image" not in raw:
        return False
    waiting = [jsontext.parse(_text(raw))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            if any(kind in value for kind in _IMAGES):
                return True
            waiting += [item for _, item in value]
        elif isinstance(value, list):
            waiting += value
    return False


def _is_dense(raw: bytes) -> bool:
    """Say whether a line has so many values that it would fill the memory when it is parsed."""
    return len(raw) > DENSE and sum(map(raw.count, (b'"', b"[", b"{"))) > DENSE


def _document_of(raw: bytes) -> Any:
    return None if _is_dense(raw) else _document(_text(raw))


def _document(text: str) -> Any:
    """Return what ``text`` spells if it is an object, or an array on many lines; else None."""
    document = jsontext.parse(text)
    if isinstance(document, list) and "\n" in text.strip():
        return document
    return document if isinstance(document, tuple) else None


def _is_hashed(document: Any) -> bool:
    """Say whether a line is (part of) a request that is named by its hash."""
    return isinstance(document, tuple) and any(
        key == "type" and isinstance(value, str) and value.startswith(_HASHED)
        for key, value in document
    )


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
