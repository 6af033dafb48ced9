"""A connection to one machine, seen from the sender: one exchange, in the order of the design.

Which way it goes (to a listener, or through an ssh) is flows/reach/ways.py.

Connecting and asking need nothing of the parcel, so they run beside the look at the checkout.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from handsoff import __version__
from handsoff.core.machines.roster import Member
from handsoff.core.talk.exchange import Role
from handsoff.core.talk.messages import (
    VERSIONS,
    Accept,
    Ask,
    Bye,
    Have,
    Hello,
    Offer,
    Receipt,
    Told,
    check_receipt,
)
from handsoff.edge.seal import SealedFile
from handsoff.edge.ssh.talk import Stream, Talk
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, RefusedError
from handsoff.flows.desk import Desk
from handsoff.flows.reach.ways import Way
from handsoff.flows.remote import heard


@dataclass(frozen=True)
class Opened:
    """A connection on which the receiver has said what it has."""

    stream: Stream
    talk: Talk
    member: Member
    have: Have


class Connection:
    """A connection to one machine, being made in the background."""

    def __init__(self, desk: Desk, way: Way, work: str) -> None:
        self.way = way
        self._desk = desk
        self.doubts: list[str] = []
        """What the receiver saw on the remote and it does not show here."""
        self.met = False
        """Whether somebody has answered on this connection."""
        self._ask = Ask(
            repository=desk.need_pin(),
            work=work,
            roster=desk.roster_tip,
            record=desk.seen_tip(work),
        )
        self._compared = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dial")
        self._opened: Future[Opened] = self._pool.submit(self._open)

    def _open(self) -> Opened:
        stream = self.way.open()
        self.met = True
        try:
            talk = Talk(stream, Role.SENDER, who=self.way.where)
            talk.say(Hello(VERSIONS, self._desk.machine.id, __version__))
            try:
                hello = talk.hear(Hello)
            except RefusedError as error:
                raise self.way.differs(error) from error
            member = self.way.who(hello.machine)
            talk.who = member.name
            talk.say(self._ask)
            have = talk.hear(Have)
        except BaseException:
            stream.close()
            raise
        return Opened(stream, talk, member, have)

    def again(self) -> "Connection":
        """Return another connection to the same place."""
        return Connection(self._desk, self.way.again(), self._ask.work)

    def member(self) -> Member:
        """Return the machine at the other end; raises what went wrong on the way there."""
        return self._opened.result().member

    def have(self) -> tuple[str, ...]:
        """Return the commits that the receiver has; raises what went wrong on the way there."""
        return self._opened.result().have.commits

    def deliver(
        self,
        parcel: str,
        sealed: SealedFile,
        manifest: str,
        *,
        accepted: Callable[[int], None],
        progress: Callable[[int], None],
    ) -> Receipt:
        """Send the parcel, and return the receiver's receipt for ``manifest`` (a SHA-256).

        ``accepted`` hears how much the receiver has of it, ``progress`` how much has left.
        """
        opened = self._opened.result()
        talk, to = opened.talk, opened.member
        step("send.offer.before")
        talk.say(Offer(parcel, sealed.size, sealed.sha256))
        accepted(talk.hear(Accept).offset)
        with sealed.path.open("rb") as file:
            talk.send_parcel(file, sealed.size, progress)
        step("send.bytes.after")
        receipt = talk.hear(Receipt)
        check_receipt(receipt, manifest=manifest, key=to.card.sign_key, name=to.name)
        # by ssh it only said who it was; now it has proved it, and may be looked for there
        self.way.worked(to)
        step("send.receipt.after")
        return receipt

    def tell(self, record: str) -> None:
        """Tell the receiver where the record stands now. It is courtesy: nothing hangs on it."""
        talk = self._opened.result().talk
        step("send.told.before")
        with suppress(HandsoffError):
            talk.say(Told(record))
            talk.hear(Bye)
        step("send.told.after")
        self._compare()

    def drop(self) -> None:
        """Leave a connection that was lost, as it is."""
        self._pool.shutdown(wait=True)
        if self._opened.exception() is None:
            self._opened.result().stream.abort()

    def close(self) -> None:
        """Hang up."""
        if not self._opened.done():
            self.way.abandon()
        self._pool.shutdown(wait=True)
        if self._opened.exception() is None:
            self._opened.result().stream.close()
            self._compare()

    def _compare(self) -> None:
        """Hold the receiver's tips against ours, once, and after all that matters more."""
        if self._compared:
            return
        self._compared = True
        to, have = self._opened.result().member, self._opened.result().have
        with suppress(HandsoffError):
            self.doubts = heard.compare(
                self._desk, to.id, roster=have.roster, work=self._ask.work, record=have.record
            )
