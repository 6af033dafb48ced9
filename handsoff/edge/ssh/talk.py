"""A talk: one exchange held over a stream that blocks, the same for every route that has one.

Decides nothing: what may be said when is core/talk/exchange.py. A refusal of the other end is
raised as the error that it was there.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final, Protocol, TypeVar

from handsoff.core.talk.exchange import Exchange, Role, as_error, refusal
from handsoff.core.talk.messages import Ask, Got, Message, Refuse, Want
from handsoff.errors import CutError, HandsoffError

_PIECE: Final = 1 << 20

M = TypeVar("M", bound=Message)


class Stream(Protocol):
    """What a talk needs of a route; ``handsoff.edge.ssh.ssh.Channel`` is one."""

    def send(self, data: bytes) -> None: ...
    def recv(self, limit: int = ...) -> bytes: ...
    def send_file(
        self,
        file: BinaryIO,
        offset: int,
        size: int,
        progress: Callable[[int], None] | None = ...,
    ) -> int: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


class Talk:
    """Where a handing-over has got to, and the stream it is held over."""

    def __init__(
        self,
        stream: Stream,
        role: Role,
        *,
        who: str = "the other machine",
        fetches: bool = False,
    ) -> None:
        self.exchange = Exchange(role, fetches=fetches)
        self._stream = stream
        self.who = who
        self._heard: list[Message | bytes] = []

    def say(self, message: Message) -> None:
        """Send ``message``, which must be due."""
        self._stream.send(self.exchange.send(message))

    def hear(self, kind: type[M]) -> M:
        """Return the next message, which is due and of ``kind``; raise what a Refuse says."""
        message = self._next()
        while isinstance(message, Got):  # of a parcel that has left us since
            message = self._next()
        assert isinstance(message, kind), f"asked for {kind.__name__}, but another was due"
        return message

    def hear_wish(self) -> Ask | Want:
        """Return what whoever dialled has come for."""
        message = self._next()
        assert isinstance(message, Ask | Want), "only that is due"
        return message

    def refuse(self, error: HandsoffError) -> None:
        """Tell the other end of ``error``, if it is our turn and it still listens; hang up."""
        # who was cut off has hung up, and if it hears this after all, would take it for an answer
        if self.exchange.may_refuse and not isinstance(error, CutError):
            with suppress(HandsoffError):
                self._stream.send(self.exchange.send(refusal(error)))
                # an end, not a cut: a cut may overtake the reason
                self._stream.close()

    def send_parcel(
        self, file: BinaryIO, size: int, progress: Callable[[int], None] | None = None
    ) -> None:
        """Send what the other end lacks of ``file``; raise its refusal if it says no.

        ``progress`` hears the position reached, of ``size``.
        """
        while left := self.exchange.left:
            room, at = self.exchange.room, size - left
            sent = self._stream.send_file(file, at, at + room, progress) if room else 0
            self.exchange.sent(sent)
            if not room or sent < room:
                # all that the other end may say now is how far it has got, or no
                self._next()

    def receive_parcel(
        self, write: Callable[[bytes], object], progress: Callable[[int], None] | None = None
    ) -> None:
        """Give ``write`` each piece of the parcel; ``progress`` hears the position reached."""
        while left := self.exchange.left:
            if not self._heard:
                self._listen(min(left, _PIECE))
            while self._heard:
                piece = self._heard.pop(0)
                assert isinstance(piece, bytes), "only the parcel is due"
                write(piece)
            if (word := self.exchange.word) is not None:
                # if the line is cut, what has arrived before is still to be read
                with suppress(CutError):
                    self.say(word)
            if progress is not None:
                progress(self.exchange.size - self.exchange.left)

    def _listen(self, limit: int) -> None:
        data = self._stream.recv(limit)
        if not data:
            self.exchange.ended()
            raise CutError(f"{self.who} has nothing more to say")
        self._heard += self.exchange.receive(data)

    def _next(self) -> Message | bytes:
        while not self._heard:
            self._listen(_PIECE)
        said = self._heard.pop(0)
        if isinstance(said, Refuse):
            raise as_error(said, self.who)
        return said
