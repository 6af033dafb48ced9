"""Patience: how soon a lost connection is dialled again, and when it is given up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.talk.patience import LEAST, USUAL, is_progress, is_worth_another, pause_before


@pytest.mark.parametrize(
    ("met", "met_ever", "cut", "asked", "worth"),
    [
        (True, True, False, False, False),
        (True, True, False, True, False),
        (True, True, True, False, True),
        (False, True, False, False, True),
        (False, False, False, False, False),
        (False, False, False, True, True),
    ],
)
def test_an_answer_is_final_and_who_was_met_before_is_dialled_again(
    met: bool, met_ever: bool, cut: bool, asked: bool, worth: bool
) -> None:
    assert is_worth_another(met=met, met_ever=met_ever, cut=cut, asked=asked) is worth


def test_the_pauses_grow_and_then_stay() -> None:
    pauses = [pause_before(tries, idle=0, length=USUAL) for tries in range(1, 9)]
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]


def test_no_time_is_no_try() -> None:
    assert pause_before(1, idle=0, length=0) is None
    assert pause_before(1, idle=30, length=30) is None
    assert pause_before(9, idle=29, length=30) == 1


@given(st.integers(1, 10**9), st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_try_never_begins_after_the_time(tries: int, idle: float, length: float) -> None:
    pause = pause_before(tries, idle=idle, length=length)
    if pause is None:
        assert idle >= length
    else:
        assert 0 < pause <= 5
        assert pause <= length - idle


@given(st.floats(0.1, 600))
def test_a_time_without_progress_has_an_end(length: float) -> None:
    idle, tries = 0.0, 0
    while (pause := pause_before(tries + 1, idle=idle, length=length)) is not None:
        idle, tries = idle + pause, tries + 1
        assert tries < 200
    assert idle >= length


@given(st.integers(LEAST + 1, 1 << 40))
def test_a_byte_now_and_then_is_no_progress_and_the_last_one_is(size: int) -> None:
    assert is_progress(0, before=None, size=size)
    assert not is_progress(1, before=0, size=size)
    assert not is_progress(LEAST - 1, before=0, size=size)
    assert is_progress(LEAST, before=0, size=size)
    assert is_progress(size, before=size - 1, size=size)
