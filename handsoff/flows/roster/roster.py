"""Letting a machine in, and telling who is in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from handsoff.core.chain import Draft
from handsoff.core.machines import admission
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.cards import Card, parse_card
from handsoff.core.machines.roster import Member, Revocation, Roster, admission_problem
from handsoff.core.plain import plain
from handsoff.core.sshwire import openssh_public
from handsoff.core.times import moment
from handsoff.core.works.entry import time_of
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.git.remote import Shared
from handsoff.errors import LostRaceError, RefusedError
from handsoff.flows.desk import Desk

Ask: TypeAlias = Callable[[str], None]
"""Asks a person a question, and raises unless the answer is yes."""

_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Admission:
    """How it went: the card, the roster after it, and whether it was in there before."""

    card: Card
    roster: Roster
    already: bool
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        member = self.roster.everyone[self.card.id]
        return {
            "founding": self.roster.founding,
            "already": self.already,
            "dry_run": self.dry_run,
            "member": member_as_dict(member),
        }


def roster_with(desk: Desk, machine: str) -> Roster:
    """Return the roster as this clone last saw it, or as the remote has it if it lacks ``machine``.

    It may lack it still.
    """
    roster = desk.local_roster()
    if roster is None or roster.member(machine) is None:
        roster = desk.fresh_roster()
    return roster


def admit(desk: Desk, file: bytes, *, ask: Ask, dry_run: bool = False) -> Admission:
    """Let the machine of a card file in, once a person compared its fingerprint.

    Another member may write to the roster meanwhile: then it is read and judged again.
    """
    card = parse_card(file)
    asked = False
    for _ in range(_TRIES):
        read = desk.live_roster()
        roster = read.trusted()
        desk.need_admitted(roster)
        if roster.member(card.id) is not None:
            return Admission(card, roster, already=True, dry_run=dry_run)
        if problem := admission_problem(roster, card, desk.machine.id):
            raise RefusedError(
                f"{card.name} of {card.person} is not let in: {problem}",
                hint="handsoff roster tells who is in",
            )
        if not asked and not dry_run:
            ask(f"{card.name} of {card.person}, {card.fingerprint}: let this machine in?")
            asked = True
        at = int(desk.now.timestamp())
        draft = admission.admit(read, card, by=desk.machine.id, at=at, sign=desk.machine.sign)
        if dry_run:
            after = read.extend([(draft.oid, draft.data)]).trusted()
            return Admission(card, after, already=False, dry_run=True)
        if push_roster(desk.shared, read, draft):
            return Admission(card, desk.read_roster(draft.oid).trusted(), already=False)
    raise LostRaceError(
        f"{_TRIES} times another machine wrote to the roster first", hint="type it again"
    )


def push_roster(shared: Shared, read: RosterRead, *drafts: Draft) -> bool:
    """Put ``drafts`` on the roster that was ``read``; False if another machine was faster."""
    store_of(shared).write_drafts(drafts)
    move = Move(shared.roster_ref, drafts[-1].oid, read.git_tip or "")
    return shared.push(move) is Outcome.MOVED


def roster_as_dict(roster: Roster, own: str) -> dict[str, Any]:
    """Return the document of ``roster --json``; revoked machines are in it, and marked."""
    return {
        "founding": roster.founding,
        "members": [
            {**member_as_dict(member), "self": member.id == own}
            for member in roster.everyone.values()
        ],
    }


def member_as_dict(member: Member) -> dict[str, Any]:
    """Return one machine as ``--json`` has it."""
    return {
        "id": member.id,
        "name": member.name,
        "person": member.person,
        "fingerprint": member.card.fingerprint,
        "sign_key": openssh_public(member.card.sign_key),
        "age_key": member.card.age_key,
        "revoked": member.revoked is not None,
        "revocation": _revocation_as_dict(member.revoked),
    }


def _revocation_as_dict(revoked: Revocation | None) -> dict[str, Any] | None:
    if revoked is None:
        return None
    return {
        "by": revoked.by,
        "at": moment(time_of(revoked.at)),
        "reason": revoked.reason,
        "tips": dict(revoked.tips),
    }


def roster_lines(roster: Roster, own: str) -> list[str]:
    """Return the roster for people: one line a machine, in columns."""
    members = list(roster.everyone.values())
    name = max(len(m.name) for m in members)
    person = max(len(m.person) for m in members)
    return [f"founding {roster.founding}"] + [
        f"{m.name:<{name}}  {m.person:<{person}}  {m.id}  {m.card.fingerprint}{_remark(m, own)}"
        for m in members
    ]


def _remark(member: Member, own: str) -> str:
    if member.revoked is not None:
        return f"  revoked: {plain(member.revoked.reason)}"
    return "  (this machine)" if member.id == own else ""
