"""A proxy between two machines: it counts what passes, and is slow, stalls or cuts as told.

    with Proxy("127.0.0.1:7022", Line(up=5000), Line(rate=100_000)) as proxy: ...

Each connection gets the next ``Line``, the last one for ever after. Standard library alone, since
the lab uses it too.
"""

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from typing import Self

_PIECE = 1 << 16
_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Line:
    """How one connection is served: it ends after so many bytes ``up`` or ``down``.

    It ends by a cut, or ``stalls``: then it stays open, and nothing passes any more. ``rate`` is
    bytes a second, each way.
    """

    up: int | None = None
    down: int | None = None
    stalls: bool = False
    rate: int | None = None


@dataclass
class Passed:
    """What passed on one connection, and after which counts a piece ended, each way."""

    up: int = 0
    down: int = 0
    stalled: bool = False
    ups: list[int] = field(default_factory=list)
    downs: list[int] = field(default_factory=list)


class Proxy:
    """A listener on a free loopback port that passes on to ``target``, which may move."""

    def __init__(self, target: str, *lines: Line) -> None:
        self.target = target
        self.lines = [*lines] or [Line()]
        self.passed: list[Passed] = []
        self._open: list[socket.socket] = []
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._listener.getsockname())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def up(self) -> int:
        """How many bytes came from those who dialled, on all connections."""
        return sum(one.up for one in self.passed)

    @property
    def down(self) -> int:
        """How many went to them."""
        return sum(one.down for one in self.passed)

    def cut(self) -> None:
        """Cut all connections that are open."""
        for end in self._open:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        """Listen no more, and cut what is open."""
        # a blocked accept keeps the port: waking it ends it
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._closing.set()
        self.cut()
        self._thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
            threading.Thread(target=self._serve, args=(near, line), daemon=True).start()

    def _serve(self, near: socket.socket, line: Line) -> None:
        count = Passed()
        self.passed.append(count)
        host, _, port = self.target.rpartition(":")
        try:
            far = socket.create_connection((host, int(port)), 5)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        with near, far:
            self._open += [near, far]
            back = threading.Thread(target=self._copy, args=(far, near, line, count, "down"))
            back.start()
            self._copy(near, far, line, count, "up")
            back.join()

    def _copy(
        self, source: socket.socket, sink: socket.socket, line: Line, count: Passed, way: str
    ) -> None:
        limit = getattr(line, way)
        try:
            while limit is None or getattr(count, way) < limit:
                room = _PIECE if limit is None else min(_PIECE, limit - getattr(count, way))
                if line.rate is not None:
                    room = max(1, min(room, line.rate // 10))
                data = source.recv(room)
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                if count.stalled:
                    break
                sink.sendall(data)
                setattr(count, way, getattr(count, way) + len(data))
                getattr(count, f"{way}s").append(getattr(count, way))
                if line.rate is not None:
                    time.sleep(len(data) / line.rate)
        except OSError:
            pass
        else:
            count.stalled = line.stalls
            if line.stalls:
                self._closing.wait()
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
                end.shutdown(socket.SHUT_RDWR)
