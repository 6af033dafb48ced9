"""From the view model to HTML: the one door to Jinja.

Templates see the view model only. Every text is escaped by Jinja and passes ``plain_block`` once
more on its way out. The words are English in the templates and go through ``_``; whoever makes
``Pages`` may give it another gettext, and ``say``, which translates sentences of the program.
"""

import hashlib
import os
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from handsoff.core.loose import quoted
from handsoff.core.phrases import language
from handsoff.core.plain import plain_block
from handsoff.core.shown.overview import Overview
from handsoff.core.shown.workview import WorkView
from handsoff.core.sizes import spell_size
from handsoff.core.times import moment, spell_length
from handsoff.core.works.entry import time_of
from handsoff.edge import tongue
from handsoff.web import prose

HERE: Final = Path(__file__).parent
STYLE: Final = HERE / "static" / "style.css"

Gettext = Callable[[str], str]
NGettext = Callable[[str, str, int], str]


def _same(text: str) -> str:
    return text


def _count(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


class Pages:
    """The pages, in one language."""

    def __init__(
        self,
        *,
        gettext: Gettext = _same,
        ngettext: NGettext = _count,
        say: Gettext = _same,
        detail: Callable[[str, str], str] = lambda _, text: text,
        lang: str = "en",
    ) -> None:
        self._env = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            extensions=["jinja2.ext.i18n"],
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_finalize,
        )
        self._env.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
        self._env.filters |= {
            "when": when, "span": _length(say), "say": say, "prose": _prose, "slug": slug,
            "size": spell_size, "url": url, "moment": moment, "quoted": quoted, "stamp": time_of,
            "detail": lambda text, kind: detail(kind, text),
        }  # fmt: skip
        self._env.globals |= {"lang": lang}

    def render(self, name: str, **values: Any) -> str:
        """Return the page ``name`` of the live server."""
        return self._env.get_template(f"{name}.html").render(live=True, **values)

    def document(self, shown: Overview, works: Sequence[WorkView]) -> str:
        """Return everything as one page that needs nothing beside it."""
        style = STYLE.read_text("utf-8")
        digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
        ours = Markup(style)  # noqa: S704 - our own file
        return self._env.get_template("document.html").render(
            live=False, shown=shown, works=works, style=ours, digest=digest
        )


def pages_of_reader() -> Pages:
    """Return the pages in the language of this process."""
    wanted = language(os.environ)
    found = tongue.catalogue(wanted)
    if found is None:
        return Pages()
    lang = wanted.replace("_", "-")  # as HTML spells it (BCP 47)
    return Pages(
        gettext=found.gettext,
        ngettext=found.ngettext,
        say=tongue.said,
        detail=tongue.detail,
        lang=lang,
    )


def _finalize(value: Any) -> Any:
    return plain_block(value, limit=len(value) + 1) if type(value) is str else value


def when(at: datetime | None) -> Markup:
    """Return a moment as HTML, in UTC."""
    if at is None:
        return Markup("&ndash;")
    stamp = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}">{}</time>').format(stamp, moment(at))


def _length(say: Gettext) -> Callable[[timedelta], str]:
    return lambda length: say(spell_length(length))


def slug(component: str) -> str:
    """Return an id for a work: what is safe in an attribute and in a fragment."""
    return "w-" + hashlib.sha256(component.encode()).hexdigest()[:16]


def url(component: str) -> str:
    """Return the address of a work on the live server: its component, escaped once more."""
    return "/work/" + quote(component, safe="")


@lru_cache(maxsize=256)
def _prose(text: str) -> Markup:
    return prose.render(text)
