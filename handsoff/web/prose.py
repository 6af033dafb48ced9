"""A page of somebody's, rendered: the one door to markdown-it.

HTML in it is text. Links, images and references to either are not made: what is shown is what was
typed, so a link tells where it leads, and nothing is fetched. Entities stay as typed too, or
they could spell out the characters that ``plain`` takes away.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from handsoff.core.plain import plain_block

LONGEST: Final = 64 * 1024
"""Characters that are rendered: a longer text is shown as it was typed."""

_OFF: Final = (
    "link", "image", "autolink", "html_inline", "html_block", "reference", "entity", "lheading",
)  # fmt: skip
_CELLS: Final = 20_000
"""Cells of tables: a short row is filled up to the width of its table, so they cost nothing."""

_DEEPEST: Final = 18
"""Levels of nesting that are rendered; from 20 on the reader drops what is there."""

_BELOW: Final = 2
"""By how much headings are lowered: the page stands below headings of ours."""


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    return reader.enable(["table", "strikethrough"]).disable(list(_OFF))


def render(text: str) -> Markup:
    """Return ``text``, which passed ``plain_block``, as HTML."""
    if len(text) > LONGEST or _cells(text) > _CELLS:
        return Markup("<pre>{}</pre>").format(text)
    reader = _reader()
    try:
        tokens = reader.parse(text)
    except (RecursionError, ValueError, IndexError):  # a bug of the reader's is not worth a page
        tokens = []
    if not tokens or max(token.level for token in tokens) >= _DEEPEST:
        return Markup("<pre>{}</pre>").format(text)
    _tame(tokens)
    html = reader.renderer.render(tokens, reader.options, {})
    # what a fence says of its language is unescaped on the way
    return Markup(plain_block(html, limit=len(html) + 1))  # noqa: S704 - see the first lines


def _cells(text: str) -> int:
    """Return how many cells the tables of ``text`` have at most, filled up."""
    found, width = 0, 0
    for line in text.split("\n"):
        rest = line.strip("> \t")
        if not rest:
            width = 0  # here a table ends, if not before
        elif "-" in rest and not rest.strip("|:- \t>"):
            width = max(width, rest.count("|") + 1)
        found += width
    return found


def _tame(tokens: Sequence[Token]) -> None:
    """Lower headings, and leave no attribute that the text could have chosen."""
    for token in tokens:
        start = token.attrs.get("start")
        token.attrs = {"start": start} if isinstance(start, int) else {}
        token.info = ""
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + _BELOW)}"
        _tame(token.children or ())
