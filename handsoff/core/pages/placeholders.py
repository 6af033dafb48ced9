"""Placeholders: what stands in a line until somebody writes what belongs there.

TODO, TBD, FIXME, XXX, 待办, 待填 ... count wherever they stand in the line. Meant as a word they
pass: in backticks or quotes, inside a name (``TODO.md``, ``todo_list``), after an article ("remove
the TODO"), and in a code fence unless it is all of the line. In lower case they count only where
they open a line.
"""

import re
from typing import Final

from handsoff.core.pages.outline import Line

ITEM: Final = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)、])\s*(?:\[[ xX]?\]\s*)?(?=\S|$)(.*)$")
"""An item of a list: what is before its bullet, and what it says."""
_HOLDER: Final = (
    r"TODO|TBD|TBC|FIXME|XXX|待办(?:事项)?(?!列表|清单|应用|模块|页面|功能|接口|表)"
    r"|待填|待补充?(?!丁)|待定(?!义)"
)
_PLACEHOLDER: Final = re.compile(rf"(?<![A-Za-z0-9_./#$@-])(?:{_HOLDER})(?![A-Za-z0-9_/]|[.-]\w)")
_OPENING: Final = re.compile(
    r"(?:todo|tbd|fixme|fill (?:me|this) in)\b\s*(?:[:：].*|\W*)$", re.IGNORECASE
)
_MENTION: Final = re.compile(
    r"`+[^`]*`+|(?P<q>[\"'])(?:TODO|TBD|FIXME|XXX)s?(?P=q)|[“「『](?:TODO|TBD|FIXME|XXX|待办|待填)[”」』]"
    r"|\b(?:the|an?|this|that|these|those|each|every|all|any|no|its|old)\s+(?:TODO|FIXME|XXX)\b",
    re.IGNORECASE,
)


def says_something(line: Line) -> bool:
    """Say whether there is content in ``line``, and not a heading or a bare bullet."""
    if line.heading:
        return False
    item = ITEM.match(line.text)
    return any(c.isalnum() for c in (item[2] if item and not line.code else line.text))


def says_placeholder(text: str, *, code: bool = False) -> bool:
    """Say whether a line of text, or of ``code``, stands for what is still to be written."""
    item = ITEM.match(text)
    said = (item[2] if item else text).strip(" \t*_>~")
    if _OPENING.match(said) and not code:
        return True
    if code:
        return bool(_PLACEHOLDER.fullmatch(said.strip("#/;-*<>![](){}: ")))
    return bool(_PLACEHOLDER.search(_MENTION.sub("", text)))
