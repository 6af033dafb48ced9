"""Addresses: where a machine listens, as people type it. Never a proof of who answers there."""

import ipaddress
import re
from typing import Final

from handsoff.errors import UsageError

# Ends up in a look-up only, but a name that starts with a dash never leads anywhere good.
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})")
_ZONE: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
_PORT: Final = re.compile(r"[0-9]{1,5}")
_LAST_PORT: Final = 0xFFFF
_HINT: Final = "write it as HOST:PORT, or [IPV6]:PORT"


def parse_address(text: str, *, port: int | None = None) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT`` or ``[IPV6]:PORT``.

    ``port`` stands in where the text has none; without it, a port must be there.
    """
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        known = bracket and is_ipv6(host) and rest[:1] in ("", ":")
        rest = rest[1:] if rest != ":" else rest
    else:
        host, colon, rest = text.partition(":")
        known = _HOST.fullmatch(host) is not None
        rest = rest if rest or not colon else ":"
    if not known:
        raise UsageError(f"{text[:80]!r} is not an address", hint=_HINT)
    if not rest and port is not None:
        return host, port
    if not _PORT.fullmatch(rest) or not 0 < int(rest) <= _LAST_PORT:
        raise UsageError(f"{text[:80]!r} names no port from 1 to 65535", hint=_HINT)
    return host, int(rest)


def format_address(host: str, port: int) -> str:
    """Return host and port as one text that ``parse_address`` reads."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_ipv6(text: str) -> bool:
    """Say whether ``text`` is an IPv6 address, with a zone or without."""
    number, percent, zone = text.partition("%")
    try:
        ipaddress.IPv6Address(number)
    except ValueError:
        return False
    return not percent or _ZONE.fullmatch(zone) is not None
