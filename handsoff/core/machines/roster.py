"""The machines that trust each other: a chain of signed entries, and what it adds up to.

    Founded   by the first machine, about itself; its id names the repository from then on
    Admitted  a card, by any member; for a person who is there already, by one of theirs
    Revoked   a member, with the tips of all records: what it signed up to there stays good
    Renamed   a machine's name; ids never change, so nothing else does

An entry that breaks a rule is void: skipped, and stood upon. Each entry of a record names
the roster entry it was made under, so that letting a machine in never makes something good
that was void before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from handsoff.core.machines.cards import Card
from handsoff.core.sshwire import openssh_public

NAMESPACES: Final = "git,handsoff-*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """That a key is trusted no longer; ``tips`` has a commit id for the name of a work."""

    seq: int
    by: str
    at: int
    reason: str
    tips: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A machine in the roster; ``admitted`` is the number of the entry that let it in."""

    name: str
    card: Card
    admitted: int
    revoked: Revocation | None = None

    @property
    def id(self) -> str:
        """The machine's id."""
        return self.card.id

    @property
    def person(self) -> str:
        """Whose machine it is."""
        return self.card.person


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Who is trusted. ``everyone`` has revoked machines too; ``numbers`` of good entries by id."""

    founding: str
    everyone: Mapping[str, Member]
    numbers: Mapping[str, int]
    tip: str
    seq: int
    at: int

    def members(self) -> list[Member]:
        """Return the machines that are trusted now, in the order of their admission."""
        return [m for m in self.everyone.values() if m.revoked is None]

    def member(self, machine: str) -> Member | None:
        """Return the trusted machine with this id."""
        found = self.everyone.get(machine)
        return found if found is not None and found.revoked is None else None

    def named(self, name: str) -> Member | None:
        """Return the trusted machine of this name, in upper or lower case."""
        wanted = name.casefold()
        return next((m for m in self.members() if m.name.casefold() == wanted), None)

    def of_person(self, person: str, *, revoked: bool = False) -> list[Member]:
        """Return the trusted machines of a person; with ``revoked``, those that once were too."""
        wanted = person.casefold()
        kept = self.everyone.values() if revoked else self.members()
        return [m for m in kept if m.person.casefold() == wanted]

    def person_of(self, machine: str) -> str | None:
        """Return whose machine this is, or was."""
        found = self.everyone.get(machine)
        return found.person if found is not None else None

    def name_of(self, machine: str) -> str:
        """Return the name of a machine, or its id if it was never in the roster."""
        found = self.everyone.get(machine)
        return found.name if found is not None else machine

    def named_text(self, text: str) -> str:
        """Return ``text`` with names in place of machine ids, for people to read."""
        for machine, member in self.everyone.items():
            text = text.replace(machine, member.name)
        return text

    def allowed_signers(self, *, revoked: bool = False) -> str:
        """Return an allowed-signers file of OpenSSH, one line a machine.

        With it ``git log --show-signature`` verifies the chains. Git judges a key by the
        date that the signer wrote, so a revoked key is left out rather than dated: histories
        from before a revocation verify with ``revoked``, up to the tips that it names.
        """
        kept = self.everyone.values() if revoked else self.members()
        return "".join(
            f'{m.id} namespaces="{NAMESPACES}" {openssh_public(m.card.sign_key)}\n' for m in kept
        )


def admission_problem(roster: Roster, card: Card, by: str) -> str:
    """Return why ``by`` may not let the machine of ``card`` in, or nothing."""
    if card.id in roster.everyone:
        was = roster.everyone[card.id]
        return f"{was.name} was revoked: it needs a new key" if was.revoked else "already a member"
    if roster.named(card.name):
        return f"there is a machine named {card.name} already"
    theirs = roster.of_person(card.person)
    if theirs and by not in {m.id for m in theirs}:
        names = ", ".join(m.name for m in theirs)
        return f"only a machine of {card.person} may admit another one of theirs: {names}"
    return ""


def with_member(roster: Roster, card: Card, number: int) -> dict[str, Member]:
    """Return everyone, and the machine of ``card``."""
    return {**roster.everyone, card.id: Member(name=card.name, card=card, admitted=number)}


def with_change(roster: Roster, machine: str, **changes: Any) -> dict[str, Member]:
    """Return everyone, with one member changed."""
    return {**roster.everyone, machine: replace(roster.everyone[machine], **changes)}
