"""New keys for a machine that is in the roster: three entries, pushed together.

    Renamed   the old id gives its name up, for one that says it was
    Admitted  the new card, of the same name and person, by the old key
    Revoked   the old id, by itself, with the tips of all records as ever

Rule of the room: rotation needs no rule of its own. Each entry is one that the machine may write,
so a reader that never heard of rotation judges it rightly, and no name is ever that of two
members. One push of one ref makes all three or none.
"""

from collections.abc import Mapping
from typing import Final

from handsoff.core.chain import Draft, Sign
from handsoff.core.machines import admission
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.cards import Card
from handsoff.core.machines.roster import Roster
from handsoff.errors import RefusedError

_STEM: Final = 50
"""Characters of a name that are kept in the name of what it was."""


def former_name(roster: Roster, name: str) -> str:
    """Return a name for the old keys of the machine ``name``, that none has or ever had."""
    taken = {member.name.casefold() for member in roster.everyone.values()}
    wanted, number = f"{name[:_STEM]}.old", 2
    while wanted.casefold() in taken:
        wanted, number = f"{name[:_STEM]}.old{number}", number + 1
    return wanted


def rotate(
    read: RosterRead, card: Card, *, tips: Mapping[str, str], by: str, at: int, sign: Sign
) -> tuple[Draft, ...]:
    """Return the entries with which ``by`` gives its place to the new keys on ``card``."""
    roster = read.trusted()
    mine = roster.member(by)
    if mine is None or (card.name, card.person) != (mine.name, mine.person):
        raise RefusedError("new keys keep the name and the person of the old ones")
    renamed = admission.rename(read, by, former_name(roster, mine.name), by=by, at=at, sign=sign)
    read = read.extend([(renamed.oid, renamed.data)])
    admitted = admission.admit(read, card, by=by, at=at, sign=sign)
    read = read.extend([(admitted.oid, admitted.data)])
    reason = f"rotated: its new key is {card.fingerprint}"
    revoked = admission.revoke(read, by, reason=reason, tips=tips, by=by, at=at, sign=sign)
    return renamed, admitted, revoked


def is_rotated(roster: Roster, old: str, new: str) -> bool:
    """Say whether the keys of ``new`` have taken the place of those of ``old`` already."""
    was = roster.everyone.get(old)
    gone = was is not None and was.revoked is not None and was.revoked.by == old
    return gone and roster.member(new) is not None
