"""Writing entries: what is written is good, and what the rules refuse is not signed."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handsoff.core import canon
from handsoff.core.machines.admission import revoke
from handsoff.core.objects import EMPTY_TREE, oid_of, parse_commit, parse_tree
from handsoff.core.works.cache import from_cache, to_cache
from handsoff.core.works.entry import page_tree
from handsoff.core.works.lease import Recipient, State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record, read_record
from handsoff.errors import HeldError, RefusedError, TrustError
from tests.kit.signing import M1, M2, M3, OUTSIDER, START, empty, founded, pairs, roster

PAGE, ENVELOPE, PARCEL = "a" * 40, "b" * 40, "c" * 32
MINUTE = timedelta(minutes=1)
LATER = START + 31 * MINUTE


def refuse(message: bytes, namespace: str) -> str:
    """Stand for a key that must not be used."""
    raise AssertionError(namespace, message)


def test_a_hand_over_is_three_entries_and_reads_back() -> None:
    pen = M1.pen(empty()).holding().saved(page=PAGE, envelope=ENVELOPE, parcel=PARCEL)
    pen = pen.offered(Recipient(machine=M2.id), parcel=PARCEL, route="direct")
    read = read_record(pairs(*pen.drafts), roster(), "feat/x")
    assert read == pen.record
    assert [e.kind for e in read.good] == ["Caught", "Saved", "Offered"]
    assert [e.subject for e in read.good] == [
        "m1 caught feat/x: leg 1",
        "m1 saved feat/x: r1",
        "m1 offered feat/x to m2",
    ]
    assert read.repo == roster().founding
    trees = [parse_commit(d.data).tree for d in pen.drafts]
    assert trees == [EMPTY_TREE, oid_of("tree", pen.drafts[1].tree), EMPTY_TREE]
    assert [(e.name, e.mode, e.oid) for e in parse_tree(pen.drafts[1].tree)] == [
        (b"page.md", 0o100644, PAGE)
    ]
    assert page_tree("") == pen.drafts[0].tree == b""


def test_every_kind_of_entry_reads_back_as_it_was_written() -> None:
    pen = M1.pen(empty()).caught(hold=MINUTE).saved(page=PAGE, hold=2 * MINUTE)
    pen = pen.pushed("feat/x", old="0" * 40, new=ENVELOPE)
    pen = pen.offered(Recipient(person="kim"), within=MINUTE).withdrawn(hold=3 * MINUTE)
    pen = pen.offered(Recipient()).dropped("no key", blocked=True).caught().closed("merged")
    read = read_record(pairs(*pen.drafts), roster(), "feat/x")
    assert read == pen.record
    assert len(read.good) == 9
    assert (read.lease.state, read.lease.reason, read.lease.leg) == (State.CLOSED, "merged", 2)


@pytest.mark.parametrize(
    ("verb", "error", "said"),
    [
        (lambda p: p.saved(), HeldError, "m1 carries this work, not m3"),
        (lambda p: p.caught(), HeldError, "m1 carries this work since .*, not m3"),
        (lambda p: p.holding(), HeldError, "m1 carries this work since .*, not m3"),
        (lambda p: p.withdrawn(), HeldError, "m1 carries this work since .*, not m3"),
    ],
)
def test_what_the_table_refuses_is_not_signed(verb: Any, error: type[Exception], said: str) -> None:
    pen = M1.pen(empty()).caught()
    other = replace(M3.pen(pen.record), sign=refuse)
    with pytest.raises(error, match=said):
        verb(other)


def test_what_is_refused_for_its_state_is_told_from_what_others_hold() -> None:
    with pytest.raises(RefusedError, match="a work that is free cannot be saved"):
        M1.pen(empty()).saved()
    with pytest.raises(RefusedError, match="nothing was saved that could be offered"):
        M1.pen(empty()).caught().offered(Recipient())


def test_a_machine_outside_the_roster_cannot_write() -> None:
    with pytest.raises(TrustError, match=f"{OUTSIDER.id} is not in the roster"):
        OUTSIDER.pen(empty()).caught()
    draft = revoke(founded(), M2.id, reason="lost", tips={}, by=M1.id, at=1, sign=M1.sign)
    after = founded().extend(pairs(draft)).trusted()
    with pytest.raises(TrustError, match="m2 is not in the roster"):
        M2.pen(read_record([], after, "feat/x")).caught()


def test_a_key_that_is_not_the_machines_own_is_noticed_before_anything_leaves() -> None:
    with pytest.raises(RefusedError, match="in the name of"):
        replace(M1.pen(empty()), sign=M2.sign).caught()


def test_holding_catches_what_is_free_closed_or_ones_own_and_lapsed() -> None:
    held = M1.pen(empty()).holding()
    assert held.holding() is held
    assert M3.pen(held.closed("merged").record).holding().record.lease.leg == 2
    again = M1.pen(held.record, LATER).holding()
    assert (again.record.lease.leg, len(again.drafts)) == (2, 1)
    dropped = held.dropped("train").record
    assert M1.pen(dropped).holding().record.lease.leg == 2
    for record, now in ((dropped, START), (held.record, LATER)):
        with pytest.raises(RefusedError, match="m1 carried feat/x last") as error:
            M3.pen(record, now).holding()
        assert error.value.hint == "handsoff catch feat/x"


def test_who_offered_a_work_is_told_to_take_the_offer_back_before_it_goes_on() -> None:
    offered = M1.pen(empty()).holding().saved(page=PAGE, envelope=ENVELOPE, parcel=PARCEL)
    to_m2 = offered.offered(Recipient(machine=M2.id), parcel=PARCEL, route="remote")
    with pytest.raises(RefusedError, match="is offered to m2 already") as refused:
        M1.pen(to_m2.record).holding()
    assert "handsoff withdraw" in (refused.value.hint or "")


def test_a_slow_clock_is_clamped_to_the_entry_before() -> None:
    pen = M1.pen(empty(), START - 900 * MINUTE).caught().record
    slow = M1.pen(M1.pen(empty()).caught().record, START - 900 * MINUTE)
    assert slow.saved().record.at == int(START.timestamp())
    assert M1.pen(pen).at == START


def test_a_lapse_that_was_waited_out_is_signed_at_its_end() -> None:
    held = M1.pen(empty()).caught().record
    slow = M2.pen(held, START - 900 * MINUTE)
    with pytest.raises(HeldError):
        slow.caught()
    assert slow.caught(lapsed=True).record.lease.since == START + 30 * MINUTE
    free = M1.pen(empty()).caught(lapsed=True).record
    assert free.lease.since == START


@pytest.mark.parametrize("work", ["feat/\udcff\udcfe", "修复/四舍五入", "x" * 700, "a\u202eb"])
def test_odd_names_of_works_are_written_and_read(work: str) -> None:
    pen = M1.pen(empty(work)).caught()
    assert read_record(pairs(*pen.drafts), roster(), work) == pen.record
    assert pen.record.good[0].subject.isprintable()


def states() -> list[Record]:
    """Return a record in each state."""
    held = M1.pen(empty()).caught()
    saved = held.saved(page=PAGE, envelope=ENVELOPE)
    moved = held.pushed("feat/x", old="0" * 40, new="c" * 40).pushed(
        "y", old="d" * 40, new="e" * 40
    )
    pens: list[Pen] = [
        held,
        saved,
        moved,
        saved.offered(Recipient(person="kim")),
        held.dropped("x"),
    ]
    return [empty(), *(pen.record for pen in pens), held.closed("merged").record]


@pytest.mark.parametrize("record", states(), ids=lambda r: str(r.lease.state.value))
def test_a_cache_keeps_what_the_record_adds_up_to(record: Record) -> None:
    kept = canon.decode(canon.encode(to_cache(record)))
    assert from_cache(kept, roster(), "feat/x") == replace(record, entries=())


def test_a_record_goes_on_from_its_cache() -> None:
    pen = M1.pen(empty()).caught().saved(page=PAGE)
    kept = from_cache(to_cache(pen.record), roster(), "feat/x")
    assert kept is not None
    more = M1.pen(kept).saved()
    whole = pen.record.extend(pairs(*more.drafts))
    assert replace(whole, entries=()) == replace(more.record, entries=())


def test_a_cache_of_anything_else_is_worth_nothing() -> None:
    kept = to_cache(states()[2])
    saved = kept["saved"]
    wrong: list[dict[str, Any]] = [
        {**kept, "format": 1},
        {**kept, "repo": "d" * 40},
        {**kept, "roster": "d" * 40},
        {**kept, "behind": "something"},
        {**kept, "lease": {}},
        {**kept, "lease": {**kept["lease"], "state": "lost"}},
        {**kept, "passed": 7},
        {**kept, "pushed": [saved]},
        {**kept, "saved": {**saved, "page": "x"}},
        {**kept, "saved": {k: v for k, v in saved.items() if k != "page"}},
        {
            **kept,
            "saved": {"kind": "Withdrawn", "hold": 1, "by": M1.id, "at": 1}
            | {"leg": 1, "revision": 0},
        },
        {},
    ]
    assert from_cache(kept, roster(), "feat/x") is not None
    assert from_cache(kept, roster(), "feat/y") is None
    for document in wrong:
        assert from_cache(document, roster(), "feat/x") is None


def test_a_record_says_who_may_push() -> None:
    record = M1.pen(empty()).caught().record
    assert record.may_push(M1.id, START).allowed
    assert not record.may_push(M2.id, START).allowed


def test_the_last_parcel_is_kept_when_pages_are_saved_on_top() -> None:
    pen = M1.pen(empty()).caught().saved(envelope=ENVELOPE, parcel=PARCEL)
    first = pen.record.saved
    assert pen.record.kept == first
    pen = pen.saved(page=PAGE)
    assert pen.record.kept == first != pen.record.saved
    pen = pen.offered(Recipient(), route="file").withdrawn().saved(parcel="d" * 32)
    assert pen.record.kept == pen.record.saved
    assert pen.record.kept != first


def test_the_route_is_that_of_the_last_offer() -> None:
    pen = M1.pen(empty()).caught().saved()
    assert pen.record.route == ""
    pen = pen.offered(Recipient(machine=M2.id), route="direct")
    assert pen.record.route == "direct"
    assert pen.withdrawn().record.route == "direct"
    assert pen.withdrawn().offered(Recipient(), route="remote").record.route == "remote"
