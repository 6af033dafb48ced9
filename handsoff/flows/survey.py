"""All works at once: one question to the remote, at most one fetch, each record judged alone.

A record that was tampered with is a finding about its own work; the others are told all the same.
Works that this clone has never seen are found by their refs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.chain import Link, open_link
from handsoff.core.ids import work_of
from handsoff.core.record import Record
from handsoff.core.roster import Roster
from handsoff.errors import DamagedError, HandsoffError, TrustError, UnreachableError
from handsoff.flows import heard
from handsoff.flows.desk import Desk

MOST: Final = 2000
"""Works looked at that this clone has not seen before: anybody who can push can make more refs."""

_NAMED_IN: Final = 20
"""Entries searched for the name of a work whose ref had to cut it short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One work: what the remote has of it, what this clone saw, and what those add up to."""

    work: str
    ref: str
    tip: str
    seen: str
    record: Record | None
    """The record as the remote has it; None if that is not to be believed."""
    trouble: HandsoffError | None = None
    """Why it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the remote has of us: the roster, and how each work stands."""

    roster: Roster
    works: Mapping[str, Standing] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    """What other machines saw and the remote does not show here."""
    unread: int = 0
    """Refs of records that were not looked at."""


def survey(desk: Desk, works: Iterable[str] = ()) -> Survey:
    """Return how all works stand that are on the remote, were seen here, or are in ``works``.

    TrustError if the roster itself is not to be believed.
    """
    shared = desk.shared
    below = f"{shared.prefix}/lease/"
    ours = {shared.record_ref(work): work for work in (*desk.works_seen(), *works)}
    seen = {ref: desk.seen_tip(work) for ref, work in ours.items()}
    asked = (shared.roster_ref, f"{below}*")
    tips = shared.tips(*asked)
    new = sorted(ref for ref in tips if ref.startswith(below) and ref not in ours)
    wanted = [shared.roster_ref, *ours, *new[:MOST]]
    known = [tip for tip in (desk.roster_tip, *seen.values()) if tip]
    try:
        _fetch(desk, wanted, tips, known)
    except UnreachableError:
        # a ref that was deleted since it was named, perhaps
        tips = shared.tips(*asked)
        _fetch(desk, wanted, tips, known)
    roster = desk.read_roster(tips.get(shared.roster_ref, "")).trusted()
    named = ((ref, work_of(ref.removeprefix(below)) or _named(desk, ref, tips.get(ref, "")))
             for ref in new[:MOST])  # fmt: skip
    ours |= {ref: work for ref, work in named if work}
    shared.prepare(_unread(desk, ours, roster, tips))
    found = {
        work: _standing(desk, work, ref, roster, tips.get(ref, "")) for ref, work in ours.items()
    }
    return Survey(
        roster=roster,
        works=dict(sorted(found.items())),
        doubts=tuple(heard.settle(desk, roster, tips)),
        unread=len(new[MOST:]),
    )


def _fetch(desk: Desk, wanted: list[str], tips: dict[str, str], known: list[str]) -> None:
    there = {ref: tips[ref] for ref in wanted if ref in tips}
    absent = desk.shared.absent([*there.values(), *known])
    news = [ref for ref, tip in there.items() if tip in absent]
    if news:
        desk.shared.fetch(news, [tip for tip in known if tip not in absent])


def _named(desk: Desk, ref: str, tip: str) -> str:
    """Return the work that the entries of a ref name, whose own name was cut short."""
    try:
        commits = desk.shared.chain(tip) or []
    except DamagedError:
        return ""
    for link in (open_link(*commit) for commit in commits[:_NAMED_IN]):
        work = link.body.get("work") if isinstance(link, Link) else None
        if isinstance(work, str) and desk.shared.record_ref(work) == ref:
            return work
    return ""


def _unread(
    desk: Desk, ours: Mapping[str, str], roster: Roster, tips: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the chains that must be read: those that moved, from where they are still known."""
    found = []
    for ref, work in ours.items():
        tip, kept = tips.get(ref, ""), desk.kept_record(work, roster)
        if tip and (kept is None or kept.git_tip != tip):
            found.append((tip, kept.git_tip or "" if kept else ""))
    return found


def _standing(desk: Desk, work: str, ref: str, roster: Roster, tip: str) -> Standing:
    seen = desk.seen_tip(work)
    try:
        record = desk.read_record(work, roster, tip)
    except (TrustError, DamagedError) as error:
        return Standing(work=work, ref=ref, tip=tip, seen=seen, record=None, trouble=error)
    return Standing(work=work, ref=ref, tip=tip, seen=seen, record=record)
