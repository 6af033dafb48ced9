"""Where the remote has the branches of works, held against what their records say.

The tips come with the answer in which the remote names our refs. A branch is fetched only where
its tip is not the commit that the record names and is not here: on an ordinary day, never.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handsoff.core.audit import strayed
from handsoff.core.audit.strayed import (
    Claim,
    Here,
    Place,
    claims_of,
    is_worth_a_word,
    judge,
    last_words,
)
from handsoff.core.checkout.state import State
from handsoff.core.plain import plain
from handsoff.core.remote.refs import HEADS, Kind, read_ref
from handsoff.core.times import moment
from handsoff.core.works.record import Record
from handsoff.edge.git import operation, shape
from handsoff.edge.git.merged import reaches
from handsoff.edge.git.remote import Shared
from handsoff.errors import HandsoffError
from handsoff.flows.desk import Desk, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Strayed:
    """A branch that was moved past the record of its work, and the way back."""

    branch: str
    how: str
    """One of the words of ``core/audit/strayed.py``."""
    tip: str
    """Where it is on the remote, "" if it is gone."""
    named: str
    """The commit that the record names last."""
    by: str
    at: str
    """Who pushed that on the record, and when."""
    said: str
    next: str


def places(
    shared: Shared,
    claims: Iterable[Claim],
    tips: Mapping[str, str],
    *,
    fetched: Collection[str] | None = None,
) -> dict[str, Place]:
    """Return the places of the branches that are not where ``claims`` say, by their names.

    ``tips`` are the remote's refs. Objects are fetched for the works in ``fetched``, by default for
    all; what stays out of reach is not known.
    """
    heads = {ref: tip for ref, tip in tips.items() if _is_branch(shared, ref)}
    differ = [
        claim
        for claim in last_words(claims).values()
        if claim.differs(heads.get(claim.ref, "")) and _is_branch(shared, claim.ref)
    ]
    wanted = [claim for claim in differ if fetched is None or claim.work in fetched]
    missed = {ref: heads[ref] for claim in wanted for ref in _needed(claim, heads)}
    if missed:
        with suppress(HandsoffError):  # too large, or gone meanwhile: then it is not known
            shared.bring(missed)
    return {claim.branch: _place(shared, claim, heads) for claim in differ}


def _place(shared: Shared, claim: Claim, heads: Mapping[str, str]) -> Place:
    tips = {heads[ref] for ref in _needed(claim, heads)}
    has = not claim.new or reaches(shared, tips, claim.new)
    return Place(tip=heads.get(claim.ref, ""), has=has)


def _needed(claim: Claim, heads: Mapping[str, str]) -> Iterator[str]:
    """Yield the branches to be looked at: this one, or if it is gone all others."""
    yield from [claim.ref] if claim.ref in heads else heads


def _is_branch(shared: Shared, ref: str) -> bool:
    return read_ref(ref, shared.prefix).kind is Kind.BRANCH


def strayed_from(
    desk: Desk, records: Iterable[Record], tips: Mapping[str, str]
) -> dict[str, tuple[Strayed, ...]]:
    """Return by work the branches that strayed from ``records``, as seen from this checkout."""
    records = list(records)
    claims = last_words(claim for record in records for claim in claims_of(record, desk.now))
    mine = {record.work for record in records if _is_mine(desk, record)}
    found: dict[str, tuple[Strayed, ...]] = {}
    for branch, place in places(desk.shared, claims.values(), tips, fetched=mine).items():
        claim, how = claims[branch], judge(claims[branch], place)
        here = _here(desk, claim, place, mine=claim.work in mine) if how is not None else None
        if how is None or here is None or not is_worth_a_word(how, here):
            continue
        told = Strayed(
            branch=branch,
            how=how.value,
            tip=place.tip,
            named=claim.new,
            by=claim.by,
            at=moment(claim.at),
            said=strayed.said(claim, place.tip, how),
            next=strayed.way_back(claim, place.tip, how, here),
        )
        found[claim.work] = (*found.get(claim.work, ()), told)
    return found


def _is_mine(desk: Desk, record: Record) -> bool:
    """Say whether this checkout may push the branch of its work."""
    at_work = record.work in (desk.checkout.branch(), operation.branch(desk.checkout))
    carries = record.lease.carrier == desk.machine.id
    return at_work and carries and record.may_push(desk.machine.id, desk.now).allowed


def _here(desk: Desk, claim: Claim, place: Place, *, mine: bool) -> Here:
    shared, head = desk.shared, desk.checkout.commit(HEADS + claim.work)

    def has(commit: str) -> bool:
        return bool(head and commit and reaches(shared, [head], commit))

    return Here(
        remote=shared.name,
        mine=mine,
        has_named=has(claim.new),
        has_tip=has(place.tip),
        kept=bool(claim.new) and shared.has(claim.new),
    )


def followed_elsewhere(desk: Desk, state: State) -> Iterator[str]:
    """Yield a warning if the branch of ``state`` follows a remote that this clone does not have."""
    there, here = state.branch.remote, desk.shared.name
    if there not in ("", "=", ".", *desk.checkout.remotes()):
        yield (
            f"where it comes from, the branch follows the remote {plain(there)}, which is not set "
            f"up here: a plain git push goes to {here}; to follow it: git remote add NAME URL, "
            f"then git branch --set-upstream-to"
        )


def warnings(desk: Desk, view: View, arrived: Path | None = None) -> Iterator[str]:
    """Yield what a hand-over should say of its branch, as far as the objects here tell.

    ``arrived`` is the object folder of a parcel that is caught; then a branch at a commit that is
    not here is said elsewhere, and may be the last carrier's own.
    """
    folder = arrived or desk.shared.objects
    for claim in claims_of(view.record, desk.now) if not view.away else ():
        tip = view.branch
        if claim.branch != view.record.work or not claim.differs(tip):
            continue
        back = bool(tip) and shape.is_ancestor(desk.checkout, tip, claim.new, folder)
        how = judge(claim, Place(tip=tip, has=False if back else None))
        if how is not None and (back or not tip):
            yield f"{strayed.said(claim, tip, how)}; handsoff push puts it back"
        elif how is not None and arrived is None and not desk.shared.has(tip):
            yield f"{strayed.said(claim, tip, how)}; handsoff status looks closer"
