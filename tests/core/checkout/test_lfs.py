"""Pointers of git-lfs are told from everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout.lfs import LIMIT, Pointer, is_digest, parse_pointer, place_of

DIGEST = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
HEAD = "version https://git-lfs.github.com/spec/v1\n"
TAIL = f"oid sha256:{DIGEST}\nsize 12345\n"


@pytest.mark.parametrize("more", ["", "ext-0-foo sha256:1234\n", "ext-0-a x\next-1-b y\n"])
def test_a_pointer_names_a_content_and_its_size(more: str) -> None:
    assert parse_pointer((HEAD + more + TAIL).encode()) == Pointer(DIGEST, 12345)


@pytest.mark.parametrize(
    "data",
    [b"", HEAD.encode(), (HEAD + TAIL + "x").encode(), (HEAD + TAIL[:-1]).encode(),
     (HEAD + TAIL.upper()).encode(), (HEAD + f"ext-0-{'x' * LIMIT} y\n" + TAIL).encode()],
)  # fmt: skip
def test_anything_else_is_none(data: bytes) -> None:
    assert parse_pointer(data) is None


@given(st.binary(max_size=64))
def test_bytes_at_random_are_none(data: bytes) -> None:
    assert parse_pointer(data) is None


def test_a_content_is_kept_below_two_folders_of_its_digest() -> None:
    assert place_of(DIGEST) == f"4d/7a/{DIGEST}"
    assert is_digest(DIGEST)
    assert not is_digest("../" + DIGEST)
