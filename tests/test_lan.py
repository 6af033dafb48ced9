"""The LAN that other tests are run in: machines in it talk, hear multicast, and can be cut off."""

import socket
import struct
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest

from tests.kit.lan import Lan, lan_or_skip, two

__all__ = ["two"]

_GROUP = "224.0.0.251"


def _served(listener: socket.socket, heard: list[bytes]) -> None:
    with listener, listener.accept()[0] as talk:
        heard.append(talk.recv(9))


@pytest.mark.parametrize("how", ["ipv4", "ipv6", "link_local"])
def test_two_machines_talk_on_every_kind_of_address(two: Lan, how: str) -> None:
    m1, m2 = two.machine("m1"), two.machine("m2")
    heard: list[bytes] = []
    with m2.here():
        family = socket.AF_INET if how == "ipv4" else socket.AF_INET6
        listener = socket.create_server(("", 7000), family=family)
    there = Thread(target=_served, args=(listener, heard))
    there.start()
    with m1.here(), socket.create_connection((getattr(m2, how), 7000), timeout=5) as talk:
        talk.sendall(b"over here")
    there.join(5)
    assert heard == [b"over here"]


def test_multicast_reaches_the_others_and_a_pulled_cable_stops_it() -> None:
    with lan_or_skip("m1", "m2", "m3") as net, ExitStack() as opened:
        ears = []
        for name in ("m2", "m3"):
            place = net.machine(name)
            with place.here():
                ear = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            ear.bind(("", 7001))
            join = struct.pack("=4s4s", socket.inet_aton(_GROUP), socket.inet_aton(place.ipv4))
            ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, join)
            ear.settimeout(5)
            ears.append(ear)
        m1 = net.machine("m1")
        with m1.here():
            mouth = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(m1.ipv4))
        mouth.sendto(b"one", (_GROUP, 7001))
        assert [ear.recv(9) for ear in ears] == [b"one", b"one"]
        net.machine("m3").cable(up=False)
        mouth.sendto(b"two", (_GROUP, 7001))
        assert ears[0].recv(9) == b"two"
        ears[1].settimeout(0.3)
        with pytest.raises(TimeoutError):
            ears[1].recv(9)
        ears[1].settimeout(5)
        net.machine("m3").cable(up=True)
        mouth.sendto(b"three", (_GROUP, 7001))
        assert ears[1].recv(9) == b"three"
    assert not list(Path("/run/netns").glob(m1.namespace))


def test_a_command_runs_in_the_network_of_its_machine(two: Lan) -> None:
    seen = two.machine("m2").run("ip", "-br", "addr", "show", "eth0").ok().out
    assert "10.68.0.2/24" in seen
    assert "fe80::2/64" in seen
