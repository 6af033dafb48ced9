r"""A map of absolute paths, used on decoded text: whole paths, longest first, in one pass.

``text`` is the rule, ``spans`` is the same as places in the text, so that nothing around them is
written anew. A path is found as its platform writes it, as ``file:`` URI with any encoding, of
Windows also as ``/c/...`` and ``/mnt/c/...``, with ``/``, doubled backslashes or behind ``\\?\``.
A pair of folders in ``.claude/projects`` also holds in anybody's home, however that is named. From
one platform to the other the rest of a path gets the other separators only where it ends at white
space, a quote or ``<``. Not every map has a way back on every text:
``core/transcripts/transcript.py`` tells where.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from handsoff.core.transcripts import pathforms
from handsoff.core.transcripts.pathforms import Place
from handsoff.errors import UnfitError

MOST: Final = 200_000
"""Places in one line that are replaced: each takes hundreds of bytes of memory."""

Span: TypeAlias = tuple[int, int, str]
"""From, to, and what stands there instead."""

_Replace: TypeAlias = Callable[[str, int, int], list[Span]]

_RUN: Final = re.compile(r"[A-Za-z0-9_.-]+")
_LETTERS: Final = re.compile("[^\x00-\x7f\ud800-\udfff]+")
_DOUBLED: Final = re.compile(r"(?<=[^\\])\\\\(?=[^\\])")
_LONG: Final = re.compile(r"\\{2,4}\?\\{1,2}\Z")
DATA_URL: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[^\s,\"'<>]*)?,[A-Za-z0-9+/=%_-]*")
"""RFC 2397, with its type: what is inside is no text."""


class TooManyError(UnfitError):
    """A line has more than MOST places to be replaced. Next: leave that line as it is."""


def check_count(number: int) -> None:
    """Raise TooManyError if there are more places than are replaced in one line."""
    if number > MOST:
        raise TooManyError(f"a line has more than {MOST} places to be replaced", hint="leave it")


@dataclass(frozen=True, slots=True)
class _Scanner:
    """One search for paths that begin alike; ``clue`` is in each text that has one."""

    clue: str
    pattern: re.Pattern[str]
    replace: tuple[_Replace, ...]

    def found(self, text: str) -> list[list[Span]]:
        """Return for each path what is to be replaced: itself, and parts of its rest."""
        if self.clue not in text:
            return []
        found = [
            self.replace[(match.lastindex or 0) - 1](text, match.start(), match.end())
            for match in islice(self.pattern.finditer(text), MOST + 1)
        ]
        check_count(len(found))
        return found


@dataclass(frozen=True, slots=True)
class PathMap:
    """Paths to other paths. False if it changes nothing; needles: see ``candidates``."""

    pairs: tuple[tuple[str, str], ...]
    ignore_case: bool
    needles: tuple[str, ...]
    folded: bool
    _scanners: tuple[_Scanner, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], *, ignore_case: bool = False) -> "PathMap":
        """Return the map of ``pairs`` of absolute paths; of two with one origin the first counts.

        Paths of Windows are compared without regard to case, others with ``ignore_case``. Raises
        DamagedError for what is not an absolute path below a root.
        """
        places: dict[Place, Place] = {}
        listed = tuple(pairs)
        for old, new in listed:
            places.setdefault(Place.of(old), Place.of(new))
        ordered = sorted(places.items(), key=lambda pair: -len(pair[0].text()))
        if all(old == new for old, new in ordered):
            return cls(listed, ignore_case, needles=(), folded=False, _scanners=())
        folded = ignore_case or any(old.drive for old, _ in ordered)
        every = {needle for old, _ in ordered for needle in _needles(old, folded=folded)}
        needles = {n for n in every if not any(other in n for other in every if other != n)}
        scanners = _scanners(ordered, ignore_case=ignore_case)
        return cls(listed, ignore_case, tuple(sorted(needles)), folded, scanners)

    def __bool__(self) -> bool:
        return bool(self._scanners)

    def inverse(self) -> "PathMap":
        """Return the way back; where two paths became one, to the first of them."""
        return PathMap.of([(new, old) for old, new in self.pairs], ignore_case=self.ignore_case)

    def text(self, decoded: str) -> str:
        """Return ``decoded`` with each path replaced that the map names."""
        return splice(decoded, self.spans(decoded))

    def candidates(self, decoded: list[str]) -> list[int]:
        """Return which texts have a part of a path that the map names: quick, and none too few."""
        texts = [text.lower() for text in decoded] if self.folded else decoded
        found: set[int] = set()
        for needle in self.needles:
            found.update([number for number, text in enumerate(texts) if needle in text])
        return sorted(found)

    def spans(self, decoded: str) -> list[Span]:
        """Return what is to be replaced in ``decoded``, in order and apart from each other."""
        found = [spans for scanner in self._scanners for spans in scanner.found(decoded)]
        if not found:
            return []
        found.sort(key=lambda spans: spans[0][0])
        skipped = [m.span() for m in DATA_URL.finditer(decoded)] if "data:" in decoded else []
        apart: list[list[Span]] = []
        end = 0
        for spans in found:
            start = spans[0][0]
            if start >= end and not any(first <= start < last for first, last in skipped):
                apart.append(spans)
                end = spans[0][1]
        nexts = [spans[0][0] for spans in apart[1:]] + [len(decoded)]
        # a rest in which the next path begins is none
        cut = [s if s[-1][1] <= start else s[:1] for s, start in zip(apart, nexts, strict=True)]
        return [span for spans in cut for span in spans]


def splice(text: str, spans: Iterable[Span]) -> str:
    """Return ``text`` with ``spans`` replaced."""
    pieces: list[str] = []
    done = 0
    for start, end, new in spans:
        pieces += (text[done:start], new)
        done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _needles(old: Place, *, folded: bool) -> list[str]:
    """Return texts of which one is in every text that has ``old``, in whatever spelling."""
    name = old.names[-1]
    runs = _RUN.findall(name)
    if runs:
        needle = max(runs, key=len)
        return [needle.lower() if folded else needle]
    letters = _LETTERS.findall(name)
    # percent-encoded it has no letter of its own left
    return [max(letters, key=len), "file:"] if letters and not folded else [""]


def _scanners(ordered: list[tuple[Place, Place]], *, ignore_case: bool) -> tuple[_Scanner, ...]:
    slashes: list[tuple[str, _Replace]] = []
    uris: list[tuple[str, _Replace]] = []
    windows: list[tuple[str, _Replace]] = []
    projects: list[tuple[str, _Replace]] = []
    for old, new in ordered:
        (windows if old.drive else slashes).append((pathforms.plain(old, new), _plain(old, new)))
        uris.append((pathforms.uri(old), _uri(old, new)))
        if old.letter:
            slashes.append((pathforms.mounted(old), _mounted(new)))
        if old.project and new.project:
            projects.append((pathforms.project(old.project), _project(old, new)))
    kinds = (("/", slashes), ("file:", uris), ("", windows), (".claude", projects))
    flags = re.IGNORECASE if ignore_case else 0
    return tuple(
        _Scanner(
            clue,
            re.compile("|".join(f"({p})" for p, _ in rules), flags),
            tuple(r for _, r in rules),
        )
        for clue, rules in kinds
        if rules
    )


def _plain(old: Place, new: Place) -> _Replace:
    """Return how a path is replaced that is written as on its own platform."""

    def replace(text: str, start: int, end: int) -> list[Span]:
        if not old.drive:
            return [(start, end, new.text()), *(_tail(text, end, "/") if new.drive else ())]
        found = text[start:end]
        separator = "/" if "\\" not in found else "\\\\" if _DOUBLED.search(found) else "\\"
        if new.drive:
            return [(start, end, new.text(separator))]
        before = _LONG.search(text, max(0, start - 8), start)
        first = (before.start() if before else start, end, new.text())
        return [first, *(_tail(text, end, separator) if separator != "/" else ())]

    return replace


def _tail(text: str, end: int, separator: str) -> list[Span]:
    """Return the separators of the rest of a path at ``end`` as the other platform writes them."""
    other = "\\" if separator == "/" else "/"
    shaped = (pathforms.SLASHED if separator == "/" else pathforms.BACKSLASHED).match(text, end)
    if shaped is None:
        return []
    places = re.finditer(re.escape(separator), shaped[0])
    return [(end + m.start(), end + m.end(), other) for m in places]


def _mounted(new: Place) -> _Replace:
    def replace(text: str, start: int, end: int) -> list[Span]:
        if not new.letter:
            return [(start, end, new.text("/"))]
        mount = text[start : start + 4] if text[start : start + 5].lower() == "/mnt/" else ""
        return [(start, end, "/".join((mount, new.letter.lower(), *new.names)))]

    return replace


def _uri(old: Place, new: Place) -> _Replace:
    """Return how a URI is replaced: encoded, or not if it was not although it should have been."""

    def replace(text: str, start: int, end: int) -> list[Span]:
        found = text[start:end]
        raw = found.endswith(old.uri()) and encoded_old != old.uri()
        path = new.uri() if raw else encoded_new
        slashes = re.match(r"file:(//(?i:localhost)?)?(?=/)", found)
        assert slashes is not None
        host = slashes[1] or ""
        if new.drive and not new.letter:
            host = ""
        elif old.drive and not old.letter:
            host = "//"
        return [(start, end, f"file:{host}{path}")]

    encoded_old, encoded_new = pathforms.encoded(old.uri()), pathforms.encoded(new.uri())
    return replace


def _project(old: Place, new: Place) -> _Replace:
    """Return how a folder below ``.claude/projects`` is replaced: its name alone."""

    def replace(_text: str, _start: int, end: int) -> list[Span]:
        return [(end - len(old.project), end, new.project)]

    return replace
