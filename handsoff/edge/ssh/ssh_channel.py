"""A channel: a blocking stream of bytes over an SSH session that lives in a thread of its own."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Final, Self

from handsoff.edge.ssh.ssh_session import Session

_LINGER: Final = 5.0


class Channel:
    """A stream of bytes to one machine, for callers that block. Use it in ``with``."""

    def __init__(
        self, session: Session, *, hang_up_first: bool, finish: Callable[[], None]
    ) -> None:
        self._session = session
        self._loop = session.loop
        self._hang_up_first = hang_up_first
        self._finish = finish
        self._open = True

    def send(self, data: bytes) -> None:
        """Send all of ``data``; it may not have arrived when this returns."""
        self._loop.call(self._session.write(data))

    def recv(self, limit: int = 1 << 20) -> bytes:
        """Return from 1 to ``limit`` bytes as soon as they come; b"" when the peer has ended."""
        return self._session.take(limit)

    def send_file(
        self,
        file: BinaryIO,
        offset: int,
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Send the bytes from ``offset`` up to ``size`` of ``file``; return how many were sent.

        Fewer only where the peer speaks up meanwhile: then read what it says. ``progress`` is
        called in this thread with the position reached.
        """
        file.seek(offset)
        sent = [0]
        tick = None if progress is None else lambda: progress(offset + sent[0])
        self._loop.call(self._session.write_file(file, size - offset, sent), tick)
        if tick is not None:
            tick()
        return sent[0]

    def close(self) -> None:
        """End our side, wait a little for the peer to end its own, and hang up."""
        if self._open:
            self._open = False
            try:
                self._loop.call(self._say_end())
            finally:
                self._hang_up()

    def abort(self) -> None:
        """Hang up at once; the peer sees a cut connection, not an end."""
        if self._open:
            self._open = False
            self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    async def _say_end(self) -> None:
        session = self._session
        session.go_deaf()
        if session.chan is not None and not session.gone.is_set():
            with suppress(OSError):
                session.chan.write_eof()
        # SSH's own goodbye throws away what is still on its way: so the end that dialled hangs
        # up, when the other has ended too, and the other waits for that
        last = session.finished if self._hang_up_first else session.gone
        with suppress(TimeoutError):
            await asyncio.wait_for(last.wait(), _LINGER)

    def _hang_up(self) -> None:
        self._finish()
