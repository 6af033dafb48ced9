"""The language of whoever reads: the catalogue of it, through gettext.

English is what the source says, and needs no catalogue. Every door to people (the command line,
git's hooks, the web page) passes what it says through ``said``; what programs read (JSON, the
record, what an agent is told) does not come here.

Source: gettext in Python's library; the format of MO files in the manual of GNU gettext.
"""

import os
from functools import cache
from pathlib import Path
from typing import Final

from handsoff.core.phrases import Phrases, language

DOMAIN: Final = "handsoff"
FOLDER: Final = Path(__file__).parent.parent / "locale"


@cache
def phrases(wanted: str) -> Phrases | None:
    """Return the catalogue of a language, None where what the source says is wanted."""
    if wanted == "en":
        return None
    from gettext import GNUTranslations, translation  # noqa: PLC0415 - English needs none of it

    class Catalogue(GNUTranslations):
        """gettext gives one sentence for another, and has no way to list what it knows."""

        def entries(self) -> dict[str, str]:
            read: dict[object, str] = self._catalog  # type: ignore[attr-defined]
            return {one: other for one, other in read.items() if isinstance(one, str)}

    try:
        found = translation(DOMAIN, FOLDER, languages=[wanted], class_=Catalogue)
    except OSError:  # a copy without its catalogues still speaks
        return None
    assert isinstance(found, Catalogue)
    return Phrases(found.entries())


def said(text: str) -> str:
    """Return ``text`` in the language of this process."""
    known = phrases(language(os.environ))
    return known.say(text) if known is not None else text


def told(template: str, **values: str) -> str:
    """Return a sentence whose values stand too close together to be told apart afterwards."""
    known = phrases(language(os.environ))
    return known.told(template, values) if known is not None else template.format_map(values)


def word(context: str, english: str) -> str:
    """Return a word of ``context`` ("state", "entry" ...) in the language of this process."""
    known = phrases(language(os.environ))
    return known.word(context, english) if known is not None else english
