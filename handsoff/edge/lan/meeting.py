"""Where two machines meet that do not know each other yet: plain TCP, and frames on it.

Nothing here knows who is there or keeps anybody out for what he says: that is
core/machines/pairing.py. This file sees to what a stranger can do without saying anything:
connections that stay silent, dribble, or send too much are held in small number, for a short time,
and the oldest of them gives way to the next, so that they cost the one who is waited for nothing.
"""

import select
import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Self, TypeVar

from handsoff.core.machines.pairing import LIMIT, Pairing
from handsoff.core.machines.pairtalk import Message, No, as_error, no
from handsoff.core.reach.address import format_address
from handsoff.core.talk import frames
from handsoff.edge import clock
from handsoff.edge.lan import sockets
from handsoff.errors import DamagedError, HandsoffError, UnreachableError, UsageError, reason

CALLERS: Final = 8
"""Connections that may be silent at a time."""

PATIENCE: Final = 10.0
"""Seconds that each of them has for its first message."""

FIRST_LIMIT: Final = 1 << 10
"""Bytes of a first message."""

SEND_SECONDS: Final = 20.0

_PIECE: Final = 1 << 12
_TICK: Final = 0.5

M = TypeVar("M", bound=Message)


class Line:
    """A connection to somebody, and frames on it."""

    def __init__(self, sock: socket.socket, where: str) -> None:
        self.where = where
        self._sock = sock
        self._decoder = frames.Decoder(LIMIT)

    def send(self, body: bytes, seconds: float) -> None:
        """Send one frame."""
        try:
            self._sock.settimeout(seconds)
            self._sock.sendall(frames.encode(body))
        except OSError as error:
            raise _gone(self.where, error) from error

    def hear(self, seconds: float) -> bytes:
        """Return the next frame, which has to be there whole within ``seconds``."""
        until = clock.monotonic() + seconds
        while (body := self._decoder.next_frame()) is None:
            left = until - clock.monotonic()
            if left <= 0:
                raise UnreachableError(f"{self.where} said nothing for {seconds:.0f} s")
            try:
                self._sock.settimeout(left)
                data = self._sock.recv(_PIECE)
            except OSError as error:
                raise _gone(self.where, error) from error
            if not data:
                raise UnreachableError(f"{self.where} hung up")
            self._decoder.feed(data)
        return body

    def check_there(self) -> None:
        """Raise UnreachableError if the other end has hung up meanwhile."""
        ready, _, _ = select.select([self._sock], [], [], 0)
        try:
            if ready and not self._sock.recv(1, socket.MSG_PEEK):
                raise UnreachableError(f"{self.where} hung up")
        except OSError as error:
            raise _gone(self.where, error) from error

    def close(self) -> None:
        """Hang up."""
        self._sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def call(host: str, port: int, seconds: float) -> Line:
    """Return a connection to whoever is at ``host``; UnreachableError if nobody is."""
    where = format_address(host, port)
    try:
        sock = socket.create_connection((host, port), timeout=seconds)
    except OSError as error:
        raise UnreachableError(f"nobody answers at {where}: {reason(error)}") from error
    return Line(sock, where)


class Meeting:
    """A pairing that is held over a line."""

    def __init__(self, pairing: Pairing, line: Line) -> None:
        self.pairing = pairing
        self.line = line
        self.who = "the other machine"

    def say(self, message: Message) -> None:
        """Send ``message``, which must be due."""
        self.line.send(self.pairing.send(message), SEND_SECONDS)

    def hear(self, kind: type[M], seconds: float) -> M:
        """Return the next message, which is due and of ``kind``; raise what a No says."""
        with self._named():
            body = self.line.hear(seconds)
        message = self.pairing.receive(body)
        if isinstance(message, No):
            raise as_error(message, self.who)
        assert isinstance(message, kind), f"asked for {kind.__name__}, but another was due"
        return message

    def check_there(self) -> None:
        """Raise UnreachableError if the other end has hung up meanwhile."""
        with self._named():
            self.line.check_there()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except UnreachableError as error:
            raise UnreachableError(f"{self.who} is gone: {error}") from error

    def refuse(self, error: HandsoffError) -> None:
        """Tell the other end of ``error``, if it is our turn and it still listens."""
        if self.pairing.may_refuse:
            with suppress(HandsoffError):
                self.say(no(error))


@dataclass
class _Caller:
    sock: socket.socket
    where: str
    since: float
    decoder: frames.Decoder = field(default_factory=lambda: frames.Decoder(FIRST_LIMIT))


class Door:
    """A port at which somebody is waited for."""

    def __init__(self, bind: str, port: int) -> None:
        try:
            self._sock = sockets.listening(bind, port)
        except OSError as error:
            where = format_address(bind, port) if bind else f"port {port}"
            raise UsageError(
                f"cannot wait at {where}: {reason(error)}", hint="leave --port and --bind out"
            ) from error
        self._sock.settimeout(0)
        self.port = int(self._sock.getsockname()[1])
        self._callers: dict[socket.socket, _Caller] = {}

    def wait(
        self, heard: Callable[[bytes], None], seconds: float, odd: Callable[[str, str], None]
    ) -> Line:
        """Return the line to the first caller whose first message ``heard`` takes.

        A caller is turned away if ``heard`` raises an error, and ``odd`` is told where from and
        why. UnreachableError if nobody comes within ``seconds``.
        """
        until = clock.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._sock, selectors.EVENT_READ)
            while (now := clock.monotonic()) < until:
                for caller in [c for c in self._callers.values() if now - c.since > PATIENCE]:
                    self._drop(caller, selector)
                for key, _ in selector.select(min(_TICK, until - now)):
                    if key.fileobj is self._sock:
                        self._accept(selector)
                        continue
                    said = self._callers.get(key.data)
                    if said is None:
                        continue  # it gave way to another one in this round
                    try:
                        if self._read(said, heard):
                            del self._callers[said.sock]
                            return Line(said.sock, said.where)
                    except HandsoffError as error:
                        odd(said.where, str(error))
                        self._drop(said, selector)
        raise UnreachableError(f"nobody came within {seconds / 60:.0f} minutes")

    def close(self) -> None:
        """Let nobody in any more, and hang up on those who said nothing yet."""
        for caller in self._callers.values():
            caller.sock.close()
        self._callers.clear()
        self._sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            sock, peer = self._sock.accept()
        except OSError:
            return  # it hung up already, or this process has no more files to open
        sock.settimeout(0)
        while len(self._callers) >= CALLERS:
            self._drop(min(self._callers.values(), key=lambda c: c.since), selector)
        where = format_address(str(peer[0]).removeprefix("::ffff:"), int(peer[1]))
        self._callers[sock] = _Caller(sock, where, clock.monotonic())
        selector.register(sock, selectors.EVENT_READ, sock)

    def _read(self, caller: _Caller, heard: Callable[[bytes], None]) -> bool:
        try:
            data = caller.sock.recv(_PIECE)
        except BlockingIOError:
            return False
        except OSError as error:
            raise _gone(caller.where, error) from error
        if not data:
            raise UnreachableError("hung up")
        caller.decoder.feed(data)
        body = caller.decoder.next_frame()
        if body is None:
            return False
        if caller.decoder.waiting:
            raise DamagedError("goes on before it was answered")
        heard(body)
        return True

    def _drop(self, caller: _Caller, selector: selectors.BaseSelector) -> None:
        selector.unregister(caller.sock)
        del self._callers[caller.sock]
        caller.sock.close()


def _gone(where: str, error: OSError) -> UnreachableError:
    return UnreachableError(f"the connection to {where} broke: {reason(error)}")
