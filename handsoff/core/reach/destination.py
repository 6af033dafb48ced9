"""Destinations of OpenSSH: ``user@host`` as people type it, and the words that each end gets.

Rule of the room: nothing that ssh could take for an option, or a shell on either end for more than
one word, gets past here (CVE-2017-1000117: a host that starts with a dash; CVE-2023-51385: names
that a ProxyCommand hands to a shell). What is left is tamer than what ssh(1) takes.
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from handsoff.core.reach.address import format_address, is_host_name, is_ipv6, parse_port
from handsoff.errors import UsageError

PROGRAM: Final = "handsoff"
NOBODY: Final = "handsoff-asks-for-no-such-host"
"""A name that no configuration has: what ssh would do for it, it does for every unknown name."""

_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}")
_SCHEME: Final = "ssh://"
_HINT: Final = "write USER@HOST, ssh://USER@HOST:PORT, or an alias of your ~/.ssh/config"

_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")
_HOME: Final = re.compile(r"~(?:[A-Za-z_][A-Za-z0-9._-]*)?/")
_COMMAND_LIMIT: Final = 1000


@dataclass(frozen=True, slots=True)
class Destination:
    """Where ssh is to go: a host or an alias, and what the person said beside it."""

    host: str
    user: str = ""
    port: int | None = None

    @property
    def text(self) -> str:
        """The text that ``parse_destination`` reads."""
        name = f"{self.user}@{self.host}" if self.user else self.host
        if self.port is None:
            return name
        user = f"{self.user}@" if self.user else ""
        return f"{_SCHEME}{user}{format_address(self.host, self.port)}"

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of ssh that lead there."""
        port = () if self.port is None else ("-p", str(self.port))
        return (*port, "--", f"{self.user}@{self.host}" if self.user else self.host)


def parse_destination(text: str) -> Destination:
    """Return what ``[USER@]HOST`` or ``ssh://[USER@]HOST[:PORT]`` means; UsageError if nothing."""
    rest, port = text, ""
    if text.startswith(_SCHEME):
        rest, port = _port_of(text.removeprefix(_SCHEME).removesuffix("/"))
    user, at, host = rest.rpartition("@")
    fits = (is_host_name(host) or is_ipv6(host)) and (not at or _USER.fullmatch(user))
    if not fits:
        raise UsageError(f"{text[:80]!r} is no destination of ssh", hint=_HINT)
    return Destination(host, user, parse_port(port, text, hint=_HINT) if port else None)


def is_destination(text: str) -> bool:
    """Say whether ``text`` can only be meant for ssh: names and addresses have none of these."""
    return "@" in text or text.startswith(_SCHEME)


def is_known(name: str, shown: Iterable[str], otherwise: Iterable[str]) -> bool:
    """Say whether the user's configuration of ssh says anything of ``name``.

    ``shown`` is what ``ssh -G`` prints for it, ``otherwise`` what it prints for ``NOBODY``.
    """
    return {_spoken(line, name) for line in shown} != {_spoken(line, NOBODY) for line in otherwise}


def remote_words(command: str = PROGRAM) -> str:
    """Return the line that the shell there gets, with ``command`` as one word of it.

    A ``~/`` or ``~user/`` in front stays open, so that the shell there fills it in.
    """
    if _CONTROL.search(command) or not command.strip() or len(command) > _COMMAND_LIMIT:
        raise UsageError(f"{command[:80]!r} is no command", hint="name one program, or its path")
    if command.startswith("-"):
        raise UsageError(f"{command[:80]!r} starts with a dash", hint="name one program, or a path")
    home = _HOME.match(command)
    start = home[0] if home else ""
    return f"{start}{shlex.quote(command[len(start) :])} receive --stdio"


def _port_of(text: str) -> tuple[str, str]:
    """Return what stands before the port of a ``ssh://``, without brackets, and the port."""
    bracketed = re.fullmatch(r"(.*@)?\[([^\[\]]*)\](?::(.*))?", text)
    if bracketed:
        return (bracketed[1] or "") + bracketed[2], bracketed[3] or ""
    before, colon, port = text.rpartition(":")
    if ":" in before:
        return "", ""  # the end of an IPv6 address, or a port: nobody can tell
    return (before, port) if colon else (text, "")


def _spoken(line: str, name: str) -> tuple[str, ...]:
    """Return the words of a line of ``ssh -G``, whatever host was asked for."""
    return tuple("" if word == name else word for word in line.split())
