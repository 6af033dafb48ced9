"""The dialling end of SSH. Imports asyncssh: only edge/ssh.py may import this, when it dials."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import asyncssh

from handsoff.core.address import format_address
from handsoff.core.ids import fingerprint
from handsoff.core.plain import plain
from handsoff.edge import ssh_profile
from handsoff.edge.ssh_channel import Channel, Session
from handsoff.edge.ssh_loop import Loop
from handsoff.errors import HandsoffError, TrustError, UnreachableError

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"

T = TypeVar("T")


class _Client(asyncssh.SSHClient):
    """Accepts one host key, and remembers which it was shown."""

    def __init__(self, expected: bytes) -> None:
        self._expected = expected
        self.shown: asyncssh.SSHKey | None = None

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        del host, addr, port  # an address proves nothing
        self.shown = key
        return ssh_profile.raw_public(key) == self._expected


class _ClientSession(Session, asyncssh.SSHClientSession[bytes]):
    pass


def dial(host: str, port: int, *, private_key: bytes, host_key: bytes, timeout: float) -> Channel:
    """Do what ``handsoff.edge.ssh.dial`` promises."""
    client = _Client(host_key)
    loop = Loop()
    where = format_address(host, port)
    try:
        work = _connect(client, host, port, private_key, _ClientSession(loop))
        connection, session = loop.call(_within(work, timeout))
    except (OSError, UnicodeError, asyncssh.Error) as error:
        loop.stop()
        raise _explained(error, client, host_key, where, timeout) from error
    except BaseException:
        loop.stop()
        raise

    def finish() -> None:
        try:
            loop.call(_hang_up(connection))
        finally:
            loop.stop()

    return Channel(session, hang_up_first=True, finish=finish)


async def _connect(
    client: _Client, host: str, port: int, private_key: bytes, session: _ClientSession
) -> tuple[asyncssh.SSHClientConnection, _ClientSession]:
    connection = await asyncssh.connect(
        host,
        port,
        **ssh_profile.common(),
        client_factory=lambda: client,
        # no key is known: each goes to the client, which knows the one
        known_hosts=([], [], []),
        server_host_key_algs=["ssh-ed25519"],
        username=ssh_profile.SERVICE,
        client_keys=[ssh_profile.ssh_key(private_key)],
        client_certs=[],
        agent_path=None,
        agent_forwarding=False,
        pkcs11_provider=None,
        preferred_auth="publickey",
        # _within bounds the whole
        login_timeout=0,
    )
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
    return connection, session


async def _within(work: Coroutine[Any, Any, T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work


async def _hang_up(connection: asyncssh.SSHClientConnection) -> None:
    connection.abort()
    await connection.wait_closed()


def _explained(
    error: Exception, client: _Client, expected: bytes, where: str, timeout: float
) -> HandsoffError:
    match error:
        case asyncssh.HostKeyNotVerifiable() if client.shown is not None:
            shown = ssh_profile.fingerprint(client.shown)
            return TrustError(
                f"{where} is another machine: its key is {shown}, expected {fingerprint(expected)}",
                hint="nothing was sent; compare the fingerprint with the person at that machine",
            )
        case asyncssh.PermissionDenied():
            return TrustError(
                f"the machine at {where} does not let this machine in",
                hint="have it admitted there: handsoff card here, handsoff admit FILE there",
            )
        case (
            asyncssh.KeyExchangeFailed()
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
            reason = error.strerror.lower()
        case _:
            reason = plain(str(error), limit=120) or type(error).__name__
    return UnreachableError(
        f"cannot reach {where}: {reason}",
        hint="is handsoff listen running there? or go --via remote",
    )
