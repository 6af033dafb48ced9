"""Chains on the remote that contradict what this clone saw: told apart, and mended.

Rule of the room: what is pushed back is what was seen here, by compare-and-swap over exactly what
was judged, and only where the remote then lacks nothing that it had. A fork is for people.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from handsoff.core.chain import Link, Tips, compare_tips, open_link
from handsoff.core.remote.places import PREFIX
from handsoff.core.works import tips
from handsoff.core.works.tips import Mend
from handsoff.edge.git.moves import Move, Outcome
from handsoff.errors import DamagedError, LostRaceError, TrustError, UsageError
from handsoff.flows import archive
from handsoff.flows.desk import Desk
from handsoff.flows.remote.heard import chain_ids

_SHOWN: Final = 3
_ENTRY: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """A chain that contradicts what this clone saw."""

    what: str
    ref: str
    seen: str
    tip: str
    said: str = ""
    mend: Mend = Mend.NOTHING
    back: str = ""
    """What to put in its place; "" to delete it, where nothing was ever seen there."""
    sides: tuple[str, ...] = ()
    """Of a fork: what only this clone has, and what only the remote has."""


def torn(desk: Desk, what: str, ref: str, seen: str, tip: str, *, work: str = "") -> Torn | None:
    """Return how a chain contradicts what this clone saw of it, None if it does not.

    ``work`` is that of a record: one that the archive lets go contradicts nothing.
    """
    before, found = chain_ids(desk, seen), chain_ids(desk, tip)
    if tip and not found:
        return _overwritten(desk, Torn(what=what, ref=ref, seen=seen, tip=tip), before)
    judged = compare_tips(before, found)
    if judged in (Tips.SAME, Tips.AHEAD) or (work and _is_let_go(desk, work, before, found)):
        return None
    said, _ = tips.rewritten(what, ref, judged, seen, tip)
    mend = tips.mend(judged)
    sides = tuple(_sides(desk, before, found)) if mend is Mend.PEOPLE else ()
    return Torn(
        what=what, ref=ref, seen=seen, tip=tip, said=said, mend=mend, back=seen, sides=sides
    )


def _overwritten(desk: Desk, item: Torn, before: Sequence[str]) -> Torn:
    """Return what to do where a blob, a tree or a tag stands in place of a chain.

    A tag may lead to honest entries, which are then put in its place: nobody's may be lost.
    """
    words = ("rev-parse", "--verify", "-q", "--end-of-options", f"{item.tip}^{{commit}}")
    commit = desk.shared.run(*words).stdout.decode("ascii").strip()
    found = chain_ids(desk, commit)
    judged = compare_tips(before, found) if found else None
    forked = judged is Tips.FORKED
    return replace(
        item,
        said=f"{item.what} is no chain of entries on the remote: it has {item.tip[:12]}",
        mend=tips.mend(judged if forked else None),
        back=commit if judged in (Tips.SAME, Tips.AHEAD) else item.seen,
        sides=tuple(_sides(desk, before, found)) if forked else (),
    )


def push_back(desk: Desk, item: Torn) -> None:
    """Put what was seen back on the remote, if that still has what was judged."""
    if desk.shared.push(Move(item.ref, item.back, item.tip)) is Outcome.LOST:
        raise LostRaceError(f"{item.ref} was moved meanwhile", hint="handsoff doctor, once more")


def keep(desk: Desk, ref: str, side: str) -> str:
    """Settle what people agreed on: ``here`` pushes our history, ``remote`` forgets it."""
    if side not in ("here", "remote"):
        raise UsageError(f"--keep {side}?", hint="--keep here, or --keep remote")
    shared = desk.shared
    seen = {shared.record_ref(work): (work, desk.seen_tip(work)) for work in desk.works_seen()}
    seen[shared.roster_ref] = ("", desk.roster_tip)
    if ref not in seen:
        raise UsageError(
            f"this clone has seen nothing at {ref}", hint=f"a ref such as {PREFIX}/lease/WORK"
        )
    work, ours = seen[ref]
    there = shared.tips(ref)
    shared.bring(there, [ours])
    tip = there.get(ref, "")
    what = f"the record of {work}" if work else "the roster"
    found = torn(desk, what, ref, ours, tip, work=work)
    if found is None:
        raise UsageError(f"{ref} is as this clone saw it, or ahead", hint="handsoff doctor")
    if side == "here":
        push_back(desk, found)
        return f"pushed {found.back[:12]} over {tip[:12] or 'nothing'}"
    if work:
        desk.forget(work)
    else:
        desk.set_pin(desk.need_pin())
    return f"forgot {ours[:12]}: what the remote has counts from now on, if it verifies"


def _is_let_go(desk: Desk, work: str, before: Sequence[str], found: Sequence[str]) -> bool:
    roster, shared = desk.local_roster(), desk.shared
    if roster is None or not before:
        return False
    seen = desk.history_to(roster, work, before[-1])
    with suppress(DamagedError, TrustError):  # an archive that is not to be believed lets none go
        return archive.lets_go(shared, shared.record_ref(work), seen, found, desk.now)
    return False


def _sides(desk: Desk, before: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    """Yield what each side of a fork has alone: how many entries, and by whom."""
    roster = desk.local_roster()
    for name, mine, other in (("here", before, found), ("there", found, before)):
        alone = [oid for oid in mine if oid not in set(other)]
        links = [open_link(*commit, limit=_ENTRY) for commit in desk.shared.chains.commits(alone)]
        names = {roster.name_of(link.by) if roster else link.by
                 for link in links if isinstance(link, Link)}  # fmt: skip
        by = ", ".join(sorted(names)[:_SHOWN]) or "nobody that can be told"
        yield f"only {name}: {len(alone)} by {by}"
