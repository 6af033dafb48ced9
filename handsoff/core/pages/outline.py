"""The outline of a Markdown text: its headings and the lines below each.

Only as much of CommonMark as a page needs: ATX headings, code fences and HTML comments.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from handsoff.core.pages import headings
from handsoff.core.pages.headings import Section

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(\s*)(.*?)[\s#]*$")
_FENCE: Final = re.compile(r"\s*(?:(?:[-*+>]|\d+[.)])\s+)*(`{3,}|~{3,})(.*)$")


class Line(NamedTuple):
    """A line of a part: where it stands, its text without comments, and what it is not."""

    number: int
    text: str
    code: bool = False
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a text, from a heading to the next that opens another."""

    section: Section | None
    title: str
    line: int
    lines: tuple[Line, ...]


def parts(text: str) -> tuple[Part, ...]:
    """Return the parts of ``text``; the first is what stands above any heading."""
    found: list[Part] = []
    current = Part(None, "", 1, ())
    level = 0
    lines: list[Line] = []
    for line in _without_comments(text):
        match = None if line.code else _HEADING.match(line.text)
        opened = match and _opened(match, line.number)
        if not match or opened is None:
            lines.append(line)
        elif opened.section is None and current.section and len(match[1]) > level:
            # an unknown heading below a known one only arranges what that one says
            lines.append(line._replace(heading=True))
        else:
            found.append(_closed(current, lines))
            current, level, lines = opened, len(match[1]), []
    return (*found, _closed(current, lines))


def _closed(part: Part, lines: list[Line]) -> Part:
    return Part(part.section, part.title, part.line, (*part.lines, *lines))


def _opened(match: re.Match[str], number: int) -> Part | None:
    _, blank, title = match.groups()
    known = headings.known(title)
    if known is None:
        # "#482" is a reference, "# 482" a heading
        return Part(None, title, number, ()) if blank or not title else None
    section, said = known
    return Part(section, title, number, (Line(number, said),) if said else ())


def _without_comments(text: str) -> Iterator[Line]:
    fence = ""
    comment = False
    for number, line in enumerate(text.split("\n"), start=1):
        mark = None if comment else _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            else:
                yield Line(number, line, code=True)
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        else:
            shown, comment = _uncomment(line, inside=comment)
            yield Line(number, shown)


def _uncomment(line: str, *, inside: bool) -> tuple[str, bool]:
    shown = ""
    at = 0
    while at < len(line):
        if inside:
            end = line.find("-->", at)
            if end < 0:
                return shown, True
            at, inside = end + 3, False
            continue
        start = line.find("<!--", at)
        if start < 0:
            return shown + line[at:], False
        # in a code span the four signs are just text
        if line.count("`", 0, start) % 2 and "`" in line[start:]:
            shown, at = shown + line[at : start + 4], start + 4
        else:
            shown, at, inside = shown + line[at:start], start + 4, True
    return shown, inside
