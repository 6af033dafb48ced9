"""The language of whoever reads: the catalogue of it, through gettext.

English is what the source says, and needs no catalogue. Every door to people (the command line,
git's hooks, the web page) passes what it says through ``said``; what programs read (JSON, the
record, what an agent is told) does not come here.

Source: gettext in Python's library; the format of MO files in the manual of GNU gettext.
"""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from handsoff.core.phrases import Phrases, Said, language

if TYPE_CHECKING:
    from gettext import GNUTranslations

DOMAIN: Final = "handsoff"
FOLDER: Final = Path(__file__).parent.parent / "locale"


@cache
def catalogue(wanted: str) -> "GNUTranslations | None":
    """Return the catalogue of a language, None where what the source says is wanted."""
    if wanted == "en":
        return None
    from gettext import GNUTranslations, translation  # noqa: PLC0415 - English needs none of it

    try:
        found = translation(DOMAIN, FOLDER, languages=[wanted])
    except OSError:  # a copy without its catalogues still speaks
        return None
    assert isinstance(found, GNUTranslations)
    return found


@cache
def phrases(wanted: str) -> Phrases | None:
    """Return the sentences of a language, None where what the source says is wanted."""
    found = catalogue(wanted)
    if found is None:
        return None
    # gettext gives one sentence for another, and has no way to list what it knows
    read: dict[object, str] = found._catalog  # type: ignore[attr-defined]  # noqa: SLF001
    return Phrases({one: other for one, other in read.items() if isinstance(one, str)})


def _known() -> Phrases | None:
    return phrases(language(os.environ))


def said(text: str) -> str:
    """Return ``text`` in the language of this process."""
    known = _known()
    return known.say(text) if known is not None else text


def told(template: str, **values: str) -> Said:
    """Return a sentence whose values cannot be told apart afterwards, or are somebody's words."""
    known = _known()
    return Said(known.told(template, values) if known is not None else template.format_map(values))


def word(context: str, english: str) -> str:
    """Return a word of ``context`` ("state", "entry" ...) in the language of this process."""
    known = _known()
    return known.word(context, english) if known is not None else english


def detail(kind: str, text: str) -> Said:
    """Return the detail of an entry in the language of this process, and a reason as it is."""
    match kind:
        case "Noted":
            return Said(text)
        case "Dropped":
            reason = text.removeprefix("blocked: ")
            return Said(text) if reason == text else told("blocked: {quoted}", quoted=reason)
        case "Closed":
            return Said(word("outcome", text))
        case "Refused":
            tried, _, why = text.partition(": ")
            return told("{kind}: {why}", kind=Said(word("entry", tried)), why=why)
        case _:
            return Said(said(text))
