"""Plain text: what another machine wrote, made safe to show.

Everything that a peer, a page or a record brings passes here before a terminal, a log or an
agent sees it. Dropped are: control characters (so no escape sequence is left alive), marks that
turn the direction of writing, and whatever is not visible (zero width, fillers, variation
selectors, the tag block), which can hide one text in another. Other scripts pass untouched.

Sources: Unicode categories Cc, Cf, Cs, Co, Zl, Zp, and Default_Ignorable_Code_Point of
DerivedCoreProperties.txt for what is invisible but counts as a letter or a mark.
"""

import re
import unicodedata
from typing import Final

LINE_LIMIT: Final = 500
BLOCK_LIMIT: Final = 200_000

_DROPPED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\ufff0-\uffff\U000e0000-\U000e0fff]"
)
_UNMARKED: Final = str.maketrans('"<>', "'\u2039\u203a")
_BREAK: Final = re.compile("\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return ``text`` as one line that a terminal can show as it is, cut at ``limit``."""
    return _cut(_visible(_BREAK.sub(" ", text[: 4 * limit]).replace("\t", " ")), limit)


def cited(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return ``text`` in quotes, for an agent: it can neither close them nor open a tag."""
    return '"' + plain(text, limit=limit).translate(_UNMARKED) + '"'


def plain_block(text: str, *, limit: int = BLOCK_LIMIT) -> str:
    """Return ``text`` with its lines and tabs, but otherwise like ``plain``."""
    lines = _BREAK.sub("\n", text[: 4 * limit]).split("\n")
    return _cut("\n".join("\t".join(map(_visible, line.split("\t"))) for line in lines), limit)


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept = "".join(c for c in text if unicodedata.category(c) not in _DROPPED)
    return _INVISIBLE.sub("", kept)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
