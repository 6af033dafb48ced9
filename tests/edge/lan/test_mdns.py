"""Announcing and looking, between machines in network namespaces, through real packets."""

import signal
import socket
import time

import pytest

from handsoff.core.ids import machine_id
from handsoff.core.reach.discovery import MACHINES, PAIRING, Found
from handsoff.edge.lan import mdns
from tests.kit.lan import Lan, Plugged, lan_or_skip, two
from tests.kit.monday import Monday, monday, templates
from tests.kit.running import background, wait_for

__all__ = ["monday", "templates", "two"]

M1, M2 = (machine_id(bytes([n]) * 32) for n in (1, 2))


@pytest.fixture(autouse=True)
def _on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mdns.SWITCH, raising=False)


def look(place: Plugged, kind: str = MACHINES, **options: object) -> list[Found]:
    """Look from ``place`` until something is found, or for two seconds."""
    with place.here():
        for found in mdns.browse(kind, seconds=2.0, **options):  # type: ignore[arg-type]
            return [found]
    return []


def test_a_machine_that_is_announced_is_found_at_its_addresses_and_says_goodbye(two: Lan) -> None:
    m1, m2 = two.machine("m1"), two.machine("m2")
    with m2.here(), mdns.Announcement(MACHINES, M2, 4711, tell=pytest.fail):
        found = look(m1, wanted=M2) or look(m1, wanted=M2)
        assert [(f.instance, f.port) for f in found] == [(M2, 4711)]
        assert found[0].addresses[0] == m2.ipv4
        assert m2.ipv6 in found[0].addresses
    assert look(m1) == []


def test_without_ipv4_the_link_s_own_address_comes_with_its_interface() -> None:
    with lan_or_skip("m1", "m2", ipv4=False) as net:
        m1, m2 = net.machine("m1"), net.machine("m2")
        with m2.here(), mdns.Announcement(PAIRING, "7", 4711, tell=pytest.fail):
            (found,) = look(m1, PAIRING)
        assert found.addresses[0] == m2.ipv6
        assert found.addresses[1].startswith("fe80::2%")


def test_a_port_that_somebody_keeps_is_said_once_and_nothing_else_stops(two: Lan) -> None:
    m2, said = two.machine("m2"), list[str]()
    with m2.here():
        keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        keeper.bind(("0.0.0.0", 5353))
        with keeper, mdns.Announcement(MACHINES, M2, 4711, tell=said.append):
            until = time.monotonic() + 5
            while not said and time.monotonic() < until:
                time.sleep(0.02)
        assert [line.partition(";")[0] for line in said] == [
            "mDNS does not work here: another program keeps UDP port 5353 to itself"
        ]


def test_what_is_switched_off_looks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mdns.SWITCH, "off")
    said: list[str] = []
    assert list(mdns.browse(MACHINES, seconds=9, trouble=said.append)) == []
    assert said == ["mDNS is switched off here (HANDSOFF_MDNS)"]


def test_a_listener_is_announced_by_its_id_and_port_and_nothing_else(
    monday: Monday, two: Lan
) -> None:
    m2 = two.join(monday.m2)
    address = m2.home / "address"
    with background(m2, "listen", "--address-file", address) as there:
        wait_for(address.exists)
        (found,) = look(two.machine("m1"))
        # what it tells to type with --at: a name would lead nowhere without a DNS
        assert address.read_text().startswith(f"{two.machine('m2').ipv4}:")
        port = int(address.read_text().rpartition(":")[2])
        assert there.interrupt(signal.SIGTERM).code == 0
    assert (found.instance, found.port) == (m2.member().id, port)
