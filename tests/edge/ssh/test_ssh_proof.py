"""Who is at an address: only the private half of a key proves it, and nothing is shown in turn."""

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import asyncssh
import pytest

from handsoff.core.ids import machine_id
from handsoff.edge.ssh import ssh_profile
from handsoff.edge.ssh.ssh import dial, prove
from handsoff.errors import NotLetInError, TrustError, UnreachableError
from tests.kit.listening import M1, M2, STRANGER, Machine, echo, public

pytestmark = pytest.mark.usefixtures("users_own_ssh")

DISCONNECT, NO_MORE_METHODS = 1, 14  # RFC 4253 section 11.1


@contextmanager
def saying(*said: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Serve somebody who says this and then listens; the port, and what was heard."""
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                talk, _ = server.accept()
            except OSError:
                return
            with talk:
                talk.settimeout(5)
                try:
                    talk.sendall(b"".join(said))
                    while piece := talk.recv(65536):
                        heard.append(piece)
                except OSError:
                    pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], heard


def goodbye(code: int) -> bytes:
    """Return the packet with which a server of SSH ends a connection."""
    said = struct.pack("!BI", DISCONNECT, code) + struct.pack("!I2sI", 2, b"no", 0)
    padding = 8 - (len(said) + 5) % 8 + 8
    return struct.pack("!IB", len(said) + padding + 1, padding) + said + bytes(padding)


@contextmanager
def with_the_public_half_only(of: bytes) -> Iterator[int]:
    """Serve SSH with a host key that is shown as ``of``'s, and signs as somebody else's."""
    loop = asyncio.new_event_loop()
    (pair,) = asyncssh.load_keypairs([ssh_profile.ssh_key(STRANGER)])
    pair.public_data = ssh_profile.ssh_key(of).public_data

    async def begin() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen("127.0.0.1", 0, server_host_keys=[pair])

    server = loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.get_port()
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_to_show_a_key_that_one_cannot_sign_with_is_no_proof() -> None:
    with with_the_public_half_only(M2) as port:
        (answer,) = prove([("127.0.0.1", port, machine_id(public(M2)))], timeout=5.0)
        assert isinstance(answer, UnreachableError)
        with pytest.raises(UnreachableError, match="is not handsoff"):
            dial("127.0.0.1", port, private_key=M1, host_key=public(M2))


def test_each_is_asked_for_itself_and_all_at_once() -> None:
    m3, shown = machine_id(public(STRANGER)), list[bytes]()
    m2 = Machine(echo, authorize=shown.append)
    with m2.listener, saying(b"SSH-2.0-slow\r\n") as (slow, heard):
        began = time.monotonic()
        right, wrong, silent = prove(
            [
                ("127.0.0.1", m2.port, machine_id(public(M2))),
                ("127.0.0.1", m2.port, m3),
                ("127.0.0.1", slow, m3),
            ],
            timeout=1.0,
        )
        assert time.monotonic() - began < 3
    assert right is None
    assert isinstance(wrong, TrustError)
    assert isinstance(silent, UnreachableError)
    assert (m2.served, shown) == ([], [])
    assert all(public(M1) not in piece for piece in heard)


def test_to_claim_that_nobody_is_let_in_is_no_proof() -> None:
    with saying(b"SSH-2.0-liar\r\n", goodbye(NO_MORE_METHODS)) as (port, _):
        with pytest.raises(UnreachableError, match="is not handsoff"):
            dial("127.0.0.1", port, private_key=M1, host_key=public(M2))
        (answer,) = prove([("127.0.0.1", port, machine_id(public(M2)))], timeout=2.0)
    assert isinstance(answer, UnreachableError)


def test_lines_that_are_reset_at_any_moment_prove_nothing_and_break_nothing() -> None:
    def reset() -> None:
        for pause in (0.0, 0.0, 0.01, 0.02, 0.03, 0.05):
            talk, _ = server.accept()
            time.sleep(pause)
            talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            talk.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=reset)
        thread.start()
        place = ("127.0.0.1", server.getsockname()[1], machine_id(public(M2)))
        answers = prove([place] * 6, timeout=5.0)
        thread.join()
    assert all(isinstance(answer, UnreachableError) for answer in answers)


def test_the_right_machine_may_say_no(m2: Machine) -> None:
    with pytest.raises(NotLetInError):
        m2.dial(STRANGER)
