"""A talk: one exchange held over a stream that blocks, the same for every route that has one.

Decides nothing: what may be said when is core/exchange.py. A refusal of the other end is raised as
the error that it was there.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Protocol, TypeVar

from handsoff.core.exchange import Exchange, Role, as_error, refusal
from handsoff.core.messages import Message, Refuse
from handsoff.errors import HandsoffError, UnreachableError

M = TypeVar("M", bound=Message)


class Stream(Protocol):
    """What a talk needs of a route; ``handsoff.edge.ssh.Channel`` is one."""

    def send(self, data: bytes) -> None: ...
    def recv(self, limit: int = ...) -> bytes: ...
    def send_file(
        self,
        file: BinaryIO,
        offset: int,
        size: int,
        progress: Callable[[int], None] | None = ...,
    ) -> int: ...


class Talk:
    """Where a handing-over has got to, and the stream it is held over."""

    def __init__(self, stream: Stream, role: Role, *, who: str = "the other machine") -> None:
        self.exchange = Exchange(role)
        self._stream = stream
        self._who = who
        self._heard: list[Message | bytes] = []

    def say(self, message: Message) -> None:
        """Send ``message``, which must be due."""
        try:
            self._stream.send(self.exchange.send(message))
        except UnreachableError:
            # who refuses hangs up; the reason came before that
            self._raise_refusal()
            raise

    def hear(self, kind: type[M]) -> M:
        """Return the next message, which is due and of ``kind``; raise what a Refuse says."""
        while not self._heard:
            self._listen(1 << 20)
        message = self._heard.pop(0)
        if isinstance(message, Refuse):
            raise as_error(message, self._who)
        assert isinstance(message, kind), f"asked for {kind.__name__}, but another was due"
        return message

    def refuse(self, error: HandsoffError) -> None:
        """Tell the other end of ``error``, if it is our turn and the other still listens."""
        if self.exchange.may_refuse:
            with suppress(HandsoffError):
                self._stream.send(self.exchange.send(refusal(error)))

    def send_parcel(
        self, file: BinaryIO, size: int, progress: Callable[[int], None] | None = None
    ) -> None:
        """Send what the other end lacks of ``file``; raise its refusal if it speaks up."""
        left = self.exchange.left
        if not left:
            return
        try:
            sent = self._stream.send_file(file, size - left, size, progress)
        except UnreachableError:
            self._raise_refusal()
            raise
        self.exchange.sent(sent)
        if sent < left:
            self._raise_refusal()

    def receive_parcel(
        self, write: Callable[[bytes], object], progress: Callable[[int], None] | None = None
    ) -> None:
        """Give ``write`` each piece of the parcel; ``progress`` hears how many are to come."""
        while left := self.exchange.left:
            if not self._heard:
                self._listen(min(left, 1 << 20))
            while self._heard:
                piece = self._heard.pop(0)
                assert isinstance(piece, bytes), "only the parcel is due"
                write(piece)
            if progress is not None:
                progress(self.exchange.left)

    def _listen(self, limit: int) -> None:
        data = self._stream.recv(limit)
        if not data:
            self.exchange.ended()
            raise UnreachableError(f"{self._who} has nothing more to say")
        self._heard += self.exchange.receive(data)

    def _raise_refusal(self) -> None:
        with suppress(UnreachableError):
            while not self._heard:
                self._listen(1 << 20)
        for message in self._heard:
            if isinstance(message, Refuse):
                raise as_error(message, self._who)
