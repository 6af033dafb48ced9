"""Frames: any cutting of the stream gives the same bodies, and nobody can make us buffer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.talk import frames
from handsoff.errors import DamagedError


def _bodies(decoder: frames.Decoder, pieces: list[bytes]) -> list[bytes]:
    found = []
    for piece in pieces:
        decoder.feed(piece)
        while (body := decoder.next_frame()) is not None:
            found.append(body)
    return found


@given(st.lists(st.binary(max_size=50)), st.integers(min_value=1, max_value=7))
def test_frames_survive_any_cutting(bodies: list[bytes], cut: int) -> None:
    stream = b"".join(map(frames.encode, bodies))
    decoder = frames.Decoder()
    pieces = [stream[i : i + cut] for i in range(0, len(stream), cut)]
    assert _bodies(decoder, pieces) == bodies
    assert decoder.waiting == 0


def test_a_frame_is_a_big_endian_length_and_a_body() -> None:
    assert frames.encode(b"abc") == b"\0\0\0\3abc"
    assert frames.encode(b"") == b"\0\0\0\0"


def test_the_largest_frame_passes() -> None:
    body = b"x" * frames.LIMIT
    assert _bodies(frames.Decoder(), [frames.encode(body)]) == [body]


def test_a_frame_over_the_limit_is_refused_at_its_length() -> None:
    decoder = frames.Decoder()
    with pytest.raises(DamagedError, match="1048577 bytes is over the limit"):
        decoder.feed((frames.LIMIT + 1).to_bytes(4, "big"))
    assert decoder.waiting == 0


def test_a_second_frame_over_the_limit_is_refused_too() -> None:
    decoder = frames.Decoder()
    decoder.feed(frames.encode(b"ok") + b"\xff\xff\xff\xff")
    assert decoder.next_frame() == b"ok"
    with pytest.raises(DamagedError):
        decoder.next_frame()


def test_our_own_body_over_the_limit_is_a_bug() -> None:
    with pytest.raises(AssertionError):
        frames.encode(b"x" * (frames.LIMIT + 1))


def test_an_unfinished_frame_is_seen_to_wait() -> None:
    decoder = frames.Decoder()
    decoder.feed(b"\0\0\0\5ab")
    assert decoder.next_frame() is None
    assert decoder.waiting == 6
