"""Tidying the remote: works whose branch is merged or gone are closed, and old ones taken away.

Order, and what a kill at each point leaves: a work is closed and loses its parcels in one push.
Records that are due are first named in the archive, then deleted, each only as it was seen. A
deletion that was named and not done is done by the next run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Final, TypeAlias

from handsoff.core.ids import work_component
from handsoff.core.remote import archive as rules
from handsoff.core.remote import prune
from handsoff.core.remote.prune import Do, Sight, Verdict
from handsoff.core.remote.refs import HEADS
from handsoff.core.works.pen import Pen
from handsoff.edge.git import merged
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, LostRaceError, UsageError
from handsoff.flows.archive import named, read_archive
from handsoff.flows.desk import Desk
from handsoff.flows.remote.survey import Standing, Survey, survey
from handsoff.flows.roster.roster import Ask
from handsoff.flows.works.pending import waiting_in

Show: TypeAlias = Callable[["Pruned"], None]
"""Is given what would be done, before anybody is asked."""

_TRIES: Final = 5
_NAME_WEIGHS: Final = 6
_MOVED: Final = "another machine moved it just now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One work: what is (to be) done about it, why, and how many parcels go."""

    work: str
    action: str
    outcome: str
    reason: str
    parcels: int
    done: bool = False
    raced: bool = False
    """Whether another machine moved it before this one could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How it went, or would go."""

    into: str
    dry_run: bool
    works: tuple[Item, ...]

    @property
    def todo(self) -> list[Item]:
        """The works about which something is to be done."""
        return [item for item in self.works if item.action != Do.KEEP.value]

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        works = [asdict(item) for item in self.works]
        return {"branch": self.into, "dry_run": self.dry_run, "works": works}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A work, what is to be done about it, and the refs that go, with their tips."""

    standing: Standing
    verdict: Verdict
    doomed: Mapping[str, str]

    def item(self, *, done: bool = False) -> Item:
        """Return what to tell about it."""
        verdict = self.verdict
        parcels = sum("/snap/" in ref for ref in self.doomed)
        return Item(
            work=self.standing.work,
            action=verdict.do.value,
            outcome=verdict.outcome,
            reason=verdict.reason,
            parcels=parcels,
            done=done,
        )


class Pruning:
    """A run: first ``cases`` is looked at, then ``act`` does it."""

    def __init__(self, desk: Desk, *, branch: str | None, keep: timedelta) -> None:
        self.desk, self.keep = desk, keep
        self.found = survey(desk, (), f"{HEADS}*")
        desk.need_admitted(self.found.roster)
        self.into = branch or merged.main_branch(desk.shared)
        self.trunk = self.found.refs.get(HEADS + self.into, "")
        if not self.trunk:
            raise UsageError(
                f"the remote {desk.shared.name} has no branch {self.into}", hint="--branch NAME"
            )
        self._fetch_heads()
        tops = desk.home.clones(desk.pin)
        self.pending = {component for top in tops for component in waiting_in(top)}
        there = [s for s in self.found.works.values() if s.tip or s.problem]
        self.cases = [self._case(standing) for standing in there]

    def told(self, *, dry_run: bool) -> Pruned:
        """Return what would be done."""
        items = tuple(case.item() for case in self.cases)
        return Pruned(into=self.into, dry_run=dry_run, works=items)

    def _fetch_heads(self) -> None:
        heads = {HEADS + standing.work for standing in self.found.works.values()}
        wanted = [ref for ref in heads | {HEADS + self.into} if ref in self.found.refs]
        self.desk.shared.fetch(sorted(wanted), most=None)

    def _case(self, standing: Standing) -> Case:
        desk, refs, work = self.desk, self.found.refs, standing.work
        component = work_component(work)
        parcels = self.found.parcels().get(component, {})
        sight = Sight(
            record=standing.record,
            into=self.into,
            branch=refs.get(HEADS + work, ""),
            waiting=frozenset(ref.rpartition("/")[2] for ref in parcels),
            problem=standing.problem,
            pending=component in self.pending,
        )
        if not standing.problem:
            sight = replace(sight, record=desk.history(standing.record))
            pushed = sight.last_push
            tip = sight.branch or getattr(pushed and pushed.event, "new", "")
            at = merged.merged_at(desk.shared, tip, self.trunk) if tip else None
            sight = replace(sight, merged=at)
        verdict = prune.decide(sight, desk.now, self.keep)
        doomed: dict[str, str] = {}
        if verdict.do is not Do.KEEP:
            doomed = {r: t for r, t in parcels.items() if r.rpartition("/")[2] in sight.parcels}
        if verdict.do is Do.FORGET:
            notes = f"{desk.shared.prefix}/notes/{component}/"
            told = {ref: tip for ref, tip in refs.items() if ref.startswith(notes)}
            doomed = {standing.ref: standing.tip, **told, **parcels}
        return Case(standing=standing, verdict=verdict, doomed=doomed)


def prune_remote(
    desk: Desk, *, branch: str | None, keep: timedelta, dry_run: bool, ask: Ask, show: Show
) -> Pruned:
    """Tidy the remote, once somebody who was shown what that means says yes."""
    run = Pruning(desk, branch=branch, keep=keep)
    plan = run.told(dry_run=dry_run)
    if dry_run or not plan.todo:
        return plan
    show(plan)
    ask(f"do this to {len(plan.todo)} of {len(plan.works)} works on {desk.shared.name}?")
    _name_deletions(desk, run.found, [c for c in run.cases if c.verdict.do is Do.FORGET])
    return replace(plan, works=tuple(_act(desk, case) for case in run.cases))


def _act(desk: Desk, case: Case) -> Item:
    if case.verdict.do is Do.KEEP:
        return case.item()
    gone = [Move(ref, "", tip) for ref, tip in case.doomed.items()]
    moves = [*_closing(desk, case), *gone] if case.verdict.do is Do.CLOSE else gone
    step(f"prune.{case.verdict.do.value}.before")
    if desk.shared.push(*moves) is Outcome.MOVED:
        return case.item(done=True)
    kept = replace(case, verdict=Verdict(Do.KEEP, _MOVED), doomed={})
    return replace(kept.item(), raced=True)


def _closing(desk: Desk, case: Case) -> Iterator[Move]:
    """Yield the move that catches and closes a work."""
    record = case.standing.record
    pen = Pen(record=record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
    pen = pen.caught(lapsed=record.lease.until is not None).closed(case.verdict.outcome)
    store_of(desk.shared).write_drafts(pen.drafts)
    yield Move(case.standing.ref, pen.record.git_tip or "", case.standing.tip)


def _name_deletions(desk: Desk, found: Survey, cases: Sequence[Case]) -> None:
    """Name in the archive what is about to be deleted, where it is not named already."""
    shared = desk.shared
    doomed = {
        named(shared, ref): chain for case in cases for ref, chain in _chains(desk, case).items()
    }
    for _ in range(_TRIES):
        read = read_archive(shared, found.roster)
        left = {ref: ids for ref, ids in doomed.items() if not read.ends(ref, ids[-1])}
        if not left:
            return
        drafts, after = [], read
        for chunk in _chunks(left):
            at = int(desk.now.timestamp())
            draft = rules.archived(after, chunk, by=desk.machine.id, at=at, sign=desk.machine.sign)
            drafts.append(draft)
            after = after.extend([(draft.oid, draft.data)])
        store_of(shared).write_drafts(drafts)
        step("prune.archive.before")
        shared.push(Move(shared.archive_ref, after.git_tip or "", read.git_tip or ""))
    raise LostRaceError(
        f"{_TRIES} times another machine wrote to the archive first", hint="type it again"
    )


def _chains(desk: Desk, case: Case) -> dict[str, list[str]]:
    """Return the refs of a work that are to be named, each with the ids of its chain."""
    shared = desk.shared
    refs = {ref: tip for ref, tip in case.doomed.items() if "/snap/" not in ref}
    shared.bring(refs)
    found = {}
    for ref, tip in refs.items():
        with suppress(DamagedError):  # rubbish in the place of notes: its id says enough
            found[ref] = [oid for oid, _ in shared.chains.line(tip) or []]
    return {ref: found.get(ref) or [tip] for ref, tip in refs.items()}


def _chunks(refs: Mapping[str, list[str]]) -> Iterator[dict[str, list[str]]]:
    """Yield ``refs`` in portions that fit into one entry each."""
    chunk: dict[str, list[str]] = {}
    size = 0
    for ref, ids in refs.items():
        weight = len(ids) + _NAME_WEIGHS
        if chunk and size + weight > rules.AT_ONCE:
            yield chunk
            chunk, size = {}, 0
        chunk[ref] = ids[-(rules.AT_ONCE - _NAME_WEIGHS) :]
        size += weight
    yield chunk
