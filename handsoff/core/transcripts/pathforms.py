r"""How one absolute path is spelled in a text, as patterns: whole paths only, on either platform.

A pattern begins with the letter that is searched for, and looks back from there: a pattern that
begins with a look behind is ten times slower. What may stand around a path:

- on its left anything but a letter or digit of ASCII, and ``_ . - / \ ~ @ % +``;
- on its right the end, a separator, a quote, white space, ``: ; , ) ] } > | & <`` and the wide
  marks of the same kind, or ``.`` or ``!`` with the end, white space or a quote behind it.

A backslash behind a POSIX path is no separator but often an escape of a quoted text: ``\"`` and
``\n`` end the path, ``\ `` (a name with a blank, in a shell) does not.
"""

import re
from dataclasses import dataclass
from typing import Final

from handsoff.core.checkout.paths import is_spelled
from handsoff.errors import DamagedError

_BEFORE: Final = r"[A-Za-z0-9_.\-/\\~@%+]"
_QUOTES: Final = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb\u300c\u300d\u300e\u300f"
_MARKS: Final = r":;,)\]}>|&<" + "\uff1a\uff1b\uff0c\uff09\u3001\u3002\uff01\uff1f\u3011\u300b"
_AFTER: Final = rf"\Z|[\s{_QUOTES}{_MARKS}]|[.!](?:\Z|[\s{_QUOTES}])"
_NAME: Final = rf"[^\s{_QUOTES}{_MARKS}/\\]+"
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_KEPT_IN_URI: Final = "/-_.~!$&'()*+,;=:@"
"""Left as they are in the path of a URI (RFC 3986: pchar), as both agents' libraries do."""

_DRIVE: Final = re.compile(r"(?:\\\\\?\\)?([A-Za-z]):[\\/]")
_PROJECT: Final = re.compile(r".*[\\/]\.claude[\\/]projects[\\/]([^\\/]+)", re.DOTALL)


def _shaped(separator: str) -> str:
    """Return what the rest of a path looks like that ends at white space, a quote or a tag.

    A separator before a quote may as well escape it, so such a rest is none of these.
    """
    return (
        rf"(?:{separator}+{_NAME})*+{separator}*+(?=[\s<]|\Z)"
        rf"|(?:{separator}+{_NAME})++(?=[{_QUOTES}])"
    )


SLASHED: Final = re.compile(_shaped("/"))
BACKSLASHED: Final = re.compile(_shaped(r"\\"))


@dataclass(frozen=True, slots=True)
class Place:
    r"""An absolute path below the root: drive (``C:``, of a UNC path ``\\``) or "", and names."""

    drive: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: str) -> "Place":
        """Return ``path``, POSIX or Windows; raise DamagedError if it is none or a root."""
        drive = _DRIVE.match(path)
        if drive is not None:
            place = cls(f"{drive[1]}:", _names(re.split(r"[\\/]", path[drive.end() :])))
        elif path.startswith("\\\\"):
            place = cls("\\\\", _names(re.split(r"[\\/]", path)))
        elif path.startswith("/"):
            place = cls("", _names(path.split("/")))
        else:
            raise DamagedError(f"not an absolute path: {path[:60]!r}")
        if not is_spelled(path):
            raise DamagedError(f"no system has such a path: {path[:60]!r}")
        if not place.names:
            raise DamagedError(f"a root cannot be mapped: {path[:60]!r}")
        return place

    @property
    def project(self) -> str:
        """Return the name below ``.claude/projects`` if the path ends there, or nothing."""
        found = _PROJECT.fullmatch("/" + "/".join(self.names))
        return found[1] if found else ""

    @property
    def letter(self) -> str:
        """Return the letter of the drive, or nothing."""
        return self.drive[0] if self.drive.endswith(":") else ""

    def text(self, separator: str = "\\") -> str:
        """Return the path as a text, on Windows with ``separator``."""
        if not self.drive:
            return "/" + "/".join(self.names)
        start = self.drive + separator if self.letter else separator * 2
        return start + separator.join(self.names)

    def uri(self) -> str:
        """Return what stands behind ``file://`` (of a UNC path: behind ``file:``), not encoded."""
        return ("/" if self.letter else "") + self.text("/")


def _names(parts: list[str]) -> tuple[str, ...]:
    return tuple(part for part in parts if part)


def plain(old: Place, new: Place) -> str:
    """Return the pattern of ``old`` as its platform writes it, to become ``new``."""
    if not old.drive:
        body = re.escape(old.text()[1:])
        return rf"/(?<!{_BEFORE}/){body}(?={_AFTER}|/|{_backslash(new)})"
    either = r"(?:\\{1,2}|/)"
    names = either.join(map(re.escape, old.names))
    if not old.letter:
        return rf"[\\/](?<!{_BEFORE}[\\/])(?:\\(?:\\\\)?|/)(?i:{names})(?={_AFTER}|[\\/])"
    letter = f"[{old.letter.upper()}{old.letter.lower()}]"
    before = rf"(?:(?<!{_BEFORE}{letter})|(?<=\?\\{letter})|(?<=\?\\\\{letter}))"
    return rf"{letter}{before}:{either}(?i:{names})(?={_AFTER}|[\\/])"


def _backslash(new: Place) -> str:
    r"""Return which backslash ends a POSIX path.

    On its way to Windows only one that cannot be taken for a separator on the way back.
    """
    if new.drive:
        return rf"(?=\\)(?!{BACKSLASHED.pattern})"
    return rf"\\(?:\Z|[A-Za-z\\{_QUOTES}])"


def mounted(old: Place) -> str:
    """Return the pattern of a Windows path as MSYS (``/c/...``) and WSL (``/mnt/c/...``) do."""
    names = "/".join(map(re.escape, (old.letter, *old.names)))
    return rf"/(?<!{_BEFORE}/)(?:(?i:mnt)/)?(?i:{names})(?={_AFTER}|/)"


def uri(old: Place) -> str:
    """Return the pattern of ``old`` in a ``file:`` URI, however its letters are encoded."""
    body = "".join(map(_encoded, old.uri()))
    prefix = "(?://)?" if old.drive and not old.letter else "(?://(?i:localhost)?)?"
    if old.drive:
        body = f"(?i:{body})"
    return rf"file:(?<!{_BEFORE}file:){prefix}{body}(?={_AFTER}|[/#?])"


def _encoded(char: str) -> str:
    if char in _UNRESERVED or char == "/":
        return re.escape(char)
    spelled = "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
    return f"(?:{re.escape(char)}|(?i:{spelled}))"


def encoded(path: str) -> str:
    """Return ``path`` with whatever a URI cannot hold percent-encoded."""
    kept = _UNRESERVED.union(_KEPT_IN_URI)
    return "".join(
        char
        if char in kept
        else "".join(f"%{b:02X}" for b in char.encode(errors="surrogateescape"))
        for char in path
    )


def project(name: str) -> str:
    """Return the pattern of the folder ``name`` in anybody's ``.claude/projects``."""
    either = r"(?:\\{1,2}|/)"
    return rf"\.claude(?<=[\\/]\.claude){either}projects{either}{re.escape(name)}(?={_AFTER}|[\\/])"
