"""Addresses: where a machine listens, as people type it. Never a proof of who answers there."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, TypeAlias

from handsoff.errors import UsageError

Address: TypeAlias = IPv4Address | IPv6Address

# Ends up in a look-up only, but a name that starts with a dash never leads anywhere good.
_HOST: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
_ZONE: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
_PORT: Final = re.compile(r"[0-9]{1,5}")
LAST_PORT: Final = 0xFFFF
_HINT: Final = "write it as HOST:PORT, or [IPV6]:PORT"


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT`` or ``[IPV6]:PORT``; UsageError if it is neither."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        known = bracket and is_ipv6(host) and rest[:1] in ("", ":")
        rest = rest[1:] if rest != ":" else rest
    else:
        host, colon, rest = text.partition(":")
        known = is_host_name(host)
        rest = rest if rest or not colon else ":"
    if not known:
        raise UsageError(f"{text[:80]!r} is not an address", hint=_HINT)
    return host, parse_port(rest, text, hint=_HINT)


def parse_port(digits: str, text: str, *, hint: str) -> int:
    """Return the port that stands as ``digits`` in ``text``; UsageError with ``hint`` if none."""
    if not _PORT.fullmatch(digits) or not 0 < int(digits) <= LAST_PORT:
        raise UsageError(f"{text[:80]!r} names no port from 1 to {LAST_PORT}", hint=hint)
    return int(digits)


def format_address(host: str, port: int) -> str:
    """Return host and port as one text that ``parse_address`` reads."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_host_name(text: str) -> bool:
    """Say whether ``text`` can be the name of a host, or an IPv4 address."""
    return _HOST.fullmatch(text) is not None


def is_ipv6(text: str) -> bool:
    """Say whether ``text`` is an IPv6 address, with a zone or without."""
    number, percent, zone = text.partition("%")
    known = isinstance(ip_of(number), IPv6Address)
    return known and (not percent or _ZONE.fullmatch(zone) is not None)


def ip_of(host: str) -> Address | None:
    """Return the IP address that ``host`` is, None if it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_everywhere(host: str) -> bool:
    """Say whether a listener that is bound to ``host`` is at every address of its machine."""
    return host in ("", "*") or ((ip := ip_of(host)) is not None and ip.is_unspecified)


def is_loopback(host: str) -> bool:
    """Say whether ``host`` leads nowhere but here."""
    ip = ip_of(host)
    return ip.is_loopback if ip is not None else host == "localhost"
