"""One handing-over, as seen from either end. No I/O: bytes in, messages and parcel bytes out.

    us = Exchange(Role.SENDER)
    stream.send(us.send(Hello(...)))
    for heard in us.receive(stream.recv(n)): ...

The end that dialled either brings a parcel (EXPECTED) or fetches one (FETCHED). Whoever listens
begins as a receiver, and is a sender from the moment it hears Want in place of Ask.

Rule 1: what may be said when is in those tables and nowhere else. Refuse may stand in place of any
message that is due, and the receiver may also refuse while the parcel is on its way; it ends
the exchange.
Rule 2: breaking it ourselves is a bug (AssertionError); a peer breaking it is a DamagedError.
Rule 3: the parcel is not framed. It is exactly the bytes between Accept's offset and Offer's
size, counted here; nothing here holds them, and nothing here believes them.
Rule 4: meanwhile the receiver says what it has (Got, from version 3 on), and the sender stays
within reach of that: core/talk/flight.py.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, TypeAlias

from handsoff.core.talk import flight, frames, messages, refusals
from handsoff.core.talk.messages import (
    TEXT_LIMIT,
    Accept,
    Ask,
    Bye,
    Got,
    Have,
    Hello,
    Message,
    Offer,
    Receipt,
    Refuse,
    Told,
    Want,
)
from handsoff.errors import CutError, DamagedError, HandsoffError, RefusedError


class Role(Enum):
    """Which end we are."""

    SENDER = "sender"
    RECEIVER = "receiver"

    @property
    def other(self) -> "Role":
        """The end we are not."""
        return Role.RECEIVER if self is Role.SENDER else Role.SENDER


class Parcel:
    """Stands in the table for the parcel's own bytes."""


Due: TypeAlias = type[Message] | type[Parcel]

EXPECTED: Final[tuple[tuple[Role, Due], ...]] = (
    (Role.SENDER, Hello),
    (Role.RECEIVER, Hello),
    (Role.SENDER, Ask),
    (Role.RECEIVER, Have),
    (Role.SENDER, Offer),
    (Role.RECEIVER, Accept),
    (Role.SENDER, Parcel),
    (Role.RECEIVER, Receipt),
    (Role.SENDER, Told),
    (Role.RECEIVER, Bye),
)

FETCHED: Final[tuple[tuple[Role, Due], ...]] = (
    (Role.RECEIVER, Hello),
    (Role.SENDER, Hello),
    (Role.RECEIVER, Want),
    (Role.SENDER, Offer),
    (Role.RECEIVER, Accept),
    (Role.SENDER, Parcel),
    (Role.RECEIVER, Receipt),
    (Role.SENDER, Bye),
)


_SINCE: Final[Mapping[type[Message], int]] = {Want: messages.FETCHING, Got: messages.TELLING}


class Exchange:
    """Where one handing-over has got to; ``fetches`` if the end that dialled is the receiver."""

    def __init__(
        self, role: Role, versions: tuple[int, ...] = messages.VERSIONS, *, fetches: bool = False
    ) -> None:
        self.role = role
        self.versions = versions
        self._table = FETCHED if fetches else EXPECTED
        self.version: int | None = None
        """The highest version that both speak, once the other has said hello."""
        self._step = 0
        self._decoder = frames.Decoder()
        self._offer: Offer | None = None
        self._left = 0
        self._got = 0

    @property
    def done(self) -> bool:
        """Whether there is nothing left to say."""
        return self._step == len(self._table)

    @property
    def due(self) -> tuple[Role, Due] | None:
        """Who is to say what next; None when all is said."""
        return None if self.done else self._table[self._step]

    @property
    def left(self) -> int:
        """How many bytes of the parcel are still to come."""
        return self._left

    @property
    def size(self) -> int:
        """How many bytes the offered parcel has in all."""
        assert self._offer is not None, "the table puts Offer before Accept"
        return self._offer.size

    @property
    def room(self) -> int:
        """How many bytes of the parcel may leave us now; 0 where the receiver is to speak first."""
        if (self.version or 0) < messages.TELLING:
            return self._left
        return flight.room(self.size, sent=self.size - self._left, got=self._got)

    @property
    def word(self) -> Got | None:
        """What we are to say of the parcel's bytes that are here, all of which are written."""
        here = self.size - self._left
        telling = (self.version or 0) >= messages.TELLING
        if telling and flight.is_worth_a_word(self.size, here=here, told=self._got):
            return Got(here)
        return None

    @property
    def may_refuse(self) -> bool:
        """Whether we may say Refuse now."""
        return not self.done and self._problem(self.role, Refuse("refused", "")) is None

    def send(self, message: Message) -> bytes:
        """Return the bytes that say ``message``."""
        body = frames.encode(messages.encode(message))
        problem = self._problem(self.role, message)
        assert problem is None, problem
        if isinstance(message, Accept) and self._decoder.waiting:
            raise DamagedError("the parcel's bytes came before they were accepted")
        self._advance(message)
        return body

    def sent(self, count: int) -> None:
        """Note that ``count`` more bytes of the parcel left us."""
        assert self.due == (self.role, Parcel), "the parcel is not due"
        assert 0 <= count <= self._left, f"{count} bytes sent where {self._left} were left"
        self._count(count)

    def receive(self, data: bytes) -> Iterator[Message | bytes]:
        """Yield each message that ``data`` completes, and the parcel's bytes as they are.

        Take all of them before the next call. Raises DamagedError where the peer breaks the
        rules, RefusedError where two hellos share no version (and a Refuse may be sent then).
        """
        if self.due == (self.role.other, Parcel):
            if len(data) > self._left:
                raise DamagedError(f"the parcel goes on after the {self.size} bytes offered")
            self._count(len(data))
            yield data
            return
        self._decoder.feed(data)
        while (body := self._decoder.next_frame()) is not None:
            message = messages.decode(body)
            if problem := self._problem(self.role.other, message):
                raise DamagedError(problem)
            self._advance(message)
            if isinstance(message, Hello):
                self._greet(message.versions)
            yield message

    def ended(self) -> None:
        """Judge that the peer has closed its end: fine after the last word, and never before."""
        if self.done and not self._decoder.waiting:
            return
        if self._decoder.waiting:
            raise DamagedError("the connection ended in the middle of a message")
        what = self._table[self._step][1].__name__.lower()
        left = f" ({self._left} bytes were to come)" if self._left else ""
        if what == "offer":
            left = ": it only looked, or was refused there by its own guard"
        raise CutError(
            f"the other machine hung up before {what}{left}", hint="run the same command again"
        )

    def _problem(self, speaker: Role, message: Message) -> str | None:
        said = type(message).__name__
        if self.done:
            return f"{speaker.value} said {said} when nothing was left to say"
        turn, kind = self._table[self._step]
        if (self.version or 0) < _SINCE.get(type(message), 0):
            return f"{said} was said in version {self.version} of the protocol"
        # whoever dialled did so to fetch
        fetches = kind is Ask and speaker is turn is self.role.other
        # a full disk must not cost the sender the rest of its upload
        refuses = (kind is Parcel) is (speaker is not turn)
        if (fetches and isinstance(message, Want)) or (refuses and isinstance(message, Refuse)):
            return None
        # what was said of bytes on their way is heard when the last of them have left us
        under_way = kind is Parcel or (kind is Receipt and self.role is Role.SENDER)
        if isinstance(message, Got) and under_way and speaker is Role.RECEIVER:
            return self._got_problem(message.offset)
        if speaker is not turn or type(message) is not kind:
            return f"{speaker.value} said {said} when {turn.value} {kind.__name__} was due"
        match message:
            case Accept(offset) if offset > self.size:
                return f"{offset} bytes are said to be there of the {self.size} offered"
            case Receipt(parcel) if self._offer is None or parcel != self._offer.parcel:
                return f"a receipt for {parcel}, which was not offered"
            case _:
                return None

    def _got_problem(self, offset: int) -> str | None:
        sent = self.size - self._left
        if not self._got < offset <= sent:
            return f"{offset} bytes are said to be there, after {self._got}, of the {sent} sent"
        return None

    def _advance(self, message: Message) -> None:
        if isinstance(message, Got):
            self._got = message.offset
            return
        if isinstance(message, Want) and self._table is EXPECTED:
            self.role, self._table = self.role.other, FETCHED
        self._step = len(self._table) if isinstance(message, Refuse) else self._step + 1
        match message:
            case Offer():
                self._offer = message
            case Accept(offset):
                self._left = self.size - offset
                self._got = offset
                self._count(0)
            case _:
                pass

    def _greet(self, theirs: tuple[int, ...]) -> None:
        common = set(theirs) & set(self.versions)
        if not common:
            raise RefusedError(
                f"the other machine speaks {_spelled(theirs)} of the protocol, "
                f"this one {_spelled(self.versions)}",
                hint="install the same release of handsoff on both machines",
            )
        self.version = max(common)

    def _count(self, count: int) -> None:
        self._left -= count
        if not self._left:
            self._step += 1


def refusal(error: HandsoffError) -> Refuse:
    """Return ``error`` as the message that tells the other end."""
    return Refuse(*refusals.told(error, TEXT_LIMIT))


def as_error(refuse: Refuse, who: str = "the other machine") -> HandsoffError:
    """Return the error that ``who`` told us of."""
    return refusals.raised(refuse.code, refuse.message, refuse.hint, who=who)


def _spelled(versions: tuple[int, ...]) -> str:
    return f"version {', '.join(map(str, sorted(versions)))}"
