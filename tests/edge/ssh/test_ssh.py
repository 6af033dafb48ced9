"""SSH over loopback: who gets in, and what gets through."""

import hashlib
import io
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from handsoff.core import ids
from handsoff.edge.ssh.ssh import Channel, Listener, dial
from handsoff.errors import (
    CutError,
    DamagedError,
    TrustError,
    UnreachableError,
    UsageError,
)
from tests.kit.listening import (
    M1,
    M2,
    MB,
    STRANGER,
    Machine,
    authorize,
    echo,
    public,
    read,
)

pytestmark = pytest.mark.usefixtures("users_own_ssh")


# --- who gets in


def test_a_machine_that_is_let_in_talks_and_hangs_up(m2: Machine) -> None:
    with m2.dial() as channel:
        channel.send(b"hello")
        assert read(channel, 5) == b"hello"
    m2.wait()
    assert m2.served == [(ids.machine_id(public(M1)), "127.0.0.1")]
    assert m2.errors == []


def test_an_impostor_sees_nothing_and_both_fingerprints_are_named(m2: Machine) -> None:
    with pytest.raises(TrustError) as caught:
        m2.dial(host_key=public(STRANGER))
    assert ids.fingerprint(public(M2)) in str(caught.value)
    assert ids.fingerprint(public(STRANGER)) in str(caught.value)
    assert m2.served == []


def test_a_stranger_is_not_let_in(m2: Machine) -> None:
    with pytest.raises(TrustError, match="does not let this machine in"):
        m2.dial(STRANGER)
    assert m2.served == []


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(UnreachableError, match="connect"):
        dial("127.0.0.1", port, private_key=M1, host_key=public(M2))


def test_a_name_that_does_not_resolve_is_unreachable() -> None:
    with pytest.raises(UnreachableError, match=r"cannot reach no-such-machine\.invalid:22"):
        dial("no-such-machine.invalid", 22, private_key=M1, host_key=public(M2))
    with pytest.raises(UnreachableError):
        dial("x" * 70 + ".example", 22, private_key=M1, host_key=public(M2))


def test_a_silent_peer_is_unreachable_in_time() -> None:
    started = time.monotonic()
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(UnreachableError, match=r"no answer within 0\.3 s"),
    ):
        dial(
            "127.0.0.1",
            silent.getsockname()[1],
            private_key=M1,
            host_key=public(M2),
            timeout=0.3,
        )
    assert time.monotonic() - started < 2


def test_something_that_is_not_ssh_is_unreachable() -> None:
    def answer(server: socket.socket) -> None:
        peer, _ = server.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 400 \x1b[31mBad\r\n\r\n" * 3)

    with socket.create_server(("127.0.0.1", 0)) as web:
        thread = threading.Thread(target=answer, args=(web,))
        thread.start()
        with pytest.raises(UnreachableError) as caught:
            dial(
                "127.0.0.1",
                web.getsockname()[1],
                private_key=M1,
                host_key=public(M2),
                timeout=2,
            )
        thread.join()
    assert "\x1b" not in str(caught.value)


def test_looking_a_key_up_may_take_its_time() -> None:
    asked = []

    def slowly(key: bytes) -> str | None:
        asked.append(key)
        time.sleep(0.3)
        return authorize(key)

    machine = Machine(echo, authorize=slowly)
    with machine.listener, machine.dial():
        pass
    assert asked == [public(M1)], "asked once, though SSH shows a key twice"


# --- what gets through


def test_a_large_stream_arrives_as_it_was_both_ways(m2: Machine) -> None:
    data = os.urandom(9 * MB + 17)
    with m2.dial() as channel:
        sender = threading.Thread(target=channel.send, args=(data,))
        sender.start()
        assert hashlib.sha256(read(channel, len(data))).digest() == hashlib.sha256(data).digest()
        sender.join()


def test_a_slow_reader_holds_the_writer_back() -> None:
    go = threading.Event()
    heard = hashlib.sha256()

    def slowly(channel: Channel) -> None:
        go.wait(10)
        while piece := channel.recv(50_000):
            heard.update(piece)

    machine = Machine(slowly)
    data = os.urandom(24 * MB)
    with machine.listener, machine.dial() as channel:
        sent = threading.Thread(target=channel.send, args=(data,))
        sent.start()
        sent.join(0.5)
        assert sent.is_alive(), "24 MB went into a reader that reads nothing"
        go.set()
        sent.join(10)
        channel.close()
        machine.wait()
    assert heard.digest() == hashlib.sha256(data).digest()


def test_a_file_is_sent_from_an_offset_with_progress() -> None:
    got = bytearray()

    def keep(channel: Channel) -> None:
        while piece := channel.recv():
            got.extend(piece)

    machine = Machine(keep)
    data = os.urandom(2 * MB)
    seen: list[int] = []
    with machine.listener:
        with machine.dial() as channel:
            assert (
                channel.send_file(io.BytesIO(data), 1000, len(data), seen.append)
                == len(data) - 1000
            )
        machine.wait()
    assert bytes(got) == data[1000:]
    assert seen[-1] == len(data)


def test_a_file_that_is_too_short_is_damaged(m2: Machine) -> None:
    with pytest.raises(DamagedError, match="ends 5 bytes early"), m2.dial() as channel:
        channel.send_file(io.BytesIO(b"x" * 10), 0, 15)
    m2.wait()
    assert [type(error) for error in m2.errors] == [CutError]


def test_ipv6_is_spoken_and_every_address_listens_on_both() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    machine = Machine(echo, bind="")
    with machine.listener:
        for host in ("127.0.0.1", "::1"):
            with dial(host, machine.port, private_key=M1, host_key=public(M2)) as channel:
                channel.send(b"x")
                assert read(channel, 1) == b"x"
            machine.wait()
    assert [peer for _, peer in machine.served] == ["127.0.0.1", "::1"]


def test_an_address_in_use_is_a_usage_error(m2: Machine) -> None:
    with pytest.raises(
        UsageError, match=f"cannot listen on 127.0.0.1:{m2.port}: address already in use$"
    ):
        Listener("127.0.0.1", m2.port, private_key=M2, authorize=authorize, serve=print).start()


def test_nothing_of_the_users_own_ssh_is_touched(m2: Machine, tmp_path: Path) -> None:
    with m2.dial():
        pass
    assert sorted(p.name for p in (tmp_path / "home").rglob("*")) == [
        ".ssh",
        "config",
        "id_ed25519",
        "known_hosts",
    ]


def test_importing_the_door_does_not_import_asyncssh() -> None:
    code = "import sys; from handsoff.edge.ssh import ssh, talk; print('asyncssh' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"
