"""Addresses as people type them."""

import pytest

from handsoff.core.address import format_address, parse_address
from handsoff.errors import UsageError

GOOD = [
    ("m2:2222", ("m2", 2222)),
    ("m2.local:1", ("m2.local", 1)),
    ("192.168.1.7:65535", ("192.168.1.7", 65535)),
    ("[::1]:2222", ("::1", 2222)),
    ("[fe80::1%eth0]:2222", ("fe80::1%eth0", 2222)),
]
BAD = [
    "",
    ":22",
    "m2",
    "m2:",
    "m2:0",
    "m2:65536",
    "m2:22222222",
    "m2:two",
    "m2: 22",
    "m2:22:22",
    "::1:22",
    "-oProxyCommand=x:22",
    "m 2:22",
    "m2\n:22",
    "[::1]",
    "[::1]:",
    "[::1]22",
    "[::1:22",
    "[m2]:22",
    "[fe80::1%e th]:22",
    "lin@m2:22",
    "m2:٢٢",
]


@pytest.mark.parametrize(("text", "address"), GOOD)
def test_an_address_reads_and_writes_back(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address
    assert format_address(*address) == text


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


def test_a_port_may_stand_in() -> None:
    assert parse_address("m2", port=7) == ("m2", 7)
    assert parse_address("[::1]", port=7) == ("::1", 7)
    assert parse_address("m2:8", port=7) == ("m2", 8)
    with pytest.raises(UsageError):
        parse_address("m2:", port=7)
