"""Sockets that listen, at one address or at every one of both families."""

import errno
import os
import socket
from typing import Final

_EVERYWHERE: Final = ("", "*", "::")
"""Binds that mean both families; 0.0.0.0 is every address of IPv4 alone."""

_NO_IPV6: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
"""What is said where IPv6 is switched off although Python was built with it."""

_BACKLOG: Final = 128
"""Connections that the kernel keeps: a crowd must not fill it up before the right one comes."""


def listening(bind: str, port: int) -> socket.socket:
    """Return a socket that listens on ``bind``; OSError, in the system's words, if none can."""
    try:
        return _listening(bind, port)
    except OSError as error:
        if error.errno is None or error.errno not in errno.errorcode:
            raise
        # create_server adds the address to the words, in words of its own
        raise OSError(error.errno, os.strerror(error.errno)) from error


def _listening(bind: str, port: int) -> socket.socket:
    if bind not in _EVERYWHERE:
        family, _, _, _, where = socket.getaddrinfo(
            bind, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(where, family=family, backlog=_BACKLOG)
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_BACKLOG
            )
        except OSError as error:
            if error.errno not in _NO_IPV6:
                raise
    return socket.create_server(("", port), backlog=_BACKLOG)
