"""A machine that listens on loopback, and a client of SSH that is not ours."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handsoff.core import ids
from handsoff.edge.ssh import ssh_profile
from handsoff.edge.ssh.ssh import Channel, Listener, dial

M1, M2, STRANGER = (bytes([n]) * 32 for n in (1, 2, 3))
MB = 1 << 20


def public(seed: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def authorize(key: bytes) -> str | None:
    return ids.machine_id(key) if key == public(M1) else None


def poison_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Whatever SSH takes from its user's own files makes the test fail."""
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text("Host *\n  ProxyCommand touch %d/ran\n  Port 1\n")
    (home / ".ssh" / "known_hosts").write_text("* ssh-ed25519 AAAA\n")
    (home / ".ssh" / "id_ed25519").write_text("not a key")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(home / "agent"))


class Machine:
    """m2, listening; what it did and how it failed."""

    def __init__(
        self,
        serve: Callable[[Channel], None],
        *,
        bind: str = "127.0.0.1",
        authorize: Callable[[bytes], str | None] = authorize,
        login_timeout: float = 10.0,
    ) -> None:
        self._serve = serve
        self.served: list[tuple[str, str]] = []
        self.errors: list[Exception] = []
        self.ended = threading.Semaphore(0)
        self.listener = Listener(
            bind,
            0,
            private_key=M2,
            authorize=authorize,
            serve=self._work,
            login_timeout=login_timeout,
        )
        self.host, self.port = self.listener.start()

    def dial(self, seed: bytes = M1, port: int = 0, **options: Any) -> Channel:
        options = {"host_key": public(M2)} | options
        return dial("127.0.0.1", port or self.port, private_key=seed, **options)

    def wait(self) -> None:
        assert self.ended.acquire(timeout=10), "the listener's end did not finish"

    def _work(self, machine: str, peer: str, channel: Channel) -> None:
        self.served.append((machine, peer))
        try:
            self._serve(channel)
        except Exception as error:
            self.errors.append(error)
            raise
        finally:
            self.ended.release()


def echo(channel: Channel) -> None:
    while data := channel.recv():
        channel.send(data)


def swallow(channel: Channel) -> None:
    while channel.recv():
        pass


def read(channel: Channel, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        assert piece, "ended early"
        data += piece
    return data


def as_client(
    machine: Machine,
    work: Callable[[asyncssh.SSHClientConnection], Awaitable[None]],
    **options: Any,
) -> None:
    async def run() -> None:
        chosen = {
            "config": None,
            "known_hosts": None,
            "agent_path": None,
            "username": "handsoff",
            "client_keys": [ssh_profile.ssh_key(M1)],
            "encryption_algs": ["aes128-gcm@openssh.com"],
            "x509_trusted_certs": None,
        } | options
        async with asyncssh.connect("127.0.0.1", machine.port, **chosen) as connection:
            await asyncio.wait_for(work(connection), 5)

    asyncio.run(run())


async def open_session(connection: asyncssh.SSHClientConnection) -> None:
    await connection.create_session(
        asyncssh.SSHClientSession, subsystem="handsoff", request_pty=False
    )
