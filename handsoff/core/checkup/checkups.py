"""What a check-up of one machine finds: its programs, keys, clock, disk, listener, locks.

Rule of the room: as in core/checkup/health.py, facts come in and findings go out. What handsoff
can do without is a note at most; a problem is what makes a verb fail or a promise empty.
"""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from handsoff.core.checkup.health import Finding, note, ok, problem
from handsoff.core.plain import plain
from handsoff.core.reach.address import is_loopback, parse_address
from handsoff.core.sizes import spell_size
from handsoff.core.times import spell_length

WANTED: Final = {
    "asyncssh": "2.24",
    "cryptography": "44",
    "ifaddr": "0.2",
    "isal": "1.7",
    "kingfisher-secret-scanner": "1.5",
    "platformdirs": "4",
    "pygit2": "1.18",
    "pyrage": "1.4",
    "spake2": "0.9",
    "typer": "0.29",
    "wcwidth": "0.6",
    "zeroconf": "0.150",
}
"""The lowest release of each package that pyproject.toml asks for."""

LEAST_PYTHON: Final = (3, 11)
OLD_LOCK: Final = 600
"""Seconds after which a lock that no process has open is nobody's any more."""

_SHOWN: Final = 5
_FIRST_YEAR, _LAST_YEAR = 2025, 2100
_LEAP: Final = timedelta(seconds=5)
_LITTLE, _FEW = 100 << 20, 1 << 30


# --- programs


def of_packages(there: Mapping[str, str | None]) -> list[Finding]:
    """Return what is to be said of the packages that handsoff needs; None is one that lacks."""
    old = {
        name: version
        for name, version in there.items()
        if version is None or _release(version) < _release(WANTED[name])
    }
    if not old:
        shown = ", ".join(f"{name} {there[name]}" for name in ("asyncssh", "cryptography"))
        return [ok("versions", f"{shown} and {len(there) - 2} more packages are new enough")]
    return [
        problem(
            "versions",
            f"{name} {version or 'is missing'}{' is too old' if version else ''}",
            f"in handsoff's environment: pip install --upgrade '{name}>={WANTED[name]}'",
        )
        for name, version in sorted(old.items())
    ]


def of_python(version: Sequence[int], handsoff: str) -> Finding:
    """Return what is to be said of this Python and this handsoff."""
    shown = ".".join(map(str, version[:3]))
    if tuple(version[:2]) < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        return problem("versions", f"python {shown} is too old", f"install python {least} or later")
    return ok("versions", f"handsoff {handsoff}, python {shown}")


def of_ssh(version: str | None, command: str) -> Finding:
    """Return what is to be said of the ssh client; ``version`` is what it calls itself."""
    if version is None:
        said = f"there is no {command} here, so nothing goes by ssh; all other routes do without it"
        return note("ssh", said, "install openssh-client, or: git config handsoff.ssh PATH")
    return ok("ssh", f"{plain(version, limit=80)} for the route by ssh")


def of_scanner(engine: str, *, complete: bool, compiled: bool) -> Finding:
    """Return what is to be said of what looks for secrets."""
    if not complete:
        said = f"secrets are looked for with {plain(engine, limit=200)}"
        return note("scanner", said, "pip install kingfisher-secret-scanner")
    if not compiled:
        said = f"{engine} has not compiled its rules: the next hand-over takes 4 s longer"
        return note("scanner", said, "handsoff init, in a clone, does it now")
    return ok("scanner", f"{engine}, its rules compiled")


# --- what is ours on the disk


@dataclass(frozen=True, slots=True)
class Mode:
    """A file or folder of ours: its permission bits, and whether it is this user's."""

    path: str
    mode: int
    folder: bool
    own: bool = True


def of_modes(found: Sequence[Mode]) -> list[Finding]:
    """Return what is to be said of who can read our files; each must be its owner's alone."""
    wrong = []
    for item in found:
        where = shlex.quote(item.path)
        if not item.own:
            do = f"find out who put it there; then: chown $(id -u) {where}"
            wrong.append(problem("keys", f"{item.path} belongs to another user", do))
        elif item.mode & 0o077:
            what = "look into" if item.folder else "read"
            said = f"others can {what} {item.path} (mode {item.mode:04o})"
            do = f"chmod {'700' if item.folder else '600'} {where}"
            more = "" if item.folder else "; if it may have been read: handsoff roster rotate"
            wrong.append(problem("keys", said, do + more))
    return wrong


def of_room(place: str, free: int) -> Finding:
    """Return what is to be said of the room on the disk of ``place``."""
    said = f"{spell_size(free)} are free at {place}"
    do = "make room: a parcel that arrives is there three times for a moment"
    if free < _LITTLE:
        return problem("disk", said, do)
    return note("disk", said, do) if free < _FEW else ok("disk", said)


def of_parts(sizes: Sequence[int], oldest: float) -> list[Finding]:
    """Return what is to be said of parcels that did not arrive whole; ``oldest`` is in seconds."""
    if not sizes:
        return []
    noun = "transfer that was cut rests" if len(sizes) == 1 else "transfers that were cut rest"
    age = spell_length(timedelta(seconds=oldest))
    said = f"{len(sizes)} {noun} in incoming/, {spell_size(sum(sizes))}, for {age}"
    return [note("leftovers", said, "nothing: the same send goes on from there")]


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file of git: where, how old in seconds, and who has it open (None: cannot tell)."""

    path: str
    age: float
    holders: tuple[int, ...] | None


def of_locks(found: Collection[Lock]) -> list[Finding]:
    """Return what is to be said of locks of git; none is ever removed by us."""
    findings = []
    for lock in sorted(found, key=lambda item: item.path)[:_SHOWN]:
        if lock.holders:
            who = ", ".join(map(str, lock.holders))
            said = f"{lock.path} is held by process {who}"
            findings.append(note("locks", said, f"wait for it: ps -p {who}"))
        elif lock.age > OLD_LOCK:
            unsure = "" if lock.holders is not None else ", and whether one has cannot be told here"
            age = spell_length(timedelta(seconds=lock.age))
            said = f"{lock.path} is {age} old, and no process has it open{unsure}"
            do = f"if no git is at work there: rm {shlex.quote(lock.path)}"
            findings.append(problem("locks", said, do))
    if len(found) > _SHOWN:
        findings.append(note("locks", f"and {len(found) - _SHOWN} more lock files"))
    return findings or [ok("locks", "no lock of git stands in the way")]


# --- the clock


def of_time(now: datetime, wall: timedelta, mono: timedelta) -> Finding:
    """Return what is to be said of the clock here.

    ``wall`` and ``mono`` are how long the check-up took by it, and by one that only goes on.
    """
    if not _FIRST_YEAR <= now.year < _LAST_YEAR:
        said = f"this clock says {now:%Y-%m-%d}: what is signed here would be dated so"
        return problem("clock", said, "set it: timedatectl set-ntp true")
    if abs(wall - mono) > _LEAP:
        said = f"this clock moved by {(wall - mono).total_seconds():+.0f} s while it was looked at"
        return note("clock", said, "something sets it by leaps: timedatectl timesync-status")
    return ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


# --- the listener


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The listener of this machine, as it was found."""

    address: str
    pid: int
    alive: bool
    trouble: str = ""
    """Why it did not prove to be this machine, "" if it did."""
    refused: tuple[str, ...] = ()
    """Own addresses, beside loopback, at which nobody answers at its port."""
    firewalls: tuple[str, ...] = ()
    """Programs here that keep a firewall."""


def of_listener(found: Listening | None) -> list[Finding]:
    """Return what is to be said of the listener."""
    topic, start = "listener", "handsoff listen"
    if found is None:
        said = "handsoff listen does not run here: others reach this machine by the remote or ssh"
        return [note(topic, said, start)]
    if not found.alive:
        said = f"the listener at {plain(found.address)} (process {found.pid}) has died"
        return [note(topic, said, start)]
    if found.trouble:
        said = f"the listener at {plain(found.address)} does not prove to be this machine"
        return [problem(topic, f"{said}: {plain(found.trouble)}", f"kill {found.pid}; {start}")]
    told = [ok(topic, f"it answers at {plain(found.address)} with this machine's key")]
    host, port = parse_address(found.address)
    if is_loopback(host):
        told.append(note(topic, "only this machine reaches it", f"{start} without --bind"))
    elif found.refused:
        said = f"nobody answers at port {port} of {', '.join(found.refused)}: a firewall, or --bind"
        told.append(problem("firewall", said, _opened(found.firewalls, port)))
    elif found.firewalls:
        said = f"{', '.join(found.firewalls)} may keep others from port {port}; not seen from here"
        told.append(note("firewall", said, _opened(found.firewalls, port)))
    return told


def _opened(firewalls: Collection[str], port: int) -> str:
    """Return the line that opens a port (ufw(8), firewall-cmd(1), nft(8))."""
    if "ufw" in firewalls:
        return f"ufw allow {port}/tcp"
    if "firewalld" in firewalls:
        return f"firewall-cmd --permanent --add-port={port}/tcp && firewall-cmd --reload"
    if "nft" in firewalls:
        return f"nft list ruleset; where input is dropped: tcp dport {port} accept"
    return "handsoff listen, without --bind"


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", version)[0])))
