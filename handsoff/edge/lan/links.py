"""This machine's network interfaces, as they are now. Imports ifaddr: only the mDNS child does."""

import ctypes.util
import socket
import struct
import sys
from typing import Final

# ifaddr asks for the C library, which costs a compiler run; None is the C library of this process
ctypes.util.find_library = lambda name: None  # noqa: ARG005

import ifaddr  # noqa: E402

from handsoff.core.reach.interfaces import Interface  # noqa: E402

# see netdevice of section 7
_GET_FLAGS: Final = 0x8913
_UP, _LOOPBACK, _RUNNING, _MULTICAST = 0x1, 0x8, 0x40, 0x1000


def interfaces() -> list[Interface]:
    """Return the interfaces that have an address."""
    found = []
    for adapter in ifaddr.get_adapters():
        flags = _flags(adapter.nice_name)
        addresses = [ip.ip if isinstance(ip.ip, str) else ip.ip[0] for ip in adapter.ips]
        lengths = [ip.network_prefix for ip in adapter.ips]
        here = Interface(
            name=adapter.nice_name,
            index=adapter.index or 0,
            # running: the cable is in
            up=flags & (_UP | _RUNNING) == _UP | _RUNNING,
            loopback=bool(flags & _LOOPBACK),
            multicast=bool(flags & _MULTICAST),
            addresses=tuple(f"{a}/{n}" for a, n in zip(addresses, lengths, strict=True)),
        )
        found.append(here)
    return found


def _flags(name: str) -> int:
    if not sys.platform.startswith("linux"):
        return _UP | _RUNNING | _MULTICAST | (_LOOPBACK if name.startswith("lo") else 0)
    import fcntl  # noqa: PLC0415 - POSIX only

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            answer = fcntl.ioctl(sock, _GET_FLAGS, struct.pack("16s16x", name.encode()[:15]))
        except OSError:
            return 0  # it went away
    return int(struct.unpack_from("16xH", answer)[0])
