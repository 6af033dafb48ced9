"""A page rendered: nothing in it acts, and no text takes for ever."""

import time
from datetime import UTC, datetime

import pytest

from handsoff.core.shown.overview import Card, Overview
from handsoff.core.shown.workview import WorkView
from handsoff.core.works.history import Line
from handsoff.web.pages import Pages
from handsoff.web.prose import LONGEST, render


def test_markdown_is_shown_as_its_writer_meant_it() -> None:
    html = render("# Title\n\n3. **b** `c`\n\n| a |\n|:-:|\n| ~~x~~ |\n")
    for part in ("<h3>Title</h3>", '<ol start="3">', "<strong>b</strong>", "<td><s>x</s></td>"):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[a](javascript:alert(1)) [b]: <javascript:alert(1)>",
        "![x](https://evil.example/x.png)",
        "<https://evil.example>",
        '```"onload=alert(1)\nx\n```',
        "| a |\n|:-:|\n| <b onclick=x> |",
        "&#x202e; &#27;[2J",
    ],
)
def test_nothing_of_it_acts_or_leads_anywhere(text: str) -> None:
    html = render(text)
    assert not any(part in html for part in ("<a", "<img", "<script", "<b ", "style=", "class="))
    assert not set(html) & set("\u202e\x1b")


WIDE = "|a" * 300 + "|\n" + "|-" * 300 + "|\n" + "|hidden\n" * 200
"""60,000 cells in 3 kB: each row is filled up."""


@pytest.mark.parametrize(
    "text",
    [
        "> " * 40 + "hidden", "- " * 40 + "hidden", "x" * (LONGEST + 1), WIDE,
        "> " + WIDE.replace("\n", "\n>"), "- " + WIDE.replace("\n", "\n  "),
        (WIDE[:-1400] + "\n") * 6,
    ],
)  # fmt: skip
def test_what_the_reader_would_leave_out_is_shown_as_typed(text: str) -> None:
    assert render(text).startswith("<pre>")
    assert render(text).count("hidden") == text.count("hidden")


@pytest.mark.parametrize("text", ["[", "*a **a ", "|a|\n|-|\n", "`", "**", "~~", "\\", "> - "])
def test_no_text_takes_for_ever(text: str) -> None:
    began = time.process_time()
    render((text * LONGEST)[: LONGEST // 8])
    assert time.process_time() - began < 2


def test_of_a_record_that_somebody_filled_the_newest_entries_are_shown() -> None:
    lines = tuple(
        Line(at=0, by="x", what="void", leg=0, revision=0, detail=f"entry {n}.", word="unsigned",
             oid="0" * 40, void="why")
        for n in range(600)
    )  # fmt: skip
    card = Card(work="w;rm${IFS}x", component="w", state="free")
    view = WorkView(card=card, lanes=(), ticks=(), breaks=(), legs=(), lines=lines, pages=())
    shown = Overview(at=datetime(2026, 1, 1, tzinfo=UTC), remote="r", founding="f")
    text = Pages().document(shown, [view])
    assert ("entry 599." in text, "entry 99." in text) == (True, False)
    typed = "handsoff history &#39;w;rm${IFS}x&#39;"  # as a shell takes it for one word
    assert f'and 100 more: <code class="cmd">{typed}</code>' in text
    assert "<code>handsoff catch &#39;w;rm${IFS}x&#39;</code>" in text
