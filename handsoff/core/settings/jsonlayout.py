"""How a JSON text is laid out, and a value spelled in that manner.

Rule of the room: as in core/settings/jsonspans.py, whose spans are used here.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core.settings.jsonspans import Node

_LINE_END: Final = re.compile("\r\n|\n|\r")
_BLANKS: Final = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Style:
    """How a text is laid out; ``newline`` is "" for one that is a single line."""

    newline: str
    unit: str
    comma: str = ", "
    colon: str = ": "


FRESH: Final = Style("\n", "  ")


def style_of(body: str, root: Node) -> Style:
    """Return how this text is laid out, as its first member shows."""
    newline = _LINE_END.search(body)
    if not root.children:
        return Style(newline[0] if newline else "\n", "  ")
    first = root.children[0]
    tight = body[first.start - 1] == ":"
    comma, colon = (",", ":") if tight else (", ", ": ")
    if newline is None or not _starts_line(body, first.head):
        return Style("", "", comma, colon)
    unit = indent_of(body, first.head).removeprefix(indent_of(body, root.start))
    return Style(newline[0], unit, comma, colon)


def beside(body: str, at: int, style: Style) -> Style:
    """Return the style beside a neighbour: who shares its line with others is on one line."""
    return style if _starts_line(body, at) else Style("", "", style.comma, style.colon)


def _starts_line(body: str, at: int) -> bool:
    start = len(body[:at].rstrip(" \t"))
    return start > 0 and body[start - 1] in "\r\n"


def indent_of(body: str, at: int) -> str:
    """Return the blanks with which the line of a place begins."""
    start = max(body.rfind("\n", 0, at), body.rfind("\r", 0, at)) + 1
    found = _BLANKS.match(body, start)
    return found[0] if found else ""


def spell(value: Any, style: Style, indent: str = "") -> str:
    """Return ``value`` as JSON; each list and object begins with a blank behind its bracket."""
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + style.unit
    items = (
        [json.dumps(k) + style.colon + spell(v, style, inner) for k, v in value.items()]
        if isinstance(value, dict)
        else [spell(v, style, inner) for v in value]
    )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not style.newline:
        return f"{opening} {style.comma.join(items)} {closing}"
    joined = f",{style.newline}{inner}".join(items)
    return f"{opening}{style.newline}{inner}{joined}{style.newline}{indent}{closing}"
