"""The check-up of how others reach this machine: its listener, mDNS, a firewall in between."""

import secrets
from collections.abc import Mapping
from string import ascii_lowercase
from typing import Final

from handsoff.core.checkup import checkups, earshot
from handsoff.core.checkup.checkups import Listening
from handsoff.core.checkup.health import Finding
from handsoff.core.reach.address import is_everywhere, is_loopback, parse_address
from handsoff.edge import clock, door, system
from handsoff.edge.git.repo import Checkout
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.edge.lan import mdns
from handsoff.edge.ssh import ssh
from handsoff.errors import HandsoffError, UsageError
from handsoff.flows.clones import rosters_of
from handsoff.flows.desk import Desk

_PATIENCE: Final = 2.0
"""Seconds that a listener has to answer, and that mDNS is listened to."""
_PROBE: Final = 12
"""Letters of the name by which our own announcement is told from others."""


def look_at_listener(machine: Machine) -> list[Finding]:
    """Return what is to be said of the listener of this machine."""
    return checkups.of_listener(_listening(machine))


def look_at_mdns(others: Mapping[str, str]) -> list[Finding]:
    """Return what is to be said of mDNS here; ``others`` are names of other members by id."""
    probe = "".join(secrets.choice(ascii_lowercase) for _ in range(_PROBE))
    return earshot.of_look(mdns.check(probe, seconds=_PATIENCE), others)


def _listening(machine: Machine) -> Listening | None:
    noted = door.noted(machine.home)
    if noted is None:
        return None
    address, pid = noted.address, noted.pid
    try:
        host, port = parse_address(address)
    except UsageError:
        return None
    # a number of a process may be another's by now; the lock is the listener's alone
    if door.running(machine.home) is None:
        return Listening(address=address, pid=pid, alive=False)
    trouble = _trouble(machine, host, port)
    if trouble and not is_everywhere(host):
        # it may say the name of this machine, which need not lead anywhere from here
        trouble = _trouble(machine, "localhost", port) and trouble
    refused = []
    if not trouble and not is_loopback(host):
        refused = [ip for ip in system.own_addresses() if not system.answers(ip, port)]
    return Listening(
        address=address, pid=pid, alive=True, trouble=trouble, refused=tuple(refused),
        firewalls=system.firewalls(),
    )  # fmt: skip


def _trouble(machine: Machine, host: str, port: int) -> str:
    """Return why nobody at this place proves to be this machine, "" if somebody does."""
    here = "localhost" if is_everywhere(host) else host
    seed, key = machine.seed, machine.public_key
    try:
        with ssh.dial(here, port, private_key=seed, host_key=key, timeout=_PATIENCE):
            return ""
    except HandsoffError as error:
        return str(error)


def others_of(checkout: Checkout | None, machine: Machine | None) -> dict[str, str]:
    """Return the names of the other members of this clone's roster, by id."""
    if checkout is None or machine is None:
        return {}
    # where it is damaged, whoever looks at the remote says so
    rosters = rosters_of([Desk(checkout, Home(machine.home), machine, clock.now())])
    members = (member for roster in rosters for member in roster.members())
    return {m.id: m.name for m in members if m.id != machine.id}
