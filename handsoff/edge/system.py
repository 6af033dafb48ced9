"""What is asked of this computer: packages, room, modes, processes, ports, its own address."""

import os
import shutil
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Final

from handsoff.core.checkup.checkups import Lock, Mode
from handsoff.core.reach.address import ip_of, is_everywhere

_SBIN: Final = "/usr/sbin:/sbin:/usr/local/sbin"
_FIREWALLS: Final = {"ufw": "ufw", "firewalld": "firewall-cmd", "nft": "nft"}
_PROC: Final = Path("/proc")
_GET_ADDRESS: Final = 0x8915
"""SIOCGIFADDR, see netdevice(7)."""
_NOWHERE: Final = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of documentation (RFC 5737, RFC 3849): to choose a way there sends nothing."""


def packages(names: Iterable[str]) -> dict[str, str | None]:
    """Return the release of each package, None for one that is not installed."""
    found: dict[str, str | None] = {}
    for name in names:
        found[name] = None
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def free(place: Path) -> int:
    """Return how many bytes may still be written where ``place`` is, or will be."""
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def modes(folders: Iterable[Path], files: Iterable[Path]) -> list[Mode]:
    """Return who may do what with those that are there; links are not followed."""
    found = []
    for paths, folder in ((folders, True), (files, False)):
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError):
                told = path.lstat()
                own = told.st_uid == os.geteuid()
                found.append(Mode(str(path), stat.S_IMODE(told.st_mode), folder, own))
    return found


def locks(folders: Iterable[Path], now: float) -> list[Lock]:
    """Return the lock files of git in these git folders, and who has each open."""
    found: dict[Path, float] = {}
    for folder in folders:
        for path in [*folder.glob("*.lock"), *folder.glob("refs/**/*.lock")]:
            with suppress(OSError):
                found[path] = now - path.lstat().st_mtime
    opened = _opened() if found else None
    return [
        Lock(str(path), age, None if opened is None else tuple(opened.get(str(path), ())))
        for path, age in found.items()
    ]


def _opened() -> dict[str, list[int]] | None:
    """Return the processes that have a file open, by file; None where nobody can tell."""
    if not (_PROC / "self" / "fd").is_dir():
        return None
    found: dict[str, list[int]] = {}
    for process in _PROC.iterdir():
        if process.name.isdigit():
            with suppress(OSError):  # others' processes, and those that end meanwhile
                for descriptor in (process / "fd").iterdir():
                    with suppress(OSError):
                        found.setdefault(str(descriptor.readlink()), []).append(int(process.name))
    return found


def firewalls() -> tuple[str, ...]:
    """Return what keeps a firewall here, as far as its program tells."""
    path = f"{os.environ.get('PATH', os.defpath)}:{_SBIN}"
    return tuple(name for name, word in _FIREWALLS.items() if shutil.which(word, path=path))


def own_addresses() -> list[str]:
    """Return the addresses by which this machine would speak to others; nothing is sent."""
    found = []
    for there, family in _NOWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((there, 9))
            found.append(str(sock.getsockname()[0]))
    return found


def reachable(bind: str) -> str:
    """Return an address at which others may reach what is bound to ``bind``; else a name."""
    if not is_everywhere(bind):
        return bind
    found = [*own_addresses(), *_of_interfaces()]
    ip = ip_of(bind)
    if ip is not None and ip.version == 4:  # noqa: PLR2004 - of the Internet Protocol
        found = [address for address in found if ":" not in address]
    # a name leads here only where the network has a DNS that knows it
    return found[0] if found else socket.gethostname()


def _of_interfaces() -> Iterator[str]:
    """Yield the IPv4 address of each interface, for networks that lead nowhere else."""
    if not sys.platform.startswith("linux"):
        return
    import fcntl  # noqa: PLC0415 - POSIX only

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                told = fcntl.ioctl(sock, _GET_ADDRESS, struct.pack("16s24x", name.encode()[:15]))
                address = socket.inet_ntoa(told[20:24])
                if not address.startswith("127."):
                    yield address


def answers(host: str, port: int, *, timeout: float = 1.0) -> bool:
    """Say whether something takes connections there."""
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError:
        return False
    return True
