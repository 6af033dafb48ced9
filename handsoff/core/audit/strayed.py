"""Branches that went another way than their record says: what of that is worth a word, and which.

The last good Pushed about a branch names a commit. Where the branch has it no more, somebody forced
it, set it back or deleted it by a push that no entry tells of; git keeps no word of who did.

Rule of the room: what can be all right is no finding. The carrier may push with plain git, which
leaves no entry, so a branch that went on is a note at most; of a closed work anybody may move the
branch; a branch that is gone was merged where another one has its commit; and where no entry
names a commit nothing is known. Nobody is accused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from shlex import quote
from typing import Final

from handsoff.core.remote.pushing import NOTHING_THERE
from handsoff.core.remote.refs import HEADS
from handsoff.core.times import moment
from handsoff.core.works.lease import State
from handsoff.core.works.record import Record

_ANYBODY: Final = frozenset({State.FREE, State.CLOSED})
_IN_HAND: Final = frozenset({State.HELD, State.OFFERED})


class How(Enum):
    """How a branch stands beside its record; the words of ``--json``, which stay."""

    DELETED = "deleted"
    SET_BACK = "set-back"
    """Where it was before the last push on the record, which may also have been cut off."""
    REWRITTEN = "rewritten"
    AHEAD = "ahead"
    UNKNOWN = "unknown"
    """It cannot be told in this clone."""


LOST: Final = frozenset({How.DELETED, How.SET_BACK, How.REWRITTEN})
"""The branch does not have the commit that its record names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The last word of a record about one branch, with names, and how the work stands now."""

    work: str
    state: State
    carrier: str
    branch: str
    old: str
    """Where it was before, "" if it was not there."""
    new: str
    by: str
    at: datetime

    @property
    def ref(self) -> str:
        """The branch as a ref of the remote."""
        return HEADS + self.branch

    def differs(self, tip: str) -> bool:
        """Say whether a branch at ``tip`` ("": not there) needs a closer look."""
        return self.state not in _ANYBODY and tip != self.new


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the remote has a branch, and what that has of the commit that a claim names.

    ``has`` says whether the branch has that commit, or if it is gone whether another branch has it;
    None if that cannot be told here.
    """

    tip: str
    has: bool | None


def claims_of(record: Record, now: datetime) -> tuple[Claim, ...]:
    """Return what a record says last of each branch; nothing if it cannot be verified."""
    roster, lease = record.roster, record.lease.as_of(now)
    carrier = roster.name_of(lease.carrier) if lease.carrier else ""
    return tuple(
        Claim(
            work=record.work,
            state=lease.state,
            carrier=carrier,
            branch=said.branch.removeprefix(HEADS),
            old="" if said.old == NOTHING_THERE else said.old,
            new="" if said.new == NOTHING_THERE else said.new,
            by=roster.name_of(said.by),
            at=said.at,
        )
        for said in record.pushed
        if not record.behind
    )


def weighs(how: How, tip: str) -> bool:
    """Say whether somebody should look.

    What cannot be told counts where the branch is there: its own commits, as far as they are here,
    do not have the one that is named. Of one that is gone it does not: most of these were merged.
    """
    return how in LOST or (how is How.UNKNOWN and bool(tip))


def last_words(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Return the claim that counts for each branch: two works may be pushed to the same one."""
    last: dict[str, Claim] = {}
    for claim in claims:
        other = last.setdefault(claim.branch, claim)
        if claim.at > other.at or (claim.at == other.at and claim.old == other.new):
            last[claim.branch] = claim
    return last


def judge(claim: Claim, place: Place) -> How | None:
    """Return how a branch strayed from what ``claim`` says of it, None if nothing is to be said."""
    if not claim.differs(place.tip):
        return None
    if place.has is None:
        return How.UNKNOWN
    if not place.tip:
        return None if place.has else How.DELETED
    if place.has:
        return How.AHEAD if claim.state in _IN_HAND else None
    return How.SET_BACK if place.tip == claim.old else How.REWRITTEN


def said(claim: Claim, tip: str, how: How) -> str:
    """Return what is so, in one line."""
    branch, at = claim.branch, tip[:12]
    named = f"{claim.new[:12] or 'nothing'}, to which {claim.by} pushed it at {moment(claim.at)}"
    match how:
        case How.DELETED:
            return (
                f"{branch} was deleted past the record, and no other branch has {named}; git does "
                "not tell who did it"
            )
        case How.SET_BACK:
            return (
                f"{branch} is back at {at}, and lacks {named}: that push was cut off, or somebody "
                "set the branch back, and git does not tell who"
            )
        case How.REWRITTEN:
            return (
                f"{branch} was changed past the record: it is at {at}, and lacks {named}; git does "
                "not tell who did it"
            )
        case How.AHEAD:
            return (
                f"{branch} is at {at}, past {named}; no entry names what came since, as after a "
                "plain git push of its carrier"
            )
        case How.UNKNOWN:
            where = f"is at {at}" if tip else "is gone"
            return f"{branch} {where}; this clone cannot tell whether the remote has {named}"


def todo(claim: Claim, how: How) -> str:
    """Return what to do about it, for somebody who may be on any machine."""
    there = f"on {claim.carrier}"
    if claim.state is State.OFFERED:  # nobody may push it before
        there = "once it was caught or withdrawn, on its carrier"
    match how:
        case How.DELETED:
            return f"if it was merged or given up: handsoff prune; else {there}: handsoff push"
        case How.SET_BACK:
            return f"{there}: handsoff push"
        case How.REWRITTEN:
            return (
                f"{there}: handsoff status says how to put it back; if it was meant, handsoff push "
                "from what stands there puts it on the record"
            )
        case How.AHEAD:
            return f"{there}: handsoff status says so if these commits are not its own"
        case How.UNKNOWN:
            return "audit in a clone that has the whole history"


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """What the checkout that asks has: the remote's name, and which commits.

    ``mine`` says that this machine may push the branch, from this checkout; ``has_named`` and
    ``has_tip`` that the branch here has the named commit and the one on the remote; ``kept`` that
    the named one is here at all.
    """

    remote: str
    mine: bool
    has_named: bool = False
    has_tip: bool = False
    kept: bool = False


def is_worth_a_word(how: How, here: Here) -> bool:
    """Say whether a status says it: what the checkout's own plain push explains is no news."""
    return how in LOST or (how is How.AHEAD and here.mine and not here.has_tip)


def way_back(claim: Claim, tip: str, how: How, here: Here) -> str:
    """Return the next command to type."""
    remote = quote(here.remote)
    if not here.mine:
        return todo(claim, how)
    if how is How.AHEAD:
        return f"git pull {remote} {quote(claim.ref)} takes it in; handsoff push --force drops it"
    if here.has_named and how is How.REWRITTEN and not here.has_tip:
        return "handsoff push --force puts back what is here, and drops what stands there"
    if here.has_named:
        return "handsoff push puts it back"
    if here.has_tip:
        return "handsoff push puts on the record what this checkout has"
    if here.kept:
        lease = quote(f"--force-with-lease={claim.branch}:{tip}")
        return f"git push {lease} {remote} {quote(f'{claim.new}:{claim.ref}')} puts it back"
    return f"ask {claim.by}, which has {claim.new[:12]}"
