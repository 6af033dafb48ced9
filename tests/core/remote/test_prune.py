"""What may be tidied away: every reason to stay, and that nothing else is enough to go."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.remote.prune import KEEP_RECORDS, Do, Sight, decide
from handsoff.core.works.lease import Dropped, Recipient, State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.errors import HandsoffError
from tests.kit.signing import M1, M2, START, empty, forged

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OLD, NEW = "1" * 40, "2" * 40
PARCEL, OTHER = "a" * 32, "b" * 32
LATER = START + DAY


def pen(record: Record | None = None, at: datetime = START) -> Pen:
    return M1.pen(record or empty(), at)


def at(drawn: Pen, now: datetime) -> Pen:
    return replace(drawn, now=now)


def sight(drawn: Pen, **more: Any) -> Sight:
    known: dict[str, Any] = {"branch": NEW, "merged": START + 12 * HOUR}
    return Sight(record=drawn.record, into="main", **{**known, **more})


SAVED = pen().caught().saved(envelope=OLD, parcel=PARCEL)
DROPPED = SAVED.dropped("tired")
PUSHED = SAVED.pushed("feat/x", old=OLD, new=NEW)


def test_a_work_that_nobody_holds_is_closed_when_it_was_merged_after_it_was_left() -> None:
    for left in (SAVED, DROPPED, SAVED.offered(Recipient(), within=HOUR)):
        said = decide(sight(left, waiting=frozenset({PARCEL, OTHER})), LATER)
        assert (said.do, said.outcome) == (Do.CLOSE, "merged")
        assert said.reason == "merged into main at 2030-01-08 04:00 UTC"
    assert sight(SAVED, waiting=frozenset({PARCEL, OTHER})).parcels == {PARCEL}, (
        "one that no entry names may be on its way"
    )


def test_a_branch_that_is_gone_counts_if_it_was_pushed_after_the_last_save() -> None:
    gone = {"branch": "", "merged": None}
    assert decide(sight(PUSHED, **gone), LATER).outcome == "abandoned"
    assert decide(sight(PUSHED, branch=""), LATER).outcome == "merged"
    assert decide(sight(PUSHED, branch="", merged=START - DAY), LATER).outcome == "merged"
    assert decide(sight(PUSHED.dropped("done"), **gone), LATER).do is Do.CLOSE
    full = SAVED.pushed("refs/heads/feat/x", old=OLD, new=NEW)
    assert decide(sight(full, **gone), LATER).do is Do.CLOSE


KEPT: dict[str, Sight] = {
    "its record cannot be verified: rewound": sight(DROPPED, problem="rewound"),
    "entries about it wait": sight(DROPPED, pending=True),
    "no entry of its record counts": sight(pen()),
    "m1 carries it until 2030-01-08 16:30 UTC": sight(pen(at=LATER).caught()),
    "m1 offers it to m2 until": sight(
        at(SAVED, LATER - HOUR).caught(lapsed=True).saved().offered(Recipient(machine=M2.id))
    ),
    "m1 blocked it: no key": sight(SAVED.dropped("no key", blocked=True)),
    "its branch is not merged into main": sight(DROPPED, merged=None),
    "what main has of it is older than that": sight(DROPPED, merged=START - HOUR),
    "m1 saved it at 2030-01-07 16:00 UTC": sight(DROPPED, merged=START - HOUR),
    "no entry says it ever was": sight(DROPPED, branch="", merged=None),
    "m1 saved it after its last push": sight(PUSHED.saved(envelope=NEW), branch="", merged=None),
    "m1 caught it after its last push": sight(
        at(PUSHED.dropped("x"), START + HOUR).caught(), branch="", merged=None
    ),
    "no entry says it ever was ": sight(
        SAVED.pushed("feat/y", old=OLD, new=NEW), branch="", merged=None
    ),
    "the branch that others are merged into": replace(sight(DROPPED), into="feat/x"),
}


@pytest.mark.parametrize("reason", KEPT)
def test_a_work_stays_and_says_why(reason: str) -> None:
    said = decide(KEPT[reason], LATER)
    assert said.do is Do.KEEP
    assert reason.strip() in said.reason


def test_a_lease_that_signed_times_contradict_has_not_run_out() -> None:
    record = SAVED.record
    late = Dropped(by=M2.id, at=START + 5 * DAY, leg=1, revision=1, reason="not its own")
    ahead = record.extend([forged(record, late, M2)])
    for when, do in ((4 * DAY, Do.KEEP), (6 * DAY, Do.CLOSE)):
        assert decide(replace(sight(SAVED), record=ahead), START + when).do is do


CLOSED = SAVED.closed("merged")


def test_a_closed_work_loses_its_parcels_now_and_its_record_later() -> None:
    both = frozenset({PARCEL, OTHER})
    assert decide(sight(CLOSED, waiting=both), LATER).do is Do.CLEAR
    soon = decide(sight(CLOSED, waiting=frozenset({OTHER})), LATER)
    assert (soon.do, soon.reason) == (
        Do.KEEP,
        "closed as merged since 2030-01-07 16:00 UTC; its record goes after 2030-02-06 16:00 UTC",
    )
    due = START + KEEP_RECORDS
    assert decide(sight(CLOSED), due - timedelta(seconds=1)).do is Do.KEEP
    assert decide(sight(CLOSED), due).do is Do.FORGET
    assert decide(sight(CLOSED), START + HOUR, timedelta(0)).do is Do.FORGET
    assert decide(sight(CLOSED, pending=True), due).do is Do.KEEP
    assert decide(sight(CLOSED), START - HOUR, timedelta(days=-1)).do is Do.KEEP, (
        "this clock is behind the one that closed it"
    )


def test_a_closed_work_on_the_main_branch_goes_like_any_other() -> None:
    assert decide(replace(sight(CLOSED), into="feat/x"), START + 31 * DAY).do is Do.FORGET


ACTS = ("caught", "saved", "kept", "pushed", "offered", "withdrawn", "dropped", "blocked", "closed")


def acted(drawn: Pen, act: str) -> Pen:
    match act:
        case "saved":
            return drawn.saved(envelope=OLD)
        case "kept":
            return drawn.saved(envelope=OLD, parcel=PARCEL)
        case "pushed":
            return drawn.pushed("feat/x", old=OLD, new=NEW)
        case "offered":
            return drawn.offered(Recipient())
        case "dropped" | "blocked":
            return drawn.dropped("why", blocked=act == "blocked")
        case "closed":
            return drawn.closed("abandoned")
        case "caught":
            return drawn.caught()
        case _:
            return drawn.withdrawn()


@given(
    acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 50)), max_size=8),
    known=st.fixed_dictionaries(
        {
            "branch": st.sampled_from(["", NEW]),
            "merged": st.none() | st.integers(-10, 400).map(lambda n: START + n * HOUR),
            "waiting": st.frozensets(st.sampled_from([PARCEL, OTHER])),
            "problem": st.sampled_from(["", "", "rewound"]),
            "pending": st.sampled_from([False, False, True]),
        }
    ),
    now=st.integers(-20, 2000).map(lambda n: START + n * HOUR),
)
def test_nothing_that_somebody_may_still_need_goes(
    acts: list[tuple[str, int]], known: dict[str, Any], now: datetime
) -> None:
    drawn, clock = pen(), START
    for act, hours in acts:
        clock += hours * HOUR
        try:
            drawn = acted(at(drawn, clock), act)
        except HandsoffError:
            continue
    seen = Sight(record=drawn.record, into="main", **known)
    said = decide(seen, now)
    lease = drawn.record.lease.as_of(now)
    assert said.reason.isprintable()
    assert said.reason
    if seen.problem or seen.pending or lease.state in (State.HELD, State.OFFERED, State.FREE):
        assert said.do is Do.KEEP
    if said.do in (Do.CLEAR, Do.FORGET):
        assert lease.state is State.CLOSED
    if said.do is Do.FORGET:
        assert lease.since is not None
        assert now - lease.since >= KEEP_RECORDS
    if said.do is Do.CLOSE:
        assert lease.state is State.DROPPED
        assert not lease.blocked
        saves = [e.event.at for e in drawn.record.good if e.kind == "Saved"]
        kinds = [e.kind for e in drawn.record.good if e.kind in ("Saved", "Pushed")]
        merged = seen.merged
        merged_since = merged is not None and all(saved <= merged for saved in saves)
        pushed_since = not seen.branch and kinds[-1:] == ["Pushed"]
        assert merged_since or pushed_since
        closing = M2.pen(drawn.record, now).caught(lapsed=drawn.record.lease.until is not None)
        assert closing.closed(said.outcome).record.lease.state is State.CLOSED
