r"""Strings inside JSON text, replaced where they stand: every other byte stays as it was written.

The text is parsed only to know which strings there are and which of them must stay; what is
replaced is part of a literal of the text itself. So numbers, order and doubling of keys, white
space and the spelling of every other letter are never at stake. A string that is itself JSON is
gone into. Opaque is what a service signed, encrypted or hashed (facts of the two agents' formats):
``signature``, ``thinking``, ``encrypted_content``, the ``data`` of ``redacted_thinking`` and of
``base64``, data URLs, ids and hashes. How literals are spelled: RFC 8259, section 7.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Protocol

from handsoff.core.transcripts.pathmap import DATA_URL, Span, check_count

DEEPEST: Final = 200
"""Levels of arrays and objects; JSON that is deeper is taken for plain text."""

LAYERS: Final = 16
"""JSON in a string of JSON in a string ...: the spelling doubles with each, so no line has more."""

_SIGNED: Final = frozenset({"signature", "thinking", "encrypted_content"})
_DATA: Final = (("type", "base64"), ("type", "redacted_thinking"))
_NAMED: Final = frozenset(
    [
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "leafUuid",
        "sourceToolAssistantUUID",
        "sessionId",
        "session_id",
        "id",
        "messageId",
        "promptId",
        "requestId",
        "toolUseID",
        "tool_use_id",
        "call_id",
        "turn_id",
        "agentId",
        "hash",
        "shapeHash",
        "requestDigest",
        "commit_hash",
        "headCommit",
        "baseCommit",
        "git_sha",
        "sha256",
        "backupFileName",
    ]
)
_SPECIAL: Final = _SIGNED | _NAMED | {"data"}
_ID: Final = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9a-f]{16,}(?:@v\d+)?"
    r"|(?:toolu|srvtoolu|msg|req|call|resp|fc|rs|ws)_[A-Za-z0-9_-]+"
)

_LITERAL: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_PAIR: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\.")
_WIDE: Final = re.compile(rf"\\u(?!00[0-7]|[dD][89a-fA-F])|{_PAIR}")
_LONE: Final = re.compile("[\ud800-\udfff]")
_OPENING: Final = re.compile(r'[ \t\r\n]*+[{["]')

_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=len, parse_float=len, parse_constant=len, strict=False
)
"""Objects become tuples of pairs, arrays lists; numbers are of no interest."""

_ENCODERS: Final = {only: json.JSONEncoder(ensure_ascii=only) for only in (False, True)}
"""By whether letters beyond ASCII become escapes."""


class Finder(Protocol):
    """What looks for something in decoded strings."""

    def candidates(self, decoded: list[str], /) -> list[int]: ...

    def spans(self, decoded: str, /) -> list[Span]: ...


def parse(text: str) -> Any:
    """Return what ``text`` spells: a tuple of pairs, a list, a str; None for what is no JSON."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def inner(text: str) -> Any:
    """Return what a decoded string spells if it is JSON itself, else None."""
    return parse(text) if _OPENING.match(text) else None


def leaves(document: Any) -> list[tuple[str, bool]] | None:
    """Return each string and key of ``document`` in order, and whether it is opaque.

    None if it is deeper than DEEPEST.
    """
    if isinstance(document, str):
        return [(document, False)]
    found: list[tuple[str, bool]] = []
    try:
        _walk(document, found, opaque=False, depth=0)
    except _TooDeepError:
        return None
    return found


class _TooDeepError(Exception):
    pass


def _walk(value: Any, found: list[tuple[str, bool]], *, opaque: bool, depth: int) -> None:
    if depth >= DEEPEST:
        raise _TooDeepError
    if isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                found.append((item, opaque or (item.startswith("data:") and _is_data_url(item))))
            elif isinstance(item, (tuple, list)):
                _walk(item, found, opaque=opaque, depth=depth + 1)
    elif isinstance(value, tuple):
        data = _DATA[0] in value or _DATA[1] in value
        for key, item in value:
            found.append((key, opaque))
            if isinstance(item, str):
                # asked of every string of every line: the quick questions first
                special = (key in _SPECIAL and _is_opaque(key, item, data=data)) or (
                    item.startswith("data:") and _is_data_url(item)
                )
                found.append((item, opaque or special))
            elif isinstance(item, (tuple, list)):
                _walk(item, found, opaque=opaque or key in _SIGNED, depth=depth + 1)


def _is_opaque(key: str, value: str, *, data: bool) -> bool:
    if key == "data":
        return data
    return key in _SIGNED or _ID.fullmatch(value) is not None


def _is_data_url(value: str) -> bool:
    return DATA_URL.fullmatch(value) is not None


def edits(text: str, document: Any, finder: Finder, layer: int = 0) -> list[Span] | None:
    """Return what to replace in the JSON ``text`` of ``document``; None if it is too deep."""
    strings = leaves(document)
    if strings is None:
        return None
    changes: list[tuple[int, list[Span]]] = []
    count = 0
    values = [value for value, _ in strings]
    numbers = finder.candidates(values)
    if "\\\\u" in text:  # JSON inside may spell with escapes what is looked for
        numbers = sorted({*numbers, *(n for n, value in enumerate(values) if "\\u" in value)})
    for number in numbers:
        value, opaque = strings[number]
        spans = [] if opaque else _inside(value, finder, layer)
        if spans:
            changes.append((number, spans))
            count += len(spans)
            check_count(count)
    if not changes:
        return []
    literals = list(_LITERAL.finditer(text))
    assert len(literals) == len(strings), "a string of the document is one literal of its text"
    replaced: list[Span] = []
    for number, spans in changes:
        start, end = literals[number].span()
        replaced += _respelled(text, start + 1, end - 1, spans)
    return replaced


def _inside(value: str, finder: Finder, layer: int) -> list[Span]:
    document = inner(value) if layer < LAYERS else None
    spans = None if document is None else edits(value, document, finder, layer + 1)
    return finder.spans(value) if spans is None else spans


def _respelled(text: str, start: int, end: int, spans: list[Span]) -> Iterator[Span]:
    """Yield ``spans`` of a decoded string as spans of ``text``, which has it from start to end."""
    places = _places(text, start, end, [place for span in spans for place in span[:2]])
    for (_, _, new), first, last in zip(spans, places[::2], places[1::2], strict=True):
        ascii_only = not new.isascii() and text.isascii() and _WIDE.search(text) is not None
        spelled = spell(new, ascii_only=ascii_only)
        slashed = text.find("\\/", first, last) >= 0
        yield first, last, spelled.replace("/", "\\/") if slashed else spelled


def _places(text: str, start: int, end: int, wanted: list[int]) -> list[int]:
    """Return where the letters ``wanted`` (numbers in order) of a literal begin in ``text``."""
    if text.find("\\", start, end) < 0:
        return [start + number for number in wanted]
    found: list[int] = []
    ahead = start  # what spelled letters take more than one place, beside the start
    for escape in _ESCAPE.finditer(text, start, end):
        while len(found) < len(wanted) and wanted[len(found)] + ahead <= escape.start():
            found.append(wanted[len(found)] + ahead)
        if len(found) == len(wanted):
            break
        ahead += escape.end() - escape.start() - 1
    return found + [number + ahead for number in wanted[len(found) :]]


@lru_cache(maxsize=256)
def spell(decoded: str, *, ascii_only: bool = False) -> str:
    """Return ``decoded`` as the inside of a literal; what is no character stays an escape."""
    spelled = _ENCODERS[ascii_only].encode(decoded)[1:-1]
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", spelled)
