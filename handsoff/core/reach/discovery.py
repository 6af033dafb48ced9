"""Who is near by: what is announced, and which announcements are kept.

Rule of the room: anybody on the network can announce anything. An announcement says where to try,
never who is there: that is for the handshake to find out. So all that is judged here is shape,
number and place (core/reach/interfaces.py). Names and records: DNS-SD (RFC 6763) over multicast DNS
(RFC 6762).

    _handsoff._tcp        instance: the id of a machine that listens
    _handsoff-pair._tcp   instance: the number of a pairing code, while it waits
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from handsoff.core.ids import is_machine_id
from handsoff.core.reach.address import LAST_PORT
from handsoff.core.reach.interfaces import Interface, dialled

MACHINES: Final = "_handsoff._tcp.local."
PAIRING: Final = "_handsoff-pair._tcp.local."
CHECK: Final = "_handsoff-check._tcp.local."
"""What a check-up announces to itself, for a second."""

RESULTS: Final = 200
"""Instances that one look keeps; those that are asked for by name come on top."""
PORTS: Final = 4
ADDRESSES: Final = 8
"""Ports, and addresses, that are kept of one instance."""
MOST: Final = 1000
"""Findings that one look tells, before it ends."""

_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_PAIR_HOST: Final = "handsoff-pair-"
_LOCAL: Final = ".local."


def is_instance(kind: str, text: str) -> bool:
    """Say whether ``text`` can be an instance of ``kind``."""
    return is_machine_id(text) if kind == MACHINES else _NUMBER.fullmatch(text) is not None


def host_of(kind: str, instance: str) -> str:
    """Return the name of the host that an instance is on: it tells no more than the instance."""
    return (instance if kind == MACHINES else _PAIR_HOST + instance) + _LOCAL


def instance_of(kind: str, host: str) -> str | None:
    """Return the instance that a host's name was made from, or None."""
    name = host.lower()
    found = name.removesuffix(_LOCAL).removeprefix("" if kind == MACHINES else _PAIR_HOST)
    return found if is_instance(kind, found) and host_of(kind, found) == name else None


@dataclass(frozen=True, slots=True)
class Found:
    """Where an instance says it is; the first address is tried first."""

    instance: str
    port: int
    addresses: tuple[str, ...]


@dataclass
class Sightings:
    """What a look has heard so far, in bounds: ``wanted`` alone, or ``known`` and some others."""

    kind: str
    wanted: str | None = None
    known: Collection[str] = ()
    _ports: dict[str, list[int]] = field(default_factory=dict, init=False)
    _addresses: dict[str, list[str]] = field(default_factory=dict, init=False)
    _told: dict[tuple[str, int], int] = field(default_factory=dict, init=False)

    def service(self, instance: str, host: str, port: int) -> None:
        """Hear that ``instance`` is on ``host``, at ``port``."""
        instance = instance.lower()
        if instance_of(self.kind, host) == instance and 0 < port <= LAST_PORT:
            self._keep(self._ports, instance, port, PORTS)

    def address(self, host: str, address: str) -> None:
        """Hear that ``host`` has ``address``."""
        instance = instance_of(self.kind, host)
        if instance is not None:
            self._keep(self._addresses, instance, address, ADDRESSES)

    def news(self) -> list[Found]:
        """Return what can be tried and was not returned before."""
        found = []
        for instance, ports in self._ports.items():
            addresses = self._addresses.get(instance, [])
            for port in ports:
                if self._told.get((instance, port), 0) < len(addresses):
                    self._told[instance, port] = len(addresses)
                    found.append(Found(instance, port, tuple(addresses)))
        return found

    def without_address(self) -> list[str]:
        """Return the instances that were heard of, and not where they are."""
        return [i for i in self._ports if i not in self._addresses]

    def _keep(self, kept: dict[str, list[Any]], instance: str, what: Any, most: int) -> None:
        if not is_instance(self.kind, instance) or self.wanted not in (None, instance):
            return
        if instance not in kept:
            asked = self.wanted is not None or instance in self.known
            if not asked and len(kept) >= RESULTS:
                return
        heard = kept.setdefault(instance, [])
        if what not in heard and len(heard) < most:
            heard.append(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a check-up of mDNS found out."""

    off: str = ""
    """Why it was not tried."""
    interfaces: tuple[Interface, ...] = ()
    trouble: str = ""
    """What keeps it from working."""
    own: bool = False
    """Whether our own announcement was heard."""
    machines: frozenset[str] = frozenset()
    """The machines that were heard; anybody may have said their names."""
    others: bool = False
    """Whether anything was heard that is not of handsoff."""


def look(interfaces: Sequence[Interface], heard: Iterable[str], *, own: str) -> Look:
    """Return what the names mean that a check-up heard; it announced ``own`` itself."""
    names = {name.lower() for name in heard}
    machines = {n.removesuffix("." + MACHINES) for n in names if n.endswith("." + MACHINES)}
    ours = (MACHINES, PAIRING, CHECK)
    return Look(
        interfaces=tuple(interfaces),
        own=own.lower() in names,
        machines=frozenset(filter(is_machine_id, machines)),
        others=any(not name.endswith(ours) for name in names),
    )


def hint(kind: str, said: Any, here: Sequence[Interface]) -> Found | None:
    """Return a finding of the process that listens, with the addresses that may be dialled."""
    instance, port = str(said["instance"]), int(said["port"])
    if not is_instance(kind, instance) or not 0 < port <= LAST_PORT:
        return None
    given = [str(address) for address in said["addresses"][:ADDRESSES]]
    addresses = dialled(given, here)
    return Found(instance, port, tuple(addresses)) if addresses else None
