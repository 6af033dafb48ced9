"""The sockets of the mDNS process, which go where the network goes. Imports zeroconf."""

import errno
import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from zeroconf import Error, IPVersion, Zeroconf
from zeroconf.asyncio import AsyncZeroconf

from handsoff.core.reach import interfaces
from handsoff.core.reach.interfaces import Interface
from handsoff.edge.lan import links


def tell(**said: Any) -> None:
    """Tell the parent something."""
    print(json.dumps(said), flush=True)  # noqa: T201 - it is what the pipe is for


class Sockets:
    """The sockets of this process, on the interfaces that are fit for it."""

    def __init__(self) -> None:
        self.interfaces: list[Interface] | None = None
        self._aio: AsyncZeroconf | None = None
        self._troubled = ""

    async def follow(self) -> bool:
        """Look at the interfaces, and open or change the sockets; say whether they changed."""
        here = links.interfaces()
        # containers come and go all day
        if self.interfaces is not None and interfaces.fit(here) == interfaces.fit(self.interfaces):
            return False
        tell(here=[interface.as_dict() for interface in here])
        chosen = interfaces.listened_on(here)
        try:
            if self._aio is None and chosen:
                self._aio = AsyncZeroconf(interfaces=chosen, ip_version=_versions(chosen))
                await self._aio.zeroconf.async_wait_for_start()
            elif self._aio is not None and chosen:  # with none left, the old ones do no harm
                await self._aio.zeroconf.async_update_interfaces(chosen, _versions(chosen))
        except (OSError, RuntimeError, Error) as error:  # also of one that went away meanwhile
            self._trouble(error)
            return False
        self.interfaces, self._troubled = here, ""
        self._stay_near()
        return True

    def _stay_near(self) -> None:
        """Let no answer to a single asker cross a router: who asks from far away gets none."""
        if self._aio is None:
            return
        engine = self._aio.zeroconf.engine
        for wrapped in (*engine.readers, *engine.senders):
            sock = wrapped.transport.get_extra_info("socket")
            with suppress(OSError):
                if sock.family == socket.AF_INET6:
                    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 1)
            with suppress(OSError):  # of a socket for both, it counts for IPv4
                sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)

    @property
    def zeroconf(self) -> Zeroconf | None:
        """What speaks through them, once there are any."""
        return self._aio.zeroconf if self._aio is not None else None

    async def close(self) -> None:
        """Say goodbye, and close."""
        if self._aio is not None:
            await self._aio.async_unregister_all_services()
            await self._aio.async_close()

    def _trouble(self, error: Exception) -> None:
        said = str(error).lower()
        if isinstance(error, OSError):
            said = (error.strerror or said).lower()
            if error.errno == errno.EADDRINUSE:
                said = "another program keeps UDP port 5353 to itself"
        if said != self._troubled:
            tell(trouble=said)
        self._troubled = said


def _versions(chosen: Sequence[str | int]) -> IPVersion:
    sixth = {isinstance(address, int) or ":" in address for address in chosen}
    if sixth == {True, False}:
        return IPVersion.All
    return IPVersion.V6Only if True in sixth else IPVersion.V4Only
