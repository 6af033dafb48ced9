"""The direct route, seen from the sender: one exchange over SSH, in the order of the design.

Connecting and asking need nothing of the parcel, so they run beside the look at the checkout.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from handsoff import __version__
from handsoff.core.exchange import Role
from handsoff.core.messages import (
    VERSIONS,
    Accept,
    Ask,
    Bye,
    Have,
    Hello,
    Offer,
    Receipt,
    Told,
    receipt_key,
)
from handsoff.core.roster import Member
from handsoff.edge import ssh
from handsoff.edge.seal import SealedFile
from handsoff.edge.steps import step
from handsoff.edge.talk import Talk
from handsoff.errors import DamagedError, HandsoffError
from handsoff.flows import finding, heard
from handsoff.flows.desk import Desk


class Direct:
    """A connection to one machine, being made in the background."""

    def __init__(
        self, desk: Desk, to: Member, at: str | None, work: str, *, look: float = finding.LOOK
    ) -> None:
        self.address = at or ""
        """Where the machine is, once it was found."""
        self.name = to.name
        self._at = at
        self._look = look
        self._desk = desk
        self._to = to
        self.doubts: list[str] = []
        """What the receiver saw on the remote and it does not show here."""
        self._ask = Ask(
            repository=desk.need_pin(),
            work=work,
            roster=desk.roster_tip,
            record=desk.seen_tip(work),
        )
        self._compared = False
        self._given_up = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dial")
        self._opened: Future[tuple[ssh.Channel, Talk, Have]] = self._pool.submit(self._open)

    def _open(self) -> tuple[ssh.Channel, Talk, Have]:
        channel, self.address = finding.dial(
            self._desk.home, self._desk.machine, self._to, self._at,
            look=self._look, given_up=self._given_up,
        )  # fmt: skip
        try:
            talk = Talk(channel, Role.SENDER, who=self._to.name)
            talk.say(Hello(VERSIONS, self._desk.machine.id, __version__))
            talk.hear(Hello)
            talk.say(self._ask)
            have = talk.hear(Have)
        except BaseException:
            channel.close()
            raise
        return channel, talk, have

    def again(self) -> "Direct":
        """Return another connection to the same machine."""
        return Direct(self._desk, self._to, self._at, self._ask.work, look=self._look)

    def have(self) -> tuple[str, ...]:
        """Return the commits that the receiver has; raises what went wrong on the way there."""
        return self._opened.result()[2].commits

    def deliver(
        self, parcel: str, sealed: SealedFile, manifest: str, progress: Callable[[int], None]
    ) -> Receipt:
        """Send the parcel, and return the receiver's receipt for ``manifest`` (a SHA-256)."""
        _, talk, _ = self._opened.result()
        step("send.offer.before")
        talk.say(Offer(parcel, sealed.size, sealed.sha256))
        talk.hear(Accept)
        with sealed.path.open("rb") as file:
            talk.send_parcel(file, sealed.size, progress)
        step("send.bytes.after")
        receipt = talk.hear(Receipt)
        if receipt.manifest != manifest or receipt_key(receipt) != self._to.card.sign_key:
            raise DamagedError(
                f"the receipt of {self._to.name} does not hold", hint="update handsoff there"
            )
        step("send.receipt.after")
        return receipt

    def tell(self, record: str) -> None:
        """Tell the receiver where the record stands now. It is courtesy: nothing hangs on it."""
        _, talk, _ = self._opened.result()
        step("send.told.before")
        with suppress(HandsoffError):
            talk.say(Told(record))
            talk.hear(Bye)
        step("send.told.after")
        self._compare()

    def close(self) -> None:
        """Hang up."""
        self._given_up.set()
        self._pool.shutdown(wait=True)
        if self._opened.exception() is None:
            self._opened.result()[0].close()
            self._compare()

    def _compare(self) -> None:
        """Hold the receiver's tips against ours, once, and after all that matters more."""
        if self._compared:
            return
        self._compared = True
        have = self._opened.result()[2]
        with suppress(HandsoffError):
            self.doubts = heard.compare(
                self._desk, self._to.id, roster=have.roster, work=self._ask.work, record=have.record
            )
