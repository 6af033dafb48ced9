"""How large a parcel may be: a bomb is refused by its headers, and what is honest passes."""

import io
import random
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.parcels import bounds
from handsoff.core.parcels.bounds import Unpacked, measure, most
from handsoff.errors import DamagedError, HandsoffError, RefusedError

BLOB, COMMIT, TREE = 3, 1, 2
CHECKSUM = b"\0" * 20
TEXT = random.Random(7).randbytes(150_000)


def header(kind: int, size: int) -> bytes:
    """Return the header of an object in a pack, as gitformat-pack(5) has it."""
    head, byte, size = bytearray(), kind << 4 | size & 0x0F, size >> 4
    while size:
        head.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes([*head, byte])


def packed(data: bytes, kind: int = BLOB, said: int | None = None, level: int = 6) -> bytes:
    return header(kind, len(data) if said is None else said) + zlib.compress(data, level)


def pack(*objects: bytes, count: int | None = None) -> bytes:
    number = len(objects) if count is None else count
    return b"PACK\0\0\0\2" + number.to_bytes(4, "big") + b"".join(objects) + CHECKSUM


def sized(data: bytes, limit: int = 1 << 40) -> Unpacked:
    return measure(io.BytesIO(data).read, limit)


@given(st.lists(st.binary(max_size=300) | st.sampled_from([b"", b"\0" * 700_000]), max_size=4))
def test_a_pack_is_as_large_as_its_objects(contents: Iterable[bytes]) -> None:
    held = [*contents]
    size = sum(map(len, held))
    made = pack(*(packed(data, level=n % 3) for n, data in enumerate(held)))
    assert sized(made, size) == (len(held), size)
    if size:
        with pytest.raises(RefusedError, match=f"more than {size - 1} bytes"):
            sized(made, size - 1)


@given(st.lists(st.sampled_from([b"", b"x", b"\0" * 700_000, TEXT]), max_size=4), st.integers(0, 4))
def test_all_of_a_pack_is_passed_on_and_nothing_before_it_was_looked_at(
    contents: list[bytes], bad: int
) -> None:
    passed = bytearray()
    good = [packed(data) for data in contents]
    made = pack(*good)
    measure(io.BytesIO(made).read, 1 << 40, passed.extend)
    assert passed == made
    passed.clear()
    before = good[:bad]
    with pytest.raises(RefusedError, match="more than"):
        bomb = pack(*before, header(BLOB, 1 << 40), TEXT)
        measure(io.BytesIO(bomb).read, 1 << 39, passed.extend)
    assert len(passed) <= 12 + sum(map(len, before))


@pytest.mark.parametrize("kind", [6, 7])
def test_a_delta_is_refused_whatever_it_makes(kind: int) -> None:
    with pytest.raises(RefusedError, match="deltas"):
        sized(pack(packed(b"x"), header(kind, 5) + b"\1" + zlib.compress(b"delta")))


def test_a_bomb_is_refused_by_its_header_and_not_unpacked() -> None:
    # nothing stands behind the header: to look there would be another error
    with pytest.raises(RefusedError, match="more than 1000 bytes"):
        sized(pack(header(BLOB, 1 << 31)), 1000)


@pytest.mark.parametrize("kind", [COMMIT, TREE, 4])
def test_what_is_taken_apart_in_memory_has_a_size_of_its_own(kind: int) -> None:
    limit = bounds.TREE_LIMIT if kind == TREE else bounds.COMMIT_LIMIT
    with pytest.raises(RefusedError, match=f"of {limit + 1} bytes"):
        sized(pack(header(kind, limit + 1)))
    with pytest.raises(DamagedError):  # as large as may be, but there is nothing
        sized(pack(header(kind, limit)))


@pytest.mark.parametrize(
    "damaged",
    [
        b"", b"PACK", pack(packed(b"x"))[:13], pack(count=1), b"PACK\0\0\0\3" + bytes(24),
        pack(packed(b"abc", said=2)), pack(packed(b"abc", said=4)), pack(packed(b"", said=1)),
        pack(packed(b"x", said=0)), pack(packed(b"x", kind=0)), pack(packed(b"x", kind=5)),
        pack(b"\xb1" + b"\x80" * 30), pack(header(BLOB, 3) + b"not deflated at all"),
        pack(packed(b"\0" * (1 << 22), said=10)), pack(packed(b"x"), count=2),
        pack(packed(b"x")) + b"x", pack(packed(b"x"))[:-1],
    ],
)  # fmt: skip
def test_what_is_no_pack_is_damaged(damaged: bytes) -> None:
    with pytest.raises(DamagedError):
        sized(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_at_all_are_measured_or_refused(data: bytes) -> None:
    for tried in (data, pack(data), pack(packed(data)[: len(data)], count=3)):
        try:
            sized(tried)
        except HandsoffError:
            continue


def test_what_a_manifest_says_is_the_most_and_it_may_not_say_just_anything() -> None:
    assert most(1000, {bounds.UNPACKED: 5000}) == 5000
    assert most(1000, {}) == (1 << 28) + 50_000
    assert most(1 << 40, {}) > 1 << 40, "what hardly shrinks may be as large as it is"
    assert most(1000, {bounds.UNPACKED: 1 << 30}) == 1 << 30
    with pytest.raises(RefusedError, match="from 2000000"):
        most(2_000_000, {bounds.UNPACKED: 2 << 30})
