"""A blocking stream over two descriptors: what a talk needs where bytes come through pipes.

A pipe that ends says nothing of why; whoever knows more (edge/ssh/openssh.py asks ssh) says so in
``cut``. An end in the middle of the talk is told from its last word by core/talk/exchange.py.
"""

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final

from handsoff.errors import CutError, DamagedError, HandsoffError

_PIECE: Final = 256 << 10


class Pipes:
    """Bytes in through one descriptor, and out through another; both are closed at the end."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads = reads
        self._writes = writes
        self._open = True
        # a full pipe must not keep us from hearing that the other end says no; where sshd gives one
        # socket for both, reading blocks no more either
        os.set_blocking(writes, False)

    def send(self, data: bytes) -> None:
        """Send all of ``data``; it may not have arrived when this returns."""
        view = memoryview(data)
        while view:
            self._wait(hear=False)
            view = view[self._write(view) :]

    def recv(self, limit: int = 1 << 20) -> bytes:
        """Return from 1 to ``limit`` bytes as soon as they come; b"" when there are no more."""
        while True:
            self.waits(None)
            try:
                return os.read(self._reads, limit)
            except BlockingIOError:
                continue
            except OSError as error:
                raise self.cut() from error

    def send_file(
        self,
        file: BinaryIO,
        offset: int,
        size: int,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Send the bytes from ``offset`` up to ``size`` of ``file``; return how many were sent.

        Fewer only where the other end speaks up meanwhile: then read what it says.
        """
        file.seek(offset)
        sent, piece = 0, memoryview(b"")
        while sent < size - offset:
            if not piece:
                piece = memoryview(file.read(min(_PIECE, size - offset - sent)))
                if not piece:
                    raise DamagedError(f"the parcel's file ends {size - offset - sent} bytes early")
            if self._wait(hear=True):
                break
            done = self._write(piece)
            sent, piece = sent + done, piece[done:]
            if progress is not None:
                progress(offset + sent)
        return sent

    def close(self) -> None:
        """End our side."""
        if self._open:
            self._open = False
            for descriptor in (self._writes, self._reads):
                with suppress(OSError):
                    os.close(descriptor)

    def abort(self) -> None:
        """Hang up at once."""
        self.close()

    def cut(self) -> HandsoffError:
        """Return the failure that says that the other end is gone."""
        return CutError(
            "the connection was cut", hint="run the same command again; what has arrived is kept"
        )

    def waits(self, seconds: float | None) -> bool:
        """Say whether something to read, or the end, comes within ``seconds``."""
        poll = select.poll()
        poll.register(self._reads, select.POLLIN)
        return bool(poll.poll(None if seconds is None else 1000 * seconds))

    def _wait(self, *, hear: bool) -> bool:
        """Wait until a write would go; say whether the other end spoke first, if to ``hear``."""
        poll = select.poll()
        poll.register(self._writes, select.POLLOUT)
        if hear:
            poll.register(self._reads, select.POLLIN)
        return any(descriptor == self._reads for descriptor, _ in poll.poll())

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._writes, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self.cut() from error


def own_streams() -> Pipes:
    """Take standard input and output for a talk.

    Whatever else this process or a child of it prints goes to standard error from now on, and finds
    nothing to read.
    """
    sys.stdout.flush()
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Pipes(reads, writes)
