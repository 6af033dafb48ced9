"""Three machines and a remote, in any order: the record never has two holders of one leg.

The remote is one ref moved by compare-and-swap. Machines act on what they last fetched,
their clocks are years apart, the network comes and goes, and an outsider who can push puts
rubbish on the ref.
"""

from dataclasses import replace
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from handsoff.core import canon
from handsoff.core.chain import Tips, Word, compare_tips
from handsoff.core.objects import oid_of
from handsoff.core.works.cache import from_cache, to_cache
from handsoff.core.works.entry import Entry
from handsoff.core.works.lease import Caught, Recipient, Saved, State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record, read_record
from handsoff.errors import HeldError, RefusedError
from tests.kit.contacts import MACHINES, OFTEN, RECIPIENTS, RUBBISH, SKEWS, rubbish
from tests.kit.signing import M1, M2, M3, START, Machine, empty, pairs, roster

VERBS = st.sampled_from(
    [
        ["save", "offer"],
        ["save", "offer"],
        ["catch"],
        ["catch"],
        ["catch", "save", "offer"],
        ["withdraw", "offer"],
        ["save"],
        ["drop"],
        ["close"],
        ["offer"],
    ]
)


def act(pen: Pen, verb: str, to: Recipient, envelope: str) -> Pen:
    """Do what a verb does, without looking whether it may."""
    match verb:
        case "catch":
            return pen.caught(lapsed=pen.record.has_lapsed(pen.now))
        case "save":
            return pen.holding().saved(envelope=envelope)
        case "offer":
            return pen.offered(to)
        case "withdraw":
            return pen.withdrawn()
        case "drop":
            return pen.dropped("the train arrives")
        case _:
            return pen.closed("merged")


class RecordModel(RuleBasedStateMachine):
    """Machines with views, clocks and links of their own around one ref."""

    def __init__(self) -> None:
        super().__init__()
        self.remote: list[tuple[str, bytes]] = []
        self.views = {m.id: empty() for m in (M1, M2, M3)}
        self.skews = {m.id: timedelta(0) for m in (M1, M2, M3)}
        self.cut: set[str] = set()
        self.now = START
        self.number = 0
        self.acknowledged: list[str] = []
        self.confirmed: dict[int, str] = {}

    @initialize(skews=st.tuples(SKEWS, SKEWS, SKEWS))
    def set_clocks(self, skews: tuple[timedelta, ...]) -> None:
        self.skews = dict(zip(self.skews, skews, strict=True))

    @rule(minutes=st.sampled_from([1, 20, 31, 60 * 25]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(who=MACHINES, skew=SKEWS)
    def turn_a_clock(self, who: Machine, skew: timedelta) -> None:
        self.skews[who.id] = skew

    @rule(who=st.none() | MACHINES)
    def cut_off(self, who: Machine | None) -> None:
        self.cut = {who.id} if who else set()

    @rule(who=MACHINES)
    def fetch(self, who: Machine) -> None:
        if who.id not in self.cut:
            view = self.views[who.id]
            oids = [oid for oid, _ in self.remote]
            seen = [] if view.git_tip is None else [view.git_tip]
            assert compare_tips(seen, oids) in (Tips.SAME, Tips.AHEAD)
            known = oids.index(view.git_tip) + 1 if view.git_tip else 0
            self.views[who.id] = view.extend(self.remote[known:])

    @rule(who=MACHINES, verbs=VERBS, to=RECIPIENTS, looks_first=OFTEN)
    def work(self, who: Machine, verbs: list[str], to: Recipient, *, looks_first: bool) -> None:
        if looks_first:
            self.fetch(who)
        self.number += 1
        view = self.views[who.id]
        pen = who.pen(view, self.now + self.skews[who.id])
        try:
            for verb in verbs:
                pen = act(pen, verb, to, oid_of("blob", b"%d" % self.number))
        except (RefusedError, HeldError):
            return
        if who.id in self.cut or view.git_tip != (self.remote[-1][0] if self.remote else None):
            return  # unreachable, or the compare-and-swap failed: nothing has happened
        self.remote += pairs(*pen.drafts)
        self.views[who.id] = pen.record
        self.acknowledged += [draft.oid for draft in pen.drafts]
        for entry in pen.record.good[-len(pen.drafts) :]:
            self.confirm(entry)

    def confirm(self, entry: Entry) -> None:
        leg = entry.event.leg + isinstance(entry.event, Caught)
        holder = self.confirmed.setdefault(leg, entry.event.by)
        assert holder == entry.event.by, f"two confirmed holders of leg {leg}"

    @rule(who=MACHINES, kind=RUBBISH)
    def push_rubbish(self, who: Machine, kind: str) -> None:
        made = rubbish(kind, self.read(), who, self.now)
        self.remote += [made] if made else []

    def read(self) -> Record:
        return read_record(self.remote, roster(), "feat/x")

    @invariant()
    def every_history_verifies_and_nothing_acknowledged_is_lost(self) -> None:
        record = self.read()
        assert [e.oid for e in record.good] == self.acknowledged
        assert all(
            e.word in (Word.SIGNED, Word.UNKNOWN, Word.BAD, Word.UNSIGNED) for e in record.entries
        )
        saves = [e.event.revision + 1 for e in record.good if isinstance(e.event, Saved)]
        assert saves == list(range(1, record.lease.revision + 1))

    @invariant()
    def all_readers_agree_and_a_cache_says_the_same(self) -> None:
        record = self.read()
        kept = from_cache(canon.decode(canon.encode(to_cache(record))), roster(), "feat/x")
        assert kept == replace(record, entries=())
        for view in self.views.values():
            if view.git_tip == record.git_tip:
                assert (view.lease, view.tip, view.seq) == (record.lease, record.tip, record.seq)

    @invariant()
    def one_machine_at_most_may_push(self) -> None:
        record = self.read()
        allowed = [m for m in (M1, M2, M3) if record.may_push(m.id, self.now).allowed]
        if record.lease.state not in (State.FREE, State.CLOSED):
            assert len(allowed) <= 1


TestRecord = RecordModel.TestCase
TestRecord.settings = settings(
    max_examples=settings().max_examples * 3 // 5, stateful_step_count=25
)
