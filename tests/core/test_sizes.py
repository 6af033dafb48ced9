"""Sizes as people read them."""

import pytest

from handsoff.core.sizes import spell_size


@pytest.mark.parametrize(
    ("count", "read"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (3_140_000, "3.1 MB"),
        (8 << 30, "8.6 GB"),
        (5 * 10**15, "5000000.0 GB"),
    ],
)
def test_a_size_is_read_in_steps_of_a_thousand(count: int, read: str) -> None:
    assert spell_size(count) == read
