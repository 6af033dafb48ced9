"""Three machines that write without the remote, meet, and come back: nothing is lost or doubled.

Each has the record as it last saw it on the remote, and its own chain on top, which waits. Machines
that meet pass their chain on, and what they add to it travels further. At the next contact all of
it lands, is signed anew, or is refused, by the steps of ``landing.flush``, which may be killed
between any two; clocks are wrong, and an outsider puts rubbish on the remote's ref meanwhile.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from handsoff.core.chain import Word
from handsoff.core.objects import oid_of
from handsoff.core.works.landing import Course, Fate, course, write_again
from handsoff.core.works.lease import (
    HOLD,
    Caught,
    Dropped,
    Event,
    Offered,
    Recipient,
    Saved,
    Withdrawn,
)
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.errors import HeldError, RefusedError
from tests.kit.contacts import MACHINES, RECIPIENTS, RUBBISH, SKEWS, rubbish
from tests.kit.signing import M1, M2, M3, START, Machine, empty, pairs

VERBS = st.sampled_from(
    [
        ["save"],
        ["save"],
        ["save", "offer"],
        ["save", "offer"],
        ["catch"],
        ["catch"],
        ["catch", "save", "offer"],
        ["withdraw"],
        ["offer"],
        ["drop"],
        ["close"],
    ]
)
KILLS = st.sampled_from(["", "", "", "before", "after", "anew"])
WAITS = st.sampled_from([1, 20, 31, 60 * 25])


@dataclass
class Clone:
    """What one machine has of the work."""

    who: Machine
    skew: timedelta = timedelta(0)
    seen: Record = field(default_factory=empty)
    waits: Record | None = None
    since: datetime = START
    parcel: Record | None = None
    """The record that came along in the last parcel."""
    made: set[Any] = field(default_factory=set)
    refused: set[Any] = field(default_factory=set)
    acknowledged: set[Any] = field(default_factory=set)


def key(event: Event) -> Any:
    """Return what tells a verb from all others, whenever it was signed."""
    match event:
        case Caught(hold=own) | Saved(hold=own) | Withdrawn(hold=own):
            mark: Any = own
        case Offered(parcel=own):
            mark = own
        case Dropped(reason=own):
            mark = own
        case _:
            mark = ""
    return (type(event).__name__, event.by, event.leg, event.revision, mark)


def keys(record: Record) -> list[Any]:
    return [key(entry.event) for entry in record.good]


def oids(record: Record) -> list[str]:
    return [entry.oid for entry in record.entries]


def follows(record: Record, before: Record) -> bool:
    return oids(record)[: len(before.entries)] == oids(before)


def act(pen: Pen, verb: str, to: Recipient, number: int) -> Pen:
    """Do what a verb does, marked with its number, without looking whether it may."""
    hold = HOLD + timedelta(seconds=number)
    match verb:
        case "catch":
            return pen.caught(hold=hold, lapsed=pen.record.has_lapsed(pen.now))
        case "save":
            envelope = oid_of("blob", b"%d" % number)
            return pen.holding(hold=hold).saved(envelope=envelope, hold=hold)
        case "offer":
            return pen.offered(to, parcel=f"{number:032x}")
        case "withdraw":
            return pen.withdrawn(hold=hold)
        case "drop":
            return pen.dropped(f"the train arrives ({number})")
        case _:
            return pen.closed("merged")


class WaitingModel(RuleBasedStateMachine):
    """Clones, one ref, and what travels between them."""

    def __init__(self) -> None:
        super().__init__()
        self.remote = empty()
        self.clones = {m.id: Clone(m) for m in (M1, M2, M3)}
        self.data: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.now = START
        self.number = 0
        self.confirmed: dict[int, str] = {}

    @initialize(skews=st.tuples(SKEWS, SKEWS, SKEWS), cut=st.sets(MACHINES.map(lambda m: m.id)))
    def begin(self, skews: tuple[timedelta, ...], cut: set[str]) -> None:
        for clone, skew in zip(self.clones.values(), skews, strict=True):
            clone.skew = skew
        self.cut = cut

    @rule(minutes=WAITS)
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(who=MACHINES, skew=SKEWS)
    def turn_a_clock(self, who: Machine, skew: timedelta) -> None:
        self.clones[who.id].skew = skew

    @rule(cut=st.sets(MACHINES.map(lambda m: m.id)))
    def cut_off(self, cut: set[str]) -> None:
        self.cut = cut

    @rule(who=MACHINES, kind=RUBBISH)
    def push_rubbish(self, who: Machine, kind: str) -> None:
        made = rubbish(kind, self.remote, who, self.now)
        if made is not None:
            self.data.update([made])
            self.remote = self.remote.extend([made])

    @rule(who=MACHINES, to=MACHINES)
    def meet(self, who: Machine, to: Machine) -> None:
        clone = self.clones[who.id]
        self.clones[to.id].parcel = clone.waits or clone.seen

    @rule(who=MACHINES, asked=st.booleans(), kill=KILLS)
    def contact(self, who: Machine, asked: bool, kill: str) -> None:
        if who.id not in self.cut:
            self.flush(self.clones[who.id], kill, asked=asked)

    @rule(who=MACHINES, verbs=VERBS, to=RECIPIENTS, kill=KILLS)
    def work(self, who: Machine, verbs: list[str], to: Recipient, kill: str) -> None:
        clone, away = self.clones[who.id], who.id in self.cut
        if not away and not self.flush(clone, kill):
            return
        view = self.known(clone, away=away)
        self.number += 1
        pen = who.pen(view, self.now + clone.skew)
        try:
            for verb in verbs:
                pen = act(pen, verb, to, self.number)
        except (RefusedError, HeldError):
            return
        self.data.update(pairs(*pen.drafts))
        made = set(keys(pen.record)[-len(pen.drafts) :])
        clone.made |= made
        if clone.waits is not None and not follows(pen.record, clone.waits):
            return  # refused: the remote has gone on without what waits
        if kill == "before":
            return
        if away or clone.waits is not None:
            clone.since = min(clone.since, pen.now) if clone.waits else pen.now
            clone.waits = pen.record
        elif not self.push(view, pen.record) or kill == "after":
            return
        else:
            clone.seen = pen.record
        clone.acknowledged |= made

    def known(self, clone: Clone, *, away: bool) -> Record:
        """Return the record as the clone has it: seen, what waits, and what came in a parcel."""
        view, waits, parcel = clone.seen, clone.waits, clone.parcel
        if waits is not None and follows(waits, view):
            view = waits
        if away and parcel is not None and follows(parcel, view) and parcel.tip == parcel.git_tip:
            view = parcel
        return view

    def push(self, old: Record, new: Record) -> bool:
        """Move the ref by compare-and-swap."""
        if self.remote.git_tip != old.git_tip:
            return False
        ahead = oids(new)[len(old.entries) :]
        self.remote = self.remote.extend([(oid, self.data[oid]) for oid in ahead])
        return True

    def flush(self, clone: Clone, kill: str, *, asked: bool = False) -> bool:
        """Take the steps of ``landing.flush``; False if it was killed."""
        now = self.now + clone.skew
        for _ in range(4):
            clone.seen = view = self.remote
            new = clone.waits
            if new is None:
                return True
            age = max(timedelta(0), now - clone.since)
            by = clone.who.id
            todo = course(new.entries, view.entries, by=by, age=age, asked=asked)
            if todo.fate is Fate.LANDED:
                clone.waits = None
            if todo.fate in (Fate.LANDED, Fate.WAIT):
                return True
            whole = False
            if todo.fate is Fate.AGAIN:
                anew = self.anew(clone, view, todo, now)
                if anew is None:
                    others = asked and any(e.event.by != by for e in new.good)
                    assert self.outrun(clone, view) or others, "refused, and nobody was faster"
                    clone.refused |= {key(event) for event in todo.stake}
                    clone.waits = None
                    return True
                new, whole = anew, todo.whole
            if whole:
                clone.waits, clone.since = new, now
            elif kill != "before":
                self.push(view, new)
            if kill in (("anew",) if whole else ("before", "after")):
                return False
        raise AssertionError("it never came to an end")

    def anew(self, clone: Clone, view: Record, todo: Course, now: datetime) -> Record | None:
        """Return the record with the entries signed anew; None if they do not fit."""
        pen = clone.who.pen(view, now)
        try:
            pen = write_again(pen, todo.again, fresh=todo.fresh)
        except (RefusedError, HeldError):
            return None
        self.data.update(pairs(*pen.drafts))
        return pen.record

    def outrun(self, clone: Clone, view: Record) -> bool:
        """Say whether the remote has a verb that the clone's chain has not."""
        return bool(set(keys(view)) - set(keys(clone.waits or empty())))

    @invariant()
    def every_verb_is_on_the_remote_or_waits_or_was_refused_and_counts_once(self) -> None:
        there = Counter(keys(self.remote))
        assert all(count == 1 for count in there.values())
        for clone in self.clones.values():
            waits = set(keys(clone.waits)) if clone.waits else set()
            assert clone.acknowledged <= there.keys() | waits | clone.refused
            assert not clone.refused & there.keys(), "told that it was refused, and it landed"
            made = {mark for mark in there if mark[1] == clone.who.id}
            assert made <= clone.made, "somebody signed what this machine never did"

    @invariant()
    def one_holder_of_each_leg_and_every_history_verifies(self) -> None:
        for entry in self.remote.good:
            leg = entry.event.leg + isinstance(entry.event, Caught)
            holder = self.confirmed.setdefault(leg, entry.event.by)
            assert holder == entry.event.by, "two holders"
        words = (Word.SIGNED, Word.UNKNOWN, Word.BAD, Word.UNSIGNED)
        assert all(entry.word in words for entry in self.remote.entries)
        assert empty().extend([(oid, self.data[oid]) for oid in oids(self.remote)]) == self.remote
        for clone in self.clones.values():
            assert follows(self.remote, clone.seen)

    def teardown(self) -> None:  # type: ignore[explicit-override]
        """In the end, when all are asked for what is old, nothing waits any more."""
        self.now += timedelta(days=9000)
        for _ in range(3):
            for clone in self.clones.values():
                clone.since = min(clone.since, self.now + clone.skew - timedelta(hours=25))
                self.flush(clone, "", asked=True)
        assert all(clone.waits is None for clone in self.clones.values())
        self.every_verb_is_on_the_remote_or_waits_or_was_refused_and_counts_once()
        self.one_holder_of_each_leg_and_every_history_verifies()


TestWaiting = WaitingModel.TestCase
TestWaiting.settings = settings(
    max_examples=settings().max_examples * 3 // 5, stateful_step_count=25
)
