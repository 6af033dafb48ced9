"""What other machines say they saw of roster and record, held against what the remote shows here.

Kept in the clone's store, a few of each machine, until the remote shows them too. Nothing here
stops a hand-over: any machine of the roster can claim any tip.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from handsoff.core.ids import work_of
from handsoff.core.machines.roster import Roster
from handsoff.core.works import tips
from handsoff.core.works.tips import Claim, Claims, Told
from handsoff.edge import files
from handsoff.errors import DamagedError, HandsoffError
from handsoff.flows.desk import Desk

_FILE: Final = "heard.json"
ROSTER: Final = "roster"


def compare(desk: Desk, by: str, *, roster: str, work: str, record: str) -> list[str]:
    """Hold what the machine ``by`` told us against our own; return what is doubtful.

    Where it knows more than this clone, the remote is asked, once. What is doubtful is kept.
    """
    shared = desk.shared
    said = {
        ROSTER: (roster, desk.roster_tip),
        _name(desk, shared.record_ref(work)): (record, desk.seen_tip(work)),
    }
    claims = _kept(desk)
    for ref, (theirs, ours) in said.items():
        if tips.hold_against(chain_ids(desk, ours), theirs) is Told.UNKNOWN:
            claims = tips.hear(claims, Claim(ref, theirs, by))
    new = [ref for ref in said if any((c.ref, c.by) == (ref, by) for c in claims)]
    if not new:
        return []
    try:
        refs = [f"{shared.prefix}/{ref}" for ref in new]
        there = shared.tips(*refs)
        left = claims
        for ref in refs:  # what the remote shows just as it was told need not be fetched
            left = tips.settle(left, _name(desk, ref), [there.get(ref, "")])
        open_ = [ref for ref in refs if any(c.ref == _name(desk, ref) for c in left)]
        far = {ref: there[ref] for ref in open_ if ref in there}
        shared.bring(far, [ours for _, ours in said.values()])
    except HandsoffError:
        _keep(desk, claims)  # the next command that reaches the remote settles them
        return []
    claims = _settled(desk, left, {ref: there.get(ref, "") for ref in open_})
    _keep(desk, claims)
    return _doubts(desk, desk.local_roster(), [c for c in claims if c.ref in new and c.by == by])


def settle(desk: Desk, roster: Roster, there: Mapping[str, str]) -> list[str]:
    """Return what is doubtful still, now that the remote showed the tips ``there``."""
    claims = _kept(desk)
    if not claims:
        return []
    refs = {f"{desk.shared.prefix}/{claim.ref}" for claim in claims}
    left = _settled(desk, claims, {ref: there.get(ref, "") for ref in refs})
    left = tuple(claim for claim in left if roster.member(claim.by) is not None)
    _keep(desk, left)
    return _doubts(desk, roster, left)


def chain_ids(desk: Desk, tip: str) -> list[str]:
    """Return the ids of the chain up to ``tip``; none where there is no such chain."""
    with suppress(DamagedError):
        return [oid for oid, _ in desk.shared.chains.line(tip) or []] if tip else []
    return []


def _settled(desk: Desk, claims: Claims, there: Mapping[str, str]) -> Claims:
    for ref, tip in there.items():
        claims = tips.settle(claims, _name(desk, ref), chain_ids(desk, tip))
    return claims


def _doubts(desk: Desk, roster: Roster | None, claims: Iterable[Claim]) -> list[str]:
    found = []
    for claim in claims:
        if claim.asked:
            work = work_of(claim.ref.removeprefix("lease/")) or claim.ref
            what = "the roster" if claim.ref == ROSTER else f"the record of {work}"
            name = roster.name_of(claim.by) if roster else claim.by
            found.append(tips.doubt(claim, what, name, desk.shared.name))
    return found


def _name(desk: Desk, ref: str) -> str:
    return ref.removeprefix(f"{desk.shared.prefix}/")


def _kept(desk: Desk) -> Claims:
    kept = files.read_json(desk.checkout.store_dir / _FILE)
    return tips.decode(kept.get("claims")) if kept else ()


def _keep(desk: Desk, claims: Claims) -> None:
    if claims != _kept(desk):
        files.write_json(desk.checkout.store_dir / _FILE, {"claims": tips.encode(claims)})
