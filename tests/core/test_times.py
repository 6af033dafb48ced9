"""Lengths of time as people type them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.times import LONGEST, parse_duration, spell_length
from handsoff.errors import UsageError

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@given(st.integers(1, 366), st.sampled_from("smhd"))
def test_a_number_and_a_unit_are_a_length(number: int, unit: str) -> None:
    wanted = timedelta(seconds=number * SECONDS[unit])
    for typed in (f"{number}{unit}", f" {number}{unit.upper()}\n"):
        assert parse_duration(typed) == wanted


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "h",
        "4",
        "0h",
        "04h",
        "-4h",
        "+4h",
        "4 h",
        "4.5h",
        "4h30m",
        "4w",
        "4hx",
        "٤h",
        "1" * 10 + "s",
    ],
)
def test_other_words_are_none(typed: str) -> None:
    with pytest.raises(UsageError, match="is no length of time for --hold") as caught:
        parse_duration(typed, "--hold")
    assert caught.value.hint == "such as 45s, 30m, 4h or 2d"


def test_nothing_is_held_for_more_than_a_year() -> None:
    assert parse_duration("366d") == LONGEST
    with pytest.raises(UsageError, match="'367d' is too long for --hold") as caught:
        parse_duration("367d", "--hold")
    assert (caught.value.hint or "").startswith("at most 366d")


@given(st.text())
def test_any_text_is_a_length_or_refused(typed: str) -> None:
    try:
        assert timedelta(0) < parse_duration(typed) <= LONGEST
    except UsageError as error:
        assert repr(typed) in str(error)


@pytest.mark.parametrize(
    ("seconds", "read"),
    [
        (-5, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (2 * 86400 - 1, "47 hours"),
        (2 * 86400, "2 days"),
    ],
)
def test_a_length_is_read_in_the_largest_unit_that_it_has_two_of(seconds: int, read: str) -> None:
    assert spell_length(timedelta(seconds=seconds)) == read
