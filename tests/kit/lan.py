"""A LAN of the test's own: machines in network namespaces, each with a cable to one switch.

    with lan("m1", "m2") as net:               needs root; raises NoLan where there can be none
        net.machine("m1").run("ping", "-c1", net.machine("m2").ipv4)
        m1 = net.join(world.machine("m1"))     its commands run in the namespace m1 from now on
        with net.machine("m1").here(): ...     so does what this thread does, in this process
        net.machine("m2").cable(up=False)      pulls its cable; the machine keeps its addresses

The switch is a bridge in a namespace of its own, so nothing of the host is touched or heard.
Machine n has 10.68.0.n, fd00:68::n and fe80::n on eth0; nothing routes out. See ip-netns(8).
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from handsoff.core.reach.address import parse_address
from handsoff.core.reach.discovery import MACHINES
from handsoff.edge.lan import mdns
from tests.kit.machines import Machine, Ran, run
from tests.kit.running import AtHome, at_home

_PREFIX: Final = "handsoff-test-"
_NAMED: Final = Path("/run/netns")
_NEWNET: Final = 0x40000000
"""CLONE_NEWNET, see setns(2)."""

_CANNOT: Final = ("not permitted", "not supported", "Unknown device type", "Permission denied")
"""What ip says where a kernel or a container lets nobody do this."""


class NoLan(Exception):  # noqa: N818 - it is a reason to skip
    """Why there can be no LAN here."""


@dataclass(frozen=True)
class Plugged:
    """One machine's place in the LAN."""

    namespace: str
    port: str
    """Its end of the cable at the switch."""
    switch: str
    number: int

    @property
    def ipv4(self) -> str:
        return f"10.68.0.{self.number}"

    @property
    def ipv6(self) -> str:
        return f"fd00:68::{self.number}"

    @property
    def link_local(self) -> str:
        return f"fe80::{self.number}%eth0"

    @property
    def prefix(self) -> tuple[str, ...]:
        """The words that run a command here."""
        return ("ip", "netns", "exec", self.namespace)

    def run(self, *words: str | Path) -> Ran:
        """Run a command here."""
        return run(*self.prefix, *words, cwd=Path("/"))

    def ip(self, *words: str) -> None:
        """Change something about this machine's network, such as ``link set eth0 down``."""
        _ip("-n", self.namespace, *words)

    def cable(self, *, up: bool) -> None:
        """Plug the cable in, or pull it, at the switch."""
        _ip("-n", self.switch, "link", "set", self.port, "up" if up else "down")

    @contextmanager
    def here(self) -> Iterator[None]:
        """Move this thread, and what it starts, to this machine's network for a while."""
        with Path("/proc/thread-self/ns/net").open("rb") as before:
            _enter(_NAMED / self.namespace)
            try:
                yield
            finally:
                _enter(Path(f"/proc/self/fd/{before.fileno()}"))


@dataclass(frozen=True)
class Lan:
    """The machines that are plugged into one switch."""

    machines: dict[str, Plugged]

    def machine(self, name: str) -> Plugged:
        return self.machines[name]

    def join(self, machine: Machine, name: str = "") -> Machine:
        """Return ``machine``, whose commands run at its place in the LAN."""
        return replace(machine, prefix=self.machines[name or machine.name].prefix)


@contextmanager
def lan(*names: str, ipv4: bool = True, ipv6: bool = True) -> Iterator[Lan]:
    """Make a LAN of these machines, and take it away whatever happens."""
    _possible()
    _sweep()
    unique = f"{_PREFIX}{os.getpid()}-{os.urandom(2).hex()}"
    switch = f"{unique}-switch"
    made = {
        name: Plugged(f"{unique}-{name}", f"p{n}", switch, n) for n, name in enumerate(names, 1)
    }
    try:
        _ip("netns", "add", switch)
        # without queriers, snooping would forget who wants multicast
        _batch(switch, ["link add br0 type bridge mcast_snooping 0", "link set br0 up"])
        for machine in made.values():
            _plug(machine, ipv4=ipv4, ipv6=ipv6)
        yield Lan(made)
    finally:
        for namespace in (*(m.namespace for m in made.values()), switch):
            _remove(namespace)


def _plug(machine: Plugged, *, ipv4: bool, ipv6: bool) -> None:
    _ip("netns", "add", machine.namespace)
    port, eth0 = machine.port, f"eth0 netns {machine.namespace}"
    _batch(
        machine.switch,
        [
            f"link add {port} type veth peer name {eth0}",
            f"link set {port} master br0",
            f"link set {port} up",
        ],
    )
    plugged = ["link set lo up", "link set eth0 addrgenmode none", "link set eth0 up"]
    if ipv4:
        plugged.append(f"addr add {machine.ipv4}/24 dev eth0")
    if ipv6:
        # without the second that looking for duplicates takes
        plugged.append(f"addr add fe80::{machine.number}/64 dev eth0 nodad")
        plugged.append(f"addr add {machine.ipv6}/64 dev eth0 nodad")
    _batch(machine.namespace, plugged)


@pytest.fixture
def two() -> Iterator[Lan]:
    """Return a LAN of m1 and m2."""
    with lan_or_skip("m1", "m2") as net:
        yield net


@contextmanager
def lan_or_skip(*names: str, ipv4: bool = True, ipv6: bool = True) -> Iterator[Lan]:
    """Make a LAN for a test, which is skipped where there can be none."""
    with ExitStack() as stack:
        try:
            net = stack.enter_context(lan(*names, ipv4=ipv4, ipv6=ipv6))
        except NoLan as reason:
            pytest.skip(f"no network namespaces: {reason}")
        yield net


@contextmanager
def found_at(place: Plugged, machine: Machine) -> Iterator[AtHome]:
    """Let ``machine`` listen at its place in the LAN, and be announced."""
    with ExitStack() as stack:
        with place.here():
            there = stack.enter_context(at_home(machine, bind=""))
            port = parse_address(there.address)[1]
            claim = mdns.Announcement(MACHINES, machine.member().id, port, tell=pytest.fail)
            assert stack.enter_context(claim).spoken.wait(20)
        yield there


def _possible() -> None:
    if os.geteuid() != 0:
        raise NoLan("only root can make them")
    if shutil.which("ip") is None:
        raise NoLan("there is no ip command (iproute2)")


def _sweep() -> None:
    """Remove what a killed run left."""
    for path in _NAMED.glob(f"{_PREFIX}*"):
        pid = path.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            _remove(path.name)


def _remove(namespace: str) -> None:
    if (_NAMED / namespace).exists():
        subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


def _ip(*words: str, given: str = "") -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, input=given.encode())
    if done.returncode:
        said = done.stderr.decode().strip()
        if any(reason in said for reason in _CANNOT):
            raise NoLan(said)
        raise AssertionError(f"ip {' '.join(words)} {given}: {said}")


def _batch(namespace: str, lines: list[str]) -> None:
    _ip("-n", namespace, "-batch", "-", given="\n".join(lines) + "\n")


def _enter(namespace: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with namespace.open("rb") as file:
        if libc.setns(file.fileno(), _NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
