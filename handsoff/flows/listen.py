"""``handsoff listen``: other machines' parcels come in, are verified, and wait in the inbox.

A parcel can be caught only when the record names it; what arrives here changes no checkout.
"""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from handsoff import __version__
from handsoff.core.exchange import Role
from handsoff.core.ids import machine_id
from handsoff.core.messages import (
    RECEIPT_NAMESPACE,
    VERSIONS,
    Accept,
    Ask,
    Bye,
    Have,
    Hello,
    Offer,
    Receipt,
    Told,
    receipt_payload,
)
from handsoff.edge import clock, files, seal, ssh
from handsoff.edge.git import news, shape
from handsoff.edge.git.repo import open_checkout
from handsoff.edge.home import Home, Parcel
from handsoff.edge.keys import Machine
from handsoff.edge.steps import step
from handsoff.edge.talk import Stream, Talk
from handsoff.errors import DamagedError, HandsoffError, TrustError, UnfitError
from handsoff.flows import heard, ledger
from handsoff.flows.accept import accept, clone_of, manifest_digest
from handsoff.flows.desk import Desk

COMMITS: Final = 2000
"""Commit ids that a receiver names to a sender; more would cost more than they save."""

_ROOM: Final = 3
"""A parcel is there sealed, opened and indexed before the first two go away."""

_FRESH: Final = 5.0


@dataclass
class House:
    """This machine as a listener."""

    home: Home
    machine: Machine
    arrived: Callable[[Parcel, str], None]
    failed: Callable[[HandsoffError, str], None]
    doubted: Callable[[str], None] = lambda _: None
    _asked: float = field(default=-_FRESH, init=False)
    _asking: threading.Lock = field(default_factory=threading.Lock, init=False)

    def listener(self, bind: str, port: int) -> ssh.Listener:
        """Return the SSH listener of this machine."""
        return ssh.Listener(
            bind, port, private_key=self.machine.seed, authorize=self.authorize, serve=self.serve
        )

    def authorize(self, public_key: bytes) -> str | None:
        """Return the id of the machine with this key if a roster of a clone here has it."""
        wanted = machine_id(public_key)
        if any(self._knows(desk, wanted) for desk in self._desks()):
            return wanted
        with self._asking:
            if clock.monotonic() - self._asked < _FRESH:
                return None  # strangers must not make us ask the remote again and again
            self._asked = clock.monotonic()
        return wanted if any(self._admits(desk, wanted) for desk in self._desks()) else None

    def _desks(self) -> list[Desk]:
        now = clock.now()
        found = []
        for top in self.home.clones():
            try:
                found.append(Desk(open_checkout(top), self.home, self.machine, now))
            except HandsoffError:
                continue  # a folder that was a clone once
        return found

    def send_what_waits(self) -> list[str]:
        """Send what was written without the remote in any clone here; return what became of it."""
        return [news for desk in self._desks() for news in ledger.send_all(desk)]

    @staticmethod
    def _knows(desk: Desk, machine: str) -> bool:
        try:
            roster = desk.local_roster()
        except HandsoffError:
            return False  # one damaged clone must not shut out the machines of the others
        return roster is not None and roster.member(machine) is not None

    @staticmethod
    def _admits(desk: Desk, machine: str) -> bool:
        try:
            return desk.fresh_roster().member(machine) is not None
        except HandsoffError:
            return False

    def serve(self, sender: str, peer: str, channel: Stream) -> None:
        """Hold one exchange with the machine ``sender``; "" where its first word is to say who."""
        talk = Talk(channel, Role.RECEIVER, who=sender or peer)
        try:
            self._receive(talk, sender)
        except HandsoffError as error:
            talk.refuse(error)
            self.failed(error, peer)

    def _receive(self, talk: Talk, sender: str) -> None:
        # by ssh the account is proved and the machine only claims to be one: the signature of the
        # parcel decides, and to claim another's name shows nothing that the roster does not
        hello = talk.hear(Hello)
        sender = sender or hello.machine
        talk.say(Hello(VERSIONS, self.machine.id, __version__))
        ask = talk.hear(Ask)
        desk = clone_of(self.home, self.machine, ask.repository)
        roster = desk.local_roster()
        if roster is None or roster.member(sender) is None:
            roster = desk.fresh_roster()
        if roster.member(sender) is None:
            raise TrustError(f"{roster.name_of(sender)} is not in the roster of this repository")
        shape.refuse(shape.clone_shape(desk.checkout))
        tips = news.own_tips(desk.checkout, COMMITS)
        talk.say(
            Have(tuple(tips), clone=True, roster=desk.roster_tip, record=desk.seen_tip(ask.work))
        )
        offer = talk.hear(Offer)
        parcel = self._take(talk, offer, desk)
        step("listen.receipt.before")
        talk.say(self._receipt(parcel))
        step("listen.receipt.after")
        self.arrived(parcel, roster.name_of(sender))
        told = talk.hear(Told)
        talk.say(Bye())
        record = told.record or ask.record
        for doubt in heard.compare(desk, sender, roster=ask.roster, work=ask.work, record=record):
            self.doubted(doubt)

    def _take(self, talk: Talk, offer: Offer, desk: Desk) -> Parcel:
        present = self.home.parcel(offer.parcel)
        part = self.home.incoming / f"{offer.parcel}.part"
        if present is not None:
            part.unlink(missing_ok=True)
            talk.say(Accept(offer.size))
            return present
        have = part.stat().st_size if part.exists() else 0
        if have > offer.size:
            part.unlink()
            have = 0
        free = shutil.disk_usage(self.home.incoming).free
        if free < _ROOM * offer.size - have:
            raise UnfitError(
                f"{self.machine.name} has {free} bytes free, too few for a parcel of {offer.size}",
                hint=f"make room on {self.machine.name}",
            )
        talk.say(Accept(have))
        step("listen.accept.after")
        with files.saying("cannot keep the parcel"), part.open("ab") as file:
            talk.receive_parcel(file.write)
            file.flush()
        step("listen.bytes.after")
        if seal.digest(part) != offer.sha256:
            part.unlink()
            raise DamagedError("the parcel did not arrive as it was sent", hint="send it again")
        try:
            parcel = accept(self.home, self.machine, part, desk)
        finally:
            part.unlink(missing_ok=True)
        if parcel.manifest.parcel != offer.parcel:
            raise DamagedError("the parcel is not the one that was offered")
        return parcel

    def _receipt(self, parcel: Parcel) -> Receipt:
        at = int(clock.now().timestamp())
        claims = {"parcel": parcel.manifest.parcel, "manifest": manifest_digest(parcel)}
        payload = receipt_payload(**claims, by=self.machine.id, at=at)
        signature = self.machine.sign(payload, RECEIPT_NAMESPACE)
        return Receipt(**claims, by=self.machine.id, at=at, signature=signature)


def receive_file(home: Home, machine: Machine, path: Path) -> Parcel:
    """Take a parcel from a file into the inbox."""
    with files.saying(f"cannot read {path}"), path.open("rb"):
        return accept(home, machine, path)
