"""The dialling end of SSH. Imports asyncssh: only ssh.py may import this, when it dials."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import asyncssh

from handsoff.core.ids import fingerprint, machine_id
from handsoff.core.plain import plain
from handsoff.core.reach.address import format_address
from handsoff.edge import aside
from handsoff.edge.ssh import ssh_profile
from handsoff.edge.ssh.ssh_channel import Channel
from handsoff.edge.ssh.ssh_loop import Loop
from handsoff.edge.ssh.ssh_session import Session
from handsoff.errors import HandsoffError, NotLetInError, TrustError, UnreachableError

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"

T = TypeVar("T")

_PROVED_AT_ONCE: Final = 32


class _Client(asyncssh.SSHClient):
    """Accepts one host key, and remembers which it was shown."""

    def __init__(self, expected: Callable[[bytes], bool]) -> None:
        self._expected = expected
        self.shown: asyncssh.SSHKey | None = None

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self.conn = conn

    @property
    def proved(self) -> bool:
        """Whether the other end has the private half of the key that was expected."""
        # the key is shown before its signature is checked; a cipher is chosen after that only
        return self.shown is not None and self.conn.get_extra_info("send_cipher") is not None

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        del host, addr, port  # an address proves nothing
        self.shown = key
        raw = ssh_profile.raw_public(key)
        return raw is not None and self._expected(raw)


class _ClientSession(Session, asyncssh.SSHClientSession[bytes]):
    pass


def dial(host: str, port: int, *, private_key: bytes, host_key: bytes, timeout: float) -> Channel:
    """Do what ``handsoff.edge.ssh.ssh.dial`` promises."""
    client = _Client(lambda key: key == host_key)
    loop = Loop()
    session = _ClientSession(loop)
    where = format_address(host, port)

    async def connect() -> asyncssh.SSHClientConnection:
        sock = await _first_that_answers(await _addresses(host, port), timeout)
        return await _connect(sock, client, private_key, session)

    try:
        connection = loop.call(_within(connect(), timeout))
    except (OSError, UnicodeError, asyncssh.Error) as error:
        loop.stop()
        raise _explained(error, client, fingerprint(host_key), where, timeout) from error
    except BaseException:
        loop.stop()
        raise

    def finish() -> None:
        try:
            loop.call(_hang_up(connection))
        finally:
            loop.stop()

    return Channel(session, hang_up_first=True, finish=finish)


def prove(places: Sequence[tuple[str, int, str]], *, timeout: float) -> list[HandsoffError | None]:
    """Do what ``handsoff.edge.ssh.ssh.prove`` promises."""
    loop = Loop()
    try:
        return loop.call(_prove_all(places, timeout))
    finally:
        loop.stop()


async def _prove_all(
    places: Sequence[tuple[str, int, str]], seconds: float
) -> list[HandsoffError | None]:
    room = asyncio.Semaphore(_PROVED_AT_ONCE)

    async def prove_one(host: str, port: int, machine: str) -> HandsoffError | None:
        return await _prove(host, port, machine, seconds, room)

    return await asyncio.gather(*(prove_one(*place) for place in places))


async def _prove(
    host: str, port: int, machine: str, seconds: float, room: asyncio.Semaphore
) -> HandsoffError | None:
    client, where = _Client(lambda key: machine_id(key) == machine), format_address(host, port)

    async def knock() -> None:
        async with room:  # who waits here too long is not waited for
            sock = await _first_that_answers(await _addresses(host, port), seconds)
            (await _login(sock, client, None)).abort()

    try:
        await _within(knock(), seconds)
    except Exception as error:  # noqa: BLE001 - hostile bytes raise what asyncssh does not expect
        # nothing is shown of us, so the other end says no, after it has proved who it is
        return None if client.proved else _explained(error, client, machine, where, seconds)
    return None


async def _login(
    sock: socket.socket, client: _Client, keys: list[asyncssh.SSHKey] | None
) -> asyncssh.SSHClientConnection:
    try:
        return await asyncssh.connect(
            sock=sock,
            **ssh_profile.common(),
            client_factory=lambda: client,
            # no key is known: each goes to the client, which knows the one
            known_hosts=([], [], []),
            server_host_key_algs=["ssh-ed25519"],
            username=ssh_profile.SERVICE,
            # None is none; an empty list would be those of the user's home
            client_keys=keys,
            client_certs=[],
            agent_path=None,
            agent_forwarding=False,
            pkcs11_provider=None,
            preferred_auth="publickey",
            # _within bounds the whole
            login_timeout=0,
        )
    except TypeError as error:
        try:
            sock.getpeername()
        except OSError:
            # cut before asyncssh had a look at who is there, which it does not expect
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)) from error
        raise


async def _connect(
    sock: socket.socket, client: _Client, private_key: bytes, session: _ClientSession
) -> asyncssh.SSHClientConnection:
    connection = await _login(sock, client, [ssh_profile.ssh_key(private_key)])
    try:
        await connection.create_session(
            lambda: session,
            subsystem=ssh_profile.SERVICE,
            request_pty=False,
            env=None,
            send_env=None,
        )
    except BaseException:
        connection.abort()
        raise
    return connection


async def _addresses(host: str, port: int) -> list[Any]:
    # a resolver may take half a minute to give up
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = aside.begin(look_up, "look-up")
    # shielded, or a time-out would cancel what the thread still wants to set
    return await asyncio.shield(asyncio.wrap_future(found))


async def _first_that_answers(addresses: list[Any], seconds: float) -> socket.socket:
    """Return a socket connected to one of ``addresses``, each given its share of the time."""
    failure: OSError = OSError("no address")
    for family, kind, proto, _, address in addresses:
        sock = socket.socket(family, kind, proto)
        try:
            sock.settimeout(0)  # what asyncio wants
            connecting = asyncio.get_running_loop().sock_connect(sock, address)
            await _within(connecting, seconds / len(addresses))
        except OSError as error:
            failure = error
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failure


async def _within(work: Coroutine[Any, Any, T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work


async def _hang_up(connection: asyncssh.SSHClientConnection) -> None:
    connection.abort()
    await connection.wait_closed()


def _explained(
    error: Exception, client: _Client, expected: str, where: str, timeout: float
) -> HandsoffError:
    match error:
        case asyncssh.HostKeyNotVerifiable() if client.shown is not None:
            shown = ssh_profile.fingerprint(client.shown)
            return TrustError(
                f"{where} is another machine: its key is {shown}, expected {expected}",
                hint="nothing was sent; compare the fingerprint with the person at that machine",
            )
        case asyncssh.PermissionDenied() if client.proved:
            return NotLetInError(
                f"the machine at {where} does not let this machine in",
                hint="have it admitted there: handsoff card here, handsoff admit FILE there",
            )
        case (
            asyncssh.KeyExchangeFailed()
            | asyncssh.PermissionDenied()
            | asyncssh.ProtocolError()
            | asyncssh.ProtocolNotSupported()
        ):
            return UnreachableError(
                f"what answers at {where} is not handsoff: {plain(str(error), limit=120)}",
                hint="run handsoff listen there and use the address it prints",
            )
        case asyncssh.ChannelOpenError():
            return UnreachableError(
                f"the machine at {where} is busy: {plain(str(error), limit=120)}", hint="try again"
            )
        case TimeoutError():
            reason = f"no answer within {timeout:g} s"
        case OSError() if error.strerror:
            # asyncio's own words are those of a call: "Connect call failed ('10.0.0.2', 22)"
            number = error.errno or 0
            reason = (os.strerror(number) if number > 0 else error.strerror).lower()
        case _:
            reason = plain(str(error), limit=120) or type(error).__name__
    return UnreachableError(
        f"cannot reach {where}: {reason}",
        hint="is handsoff listen running there? or go --via remote",
    )
