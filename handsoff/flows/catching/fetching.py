"""Fetching a parcel from the machine that made it: the dialling end.

What it gives is believed as little as what a sender brings: it goes through the same gates.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self

from handsoff import __version__
from handsoff.core.machines.roster import Member
from handsoff.core.talk.exchange import Role
from handsoff.core.talk.messages import FETCHING, VERSIONS, Bye, Hello, Offer, Want
from handsoff.core.talk.patience import USUAL, is_progress
from handsoff.edge import clock
from handsoff.edge.home import Parcel
from handsoff.edge.ssh import ssh
from handsoff.edge.ssh.talk import Talk
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, HandsoffError, RefusedError, UnreachableError
from handsoff.flows.desk import Desk
from handsoff.flows.reach import finding
from handsoff.flows.reach.redialling import Redialling
from handsoff.flows.receiving.taking import Room, receipt_for, take

_STALLED: Final = 30.0
"""Seconds after which a machine that gives next to nothing is left."""

_ANSWER: Final = 3.0
"""Seconds for a machine to answer at the address where it was last: there are other ways."""


@dataclass
class Fetch:
    """One parcel being fetched from the listener of ``of``: by its id, or what is offered now."""

    desk: Desk
    of: Member
    work: str
    parcel: str
    progress: Callable[[int, int], None]
    """Hears how much is here, and of how much."""
    search: bool = False
    """Whether to look for the machine, also where it never was before."""
    _met: bool = field(default=False, init=False)
    """Whether the machine has answered on this connection."""

    def run(self) -> Parcel:
        """Return the parcel from the inbox; a connection that is lost on the way is made again.

        UnreachableError where nobody answers, RefusedError where there is nothing for us.
        """
        redialling = Redialling(USUAL)
        return redialling.persist(lambda: self._once(redialling), met=lambda: self._met)

    def _once(self, redialling: Redialling) -> Parcel:
        self._met = False
        with self._dial() as channel, _Hurry(channel) as hurry:
            self._met = True
            talk = Talk(channel, Role.RECEIVER, who=self.of.name, fetches=True)
            try:
                return self._take(talk, redialling, hurry)
            except HandsoffError as error:
                talk.refuse(error)
                raise

    def _dial(self) -> ssh.Channel:
        desk = self.desk
        if self.search:
            return finding.dial(desk.home, desk.machine, self.of)[0]
        address = desk.home.address_of(self.of.id)
        if address is None:
            raise UnreachableError(f"no address of {self.of.name} is known")
        return finding.connect(desk.machine, self.of, address, timeout=_ANSWER)

    def _take(self, talk: Talk, redialling: Redialling, hurry: "_Hurry") -> Parcel:
        desk = self.desk
        talk.say(Hello(VERSIONS, desk.machine.id, __version__))
        talk.hear(Hello)
        if (talk.exchange.version or 0) < FETCHING:
            raise RefusedError(
                f"the handsoff of {self.of.name} is too old to be fetched from",
                hint=f"update it on {self.of.name}",
            )
        tips = {"roster": desk.roster_tip, "record": desk.seen_tip(self.work)}
        talk.say(Want(desk.need_pin(), self.work, self.parcel, **tips))
        offer = talk.hear(Offer)
        if self.parcel not in ("", offer.parcel):
            raise DamagedError(f"{self.of.name} offers another parcel than the one asked for")

        def reached(position: int) -> None:
            if hurry.moved(position, offer.size):
                redialling.reached(position)
            self.progress(position, offer.size)

        room = Room(desk.home, desk.machine.name)
        parcel = take(
            talk, offer, desk, room=room, sender=self.of.id, ready=reached, progress=reached
        )
        step("catch.fetch.receipt.before")
        with suppress(HandsoffError):  # it is here: what is left is courtesy
            talk.say(receipt_for(parcel, desk.machine))
            talk.hear(Bye)
        return parcel


class _Hurry:
    """Hangs up on a machine that answers and gives nothing: there may be other ways."""

    def __init__(self, channel: ssh.Channel) -> None:
        self._channel = channel
        self._ended = threading.Event()
        self._last = clock.monotonic()
        self._at: int | None = None

    def moved(self, position: int, size: int) -> bool:
        """Note how far it has come, and say if that counts; at the end there is no hurry."""
        if position == size:
            self._ended.set()
        if not is_progress(position, before=self._at, size=size):
            return False
        self._last, self._at = clock.monotonic(), position
        return True

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="hurry", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(_STALLED / 4):
            if clock.monotonic() - self._last > _STALLED:
                with suppress(HandsoffError):
                    self._channel.abort()
                return
