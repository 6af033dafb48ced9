"""Where machines near by are looked for, and which announced addresses are dialled."""

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.reach import interfaces
from handsoff.core.reach.interfaces import Interface, Why, dialled, may_dial, unfit


def link(name: str, *addresses: str, index: int = 2, **how: bool) -> Interface:
    states = {"up": True, "loopback": False, "multicast": True} | how
    return Interface(name=name, index=index, addresses=addresses, **states)


LO = link("lo", "127.0.0.1/8", "::1/128", index=1, loopback=True)
ETH = link("eth0", "10.1.0.5/24", "2001:db8:5::5/64", "fe80::5/64", index=2)
DOCKER = link("docker0", "172.17.0.1/16", index=3)
VPN = link("wg0", "10.99.0.2/16", "fd99::2/64", index=4)
HERE = [LO, ETH, DOCKER, VPN]


@pytest.mark.parametrize(
    ("interface", "why"),
    [
        (ETH, None),
        (link("wlp3s0", "192.168.1.4/24"), None),
        (link("br0", "192.168.1.4/24"), None),
        (LO, Why.LOOPBACK),
        (DOCKER, Why.CONTAINERS),
        (link("br-0123456789ab", "172.18.0.1/16"), Why.CONTAINERS),
        (link("veth12ab", "169.254.1.1/16"), Why.CONTAINERS),
        (link("virbr0", "192.168.122.1/24"), Why.CONTAINERS),
        (VPN, Why.TUNNEL),
        (link("tun0", "10.8.0.2/24", multicast=False), Why.TUNNEL),
        (link("tailscale0", "100.64.0.3/32"), Why.TUNNEL),
        (link("eth1", "10.2.0.5/24", up=False), Why.DOWN),
        (link("wg1", "10.2.0.5/24", up=False), Why.DOWN),
        (link("eth1"), Why.NO_ADDRESS),
        (link("eth1", "10.2.0.5/24", multicast=False), Why.NO_MULTICAST),
    ],
)
def test_each_kind_of_interface_is_used_or_left_for_its_reason(
    interface: Interface, why: Why | None
) -> None:
    assert unfit(interface) is why


def test_an_interface_is_read_as_it_was_written() -> None:
    assert [interfaces.interface_of(interface.as_dict()) for interface in HERE] == HERE


def test_only_what_others_can_reach_is_announced() -> None:
    assert interfaces.announced(HERE) == ["10.1.0.5", "2001:db8:5::5", "fe80::5"]
    assert interfaces.announced(HERE, "::") == interfaces.announced(HERE)
    assert interfaces.announced(HERE, "0.0.0.0") == ["10.1.0.5"]
    assert interfaces.announced(HERE, "fe80::5%eth0") == ["fe80::5"]
    assert interfaces.announced(HERE, "172.17.0.1") == []
    reachable = [b for b in ("", "::", "10.1.0.5", "127.0.0.1", "::1", "localhost")
                 if interfaces.is_announced(b)]  # fmt: skip
    assert reachable == ["", "::", "10.1.0.5"]


def test_sockets_find_an_interface_by_the_link_s_own_address() -> None:
    more = link("eth1", "10.2.0.5/24", "10.2.0.6/24", "fd00::5/64")
    assert interfaces.listened_on([*HERE, more]) == ["10.1.0.5", "fe80::5", "10.2.0.5", "fd00::5"]
    vlan = link("eth0.7", "fe80::5/64", index=9)
    assert interfaces.listened_on([ETH, vlan]) == ["10.1.0.5", "fe80::5", 9]


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("10.1.0.9", True),
        ("2001:db8:5::9", True),
        ("192.168.7.7", True),  # another network behind the same router
        ("fd12::9", True),
        ("169.254.3.4", True),
        ("fe80::9%2", True),
        ("fe80::9%eth0", True),
        ("fe80::9%3", False),  # a link to containers
        ("fe80::9", False),  # on which link?
        ("10.1.0.5", False),  # ourselves
        ("fe80::5%2", False),
        ("172.17.0.1", False),
        ("172.17.0.9", False),
        ("10.99.0.9", False),
        ("8.8.8.8", False),
        ("2001:db8:6::9", False),
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("::1", False),
        ("0.0.0.0", False),
        ("::", False),
        ("224.0.0.251", False),
        ("ff02::fb%2", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.1.0.9", False),
        ("255.255.255.255", False),
        ("localhost", False),
        ("-oProxyCommand=x", False),
        ("", False),
    ],
)
def test_an_announced_address_leads_into_a_network_of_ours_or_nowhere(
    address: str, may: bool
) -> None:
    assert may_dial(address, HERE) is may


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "224.0.0.251", "ff02::fb", "0.0.0.0", "::ffff:127.0.0.1"]
)
def test_a_network_of_everything_leads_nowhere_else_either(address: str) -> None:
    everything = link("eth9", "10.1.0.5/0", "2001:db8::5/0")
    assert may_dial("8.8.8.8", [everything])
    assert not may_dial(address, [everything])


NUMBERS = st.integers(0, 2**32 - 1).map(ip_address) | st.integers(2**32, 2**128 - 1).map(ip_address)
NEAR = st.sampled_from([ip + n for i in HERE for ip, _ in i.places for n in (0, 1, 7)])


@settings(max_examples=60)
@given(st.lists((NEAR | NUMBERS).map(str) | st.text(max_size=9), max_size=9))
def test_whatever_is_announced_nobody_is_led_out_of_here_or_to_this_machine(
    given: list[str],
) -> None:
    chosen = dialled(given, HERE)
    assert set(chosen) <= set(given)
    own = {ip for interface in HERE for ip, _ in interface.places}
    for text in chosen:
        address = ip_address(text)
        assert not any(address in network for i in (DOCKER, VPN) for _, network in i.places)
        assert address not in own
        assert not (address.is_loopback or address.is_multicast or address.is_unspecified)
        near = any(address in network for _, network in ETH.places)
        assert near or address.is_private or address.is_link_local


def test_our_own_networks_are_tried_first_ipv4_before_ipv6_and_the_link_s_own_last() -> None:
    given = ["fe80::9%2", "fd12::9", "192.168.7.7", "2001:db8:5::9", "10.1.0.9"]
    assert dialled(given, HERE) == given[::-1]
