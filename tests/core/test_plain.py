"""Plain text: nothing a peer writes can act on a terminal or hide from a reader."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.plain import plain, plain_block

ATTACKS = [
    ("colour \x1b[31mred\x1b[0m", "colour [31mred[0m"),
    ("title \x1b]0;owned\x07", "title ]0;owned"),
    ("clipboard \x1b]52;c;cm0gLXJm\x1b\\", "clipboard ]52;c;cm0gLXJm\\"),
    ("C1 \x9b2J and \x9d0;x\x9c", "C1 2J and 0;x"),
    ("ok\rfake", "ok fake"),
    ("over\x08\x08\x08\x7fwritten", "overwritten"),
    ("bell\a nul\0", "bell nul"),
    ("bidi \u202egnp.exe\u202c", "bidi gnp.exe"),
    ("isolate \u2066x\u2069 \u200f\u061c", "isolate x "),
    ("zero\u200b\u200c\u200d\u2060\ufeffwidth", "zerowidth"),
    ("tags\U000e0041\U000e0042\U000e007f", "tags"),
    ("variation\ufe0f\U000e0100", "variation"),
    ("filler \u3164\u115f\uffa0\u2800", "filler "),
    ("soft\u00adhyphen\u034f", "softhyphen"),
    ("private \ue000 lone \udc9b", "private  lone "),
    ("a\nb", "a b"),
    ("a\r\nb\u2028c\u2029d\x85e\x0bf", "a b c d e f"),
    ("tab\there", "tab here"),
]


@pytest.mark.parametrize(("text", "shown"), ATTACKS)
def test_an_attack_is_shown_as_harmless_text(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text",
    ["feat/cny-rounding", "下一步 把四舍五入改成 HALF_UP", "naïve café", "Ελληνικά 🚀", "עברית"],
)
def test_other_scripts_pass_untouched(text: str) -> None:
    assert plain(text) == text
    assert plain_block(text) == text


@given(st.text(st.characters(codec=None)))
def test_whatever_comes_is_one_line_without_controls(text: str) -> None:
    shown = plain(text)
    assert plain(shown) == shown
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for c in shown)
    shown.encode("utf-8")


@given(st.text(st.characters(codec=None)))
def test_a_block_has_no_control_but_line_and_tab(text: str) -> None:
    shown = plain_block(text)
    assert plain_block(shown) == shown
    assert {c for c in shown if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}


def test_a_block_keeps_its_lines() -> None:
    assert (
        plain_block("## Next\r\n\x1b[1m- one\r- two\n\tcode\n")
        == "## Next\n[1m- one\n- two\n\tcode\n"
    )


def test_a_long_text_is_cut() -> None:
    assert plain("x" * 501) == "x" * 499 + "…"
    assert plain("x" * 500) == "x" * 500
    assert len(plain_block("line\n" * 100_000)) == 200_000
    assert plain("abcdef", limit=3) == "ab…"
