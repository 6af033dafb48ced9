"""The lease, under any order of events: two machines never both hold a work."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from handsoff.core.works.holding import may_push
from handsoff.core.works.lease import (
    Caught,
    Closed,
    Dropped,
    Event,
    How,
    Lease,
    Offered,
    Recipient,
    Saved,
    State,
    Withdrawn,
    advance,
)

PEOPLE = {"m1": "lin", "m2": "lin", "m3": "kim"}
MACHINES = st.sampled_from(sorted(PEOPLE))
RECIPIENTS = MACHINES.map(lambda m: Recipient(machine=m)) | st.sampled_from(
    [Recipient(person="lin"), Recipient()]
)
START = datetime(2030, 1, 1, tzinfo=UTC)


class LeaseModel(RuleBasedStateMachine):
    """Three machines, each acting on the lease as it last saw it, none with a true clock."""

    def __init__(self) -> None:
        super().__init__()
        self.lease = Lease()
        self.now = START
        self.seen = dict.fromkeys(PEOPLE, Lease())
        self.holders: dict[int, str] = {}

    @rule(minutes=st.integers(min_value=1, max_value=40) | st.just(60 * 25))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(
        who=MACHINES,
        to=RECIPIENTS,
        slow=st.integers(min_value=-40, max_value=40),
        looks_first=st.booleans(),
        kind=st.sampled_from([Saved, Offered, Offered, Withdrawn, Caught, Caught, Dropped, Closed]),
    )
    def act(
        self, who: str, to: Recipient, slow: int, kind: type[Event], *, looks_first: bool
    ) -> None:
        if looks_first:
            self.seen[who] = self.lease
        seen, before = self.seen[who], self.lease
        at = max(self.now + timedelta(minutes=slow), START)
        happened = kind(
            by=who,
            at=at,
            leg=seen.leg,
            revision=seen.revision,
            **self.extra(kind, seen, at, to),
        )
        result = advance(before, happened, PEOPLE.get)
        if not isinstance(result, Lease):
            return
        assert (seen.leg, seen.revision) == (before.leg, before.revision), "acted on the past"
        ended = before.until is not None and at >= before.until
        if isinstance(happened, Caught):
            nobody_has_it = before.until is None or ended
            meant = before.to is not None and before.to.admits(who, PEOPLE[who])
            assert nobody_has_it or meant, "took a work that was not there for it"
            assert result.leg == before.leg + 1
        else:
            assert before.carrier == who, "changed the work of another"
            assert not ended, "went on after its own end"
            assert result.leg == before.leg
        self.lease = result

    def extra(self, kind: type[Event], seen: Lease, at: datetime, to: Recipient) -> dict[str, Any]:
        match kind.__name__:
            case "Offered":
                return {"to": to, "deadline": at + timedelta(hours=24)}
            case "Caught":
                return {"found": seen.as_of(at).found()}
            case "Dropped":
                return {"reason": "train"}
            case "Closed":
                return {"outcome": "merged"}
            case _:
                return {}

    @invariant()
    def one_holder_per_leg(self) -> None:
        if self.lease.leg:
            first = self.holders.setdefault(self.lease.leg, self.lease.carrier)
            assert first == self.lease.carrier

    @invariant()
    def only_an_open_hold_has_an_end(self) -> None:
        open_hold = self.lease.state in (State.HELD, State.OFFERED)
        assert (self.lease.until is not None) == open_hold
        assert (self.lease.to is not None) == (self.lease.state is State.OFFERED)

    @invariant()
    def what_is_not_held_says_how_it_came_to_be_there(self) -> None:
        held_or_never = self.lease.state in (State.HELD, State.FREE)
        assert (self.lease.how is How.FREE) == held_or_never

    @invariant()
    def only_the_carrier_may_push(self) -> None:
        for machine in PEOPLE:
            verdict = may_push(self.lease, machine, self.now)
            if verdict.allowed and self.lease.state not in (State.FREE, State.CLOSED):
                assert machine == self.lease.carrier


TestLease = LeaseModel.TestCase
TestLease.settings = settings(stateful_step_count=30)
