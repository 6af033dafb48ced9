"""Addresses as people type them."""

import pytest

from handsoff.core.reach.address import format_address, is_everywhere, is_loopback, parse_address
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


@pytest.mark.parametrize("host", ["", "*", "::", "0.0.0.0", "0:0::0"])
def test_a_listener_may_be_at_every_address(host: str) -> None:
    assert is_everywhere(host)
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "::1%lo"])
def test_a_listener_may_be_where_nobody_else_gets(host: str) -> None:
    assert is_loopback(host)
    assert not is_everywhere(host)


@pytest.mark.parametrize("host", ["m2", "192.168.1.7", "fe80::1%eth0", "1270.0.0.1"])
def test_most_listeners_are_at_one_address_for_all(host: str) -> None:
    assert not is_everywhere(host)
    assert not is_loopback(host)
