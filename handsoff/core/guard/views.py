r"""Other readings of the same bytes, in which a secret may stand out.

A view is what a reader of the file would see: wide text (UTF-16, UTF-32) without its NULs, a
JSON or program string without its escapes, base64 decoded, twice at most.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

# each begins with one byte and no choice: so the search for it runs at the speed of memchr
_ESCAPED: Final = re.compile(rb"\\(?:u00|x)[2-7][0-9A-Fa-f]")
_WIDE: Final = re.compile(rb"\0(?:[ -~](?:\0[ -~]){3}|\0\0[ -~]\0\0\0)")
_ESCAPE: Final = re.compile(rb"\\+(?:u00([2-7][0-9A-Fa-f])|x([2-7][0-9A-Fa-f])|(/))")
_BASE64: Final = re.compile(
    rb"[A-Za-z0-9+/_-]{24,}(?:\\?[\r\n]{1,2}[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}"
)
_NOT_TEXT: Final = re.compile(
    rb"[\x01-\x08\x0e-\x1f\x7f]|[^\x00-\x7f]{2}[^\x00-\x7f]*[\x00-\x7f]{0,2}[^\x00-\x7f]"
)
_BLANKS: Final = re.compile(rb"[\\\s]+")
_SIGNATURE: Final = re.compile(
    rb"(?<=\ngpgsig )-----BEGIN (SSH|PGP) SIGNATURE-----\n"
    rb"(?: [A-Za-z0-9+/=:. ()]{0,100}\n){1,100} -----END \1 SIGNATURE-----(?=\n)"
)
DEPTH: Final = 2
"""Layers of base64 that are taken off."""

PIECE: Final = 1 << 20
_OVERLAP: Final = 1 << 16
"""Longer than any secret that a rule takes whole, with the name before it."""


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield ``data`` in pieces that overlap, so that a match costs a second look at one only.

    What stands on a border is whole in one piece at least, and cut short in another perhaps.
    """
    if len(data) <= PIECE + _OVERLAP:
        yield data
        return
    for at in range(0, len(data) - _OVERLAP, PIECE):
        yield data[at : at + PIECE + _OVERLAP]


def views(data: bytes) -> Iterator[bytes]:
    """Yield the other readings of ``data`` that cost little to make; most files have none."""
    plain = _narrow(data)
    if plain is not data:
        yield plain
    # the search for one byte says of most files, at the speed of memchr, that they have none
    if (b"\\" in plain and _ESCAPED.search(plain)) or (b"%" in plain and b"%5Cu00" in plain):
        yield _ESCAPE.sub(_unescaped, plain)


def decoded(data: bytes, depth: int = DEPTH) -> Iterator[bytes]:
    """Yield the text that stands in ``data`` as base64, and what stands so in that."""
    for match in _BASE64.finditer(data):
        plain = _decode(match[0])
        if plain is not None:
            yield plain
            if depth > 1:
                yield from decoded(plain, depth - 1)


def _narrow(data: bytes) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        # the mark of UTF-32 begins alike; read so, it leaves only NULs between its characters
        text = data.decode("utf-16", "replace").replace("\0", "")
        return text.encode("utf-8", "replace")
    # wide text without its mark becomes its ASCII; a few NULs among other bytes are no such text,
    # and to read each image and archive twice would cost as much as all the rest
    return data.replace(b"\0", b"") if b"\0" in data and _WIDE.search(data) else data


def _unescaped(match: re.Match[bytes]) -> bytes:
    digits = match[1] or match[2]
    return bytes([int(digits, 16)]) if digits else b"/"


def _decode(text: bytes) -> bytes | None:
    text = _BLANKS.sub(b"", text).rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    text += b"=" * (-len(text) % 4) if len(text) % 4 != 1 else b"A=="
    plain = b64decode(text)
    # images, digests and keys in DER are base64 as well: only text is read on
    return plain if _NOT_TEXT.search(plain[:48]) is None else None


def without_signatures(data: bytes) -> bytes:
    """Return commits without the signatures in their headers (gitformat-signature(5))."""
    return _SIGNATURE.sub(b"", data)
