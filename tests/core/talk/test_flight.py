"""What of a parcel is on its way at once, and so may go twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.talk import flight

SIZES = st.integers(min_value=1, max_value=1 << 40)
KB = 1 << 10


@pytest.mark.parametrize(
    ("size", "ahead", "stride"),
    [
        (1, 8 * KB, 4 * KB),
        (320 * KB, 8 * KB, 4 * KB),
        (1000 * KB, 42 * KB, 42 * KB // 4),
        (20 << 20, (1 << 20) - 8 * KB, (1 << 18) - 2 * KB),
    ],
)
def test_a_larger_parcel_has_more_on_its_way(size: int, ahead: int, stride: int) -> None:
    assert flight.in_flight(size) == ahead
    assert flight.stride(size) == stride


@given(st.integers(min_value=320 * KB, max_value=1 << 40))
def test_from_320_kib_on_a_cut_costs_the_twentieth_part_with_another_handshake(size: int) -> None:
    assert flight.in_flight(size) + flight.ROUND <= size / 20


@given(SIZES, st.data())
def test_nobody_gets_further_ahead_and_somebody_always_goes_on(
    size: int, data: st.DataObject
) -> None:
    sent = data.draw(st.integers(min_value=0, max_value=size - 1))
    got = data.draw(st.integers(max(0, sent - flight.in_flight(size)), sent))
    room = flight.room(size, sent=sent, got=got)
    assert 0 <= room <= flight.stride(size)
    assert sent + room <= min(size, got + flight.in_flight(size))
    # where the sender has to wait, all that it sent is enough for a word
    assert room or flight.is_worth_a_word(size, here=sent, told=got)


@given(SIZES, st.data())
def test_a_word_is_worth_it_now_and_then_and_never_at_the_end(
    size: int, data: st.DataObject
) -> None:
    told = data.draw(st.integers(min_value=0, max_value=size - 1))
    stride = flight.stride(size)
    assert not flight.is_worth_a_word(size, here=size, told=told)
    assert not flight.is_worth_a_word(size, here=told + stride - 1, told=told)
    assert flight.is_worth_a_word(size, here=told + stride, told=told) is (told + stride < size)
