"""Codes: short, spoken, and read as people type them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.machines.codes import LAST_NUMBER, RANDOM_BYTES, make_code, parse_code, spoken
from handsoff.core.machines.words import WORDS
from handsoff.errors import UsageError


def slips(one: str, other: str) -> int:
    """Return in how many letters two words differ, by Levenshtein's count."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last = row
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b)))
    return row[-1]


def test_the_words_are_256_short_and_far_apart() -> None:
    assert len(WORDS) == 256
    assert all(word.isalpha() and word.islower() and 4 <= len(word) <= 7 for word in WORDS)
    assert len({word[:3] for word in WORDS}) == 256
    assert min(slips(a, b) for a, b in itertools.combinations(WORDS, 2)) >= 3


def test_bytes_have_words_that_never_change() -> None:
    assert spoken(bytes([0, 1, 127, 255])) == ("acid", "acorn", "lasso", "zigzag")


@given(st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES))
def test_a_code_that_was_made_is_read_back(random: bytes) -> None:
    code = make_code(random)
    assert 1 <= code.number <= LAST_NUMBER
    assert parse_code(code.spelled) == code
    assert parse_code(f"  {code.number:02} {' '.join(code.words).upper()}\n") == code


@pytest.mark.parametrize(
    "typed",
    ["7-orbit-lamp", "7 Orbit Lamp", "7orbit lamp", "07\u2013ORBIT\u2014lamp", "7,orbit, lamp.",
     "7_orbit_lamp"],
)  # fmt: skip
def test_a_code_is_read_as_people_type_it(typed: str) -> None:
    assert parse_code(typed).spelled == "7-orbit-lamp"


@pytest.mark.parametrize(
    "typed",
    ["", "7", "orbit-lamp", "7-orbit", "7-orbit-lamp-oak", "0-orbit-lamp", "100-orbit-lamp",
     "7-orbit-\x1b[1m", "\u0667-orbit-lamp", "7" * 1000, "-7 orbit"],
)  # fmt: skip
def test_what_is_no_code_is_refused(typed: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_code(typed)
    assert "\x1b" not in str(refused.value)


def test_a_slip_of_the_pen_is_told_with_the_nearest_word() -> None:
    with pytest.raises(UsageError, match="'orbti'") as refused:
        parse_code("7-orbti-lamp")
    assert refused.value.hint == "is it orbit?"
