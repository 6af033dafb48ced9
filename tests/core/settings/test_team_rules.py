"""The block of rules in a team's file: put in, kept up to date, taken out; the rest is theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.settings.team_rules import BEGIN, END, RULES, is_there, put, remove
from handsoff.errors import UnfitError

TEXTS = st.lists(st.sampled_from(["# Rules", "", "- do", "\r", "<!-- x -->", " "]), max_size=6)


@given(TEXTS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "end"]))
def test_what_stands_around_it_keeps_its_bytes(lines: list[str], newline: str, tail: str) -> None:
    text = newline.join([*lines, tail])
    after = put(text, "f")
    assert is_there(after, "f")
    assert put(after, "f") == after
    assert after.startswith(text)
    assert remove(after, "f") == (text or None)


def test_an_older_block_is_replaced_where_it_stands() -> None:
    text = f"# Top\r\n\r\n{BEGIN}\r\nold\r\n<!--handsoff:end-->\r\nbelow\n"
    after = put(text, "f")
    block = f"{BEGIN}\n{RULES}{END}".replace("\n", "\r\n")
    assert after == f"# Top\r\n\r\n{block}\r\nbelow\n"
    assert remove(after, "f") == "# Top\r\n\r\nbelow\n"


def test_a_file_that_was_not_there_goes_again() -> None:
    assert remove(put(None, "f"), "f") is None
    assert remove(None, "f") is None
    assert remove("mine\n", "f") == "mine\n"
    assert not is_there(None, "f")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BEGIN}\n", "begin in line 1"),
        (f"\n{END}\n{BEGIN}\n", "end in line 2, begin in line 3"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n{END}\n", "begin in line 1, begin in line 2"),
    ],
)
def test_marks_that_do_not_fit_together_are_refused(text: str, said: str) -> None:
    for change in (put, remove):
        with pytest.raises(UnfitError, match=said):
            change(text, "AGENTS.md")
