"""Machines on a LAN find each other, and whoever is hostile there changes nothing.

Run as root from a checkout with what the tests need: python lab/lan.py [WORD ...]. Machines stand
in network namespaces that are gone afterwards; nothing is sent to a network of this computer.
Prints a line for each case, and fails if any does; a WORD picks the cases whose name has it.
"""

import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from handsoff.core.reach.discovery import MACHINES, host_of  # noqa: E402
from handsoff.edge.lan import mdns  # noqa: E402
from tests.kit.lan import Lan, NoLan, Plugged, lan  # noqa: E402
from tests.kit.machines import Machine, Ran, World, sealed  # noqa: E402

PAGE = "# Handoff\n\n## Next\nGo on.\n\n## Tried and failed\nnothing\n\n## Do not touch\nnothing\n"
GROUPS: Final = (("224.0.0.251", socket.AF_INET), ("ff02::fb", socket.AF_INET6))
SIZE: Final = 12 << 20
CASES: dict[str, Callable[[Path], str]] = {}


def case(run: Callable[[Path], str]) -> Callable[[Path], str]:
    """Take ``run`` as a case; it returns what there is to tell, or raises."""
    CASES[run.__name__.replace("_", " ")] = run
    return run


# --- machines, listeners, transfers -------------------------------------------------------------


def world_of(folder: Path, net: Lan, *names: str) -> list[Machine]:
    """Return machines of one roster, plugged in; the first has work to hand over."""
    machines = [net.join(machine) for machine in World.make(folder).members(*names)]
    first = machines[0]
    first.git("switch", "-q", "-c", "feat/x")
    first.commit()
    first.write("notes.txt", "half done\n")
    first.write(".wip/HANDOFF.md", PAGE)
    return machines


class Listening:
    """A ``handsoff listen`` that runs at a machine."""

    def __init__(self, machine: Machine, *words: str) -> None:
        self.machine = machine
        address = machine.home / "address"
        address.unlink(missing_ok=True)
        command = (sys.executable, "-m", "handsoff", "listen", "--address-file", address, *words)
        env = {**os.environ, "HANDSOFF_HOME": str(machine.home)}
        self.log = (machine.home / "listen.log").open("wb+")
        self.process = subprocess.Popen(
            [*machine.prefix, *command], cwd=machine.top, env=env, stderr=self.log
        )
        until(lambda: address.exists() and bool(address.read_text().strip()))
        self.port = int(address.read_text().strip().rpartition(":")[2])

    @property
    def child(self) -> int:
        """The process that speaks mDNS."""
        found: list[str] = []

        def there() -> bool:
            tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
            pids = [pid for task in tasks for pid in task.read_text().split()]
            found[:] = [p for p in pids if b"mdns_child" in Path(f"/proc/{p}/cmdline").read_bytes()]
            return bool(found)

        until(there)
        return int(found[0])

    def said(self) -> str:
        self.log.flush()
        return Path(self.log.name).read_text(errors="replace")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(15)
        self.log.close()


@contextmanager
def listening(machine: Machine, *words: str) -> Iterator[Listening]:
    there = Listening(machine, *words)
    try:
        yield there
    finally:
        there.stop()


def until(ready: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def memory(pid: int) -> int:
    """Return the resident memory of a process, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) >> 10  # type: ignore[index]


def send(machine: Machine, *words: str) -> tuple[Ran, float]:
    """Send to m2, and return how it went and how long it took."""
    began = time.monotonic()
    ran = machine.handsoff("send", "m2", *words)
    return ran, time.monotonic() - began


def direct(ran: Ran, address: str) -> None:
    """Fail unless the work went straight to a place."""
    assert f"m2 is at {address}" in ran.ok().err, ran.err


# --- hostile packets ------------------------------------------------------------------------------


def name(text: str) -> bytes:
    """Return a name as DNS writes it, RFC 1035 section 3.1."""
    labels = [part.encode() for part in text.rstrip(".").split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def record(owner: str, kind: int, data: bytes, ttl: int = 4500, flush: int = 0x8000) -> bytes:
    return name(owner) + struct.pack("!HHIH", kind, 1 | flush, ttl, len(data)) + data


def answer(*records: bytes) -> bytes:
    return struct.pack("!HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def question(owner: str, kind: int = 12) -> bytes:
    return struct.pack("!HHHHHH", 0, 0, 1, 0, 0, 0) + name(owner) + struct.pack("!HH", kind, 1)


def claim(instance: str, port: int, address: str, ttl: int = 4500) -> bytes:
    """Return the announcement of a machine at an address."""
    return answer(*_records(instance, port, address, ttl))


def _records(instance: str, port: int, address: str, ttl: int) -> list[bytes]:
    host, full = host_of(MACHINES, instance), f"{instance}.{MACHINES}"
    return [
        record(MACHINES, 12, name(full), ttl, 0),
        record(full, 33, struct.pack("!HHH", 0, 0, port) + name(host), ttl),
        record(host, 1, socket.inet_aton(address), ttl),
    ]


def malformed(dice: random.Random) -> bytes:
    """Return a packet that is wrong somewhere."""
    sound = claim("".join(dice.choices("abcdefghij", k=26)), 4711, "10.68.0.66")
    match dice.randrange(6):
        case 0:
            return dice.randbytes(dice.randrange(1, 1400))
        case 1:
            return sound[: dice.randrange(12, len(sound))]
        case 2:  # a name that points at itself, and one that goes round
            loop = struct.pack("!H", 0xC000 | 12)
            return struct.pack("!HHHHHH", 0, 0x8400, 0, 1, 0, 0) + loop + sound[12:]
        case 3:
            return struct.pack("!HHHHHH", 0, 0x8400, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF) + sound[12:]
        case 4:
            spot = dice.randrange(len(sound))
            return sound[:spot] + dice.randbytes(4) + sound[spot + 4 :]
        case _:
            return answer(record(MACHINES, 12, b"\x3f" + b"\xff" * 63, 1, 0)) * 9


class Flood(threading.Thread):
    """Packets that ``make`` makes, as fast as they go or as often as ``pause`` says."""

    def __init__(self, place: Plugged, make: Callable[[int], bytes], pause: float = 0) -> None:
        super().__init__(daemon=True)
        self._make, self._pause = make, pause
        self._over = threading.Event()
        self.sent = 0
        with place.here():
            index = socket.if_nametoindex("eth0")
            self._mouths = [socket.socket(family, socket.SOCK_DGRAM) for _, family in GROUPS]
        self._mouths[0].setsockopt(
            socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(place.ipv4)
        )
        self._mouths[1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        for mouth in self._mouths:
            mouth.bind(("", 5353) if mouth.family == socket.AF_INET else ("::", 0))

    def run(self) -> None:
        while not self._over.is_set():
            packet = self._make(self.sent)
            for mouth, (group, _) in zip(self._mouths, GROUPS, strict=True):
                try:
                    mouth.sendto(packet[:8900], (group, 5353))
                except OSError:
                    time.sleep(0.001)
            self.sent += 1
            if self._pause:
                time.sleep(self._pause)

    def __enter__(self) -> "Flood":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()
        for mouth in self._mouths:
            mouth.close()


def fake_services(number: int) -> bytes:
    """Return a packet of ten of 10,000 machines that there are not."""
    records = []
    for n in range(number * 10, number * 10 + 10):
        fake = "".join("abcdefghij"[int(digit)] for digit in f"{n % 10_000:026}")
        records += _records(fake, 4711, f"10.68.{n % 250}.{n % 199 + 9}", 4500)
    return answer(*records)


# --- the cases ------------------------------------------------------------------------------------


@case
def a_work_goes_to_a_machine_that_nobody_gave_an_address_of(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with listening(m2):
            ran, took = send(m1)
            direct(ran, net.machine("m2").ipv4)
        m2.handsoff("catch", "feat/x").ok()
        assert (m2.top / "notes.txt").read_text() == "half done\n"
    return f"found and handed over in {took:.2f} s"


@case
def from_machine_to_machine_to_machine(folder: Path) -> str:
    with lan("m1", "m2", "m3") as net:
        m1, m2, m3 = world_of(folder, net, "m1", "m2", "m3")
        for before, after in ((m1, m2), (m2, m3), (m3, m1)):
            with listening(m1), listening(m2), listening(m3):
                said = before.handsoff("send", after.name, "--via", "direct").ok()
            assert f"{after.name} is at {net.machine(after.name).ipv4}" in said.err
            after.handsoff("catch", "feat/x").ok()
            after.write(".wip/HANDOFF.md", PAGE + f"\n{after.name}\n")
    return "three hand-overs round the table"


@case
def ipv6_alone(folder: Path) -> str:
    with lan("m1", "m2", ipv4=False) as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with listening(m2):
            ran, took = send(m1, "--via", "direct")
            direct(ran, "[f")
    return f"in {took:.2f} s"


@case
def nothing_but_the_link_s_own_addresses(folder: Path) -> str:
    with lan("m1", "m2", ipv4=False) as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        for place in ("m1", "m2"):
            net.machine(place).ip("addr", "del", f"{net.machine(place).ipv6}/64", "dev", "eth0")
        with listening(m2):
            ran, took = send(m1, "--via", "direct")
            direct(ran, "[fe80::2%")
    return f"in {took:.2f} s"


@case
def two_interfaces(folder: Path) -> str:
    with lan("m1", "m2", "m3") as net:
        m1, m2, m3 = world_of(folder, net, "m1", "m2", "m3")
        # m2 has a second network, of which only m3 is, and m3 is in no other
        places = net.machine("m2"), net.machine("m3")
        second = ("link", "add", "eth1", "type", "veth", "peer", "name", "eth1")
        places[0].ip(*second, "netns", places[1].namespace)
        for place in places:
            place.ip("addr", "add", f"10.69.0.{place.number}/24", "dev", "eth1")
            place.ip("link", "set", "eth1", "up")
        places[1].cable(up=False)
        with listening(m2):
            direct(send(m1, "--via", "direct")[0], places[0].ipv4)
            m3.git("switch", "-q", "-c", "feat/y")
            m3.write(".wip/HANDOFF.md", PAGE)
            ran, took = send(m3, "--via", "direct")
            direct(ran, "10.69.0.2")
    return f"found on each, by who is there; in {took:.2f} s"


@case
def nothing_is_announced_where_nobody_wants_it(folder: Path) -> str:
    with lan("m1", "m2") as net:
        _, m2 = world_of(folder, net, "m1", "m2")
        for words in (("--no-announce",), ("--bind", "127.0.0.1")):
            with listening(m2, *words), net.machine("m1").here():
                assert not list(mdns.browse(MACHINES, seconds=1.5)), words
    return "with --no-announce, and on loopback"


@case
def no_answer_crosses_a_router(folder: Path) -> str:
    with lan("m1", "m2") as net:
        _, m2 = world_of(folder, net, "m1", "m2")
        hops = []
        with listening(m2):
            time.sleep(2)
            for family, place in ((socket.AF_INET, "ipv4"), (socket.AF_INET6, "ipv6")):
                with net.machine("m1").here():
                    asker = socket.socket(family, socket.SOCK_DGRAM)
                # ip(7) IP_RECVTTL, ipv6(7) IPV6_RECVHOPLIMIT
                if family == socket.AF_INET:
                    asker.setsockopt(socket.IPPROTO_IP, 12, 1)
                else:
                    asker.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
                asker.settimeout(5)
                asker.sendto(question(MACHINES), (getattr(net.machine("m2"), place), 5353))
                _, notes, _, _ = asker.recvmsg(9000, 100)
                hops += [int.from_bytes(data, sys.byteorder) for _, _, data in notes]
                asker.close()
        assert hops == [1, 1], hops
    return "an answer to a single asker has one hop to live"


@case
def containers_and_tunnels_are_left_out(folder: Path) -> str:
    with lan("m1", "m2") as net:
        _, m2 = world_of(folder, net, "m1", "m2")
        place = net.machine("m2")
        for interface, address in (("docker0", "172.17.0.1/16"), ("wg0", "10.99.0.1/24")):
            place.ip("link", "add", interface, "type", "veth", "peer", "name", f"veth{interface}")
            place.ip("addr", "add", address, "dev", interface)
            place.ip("link", "set", interface, "up")
            place.ip("link", "set", f"veth{interface}", "up")
        with listening(m2), net.machine("m1").here():
            found = list(mdns.browse(MACHINES, seconds=2, wanted=m2.member().id))
        addresses = {address for one in found for address in one.addresses}
        assert {place.ipv4, place.ipv6} <= addresses
        assert not addresses & {"172.17.0.1", "10.99.0.1"}, addresses
    return ", ".join(sorted(addresses))


@case
def an_announcement_follows_the_network(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        place = net.machine("m2")
        place.cable(up=False)
        with listening(m2) as there:
            until(lambda: "no network interface here" in there.said())
            place.cable(up=True)
            place.ip("addr", "del", f"{place.ipv4}/24", "dev", "eth0")
            place.ip("addr", "add", "10.68.0.42/24", "dev", "eth0")
            time.sleep(6)
            ran, took = send(m1, "--via", "direct")
            direct(ran, "10.68.0.42")
    return f"a cable put in late, another address: found in {took:.2f} s"


@case
def the_process_that_announces_may_die(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with listening(m2) as there:
            first = there.child
            os.kill(first, signal.SIGKILL)
            time.sleep(5)
            assert there.child != first
            direct(send(m1, "--via", "direct")[0], net.machine("m2").ipv4)
    return "and is started again"


@case
def a_port_that_is_kept_stops_nothing_else(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with net.machine("m2").here():
            keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        keeper.bind(("0.0.0.0", 5353))
        with keeper, listening(m2) as there:
            until(lambda: "port 5353" in there.said())
            place = f"{net.machine('m2').ipv4}:{there.port}"
            direct(send(m1, "--at", place)[0], place)
            assert there.said().count("port 5353") == 1, there.said()
    return "said once; --at works"


@case
def a_fake_m2_gets_a_connection_and_nothing_else(folder: Path) -> str:
    heard: list[bytes] = []

    def serve(server: socket.socket) -> None:
        while True:
            try:
                talk, _ = server.accept()
            except OSError:
                return
            talk.settimeout(3)
            data = b""
            try:
                talk.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                while piece := talk.recv(65536):
                    data += piece
            except OSError:
                pass
            heard.append(data)
            talk.close()

    with lan("m1", "m2", "m3") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with net.machine("m3").here():
            server = socket.create_server(("", 4711))
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        lie = claim(m2.member().id, 4711, net.machine("m3").ipv4)
        with Flood(net.machine("m3"), lambda _: lie, pause=0.2):
            ran, _ = send(m1, "--via", "direct")
            assert ran.code == 6, ran.err
            with listening(m2):
                ran, took = send(m1, "--via", "direct")
                direct(ran, net.machine("m2").ipv4)
        assert heard
        server.close()
        secrets = (m1.member().id.encode(), b"feat/x", b"ssh-userauth", b"notes.txt")
        for data in heard:
            assert data.startswith(b"SSH-2.0-"), data[:40]
            assert not any(secret in data for secret in secrets)
            assert len(data) < 4096
    return f"real m2 in {took:.2f} s; the fake was sent {[len(d) for d in heard]} bytes"


@case
def an_impostor_that_says_goodbye_for_m2_does_not_hide_it(folder: Path) -> str:
    with lan("m1", "m2", "m3") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        own = m2.member().id

        def lies(number: int) -> bytes:
            address = net.machine("m2" if number % 2 else "m3").ipv4
            return claim(own, 4711, address, ttl=0 if number % 3 else 120)

        with Flood(net.machine("m3"), lies, pause=0.05), listening(m2) as there:
            ran, took = send(m1, "--via", "direct")
            direct(ran, f"{net.machine('m2').ipv4}:{there.port}")
    return f"found in {took:.2f} s"


@case
def a_flood_hurts_neither_listener_nor_transfer(folder: Path) -> str:
    dice = random.Random(5)

    def hostile(number: int) -> bytes:
        kind = number % 4
        if kind == 0:
            return malformed(dice)
        return question(MACHINES) if kind == 1 else fake_services(number // 2)

    with lan("m1", "m2", "m3") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        m1.git("switch", "-q", "-c", "feat/quiet")
        m1.write(".wip/HANDOFF.md", PAGE)
        (m1.top / "big.bin").write_bytes(random.Random(1).randbytes(SIZE))
        big = ("--via", "direct", "--max-size", str(SIZE))
        with listening(m2) as there:
            quiet, quick = send(m1, *big)
            direct(quiet, net.machine("m2").ipv4)
            before = memory(there.process.pid), memory(there.child)
            m1.git("switch", "-q", "-c", "feat/loud")
            (m1.top / "big.bin").write_bytes(random.Random(2).randbytes(SIZE))
            # as much as a machine sends that does nothing else, and does not take ours its time
            with Flood(net.machine("m3"), hostile, pause=0.001) as flood:
                until(lambda: flood.sent > 4_000, 60)
                ran, took = send(m1, *big)
                direct(ran, net.machine("m2").ipv4)
                began = time.monotonic()
                with net.machine("m1").here():
                    socket.create_connection((net.machine("m2").ipv4, there.port)).recv(8)
                greeting = time.monotonic() - began
                after = memory(there.process.pid), memory(there.child)
                told = m1.handsoff("peers", "--json").ok().json
            here = [peer["name"] for peer in told["peers"] if peer["verified"]]
            assert here == ["m2"], told
            assert after[0] - before[0] < 32, (before, after)
            assert after[1] < mdns_limit(), (before, after)
            assert greeting < 1.0, greeting
            assert there.process.poll() is None
    return (
        f"{flood.sent * 2} packets; {SIZE >> 20} MB in {took:.1f} s, {quick:.1f} s without; "
        f"greeting in {greeting * 1000:.0f} ms; "
        f"listener {before[0]} to {after[0]} MiB, its child {before[1]} to {after[1]} MiB"
    )


def mdns_limit() -> int:
    """Return the memory in MiB that the child may have; the number stands in its own file."""
    text = (ROOT / "handsoff/edge/lan/mdns_child.py").read_text()
    return int(re.search(r"MEMORY: Final = (\d+) << 20", text)[1])  # type: ignore[index]


@case
def a_cable_that_is_put_back_soon(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        place = net.machine("m2")
        with listening(m2):
            code, said = _pulled(m1, place, back_after=5)
            assert code == 0, said
        m2.handsoff("catch", "feat/x").ok()
        assert (m2.top / "big.bin").stat().st_size == SIZE
    return "the same send went on by itself"


@case
def a_cable_that_is_out_for_longer_than_a_line_may_be_silent(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        with listening(m2):
            code, said = _pulled(m1, net.machine("m2"), back_after=40)
            assert code == 0, said
        assert "the connection was lost and made again" in said
        m2.handsoff("catch", "feat/x").ok()
    return "dialled again, and gone on with"


@case
def a_cable_that_stays_out_and_is_put_back_later(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        place = net.machine("m2")
        with listening(m2) as there:
            code, said = _pulled(m1, place, back_after=200)
            assert code == 6, f"{code} {said}"
            assert there.process.poll() is None
            again, took = send(m1, "--via", "direct", "--max-size", str(SIZE))
            direct(again, place.ipv4)
        m2.handsoff("catch", "feat/x").ok()
        assert (m2.top / "big.bin").stat().st_size == SIZE
    return f"exit code 6 ({said.splitlines()[-2]}); the second send took {took:.1f} s"


@case
def a_cable_that_stays_out_for_a_minute_while_send_is_patient(folder: Path) -> str:
    with lan("m1", "m2") as net:
        m1, m2 = world_of(folder, net, "m1", "m2")
        if "--retry" not in m1.handsoff("send", "--help").ok().out:
            return "not tried: send has no --retry"
        with listening(m2):
            code, said = _pulled(m1, net.machine("m2"), "--retry", "3m", back_after=60)
            assert code == 0, said
        m2.handsoff("catch", "feat/x").ok()
        assert (m2.top / "big.bin").stat().st_size == SIZE
    return "the same send went on by itself"


def _pulled(m1: Machine, place: Plugged, *more: str, back_after: float) -> tuple[int, str]:
    """Send while the cable of ``place`` is pulled as soon as it flows; return how it ended."""

    def received() -> int:
        return int(place.run("cat", "/sys/class/net/eth0/statistics/rx_bytes").out or 0)

    (m1.top / "big.bin").write_bytes(random.Random(1).randbytes(SIZE))
    words = ("send", "m2", "--via", "direct", "--max-size", str(SIZE), *more)
    sending = subprocess.Popen(
        [*m1.prefix, sys.executable, "-m", "handsoff", *words],
        cwd=m1.top, env={**os.environ, "HANDSOFF_HOME": str(m1.home)}, stderr=subprocess.PIPE,
    )  # fmt: skip
    until(lambda: received() > 1 << 20, 90)
    place.cable(up=False)
    try:
        _, said = sending.communicate(timeout=back_after)
    except subprocess.TimeoutExpired:
        place.cable(up=True)
        _, said = sending.communicate(timeout=120)
    place.cable(up=True)
    return sending.returncode, said.decode()


def main() -> None:
    """Run the cases."""
    words = sys.argv[1:]
    failed = 0
    for title, run in CASES.items():
        if words and not any(word in title for word in words):
            continue
        with tempfile.TemporaryDirectory(prefix="handsoff-lan-") as scratch, ExitStack() as stack:
            env = sealed(Path(scratch))
            del env["HANDSOFF_MDNS"]
            env["XDG_CACHE_HOME"] = "/dev/null"  # what the guard compiles would take the most time
            os.environ.clear()
            os.environ.update(env)
            stack.callback(sys.stdout.flush)
            began = time.monotonic()
            try:
                world = Path(scratch) / "world"
                world.mkdir()
                said = run(world)
            except NoLan as reason:
                print(f"no network namespaces: {reason}")
                sys.exit(1)
            except (AssertionError, OSError, LookupError, ValueError):
                traceback.print_exc()
                said, failed = "FAILED", failed + 1
            print(f"{time.monotonic() - began:6.1f} s  {title}: {said}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
