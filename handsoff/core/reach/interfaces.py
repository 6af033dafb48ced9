"""Network interfaces: where machines near by are looked for, and which addresses are dialled.

An address that somebody announced leads into the networks that this machine is in, or nowhere.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Any, Final, TypeAlias

from handsoff.core.reach.address import Address, ip_of, is_everywhere

_EVERY_IPV4: Final = "0.0.0.0"  # noqa: S104 - it is compared with, not bound to
_CONTAINERS: Final = re.compile(
    r"docker|br-[0-9a-f]{12}$|veth|virbr|vnet[0-9]|lxc|lxd|cni|cali|flannel|podman|vmnet|vboxnet|incusbr"
)
_TUNNELS: Final = re.compile(
    r"tun|tap|wg|ppp|utun|ipsec|tailscale|zt[a-z0-9]{8}|nebula|gif|sit|gre"
)

_PRIVATE: Final = tuple(
    map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)

Network: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Interface:
    """A network interface of this machine; ``addresses`` are written as 10.0.0.1/24."""

    name: str
    index: int
    up: bool
    loopback: bool
    multicast: bool
    addresses: tuple[str, ...]

    @cached_property
    def places(self) -> list[tuple[Address, Network]]:
        """Its addresses, and the networks that they are in."""
        parsed = map(ip_interface, self.addresses)
        return [(ip.ip, ip.network) for ip in parsed]

    def as_dict(self) -> dict[str, Any]:
        """Return what ``interface_of`` reads."""
        return {
            "name": self.name, "index": self.index, "up": self.up, "loopback": self.loopback,
            "multicast": self.multicast, "addresses": list(self.addresses),
        }  # fmt: skip


def interface_of(said: Mapping[str, Any]) -> Interface:
    """Return the interface that ``as_dict`` wrote."""
    return Interface(
        name=str(said["name"]), index=int(said["index"]), up=bool(said["up"]),
        loopback=bool(said["loopback"]), multicast=bool(said["multicast"]),
        addresses=tuple(map(str, said["addresses"])),
    )  # fmt: skip


class Why(Enum):
    """Why nothing is announced or looked for on an interface."""

    LOOPBACK = "loopback"
    CONTAINERS = "containers or virtual machines"
    TUNNEL = "a tunnel or VPN"
    DOWN = "down"
    NO_ADDRESS = "no address"
    NO_MULTICAST = "no multicast"


def unfit(interface: Interface) -> Why | None:
    """Return why nothing is announced or looked for on an interface, if there is a reason."""
    if interface.loopback:
        return Why.LOOPBACK
    if _CONTAINERS.match(interface.name):
        return Why.CONTAINERS
    if not interface.up:
        return Why.DOWN
    if _TUNNELS.match(interface.name):
        return Why.TUNNEL
    if not interface.addresses:
        return Why.NO_ADDRESS
    return None if interface.multicast else Why.NO_MULTICAST


def fit(interfaces: Iterable[Interface]) -> list[Interface]:
    """Return the interfaces on which machines near by are announced and looked for."""
    return [interface for interface in interfaces if unfit(interface) is None]


def listened_on(interfaces: Iterable[Interface]) -> list[str | int]:
    """Return one address of each interface and family, by which sockets find the interface.

    In IPv6 it is the link's own: an answer to any other would not say which link it came from. Of
    two interfaces that share one (as VLANs on one card do), the second is found by its number.
    """
    chosen: list[str | int] = []
    for interface in fit(interfaces):
        addresses = [ip for ip, _ in interface.places]
        fourth = [str(ip) for ip in addresses if isinstance(ip, IPv4Address)]
        addresses.sort(key=lambda ip: not ip.is_link_local)
        sixth = [str(ip) for ip in addresses if isinstance(ip, IPv6Address)]
        chosen += fourth[:1]
        chosen += [interface.index if address in chosen else address for address in sixth[:1]]
    return chosen


def announced(interfaces: Iterable[Interface], bind: str = "") -> list[str]:
    """Return the addresses that a listener on ``bind`` is announced with; "" is every address."""
    own = [ip for interface in fit(interfaces) for ip, _ in interface.places]
    if is_everywhere(bind):
        return [str(ip) for ip in own if bind != _EVERY_IPV4 or ip.version == 4]  # noqa: PLR2004
    return [str(ip) for ip in own if str(ip) == bind.partition("%")[0]]


def is_announced(bind: str) -> bool:
    """Say whether a listener that is bound so can be reached by others at all."""
    if is_everywhere(bind):
        return True
    parsed = ip_of(bind)
    return parsed is not None and not parsed.is_loopback


def dialled(given: Iterable[str], here: Sequence[Interface]) -> list[str]:
    """Return those of the ``given`` addresses that may be dialled, the surest first."""
    near = [network for interface in fit(here) for _, network in interface.places]

    def rank(text: str) -> tuple[bool, bool, bool]:
        address = ip_address(text)
        beside = any(address in network for network in near)
        return address.is_link_local, not beside, isinstance(address, IPv6Address)

    return sorted((address for address in given if may_dial(address, here)), key=rank)


def may_dial(text: str, here: Sequence[Interface]) -> bool:
    """Say whether an address that was announced is one of a machine near by, and not our own.

    It is in a network of ours, or a private one: nobody on the network can have us connect to
    the rest of the world, to this machine itself, or to its containers.
    """
    address = ip_of(text)
    if address is None or address.is_multicast or address.is_unspecified or address.is_loopback:
        return False
    ours = fit(here)
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return False
        if address.is_link_local and not _is_scoped(address, ours):
            return False
        address = IPv6Address(int(address))
    every = [(ip, network, i in ours) for i in here for ip, network in i.places]
    if any(ip == address for ip, _, _ in every):
        return False
    if address.is_link_local or any(address in network for _, network, good in every if good):
        return True
    beside = any(address in network for _, network, _ in every)
    return not beside and any(address in network for network in _PRIVATE)


def _is_scoped(address: IPv6Address, ours: Sequence[Interface]) -> bool:
    return any(address.scope_id in (str(i.index), i.name) for i in ours)
