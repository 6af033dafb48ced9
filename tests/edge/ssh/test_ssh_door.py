"""The door: one subsystem for machines that were let in, and nothing else for anybody."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import asyncssh
import pytest
from asyncssh.public_key import SSHLocalKeyPair

from handsoff.core import ids
from handsoff.edge.ssh import ssh_profile, ssh_server
from handsoff.errors import (
    UnreachableError,
)
from tests.kit.listening import (
    M1,
    STRANGER,
    Machine,
    as_client,
    echo,
    open_session,
    public,
    read,
    swallow,
)

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"


pytestmark = pytest.mark.usefixtures("users_own_ssh")


def test_the_profile_is_the_one_agreed(m2: Machine) -> None:
    async def look(connection: asyncssh.SSHClientConnection) -> None:
        assert connection.get_extra_info("send_cipher") == "aes128-gcm@openssh.com"
        assert connection.get_extra_info("send_compression") == "none"
        assert connection.get_extra_info("recv_compression") == "none"
        assert connection._strict_kex

    as_client(m2, look)
    offers: list[dict[str, Any]] = [
        {"encryption_algs": ["aes128-cbc", "aes256-ctr", "chacha20-poly1305@openssh.com"]},
        {"kex_algs": ["diffie-hellman-group14-sha1", "ecdh-sha2-nistp256"]},
        {"compression_algs": ["zlib@openssh.com"]},
        {"server_host_key_algs": ["rsa-sha2-256"]},
    ]
    for weak in offers:
        with pytest.raises(asyncssh.DisconnectError):
            as_client(m2, look, **weak)


# --- what is refused


async def _shell(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(asyncssh.SSHClientSession, request_pty=False)


async def _exec(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(asyncssh.SSHClientSession, "id", request_pty=False)


async def _pty(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(
        asyncssh.SSHClientSession, subsystem="handsoff", request_pty="force", term_type="xterm"
    )


async def _other_subsystem(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(
        asyncssh.SSHClientSession, subsystem="handsof", request_pty=False
    )


async def _sftp(connection: asyncssh.SSHClientConnection) -> None:
    await connection.start_sftp_client()


async def _scp(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(asyncssh.SSHClientSession, "scp -t x", request_pty=False)


async def _x11(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(
        asyncssh.SSHClientSession,
        subsystem="handsoff",
        request_pty=False,
        x11_forwarding=True,
        x11_display="localhost:0",
    )


async def _direct_tcpip(connection: asyncssh.SSHClientConnection) -> None:
    await connection.open_connection("127.0.0.1", 22)


async def _remote_forward(connection: asyncssh.SSHClientConnection) -> None:
    await connection.start_server(lambda *_: None, "127.0.0.1", 0)


async def _unix_forward(connection: asyncssh.SSHClientConnection) -> None:
    await connection.open_unix_connection("/tmp/x")


async def _remote_unix_forward(connection: asyncssh.SSHClientConnection) -> None:
    await connection.start_unix_server(lambda *_: None, "/tmp/handsoff-x")


async def _tunnel(connection: asyncssh.SSHClientConnection) -> None:
    await connection.open_tun()


async def _second_session(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(
        asyncssh.SSHClientSession, subsystem="handsoff", request_pty=False
    )
    await connection.create_session(
        asyncssh.SSHClientSession, subsystem="handsoff", request_pty=False
    )


@pytest.mark.parametrize(
    "request_it",
    [
        _shell,
        _exec,
        _pty,
        _other_subsystem,
        _sftp,
        _scp,
        _x11,
        _direct_tcpip,
        _remote_forward,
        _unix_forward,
        _remote_unix_forward,
        _tunnel,
        _second_session,
    ],
)
def test_everything_but_the_one_subsystem_is_refused(
    m2: Machine, request_it: Callable[[asyncssh.SSHClientConnection], Awaitable[None]]
) -> None:
    with pytest.raises((asyncssh.ChannelOpenError, asyncssh.ChannelListenError, OSError)):
        as_client(m2, request_it)
    assert len(m2.served) == (1 if request_it is _second_session else 0)


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        (b"env", b"\0\0\0\1A\0\0\0\1B"),
        (b"auth-agent-req@openssh.com", b""),
        (b"signal", b"\0\0\0\4TERM"),
        (b"break", b"\0\0\0\1"),
        (b"window-change", b"\0" * 16),
        (b"xon-xoff", b"\1"),
        (b"made-up@example.com", b""),
    ],
)
def test_a_request_inside_the_session_is_refused(m2: Machine, name: bytes, payload: bytes) -> None:
    async def ask(connection: asyncssh.SSHClientConnection) -> None:
        chan, _ = await connection.create_session(
            asyncssh.SSHClientSession, subsystem="handsoff", request_pty=False
        )
        assert await chan._make_request(name, payload) is False

    as_client(m2, ask)


@pytest.mark.parametrize(
    "options",
    [
        {"client_keys": None, "password": "x", "preferred_auth": "password"},
        {"client_keys": None, "preferred_auth": "keyboard-interactive"},
        {"client_keys": None},
        {"client_keys": [asyncssh.generate_private_key("ecdsa-sha2-nistp256")]},
    ],
)
def test_no_other_way_of_logging_in_is_taken(m2: Machine, options: dict[str, Any]) -> None:
    async def never(connection: asyncssh.SSHClientConnection) -> None:
        del connection
        pytest.fail("let in")

    with pytest.raises(asyncssh.PermissionDenied):
        as_client(m2, never, **options)


def test_begin_auth_asks_everybody() -> None:
    server = ssh_server._Server(ssh_server.House.__new__(ssh_server.House))
    assert all(server.begin_auth(name) is True for name in ("handsoff", "root", ""))


def test_the_machine_is_the_key_that_signed_not_one_that_was_shown() -> None:
    def anybody(key: bytes) -> str | None:
        return ids.machine_id(key)

    machine = Machine(echo, authorize=anybody)

    class Liar(SSHLocalKeyPair):
        def sign(self, data: bytes) -> bytes:
            return ssh_profile.ssh_key(STRANGER).sign(data, b"ssh-ed25519")

    shown, own = ssh_profile.ssh_key(M1), ssh_profile.ssh_key(STRANGER)
    with machine.listener:
        as_client(machine, open_session, client_keys=[Liar(shown, None, None, None), own])
        machine.wait()
    assert machine.served == [(ids.machine_id(public(STRANGER)), "127.0.0.1")]


# --- strangers and crowds


def _sockets(machine: Machine, count: int) -> list[socket.socket]:
    return [socket.create_connection(("127.0.0.1", machine.port)) for _ in range(count)]


def test_idle_sockets_do_not_keep_a_machine_out_and_are_closed_in_time() -> None:
    machine = Machine(echo, login_timeout=1.0)
    with machine.listener:
        idle = _sockets(machine, 50)
        started = time.monotonic()
        with machine.dial() as channel:
            channel.send(b"x")
            assert read(channel, 1) == b"x"
        assert time.monotonic() - started < 0.9
        assert len(machine.listener._house.strangers) <= ssh_server.STRANGERS_OF_ONE
        for sock in idle:
            with sock:
                sock.settimeout(3)
                try:
                    while sock.recv(4096):
                        pass
                except ConnectionError:
                    pass


def test_a_crowd_from_many_addresses_has_so_many_places_and_no_more() -> None:
    machine = Machine(echo)
    with machine.listener:
        address = ("127.0.0.1", machine.port)
        crowd = [
            socket.create_connection(address, source_address=(f"127.0.0.{n}", 0))
            for n in (2, 3, 4, 5)
            for _ in range(12)
        ]
        with machine.dial() as channel:
            channel.send(b"x")
            assert read(channel, 1) == b"x"
            assert len(machine.listener._house.strangers) == ssh_server.STRANGERS - 1
        for sock in crowd:
            sock.close()


def test_a_machine_that_logs_in_and_asks_for_nothing_is_sent_away() -> None:
    async def idle(connection: asyncssh.SSHClientConnection) -> None:
        await connection.wait_closed()

    machine = Machine(echo, login_timeout=0.3)
    with machine.listener:
        as_client(machine, idle)


def test_one_machine_has_so_many_sessions_and_no_more() -> None:
    machine = Machine(swallow)
    with machine.listener:
        channels = [machine.dial() for _ in range(ssh_server.SESSIONS_OF_ONE)]
        with pytest.raises(UnreachableError, match="is busy"):
            machine.dial()
        channels.pop().close()
        machine.wait()
        machine.dial().close()
        for channel in channels:
            channel.close()


def test_only_so_many_keys_are_looked_up_for_one_connection(m2: Machine) -> None:
    keys = [ssh_profile.ssh_key(bytes([n]) * 32) for n in (9, 8, 7, 1)]
    with pytest.raises(asyncssh.PermissionDenied):
        as_client(m2, open_session, client_keys=keys)
    as_client(m2, open_session, client_keys=keys[1:])


def test_a_member_that_opens_sessions_and_says_nothing_gives_its_places_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ssh_server.ServerSession.first == ssh_server.FIRST
    monkeypatch.setattr(ssh_server.ServerSession, "first", 0.3)
    machine = Machine(swallow)
    with machine.listener:
        silent = [machine.dial() for _ in range(ssh_server.SESSIONS_OF_ONE)]
        for _ in silent:
            machine.wait()
        assert {str(error) for error in machine.errors} == {
            "the other machine did nothing for 0.3 s"
        }
        machine.dial().close()
        for channel in silent:
            channel.abort()


def test_a_member_that_stops_in_the_middle_of_a_message_is_cut_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ssh_server.ServerSession.patience == ssh_server.PATIENCE
    monkeypatch.setattr(ssh_server.ServerSession, "patience", 0.5)
    machine = Machine(echo)
    with machine.listener, machine.dial() as other:
        slow = machine.dial()
        slow.send(b"\0\0")  # half the length of a frame
        for _ in range(5):
            other.send(b"x")
            assert read(other, 1) == b"x"
            time.sleep(0.2)
        machine.wait()
        assert [str(error) for error in machine.errors] == [
            "the other machine did nothing for 0.5 s"
        ]
        slow.abort()


async def _rekeys(connection: asyncssh.SSHClientConnection) -> None:
    await open_session(connection)
    for _ in range(20):
        connection._send_kexinit()
        await asyncio.sleep(0.01)


async def _huge_packet(connection: asyncssh.SSHClientConnection) -> None:
    connection._send(b"\x7f\xff\xff\xf0" + bytes(64))  # the length of a packet of 2 GiB
    await connection.wait_closed()


@pytest.mark.parametrize("attack", [_rekeys, _huge_packet])
def test_a_peer_that_breaks_the_protocol_hurts_its_own_connection_only(
    attack: Callable[[asyncssh.SSHClientConnection], Awaitable[None]],
) -> None:
    machine = Machine(echo)
    with machine.listener, machine.dial() as other:
        with suppress(OSError, asyncssh.Error, TimeoutError):
            as_client(machine, attack)
        other.send(b"x")
        assert read(other, 1) == b"x"
