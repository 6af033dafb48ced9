"""Finding a machine: what is known of its address is tried, and only its key counts.

    --at, alone; else the last known address, and soon after it whatever mDNS says

Anybody on the network can answer mDNS in a machine's name. Whoever answers with another key gets a
TCP connection and a key exchange, is passed by, and is named if the machine itself is not found.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.checkup import earshot
from handsoff.core.machines.roster import Member
from handsoff.core.reach import interfaces
from handsoff.core.reach.address import format_address, parse_address
from handsoff.core.reach.discovery import MACHINES, Found
from handsoff.edge import clock
from handsoff.edge.home import Home
from handsoff.edge.keys import Machine
from handsoff.edge.lan import mdns
from handsoff.edge.ssh import ssh
from handsoff.edge.ssh.ssh import Channel
from handsoff.errors import HandsoffError, NotLetInError, TrustError, UnreachableError

LOOK: Final = 1.2
"""Seconds that mDNS is given where another way is left."""
LONG_LOOK: Final = 2.5

_HEAD_START: Final = 0.5
"""Seconds that the last known address has for itself; a handshake near by takes a tenth of that."""
_NEXT: Final = 0.3
"""Seconds after which the next address is tried as well."""
_ANSWER: Final = 5.0
"""Seconds that an address which nobody typed has for its handshake."""
_AT_ONCE: Final = 8


@dataclass(frozen=True)
class _Ended:
    """That the look at mDNS is over, and why nothing could be found if so."""

    trouble: str


@dataclass(frozen=True)
class _Reached:
    address: str
    channel: Channel


@dataclass(frozen=True)
class _Missed:
    address: str
    error: Exception


@dataclass
class Search:
    """The addresses of one machine, tried until one proves to be that machine."""

    machine: Machine
    member: Member
    given_up: threading.Event
    _events: "queue.Queue[Found | _Ended | _Reached | _Missed]" = field(default_factory=queue.Queue)
    _waiting: list[str] = field(default_factory=list)
    _tried: set[str] = field(default_factory=set)
    _running: int = 0
    _looking: bool = False
    _trouble: str = ""
    _failed: dict[str, Exception] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)
    _ending: threading.Lock = field(default_factory=threading.Lock)

    def run(self, last: str | None, look: float) -> tuple[Channel, str]:
        """Return a channel to the machine and the address at which it is."""
        begin = clock.monotonic()
        if last is not None:
            self._waiting.append(last)
        looked, started = mdns.is_off(), begin - _NEXT
        try:
            while True:
                now = clock.monotonic()
                idle = not self._running and not self._waiting
                if not looked and (idle or now >= begin + _HEAD_START):
                    looked = self._looking = True
                    threading.Thread(target=self._look, args=(look,), daemon=True).start()
                if self._may_start(now - started):
                    self._start(self._waiting.pop(0))
                    started = clock.monotonic()
                    continue
                if self.given_up.is_set():
                    raise UnreachableError(f"{self.member.name} is looked for no longer")
                over = looked and not (self._running or self._waiting or self._looking)
                if over or now > begin + look + _ANSWER:
                    raise self._nobody()
                if (channel := self._hear()) is not None:
                    return channel
        finally:
            self._stop()

    def _may_start(self, since: float) -> bool:
        if not self._waiting or self._running >= _AT_ONCE:
            return False
        return self._running == 0 or since >= _NEXT

    def _hear(self) -> tuple[Channel, str] | None:
        try:
            event = self._events.get(timeout=_NEXT / 3)
        except queue.Empty:
            return None
        match event:
            case _Reached(address, channel):
                return channel, address
            case _Missed(address, error):
                self._running -= 1
                if isinstance(error, NotLetInError):
                    raise error  # it is the machine, by its key, and does not let us in
                self._failed[address] = error
            case _Ended(trouble):
                self._looking, self._trouble = False, trouble
            case Found() as found:
                for host in found.addresses:
                    address = format_address(host, found.port)
                    if address not in self._tried and address not in self._waiting:
                        self._waiting.append(address)
        return None

    def _start(self, address: str) -> None:
        ssh.preload()  # or the next address would be tried while this one only loads
        self._tried.add(address)
        self._running += 1
        threading.Thread(target=self._try, args=(address,), daemon=True).start()

    def _try(self, address: str) -> None:
        event: _Reached | _Missed
        try:
            channel = connect(self.machine, self.member, address, timeout=_ANSWER)
            event = _Reached(address, channel)
        except Exception as error:  # noqa: BLE001 - whatever a liar says, the next one is tried
            event = _Missed(address, error)
        with self._ending:
            if not self._over.is_set():
                self._events.put(event)
                return
        if isinstance(event, _Reached):
            event.channel.close()  # another address was faster

    def _look(self, seconds: float) -> None:
        why: list[str] = []
        try:
            for found in mdns.browse(
                MACHINES, seconds=seconds, wanted=self.member.id, trouble=why.append,
                enough=self._over.is_set,
            ):  # fmt: skip
                self._events.put(found)
        finally:
            self._events.put(_Ended(why[0] if why else ""))

    def _stop(self) -> None:
        with self._ending:
            self._over.set()
        with suppress(queue.Empty):
            while True:
                event = self._events.get_nowait()
                if isinstance(event, _Reached):
                    event.channel.close()

    def _nobody(self) -> HandsoffError:
        others = [a for a, error in self._failed.items() if isinstance(error, TrustError)]
        silent = [a for a in self._failed if a not in others]
        said, hint = earshot.not_found(
            self.member.name, others=others, silent=silent,
            looked=not mdns.is_off(), trouble=self._trouble,
        )  # fmt: skip
        return UnreachableError(said, hint=hint)


def dial(
    home: Home,
    machine: Machine,
    member: Member,
    at: str | None = None,
    *,
    look: float = LOOK,
    given_up: threading.Event | None = None,
) -> tuple[Channel, str]:
    """Return a channel to ``member``, and the address where it is; that is remembered.

    ``at`` is what the person typed: nothing else is tried then. UnreachableError where it is not
    found, or was given up meanwhile; TrustError where what was typed leads to another machine, or
    it does not let us in.
    """
    last = home.address_of(member.id)
    if at is not None:
        channel, address = connect(machine, member, at), format_address(*parse_address(at))
    elif last is None and mdns.is_off():
        raise UnreachableError(
            f"no address of {member.name} is known",
            hint=f"handsoff send {member.name} --at HOST:PORT",
        )
    else:
        search = Search(machine, member, given_up or threading.Event())
        channel, address = search.run(last, look)
    home.remember_address(member.id, address, int(clock.now().timestamp()))
    return channel, address


def foresee(home: Home, member: Member) -> str | None:
    """Return where ``dial`` would try first, connecting to nobody; None if nowhere."""
    if (last := home.address_of(member.id)) is not None:
        return last
    for found in mdns.browse(MACHINES, seconds=LOOK, wanted=member.id):
        return format_address(found.addresses[0], found.port)
    return None


def connect(machine: Machine, member: Member, address: str, *, timeout: float = 10.0) -> Channel:
    """Connect to ``member`` at one address."""
    host, port = parse_address(address)
    key = member.card.sign_key
    return ssh.dial(host, port, private_key=machine.seed, host_key=key, timeout=timeout)


def announced(
    machine: str, host: str, port: int, *, tell: Callable[[str], None], wanted: bool
) -> AbstractContextManager[object]:
    """Announce a listener while the block runs, if it is wanted and others can reach it."""
    if not wanted or mdns.is_off() or not interfaces.is_announced(host):
        return nullcontext()
    return mdns.Announcement(MACHINES, machine, port, bind=host, tell=tell)
