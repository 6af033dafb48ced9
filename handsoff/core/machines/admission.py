"""Reading and writing the chain of the roster.

Rule of the room: what is written is judged by the same function as what is read, so that
this machine never pushes an entry that others would skip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from handsoff.core.chain import (
    LIMIT,
    Commits,
    Draft,
    Flaw,
    Judged,
    Link,
    Sign,
    Word,
    check_chain,
    compose,
    open_link,
)
from handsoff.core.ids import check_name, is_oid, machine_id
from handsoff.core.machines.cards import Card, read_card
from handsoff.core.machines.roster import (
    Member,
    Revocation,
    Roster,
    admission_problem,
    with_change,
    with_member,
)
from handsoff.core.objects import EMPTY_TREE
from handsoff.errors import DamagedError, RefusedError, TrustError, UsageError

REVOKED_LIMIT: Final = 1 << 20
"""Bytes of a Revoked entry, which names the tip of every record."""

_FIXED: Final = frozenset({"v", "kind", "seq", "prev", "by", "at", "roster"})
_FIELDS: Final[dict[str, frozenset[str]]] = {
    "Founded": frozenset({"card"}),
    "Admitted": frozenset({"card"}),
    "Revoked": frozenset({"machine", "reason", "tips"}),
    "Renamed": frozenset({"machine", "name"}),
}

RosterEntry: TypeAlias = Judged[Link]


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRead:
    """A roster's chain as far as it was read: the sum of its good entries, and each verdict."""

    pinned: str | None = None
    roster: Roster | None = None
    entries: tuple[RosterEntry, ...] = ()
    git_tip: str | None = None

    def extend(self, commits: Commits) -> "RosterRead":
        """Return the roster after further commits; raise DamagedError if they do not follow."""
        check_chain(commits, after=self.git_tip)
        read = self
        for oid, data in commits:
            link = open_link(oid, data, limit=REVOKED_LIMIT)
            verdict, roster = _judge(read, link)
            entries = (*read.entries, verdict)
            read = replace(read, roster=roster, entries=entries, git_tip=oid)
        return read

    def trusted(self) -> Roster:
        """Return the roster; raise TrustError if nobody founded it, or not the one trusted."""
        if self.roster is not None:
            return self.roster
        if self.pinned is not None:
            raise TrustError(
                f"the roster is not the one that this machine trusts, {self.pinned[:12]}",
                hint="ask whoever keeps the remote; nothing was read from it",
            )
        raise TrustError("there is no roster yet", hint="handsoff init")


def read_roster(commits: Commits, pinned: str | None) -> RosterRead:
    """Return the roster that ``commits`` add up to, if its founding entry is ``pinned``."""
    return RosterRead(pinned=pinned).extend(commits)


def found(read: RosterRead, card: Card, *, at: int, sign: Sign) -> Draft:
    """Return the entry with which the machine of ``card`` founds the roster."""
    return _write(
        read, "Founded", {"card": card.as_dict()}, by=card.id, name=card.name, at=at, sign=sign
    )


def admit(read: RosterRead, card: Card, *, by: str, at: int, sign: Sign) -> Draft:
    """Return the entry with which ``by`` lets the machine of ``card`` in."""
    fields = {"card": card.as_dict()}
    return _write_by(read, "Admitted", fields, by=by, at=at, sign=sign)


def revoke(
    read: RosterRead,
    machine: str,
    *,
    reason: str,
    tips: Mapping[str, str],
    by: str,
    at: int,
    sign: Sign,
) -> Draft:
    """Return the entry that ends the trust in ``machine``; ``tips`` go by the name of the work."""
    fields = {"machine": machine, "reason": reason, "tips": dict(tips)}
    return _write_by(read, "Revoked", fields, by=by, at=at, sign=sign)


def rename(read: RosterRead, machine: str, name: str, *, by: str, at: int, sign: Sign) -> Draft:
    """Return the entry that gives ``machine`` another name."""
    fields = {"machine": machine, "name": check_name(name)}
    return _write_by(read, "Renamed", fields, by=by, at=at, sign=sign)


def _write_by(
    read: RosterRead, kind: str, fields: dict[str, Any], *, by: str, at: int, sign: Sign
) -> Draft:
    name = read.trusted().name_of(by)
    return _write(read, kind, fields, by=by, name=name, at=at, sign=sign)


def _write(
    read: RosterRead, kind: str, fields: dict[str, Any], *, by: str, name: str, at: int, sign: Sign
) -> Draft:
    roster = read.roster
    body = {
        "kind": kind,
        "roster": roster.founding if roster else "",
        "seq": roster.seq + 1 if roster else 1,
        "prev": roster.tip if roster else "",
        **fields,
    }
    oid, data = compose(
        f"roster: {_subject(read, kind, fields)}",
        body,
        parent=read.git_tip,
        tree=EMPTY_TREE,
        name=name,
        machine=by,
        at=max(at, roster.at) if roster else at,
        sign=sign,
    )
    verdict = read.extend([(oid, data)]).entries[-1]
    if not verdict.good:
        raise RefusedError(verdict.reason, hint="handsoff roster tells who is in")
    return Draft(oid=oid, data=data)


def _subject(read: RosterRead, kind: str, fields: dict[str, Any]) -> str:
    if "card" in fields:
        inner = fields["card"]["card"]
        return f"{kind.lower()} {inner['name']} of {inner['person']}"
    return f"{kind.lower()} {read.trusted().name_of(fields['machine'])}"


def _judge(read: RosterRead, link: Link | Flaw) -> tuple[RosterEntry, Roster | None]:
    """Return what is to be said of a link, and the roster after it."""
    roster = read.roster
    if isinstance(link, Flaw):
        word = link.word
        if link.key is not None:
            word = _word(roster, machine_id(link.key))
        return Judged(oid=link.oid, word=word, reason=link.reason), roster
    founds = roster is None and link.body["kind"] == "Founded"
    word = Word.SIGNED if founds else _word(roster, link.by)
    reason = "" if word is Word.SIGNED else f"{link.by}: {word.value}"
    if not reason:
        try:
            roster = _apply(read, link)
        except (DamagedError, RefusedError, TrustError, UsageError) as error:
            reason = str(error)
    return Judged(oid=link.oid, word=word, reason=reason, entry=link), roster


def _word(roster: Roster | None, machine: str) -> Word:
    signer = roster.everyone.get(machine) if roster is not None else None
    if signer is None:
        return Word.UNKNOWN
    return Word.SIGNED if signer.revoked is None else Word.REVOKED


def _apply(read: RosterRead, link: Link) -> Roster:
    """Return the roster after a link; raise for each rule that it breaks."""
    kind, body, roster = link.body["kind"], link.body, read.roster
    if kind not in _FIELDS or body.keys() != _FIXED | _FIELDS[kind]:
        raise DamagedError(f"not an entry of a roster: {kind[:40]}")
    if link.tree != EMPTY_TREE:
        raise DamagedError("an entry of a roster has no files")
    if kind != "Revoked" and link.size > LIMIT:
        raise DamagedError(f"{link.size} bytes, over the limit of {LIMIT}")
    expected = (roster.founding, roster.tip, roster.seq + 1) if roster else ("", "", 1)
    if body["roster"] != expected[0]:
        raise DamagedError("an entry of another roster")
    if (body["prev"], body["seq"]) != expected[1:]:
        raise DamagedError("out of turn: it does not follow the last good entry")
    if roster is None:
        return _founded(read, link)
    if link.at < roster.at:
        raise DamagedError("dated before the entry that it follows")
    return replace(
        roster,
        everyone=_everyone(roster, link),
        numbers={**roster.numbers, link.oid: body["seq"]},
        tip=link.oid,
        seq=body["seq"],
        at=link.at,
    )


def _founded(read: RosterRead, link: Link) -> Roster:
    card = read_card(link.body["card"])
    if card.id != link.by:
        raise DamagedError("founded with the card of another machine")
    if read.pinned not in (None, link.oid):
        raise TrustError("not the founding entry that this machine trusts")
    return Roster(
        founding=link.oid,
        everyone={card.id: Member(name=card.name, card=card, admitted=1)},
        numbers={link.oid: 1},
        tip=link.oid,
        seq=1,
        at=link.at,
    )


def _everyone(roster: Roster, link: Link) -> dict[str, Member]:
    body = link.body
    if body["kind"] == "Founded":
        raise RefusedError("the roster is founded already")
    if body["kind"] == "Admitted":
        card = read_card(body["card"])
        if problem := admission_problem(roster, card, link.by):
            raise RefusedError(problem)
        return with_member(roster, card, body["seq"])
    if not isinstance(body["machine"], str) or roster.member(body["machine"]) is None:
        raise RefusedError(f"no such machine: {str(body['machine'])[:40]}")
    if body["kind"] == "Renamed":
        return with_change(roster, body["machine"], name=_new_name(roster, link))
    if len(roster.members()) == 1:
        raise RefusedError("the last machine cannot be revoked")
    return with_change(roster, body["machine"], revoked=_revocation(link))


def _new_name(roster: Roster, link: Link) -> str:
    name, machine = link.body["name"], link.body["machine"]
    if not isinstance(name, str):
        raise DamagedError("a name that is none")
    holder = roster.named(check_name(name))
    if holder is not None and holder.id != machine:
        raise RefusedError(f"there is a machine named {name} already")
    if link.by not in {m.id for m in roster.of_person(roster.everyone[machine].person)}:
        raise RefusedError("only a machine of the same person may rename another")
    return name


def _revocation(link: Link) -> Revocation:
    reason, tips = link.body["reason"], link.body["tips"]
    if not isinstance(reason, str) or not isinstance(tips, dict):
        raise DamagedError("not a revocation")
    if not all(is_oid(tip) for tip in tips.values()):
        raise DamagedError("a revocation that names a tip which is none")
    return Revocation(seq=link.body["seq"], by=link.by, at=link.at, reason=reason, tips=tips)
