"""The listening end of SSH. Imports asyncssh: only edge/ssh/ssh.py may import this, on starting.

One door: after the machine's key was accepted, one session with one subsystem; whatever else SSH
can ask for is refused. Strangers get ten seconds and at most 32 places, 16 from one address: who
comes when all are taken replaces the stranger who has waited longest, so that idle sockets do
not keep out a machine that knocks.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

import asyncssh

from handsoff.edge.ssh import ssh_profile
from handsoff.edge.ssh.ssh_loop import Loop
from handsoff.edge.ssh.ssh_session import Session

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"

STRANGERS: Final = 32
STRANGERS_OF_ONE: Final = 16
SESSIONS: Final = 64
SESSIONS_OF_ONE: Final = 8
KEYS_TRIED: Final = 3
LOGIN_TIMEOUT: Final = 10.0
FIRST: Final = 30.0
"""Seconds in which a machine that has a session must say something."""
PATIENCE: Final = 3600.0
"""Seconds in which it must go on: between two of its messages it may capture and seal a lot."""
_REFUSED_REQUESTS: Final = (
    "env",
    "pty_req",
    "x11_req",
    "auth_agent_req_at_openssh_dot_com",
    "window_change",
    "signal",
    "break",
)

# asyncssh tells its own bugs and a peer's by the same words, none of them for a user's terminal
logging.getLogger("asyncssh").setLevel(logging.CRITICAL)


@dataclass
class House:
    """What all connections of one listener share. Lives in the loop's thread."""

    loop: Loop
    authorize: Callable[[bytes], str | None]
    serve: Callable[[str, str, "ServerSession"], None]
    login_timeout: float = LOGIN_TIMEOUT
    connections: set["_Server"] = field(default_factory=set)
    strangers: list["_Server"] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    """The machine of each session that runs."""

    def enter(self, server: "_Server") -> None:
        self.connections.add(server)
        same = [s for s in self.strangers if s.block == server.block]
        if len(same) >= STRANGERS_OF_ONE:
            self._make_room(same, server)
        elif len(self.strangers) >= STRANGERS:
            self._make_room(self.strangers, server)
        self.strangers.append(server)

    def know(self, server: "_Server") -> None:
        """Take ``server`` off the list of strangers."""
        if server in self.strangers:
            self.strangers.remove(server)

    def leave(self, server: "_Server") -> None:
        self.connections.discard(server)
        self.know(server)

    def has_room_for(self, machine: str) -> bool:
        return len(self.sessions) < SESSIONS and self.sessions.count(machine) < SESSIONS_OF_ONE

    def _make_room(self, among: list["_Server"], newest: "_Server") -> None:
        # one whose key is being looked up is about to be known, or gone
        longest = next((s for s in among if not s.asking), newest)
        self.know(longest)
        longest.hang_up()


class _Server(asyncssh.SSHServer):
    """One connection: a stranger until its key is accepted."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._answers: dict[bytes, str | None] = {}
        self._claimed: str | None = None
        self._in_session = False
        self.machine: str | None = None
        self.asking = False
        self.peer = self.block = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.conn = conn
        name = conn.get_extra_info("peername")
        self.peer, self.block = _place(name[0] if name else "")
        self._house.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._house.leave(self)

    def begin_auth(self, username: str) -> bool:
        del username
        return True  # False would let anybody in

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        del username
        self._claimed = None
        raw = ssh_profile.raw_public(key)
        if raw is None:
            return False
        if raw not in self._answers:
            if len(self._answers) >= KEYS_TRIED:
                return False
            self._answers[raw] = await self._ask(raw)
        # asyncssh checks the signature next, with no other packet in between
        self._claimed = self._answers[raw]
        return self._claimed is not None

    def auth_completed(self) -> None:
        self.machine = self._claimed
        self._house.know(self)
        asyncio.get_running_loop().call_later(self._house.login_timeout, self._no_session)

    def session_requested(self) -> Any:
        if self.machine is None or self._in_session or not self._house.has_room_for(self.machine):
            return False
        self._in_session = True
        chan = self.conn.create_server_channel(
            None, "strict", ssh_profile.WINDOW, ssh_profile.PACKET
        )
        for request in _REFUSED_REQUESTS:
            setattr(chan, f"_process_{request}_request", _refused)
        return chan, ServerSession(self._house, self, self.machine)

    def hang_up(self) -> None:
        asyncio.get_running_loop().call_soon(self.conn.abort)

    def _no_session(self) -> None:
        if not self._in_session:
            self.hang_up()

    async def _ask(self, raw: bytes) -> str | None:
        self.asking = True
        try:
            return await asyncio.to_thread(self._house.authorize, raw)
        finally:
            self.asking = False


class ServerSession(Session, asyncssh.SSHServerSession[bytes]):
    """The one session of a connection; its work starts when the subsystem was asked for."""

    first = FIRST
    patience = PATIENCE

    def __init__(self, house: House, server: _Server, machine: str) -> None:
        super().__init__(house.loop)
        self._house = house
        self._server = server
        self._machine = machine
        house.sessions.append(machine)

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == ssh_profile.SERVICE

    def session_started(self) -> None:
        self._house.serve(self._machine, self._server.peer, self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._house.sessions.remove(self._machine)
        super().connection_lost(exc)
        self._server.hang_up()

    async def hang_up(self) -> None:
        """Close the whole connection, at once."""
        self._server.conn.abort()
        await self._server.conn.wait_closed()


async def open_door(house: House, sock: socket.socket, private_key: bytes) -> asyncssh.SSHAcceptor:
    """Accept connections on ``sock`` from now on."""
    return await asyncssh.listen(
        sock=sock,
        **ssh_profile.common(),
        server_factory=lambda: _Server(house),
        server_host_keys=[ssh_profile.ssh_key(private_key)],
        authorized_client_keys=None,
        login_timeout=house.login_timeout,
        allow_pty=False,
        line_editor=False,
        x11_forwarding=False,
        agent_forwarding=False,
        sftp_factory=None,
        allow_scp=False,
    )


async def shut_door(acceptor: asyncssh.SSHAcceptor) -> None:
    """Let nobody in from now on."""
    acceptor.close()


async def clear_house(house: House, acceptor: asyncssh.SSHAcceptor) -> None:
    """Hang up on everybody."""
    for server in list(house.connections):
        server.conn.abort()
    waits: list[Coroutine[Any, Any, None]] = [s.conn.wait_closed() for s in house.connections]
    await asyncio.gather(*waits)
    await acceptor.wait_closed()


def _refused(packet: Any) -> bool:
    del packet
    return False


def _place(address: str) -> tuple[str, str]:
    """Return an address as people write it, and the block that counts as one peer."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address, address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            # one household has a whole /64
            return address, str(ipaddress.ip_network((ip, 64), strict=False))
        ip = ip.ipv4_mapped
    return str(ip), str(ip)
