"""An SSH session as the loop sees it: what came waits for a caller that blocks.

    flow (any thread)              | loop thread (asyncio)
    send, send_file --------------> Session.write -> SSH
    recv <-- queue, at most HELD <- Session.data_received <- SSH

No asyncssh here: a Session has the methods that asyncssh calls, and calls those of the channel it
is given. The end of a stream is told from its loss: only a peer that said "end of file" ended
it, everything else is a CutError.
"""

import asyncio
import threading
from collections import deque
from contextlib import suppress
from typing import Any, BinaryIO, Final, Protocol

from handsoff.edge.ssh.ssh_loop import Loop
from handsoff.errors import CutError, DamagedError

HELD: Final = 1 << 20
"""Bytes that wait for ``recv`` before the peer is made to wait."""

_PIECE: Final = 128 << 10

SIGN: Final = 4.0
"""Seconds between two signs of life of an end that only takes.

What is in flight on a slow line may be minutes of it, and the end that sends cannot tell that from
a line that is dead. So the other end says something, an empty debug message of SSH, as long as
bytes come.
"""


class SSHChannel(Protocol):
    """What a Session needs of the channel below it."""

    def write(self, data: bytes) -> None: ...
    def write_eof(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def get_extra_info(self, name: str) -> Any: ...
    def set_write_buffer_limits(self, high: int, low: int) -> None: ...


class Session:
    """The loop's side of a channel. All but ``take`` and ``heard`` run in the loop's thread."""

    first: float | None = None
    """Seconds that ``take`` waits for the first bytes of all; None is for ever."""
    patience: float | None = None
    """Seconds that it waits for any further ones, and that ``write`` waits for room."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._waits = self.first
        self.chan: SSHChannel | None = None
        self.finished = asyncio.Event()
        """Set when the peer has ended its side, or the connection is gone."""
        self.gone = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._news = threading.Condition()
        self._queue: deque[bytes] = deque()
        self._held = 0
        self._paused = self._ended = self._lost = self._deaf = False
        self._reason = ""
        self._signed = 0.0

    def connection_made(self, chan: Any) -> None:
        self.chan = chan
        chan.set_write_buffer_limits(4 * _PIECE, _PIECE)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if self._deaf or datatype is not None:
            return  # a second stream (stderr) is none of ours
        self._sign()
        with self._news:
            self._waits = self.patience
            self._queue.append(data)
            self._held += len(data)
            if self._held >= HELD and not self._paused and self.chan is not None:
                self._paused = True
                self.chan.pause_reading()
            self._news.notify()

    def eof_received(self) -> bool:
        self._end()
        return True  # our own side stays open

    def connection_lost(self, exc: Exception | None) -> None:
        self._reason = str(exc or "")
        if self._paused and not self._deaf and self.chan is not None:
            # what has arrived and was held back counts: it need not come again
            with suppress(Exception):
                self.chan.resume_reading()
        self._end(lost=True)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def go_deaf(self) -> None:
        """Drop what comes from now on, so that the peer is never stuck in sending it."""
        self._deaf = True
        with self._news:
            self._queue.clear()
            self._held = 0
        self._resume()

    async def write(self, data: bytes) -> None:
        """Write all of ``data``, waiting whenever the peer takes no more."""
        view = memoryview(data)
        for at in range(0, len(view), _PIECE):
            await self._room()
            self._put(view[at : at + _PIECE])

    async def write_file(self, file: BinaryIO, size: int, sent: list[int]) -> None:
        """Write ``size`` bytes of ``file``, counting in ``sent``; stop when the peer speaks."""
        while sent[0] < size:
            await self._room()
            if self.heard:
                return
            # reading in the loop: a page of the cache costs less than a change of threads
            piece = file.read(min(_PIECE, size - sent[0]))
            if not piece:
                raise DamagedError(f"the parcel's file ends {size - sent[0]} bytes early")
            self._put(piece)
            sent[0] += len(piece)
            await asyncio.sleep(0)

    @property
    def heard(self) -> bool:
        """Whether there is something for ``take``, or the peer has ended its side."""
        return bool(self._queue) or (self._ended and not self._lost)

    def take(self, limit: int) -> bytes:
        """Return up to ``limit`` bytes as soon as there are some; b"" where the peer ended."""
        with self._news:
            while not self._queue and not self._ended and not self._lost:
                if not self._news.wait(self._waits):
                    raise self._silent(self._waits)
            if not self._queue:
                if not self._ended:
                    raise self.cut()
                return b""
            data = self._pull(limit)
            resume = self._paused and self._held < HELD // 2
        if resume:
            self.loop.soon(self._resume)
        return data

    def cut(self) -> CutError:
        """Return the failure that says that the connection is gone."""
        reason = f": {self._reason}" if self._reason else ""
        return CutError(
            f"the connection was cut{reason}",
            hint="run the same command again; what has arrived is kept",
        )

    async def _room(self) -> None:
        """Wait until the peer takes more."""
        if self._writable.is_set():
            return  # a time-out costs a task, and this is asked for each piece
        try:
            await asyncio.wait_for(self._writable.wait(), self.patience)
        except TimeoutError as error:
            raise self._silent(self.patience) from error

    def _silent(self, seconds: float | None) -> CutError:
        return CutError(
            f"the other machine did nothing for {seconds:g} s", hint="run the same command again"
        )

    def _pull(self, limit: int) -> bytes:
        pieces = []
        while self._queue and limit:
            piece = self._queue.popleft()
            if len(piece) > limit:
                self._queue.appendleft(piece[limit:])
                piece = piece[:limit]
            pieces.append(piece)
            limit -= len(piece)
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._held -= len(data)
        return data

    def _put(self, data: bytes | memoryview) -> None:
        if self._lost or self.chan is None:
            raise self.cut()
        try:
            self.chan.write(data)  # type: ignore[arg-type]
        except OSError as error:
            raise self.cut() from error

    def _end(self, *, lost: bool = False) -> None:
        with self._news:
            self._lost = self._lost or lost
            self._ended = self._ended or not lost
            self._news.notify_all()
        self.finished.set()
        if lost:
            self.gone.set()
            self._writable.set()

    def _sign(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._signed >= SIGN and self.chan is not None:
            self._signed = now
            self.chan.get_extra_info("connection").send_debug("")

    def _resume(self) -> None:
        self._paused = False
        if self.chan is not None and not self._lost:
            self.chan.resume_reading()
