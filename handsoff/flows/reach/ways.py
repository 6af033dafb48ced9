"""The ways to another machine: how a stream to it is opened, and who is at the other end.

A listener proves its key before the first byte, so it is the machine that was asked for or nobody.
By ssh the *host* proved a key that the user trusts, and the machine only says who it is: what it is
sent is sealed to that member of the roster, and only that member's key can sign the receipt.
"""

import os
import threading
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from handsoff.core.machines.roster import Member
from handsoff.core.plain import plain
from handsoff.core.reach.destination import PROGRAM, Destination, parse_destination
from handsoff.core.reach.sshtalk import other_version
from handsoff.edge.git.repo import Checkout
from handsoff.edge.ssh import openssh
from handsoff.edge.ssh.openssh import Session
from handsoff.edge.ssh.talk import Stream
from handsoff.errors import RefusedError, TrustError, UsageError
from handsoff.flows.desk import Desk
from handsoff.flows.reach import finding
from handsoff.flows.roster.roster import roster_with

_SSH: Final = "HANDSOFF_SSH"


class Way(Protocol):
    """One way to a machine."""

    @property
    def where(self) -> str:
        """What leads there, as people type it."""

    def open(self) -> Stream:
        """Connect; raise what stands against it."""

    def who(self, machine: str) -> Member:
        """Return the member at the other end, which calls itself ``machine``; or TrustError."""

    def differs(self, error: RefusedError) -> RefusedError:
        """Return what to say where the other end speaks another protocol."""

    def worked(self, member: Member) -> None:
        """Remember the way, now that ``member`` has signed for what came by it."""

    def again(self) -> "Way":
        """Return the same way, to be opened once more."""

    def abandon(self) -> None:
        """Stop trying, if it is still tried."""


@dataclass
class Straight:
    """To the listener of ``to``, by its key: at ``at``, or else wherever it is found."""

    desk: Desk
    to: Member
    at: str | None
    look: float
    """Seconds that it is looked for by mDNS."""
    _found: str = field(default="", init=False)
    _given_up: threading.Event = field(default_factory=threading.Event, init=False)

    @property
    def where(self) -> str:
        return self._found or self.at or self.to.name

    def open(self) -> Stream:
        channel, self._found = finding.dial(
            self.desk.home, self.desk.machine, self.to, self.at,
            look=self.look, given_up=self._given_up,
        )  # fmt: skip
        return channel

    def who(self, machine: str) -> Member:
        del machine  # the key said it before
        return self.to

    def differs(self, error: RefusedError) -> RefusedError:
        return error

    def worked(self, member: Member) -> None:
        pass  # whoever found it has remembered where

    def again(self) -> Way:
        return replace(self)

    def abandon(self) -> None:
        self._given_up.set()


@dataclass
class BySsh:
    """Through an ordinary sshd, which runs handsoff for us; ``to`` is who it must be, if known."""

    desk: Desk
    destination: Destination
    to: Member | None
    asked: str | None
    """The program to run there, where the person named it."""
    _session: Session | None = field(default=None, init=False)
    _abandoned: bool = field(default=False, init=False)

    @property
    def where(self) -> str:
        return self.destination.text

    def open(self) -> Stream:
        self._session = Session(ssh_words(self.desk.checkout), self.destination, self._command())
        if self._abandoned:
            self._session.stop()
        return self._session.greeted()

    def _command(self) -> str:
        kept = self.desk.home.program_at(self.where)
        set_ = self.desk.checkout.setting("handsoff.remoteCommand")
        return self.asked or kept or set_ or PROGRAM

    def who(self, machine: str) -> Member:
        roster = roster_with(self.desk, machine)
        found, name = roster.member(machine), plain(roster.name_of(machine), limit=63)
        if found is None:
            raise TrustError(
                f"{self.where} is {name}, not in the roster",
                hint="let it in: handsoff card there, handsoff admit FILE here; or handsoff pair",
            )
        if found.id == self.desk.machine.id:
            raise UsageError(f"{self.where} is this machine", hint="handsoff roster lists others")
        if self.to is not None and found.id != self.to.id:
            raise TrustError(
                f"{self.where} is {found.name}, not {self.to.name}",
                hint=f"handsoff send {self.to.name} --via ssh --at USER@HOST",
            )
        return found

    def differs(self, error: RefusedError) -> RefusedError:
        return other_version(error, self.where)

    def worked(self, member: Member) -> None:
        self.desk.home.remember_ssh(member.id, self.where, self.asked)

    def again(self) -> Way:
        return replace(self)

    def abandon(self) -> None:
        self._abandoned = True
        if self._session is not None:
            self._session.stop()


def ssh_words(checkout: Checkout | None) -> tuple[str, ...]:
    """Return the ssh to run: of the environment, else as git's configuration says, else ``ssh``."""
    kept = checkout.setting("handsoff.ssh") if checkout is not None else None
    return openssh.split_words(os.environ.get(_SSH) or kept or "ssh")


def remembered(desk: Desk, to: Member) -> Destination | None:
    """Return where ssh reached ``to`` last, if it did."""
    kept = desk.home.ssh_of(to.id)
    return parse_destination(kept) if kept is not None else None
