"""``handsoff listen``: other machines' parcels come in, are verified, and wait in the inbox.

A parcel can be caught only when the record names it; what arrives here changes no checkout. Whoever
dials may also fetch a parcel that waits here for it (``giving``).
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from handsoff import __version__
from handsoff.core.ids import fingerprint, machine_id
from handsoff.core.machines.roster import Member
from handsoff.core.parcels.room import Limits
from handsoff.core.parcels.welcome import Welcome, turned_away
from handsoff.core.talk.exchange import Role
from handsoff.core.talk.messages import VERSIONS, Ask, Bye, Have, Hello, Offer, Told, Want
from handsoff.edge import clock, files
from handsoff.edge.git import news, objects, shape
from handsoff.edge.home import Home, Parcel
from handsoff.edge.keys import Machine
from handsoff.edge.ssh import ssh
from handsoff.edge.ssh.talk import Stream, Talk
from handsoff.edge.steps import step
from handsoff.errors import CutError, HandsoffError, RefusedError
from handsoff.flows.clones import clone_of, desks_of, host_of, rosters_of
from handsoff.flows.desk import Desk
from handsoff.flows.receiving import giving
from handsoff.flows.receiving.accept import accept
from handsoff.flows.receiving.happening import Happening, Kind, Moving, nobody
from handsoff.flows.receiving.taking import Room, receipt_for, take
from handsoff.flows.remote import heard
from handsoff.flows.works import ledger
from handsoff.flows.works.shelf import Kept, tidy

COMMITS: Final = 2000
"""Commit ids that a receiver names to a sender; more would cost more than they save."""

_FRESH: Final = 5.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Whose parcels are taken, and how much; ``ask`` puts a question to the person here."""

    welcome: Welcome = Welcome.ALL
    limits: Limits = field(default_factory=Limits)
    ask: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Guest:
    """A machine that dialled, and what it has come for."""

    talk: Talk
    channel: Stream
    desk: Desk
    member: Member
    peer: str
    work: str
    proved: bool
    """Whether its key was proved, and not only its account."""

    def happening(self, kind: Kind, **more: Any) -> Happening:
        """Return what is to be told of this guest."""
        named = {"machine": self.member.name, "person": self.member.person, "work": self.work}
        return Happening(event=kind, **{**named, "peer": self.peer, **more})


@dataclass
class House:
    """This machine as a listener."""

    home: Home
    machine: Machine
    tell: Callable[[Happening], None] = nobody
    watch: Callable[[Moving], None] = nobody
    rules: Rules = field(default_factory=Rules)
    room: Room = field(init=False)
    _asked: float = field(default=-_FRESH, init=False)
    _asking: threading.Lock = field(default_factory=threading.Lock, init=False)
    _moving: dict[tuple[str, str], Stream] = field(default_factory=dict, init=False)
    _agreed: set[tuple[str, str]] = field(default_factory=set, init=False)
    """The parcels that the person here said yes to; they may come in several pieces."""
    _arrived: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.room = Room(self.home, self.machine.name, self.rules.limits)

    def listener(self, bind: str, port: int) -> ssh.Listener:
        """Return the SSH listener of this machine."""
        return ssh.Listener(
            bind, port, private_key=self.machine.seed, authorize=self.authorize, serve=self.serve
        )

    def authorize(self, public_key: bytes) -> str | None:
        """Return the id of the machine with this key if a roster of a clone here has it."""
        wanted = machine_id(public_key)
        if any(roster.member(wanted) is not None for roster in rosters_of(self.desks())):
            return wanted
        # strangers must not make us ask the remote again and again; and of a remote that is silent
        # one thread waits, since those that look up keys are few
        if not self._asking.acquire(blocking=False):
            return None
        try:
            if clock.monotonic() - self._asked < _FRESH:
                return None
            self._asked = clock.monotonic()
            return wanted if any(self._admits(desk, wanted) for desk in self.desks()) else None
        finally:
            self._asking.release()

    def desks(self, repository: str | None = None) -> list[Desk]:
        """Return the desks of the clones here, of one repository or of all."""
        return desks_of(self.home, self.machine, repository)

    def look_after(self) -> list[str]:
        """Send what was written without the remote in any clone here; return what became of it.

        And tidy away sealed parcels that nobody is going to fetch.
        """
        desks = self.desks()
        for desk in desks:
            tidy(desk)
        return [news for desk in desks for news in ledger.send_all(desk)]

    @staticmethod
    def _admits(desk: Desk, machine: str) -> bool:
        try:
            return desk.fresh_roster().member(machine) is not None
        except HandsoffError:
            return False

    def serve(self, sender: str, peer: str, channel: Stream) -> None:
        """Hold one exchange with the machine ``sender``, and tell of it."""
        with suppress(HandsoffError):
            self.exchange(sender, peer, channel)

    def exchange(self, sender: str, peer: str, channel: Stream) -> None:
        """Hold one exchange with the machine ``sender``, "" where its first word is to say who.

        Raises what went wrong, once the other end was told.
        """
        talk = Talk(channel, Role.RECEIVER, who=sender or peer)
        guest: Guest | None = None
        try:
            # by ssh the account is proved and the machine only claims to be one: the signature of
            # the parcel decides, and to claim another's name shows nothing that the roster does not
            hello = talk.hear(Hello)
            talk.say(Hello(VERSIONS, self.machine.id, __version__))
            wish = talk.hear_wish()
            clone_of(self.home, self.machine, wish.repository)  # says so where there is none
            desk, member = host_of(self.desks(wish.repository), sender or hello.machine)
            guest = Guest(talk, channel, desk, member, peer, wish.work, proved=bool(sender))
            talk.who = member.name
            if isinstance(wish, Ask):
                self._receive(guest, wish)
            elif sender:
                self._give(guest, wish)
            else:
                raise RefusedError(
                    "nothing is given to who only claims a name", hint="handsoff listen"
                )
        except HandsoffError as error:
            talk.refuse(error)
            if isinstance(error, CutError) and not talk.exchange.version:
                raise  # somebody looked whether we are here
            kind: Kind = "refused" if isinstance(error, RefusedError) else "failed"
            said, hint = str(error), error.hint or ""
            plain = Happening(event=kind, peer=peer, text=said, hint=hint)
            self.tell(guest.happening(kind, text=said, hint=hint) if guest else plain)
            raise

    def _give(self, guest: "Guest", want: Want) -> None:
        def begin(kept: Kept, here: int) -> Callable[[int], None]:
            self._tell_of(guest, "giving", kept.parcel, kept.size, here)
            return self._watched(guest, kept.parcel, kept.size)

        kept = giving.give(guest.talk, want, self.desks(want.repository), guest.member, begin)
        self._tell_of(guest, "gave", kept.parcel, kept.size)

    def _receive(self, guest: "Guest", ask: Ask) -> None:
        talk, desk, member = guest.talk, guest.desk, guest.member
        rules, me = self.rules, self.machine
        if no := turned_away(rules.welcome, member, name=me.name, person=me.person):
            raise no
        objects.preload()  # what is offered takes a while to be made, and this a while to load
        shape.refuse(shape.clone_shape(desk.checkout))
        tips = news.own_tips(desk.checkout, COMMITS)
        talk.say(
            Have(tuple(tips), clone=True, roster=desk.roster_tip, record=desk.seen_tip(ask.work))
        )
        offer = talk.hear(Offer)
        with self._taking_over(member.id, offer.parcel, guest.channel):
            parcel = take(
                talk, offer, desk, room=self.room, sender=member.id,
                ready=lambda here: self._let_in(guest, offer, here),
                progress=self._watched(guest, offer.parcel, offer.size),
            )  # fmt: skip
        step("listen.receipt.before")
        talk.say(receipt_for(parcel, me))
        step("listen.receipt.after")
        if offer.parcel not in self._arrived:  # else its receipt was lost on the way
            self._arrived.add(offer.parcel)
            number = parcel.manifest.revision
            self.tell(
                guest.happening("arrived", parcel=offer.parcel, size=offer.size, revision=number)
            )
        told = talk.hear(Told)
        talk.say(Bye())
        self.tell(guest.happening("finished", parcel=offer.parcel))
        record = told.record or ask.record
        said = {"roster": ask.roster, "work": ask.work, "record": record}
        if guest.proved:
            with suppress(HandsoffError):
                guest.channel.close()  # the sender waits for our end, and not for what follows
            for doubt in heard.compare(desk, member.id, **said):
                self.tell(guest.happening("doubt", text=doubt))

    def _let_in(self, guest: "Guest", offer: Offer, here: int) -> None:
        """Ask the person here, if that is wished; then say that it comes."""
        member, key = guest.member, (guest.member.id, offer.parcel)
        if self.rules.welcome is Welcome.ASK and key not in self._agreed:
            who = f"{member.name} ({member.person}, {fingerprint(member.card.sign_key)})"
            if not self.rules.ask(f"{who} sends {guest.work}, {offer.size} bytes: take it?"):
                raise RefusedError(
                    f"the person at {self.machine.name} did not say yes to {guest.work}",
                    hint=f"ask {self.machine.person} what is the matter",
                )
            self._agreed.add(key)  # it may come in several pieces, and is one question
        self._tell_of(guest, "arriving", offer.parcel, offer.size, here)

    def _tell_of(self, guest: "Guest", kind: Kind, parcel: str, size: int, here: int = 0) -> None:
        self.tell(guest.happening(kind, parcel=parcel, size=size, offset=here))

    def _watched(self, guest: "Guest", parcel: str, size: int) -> Callable[[int], None]:
        who = guest.member.name
        return lambda done: self.watch(Moving(parcel, guest.work, who, done, size))

    @contextmanager
    def _taking_over(self, sender: str, parcel: str, channel: Stream) -> Iterator[None]:
        """Cut the connection on which ``sender`` began this parcel, if it is still open.

        A machine that dials again has lost it, whatever it looks like from here.
        """
        key = (sender, parcel)
        before, self._moving[key] = self._moving.get(key), channel
        if before is not None:
            before.abort()
        try:
            yield
        finally:
            if self._moving.get(key) is channel:
                del self._moving[key]


def receive_file(home: Home, machine: Machine, path: Path) -> Parcel:
    """Take a parcel from a file into the inbox."""
    with files.saying(f"cannot read {path}"), path.open("rb"):
        return accept(home, machine, path)
