"""Other readings of bytes, and the pieces in which large ones are looked at."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.guard import views

LENGTH = views.PIECE * 3 + 12345
BORDERS = [views.PIECE * n + d for n in (1, 2, 3) for d in (-70_000, -40_001, -1, 0, 1, 65_535)]


@settings(max_examples=30)
@given(st.integers(0, LENGTH), st.integers(1, 1 << 15))
def test_whatever_stands_in_large_bytes_stands_whole_in_a_piece(at: int, size: int) -> None:
    size = min(size, LENGTH - at)
    data = bytearray(LENGTH)
    data[at : at + size] = b"s" * size
    assert any(b"s" * size in piece for piece in views.pieces(bytes(data)))


@pytest.mark.parametrize("at", BORDERS)
def test_a_piece_begins_where_it_cannot_cut_what_the_one_before_has_whole(at: int) -> None:
    secret = random.Random(at).randbytes(1 << 14)
    data = bytes(at) + secret + bytes(max(0, LENGTH - at - len(secret)))
    assert any(secret in piece for piece in views.pieces(data))


@pytest.mark.parametrize("size", [0, 1, views.PIECE, views.PIECE + 1, 2 * views.PIECE])
def test_pieces_are_all_of_the_bytes_and_small_ones_are_one_piece(size: int) -> None:
    data = random.Random(size).randbytes(size)
    found = list(views.pieces(data))
    assert found[0] == data[: len(found[0])]
    assert found[-1] == data[len(data) - len(found[-1]) :]
    assert len(found) == 1 or size > views.PIECE


@pytest.mark.parametrize("wide", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_is_read_narrow_wherever_it_stands_in_other_bytes(wide: str) -> None:
    noise = random.Random(3).randbytes(5000)
    data = noise + "token=abcdefgh".encode(wide) + noise
    assert any(b"token=abcdefgh" in view for view in views.views(data))


def test_bytes_with_a_few_nuls_among_others_are_read_once() -> None:
    noise = random.Random(4).randbytes(200_000)
    assert noise.count(0) > 500
    assert list(views.views(noise)) == []


def test_a_string_with_escapes_is_read_without_them() -> None:
    assert list(views.views(rb"ghp\x5fabc \u0041")) == [b"ghp_abc A"]
    assert list(views.views(rb"C:\users\xenia")) == []
