"""What becomes of entries that waited: sent, signed anew where they fit, or refused."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.machines.admission import revoke
from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.works.landing import LIMIT, Course, Fate, course, write_again
from handsoff.core.works.lease import HOLD, OFFER, Caught, Found, How, Offered, Recipient, State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record, read_record
from handsoff.errors import HeldError, RefusedError
from tests.kit.contacts import rubbish
from tests.kit.signing import M1, M2, M3, START, Machine, empty, forged, founded, pairs

MINUTE = timedelta(minutes=1)
ANYONE, TO_M2 = Recipient(), Recipient(machine=M2.id)
BASE = M1.pen(empty()).caught().saved().record
SAVED = M1.pen(BASE, START + MINUTE).saved().record
OFFERED = M1.pen(SAVED, START + MINUTE).offered(TO_M2).record
CAUGHT = M2.pen(OFFERED, START + 2 * MINUTE).caught().record
RETURNED = M2.pen(CAUGHT, START + 3 * MINUTE).saved().offered(ANYONE).record
BACK = M1.pen(RETURNED, START + 4 * MINUTE).caught().record


def dirtied(record: Record, kind: str = "rubbish") -> Record:
    made = rubbish(kind, record, M3, START)
    assert made is not None
    return record.extend([made])


def rubbish_on(oid: str) -> tuple[str, bytes]:
    data = f"tree {EMPTY_TREE}\nparent {oid}\nauthor x\ncommitter y\n\nhello".encode()
    return oid_of("commit", data), data


def judge(
    local: Record, remote: Record, by: Machine = M1, age: timedelta = MINUTE, *, asked: bool = False
) -> Course:
    return course(local.entries, remote.entries, by=by.id, age=age, asked=asked)


def kinds(course: Course) -> tuple[list[str], list[str]]:
    return [type(e).__name__ for e in course.again], [type(e).__name__ for e in course.stake]


def again(remote: Record, course: Course, by: Machine = M1, later: timedelta = HOLD) -> Pen:
    return write_again(by.pen(remote, START + later), course.again, fresh=course.fresh)


@pytest.mark.parametrize(
    ("local", "remote", "fate"),
    [
        (SAVED, SAVED, Fate.LANDED),
        (SAVED, CAUGHT, Fate.LANDED),
        (SAVED, BASE, Fate.SEND),
        (SAVED, empty(), Fate.SEND),
        (SAVED, dirtied(BASE), Fate.AGAIN),
        (SAVED, dirtied(SAVED), Fate.LANDED),
    ],
)
def test_a_chain_lands_whole_if_it_follows(local: Record, remote: Record, fate: Fate) -> None:
    assert judge(local, remote).fate is fate


def test_after_a_day_what_waits_is_sent_only_if_it_is_asked_for_and_signed_anew() -> None:
    late = LIMIT + timedelta(seconds=1)
    assert judge(SAVED, BASE, age=LIMIT).fate is Fate.SEND
    assert judge(SAVED, BASE, age=LIMIT, asked=True).fate is Fate.SEND
    assert judge(SAVED, BASE, age=late) == Course(Fate.WAIT)
    assert judge(SAVED, dirtied(BASE), age=late) == Course(Fate.WAIT)
    assert judge(SAVED, SAVED, age=late).fate is Fate.LANDED
    asked = judge(OFFERED, BASE, age=late, asked=True)
    assert (asked.fate, asked.whole, kinds(asked)[0]) == (Fate.AGAIN, True, ["Saved", "Offered"])


def test_an_old_chain_with_an_entry_of_another_machine_is_sent_as_it_is() -> None:
    late = LIMIT + timedelta(seconds=1)
    assert judge(CAUGHT, BASE, M2, late) == Course(Fate.WAIT)
    assert judge(CAUGHT, BASE, M2, late, asked=True) == Course(Fate.SEND)


def test_an_entry_of_another_machine_is_waited_for_where_rubbish_came_between() -> None:
    remote = dirtied(BASE)
    assert judge(CAUGHT, remote, M2) == Course(Fate.WAIT)
    # once m1 has signed its own anew, what m2 wrote follows
    remote = again(remote, judge(OFFERED, remote)).record
    todo = judge(CAUGHT, remote, M2)
    assert (todo.fate, kinds(todo)) == (Fate.AGAIN, (["Caught"], ["Caught"]))
    assert again(remote, todo, M2).record.lease.carrier == M2.id


def test_after_a_day_nobody_is_waited_for_any_more_if_that_is_asked_for() -> None:
    late = LIMIT + timedelta(seconds=1)
    todo = judge(CAUGHT, dirtied(BASE), M2, late, asked=True)
    assert (todo.fate, kinds(todo)[1]) == (Fate.AGAIN, ["Caught"])
    with pytest.raises((RefusedError, HeldError)):
        again(dirtied(BASE), todo, M2)


def test_a_work_that_went_there_and_back_lands_turn_by_turn() -> None:
    remote = dirtied(BASE)
    first = judge(BACK, remote)
    assert (first.fate, first.whole) == (Fate.AGAIN, False)
    assert kinds(first) == (["Saved", "Offered"], ["Saved", "Offered", "Caught"])
    remote = again(remote, first).record
    assert judge(BACK, remote) == Course(Fate.WAIT)
    second = judge(RETURNED, remote, M2)
    assert (second.whole, kinds(second)[0]) == (True, ["Caught", "Saved", "Offered"])
    remote = again(remote, second, M2).record
    third = judge(BACK, remote)
    assert (third.whole, kinds(third)[0]) == (True, ["Caught"])
    remote = again(remote, third).record
    assert (remote.lease.carrier, remote.lease.leg, remote.lease.revision) == (M1.id, 3, 3)
    assert judge(BACK, remote).fate is Fate.LANDED
    assert len(remote.good) == len(BACK.good)


def test_what_another_hand_has_landed_is_not_signed_once_more() -> None:
    begun = M1.pen(empty()).caught().saved().offered(TO_M2).record
    caught = M2.pen(begun, START + MINUTE).caught().record
    todo = judge(begun, empty(), age=2 * LIMIT, asked=True)
    anew = again(empty(), todo, later=2 * LIMIT).record
    assert anew.git_tip != begun.git_tip
    assert judge(anew, caught).fate is Fate.LANDED
    later = judge(caught, anew, M2)
    assert kinds(later) == (["Caught"], ["Caught"])
    assert again(anew, later, M2).record.lease.carrier == M2.id
    more = M1.pen(anew, START + 2 * LIMIT + MINUTE).withdrawn().record
    assert kinds(judge(more, begun)) == (["Withdrawn"], ["Withdrawn"])


def test_a_catch_that_found_the_same_offer_at_another_time_is_the_same() -> None:
    begun = M1.pen(empty()).caught().saved().offered(ANYONE).record
    caught = M2.pen(begun, START + MINUTE).caught().record
    offered = M1.pen(empty(), START + MINUTE).caught().saved().offered(ANYONE).record
    anew = M2.pen(offered, START + 2 * MINUTE).caught().record
    assert judge(caught, M2.pen(anew, START + 3 * MINUTE).saved().record, M2).fate is Fate.LANDED


def test_one_that_differs_in_what_it_says_has_not_landed() -> None:
    other = M1.pen(SAVED, START + MINUTE).offered(ANYONE).record
    assert judge(other, OFFERED).fate is Fate.AGAIN
    longer = M1.pen(SAVED, START + MINUTE).offered(TO_M2, within=OFFER / 2).record
    assert judge(longer, OFFERED).fate is Fate.AGAIN


def test_where_others_went_on_every_entry_of_this_machine_is_at_stake() -> None:
    remote = M1.pen(BASE, START + MINUTE).dropped("x").record
    todo = judge(CAUGHT, remote, M2)
    assert (todo.fate, kinds(todo)[1]) == (Fate.AGAIN, ["Caught"])
    with pytest.raises(RefusedError, match="revision 2; this is revision 1"):
        again(remote, todo, M2)


def test_what_the_roster_made_void_is_lost_and_not_forgotten() -> None:
    pen = M1.pen(empty()).caught().saved()
    data = pairs(*pen.drafts)
    read, tips = founded(), {"feat/x": data[0][0]}
    at = int(START.timestamp())
    gone = revoke(read, M1.id, reason="lost", tips=tips, by=M2.id, at=at, sign=M2.sign)
    later = read.extend(pairs(gone)).trusted()
    local = read_record(data, later, "feat/x")
    assert [entry.good for entry in local.entries] == [True, False]
    for remote in (data[:1], [], [*data[:1], rubbish_on(data[0][0])]):
        there = read_record(remote, later, "feat/x")
        assert judge(local, there, asked=True).fate is Fate.LOST
        # after a change of its key, nothing of it is this machine's any more
        assert judge(pen.record, there, M3).fate is not Fate.AGAIN


def test_what_is_void_is_never_signed_anew() -> None:
    event = SAVED.good[-1].event
    void = BASE.extend([forged(BASE, event, M1, work="feat/other")])
    local = M1.pen(void, START + MINUTE).dropped("enough").record
    todo = judge(local, dirtied(BASE))
    assert kinds(todo) == (["Dropped"], ["Dropped"])


def test_what_is_signed_anew_keeps_its_time_and_finds_what_is_there() -> None:
    offered = again(BASE, judge(OFFERED, dirtied(BASE)), later=5 * HOLD / 6).record
    assert offered.lease.until == START + MINUTE + OFFER
    assert isinstance(offered.good[-1].event, Offered)
    lapsed = M3.pen(BASE, START + HOLD).caught(hold=3 * MINUTE).record
    remote = dirtied(M1.pen(BASE, START + MINUTE).dropped("x").record)
    pen = write_again(M3.pen(remote, START + OFFER), [lapsed.good[-1].event], fresh=False)
    caught = pen.record.good[-1].event
    assert isinstance(caught, Caught)
    assert caught.found == Found(how=How.DROP, by=M1.id, since=START + MINUTE)
    assert (caught.at, caught.hold) == (START + HOLD, 3 * MINUTE)


def test_no_time_is_before_that_of_the_entry_that_it_follows() -> None:
    remote = M1.pen(BASE, START + 9 * MINUTE).offered(ANYONE).withdrawn().record
    pen = write_again(
        M1.pen(remote), [M1.pen(BASE).dropped("x").record.good[-1].event], fresh=False
    )
    assert pen.record.lease.since == START + 9 * MINUTE


def test_what_is_old_and_asked_for_counts_from_now_where_that_fits() -> None:
    week = 7 * LIMIT
    begun = M1.pen(empty(), START).caught().saved().offered(TO_M2).record
    todo = judge(begun, empty(), age=week, asked=True)
    lease = again(empty(), todo, later=week).record.lease
    assert lease.until == START + week + OFFER
    # the hold on the remote has run out since, and nobody has caught the work
    todo = judge(OFFERED, BASE, age=week, asked=True)
    assert todo.fresh
    assert again(BASE, todo, later=week).record.lease.since == START + MINUTE
    todo = judge(OFFERED, dirtied(BASE), age=week, asked=True)
    assert todo.fresh
    assert not judge(OFFERED, dirtied(BASE)).fresh
    assert not judge(BACK, dirtied(BASE), age=week, asked=True).fresh


def test_what_lapsed_between_two_entries_lapses_again() -> None:
    late = M1.pen(OFFERED, START + 2 * OFFER).caught().saved().record
    for age in (MINUTE, 7 * LIMIT):
        todo = judge(late, dirtied(BASE), age=age, asked=True)
        landed = again(dirtied(BASE), todo, later=9 * OFFER).record
        assert [e.kind for e in landed.good] == [e.kind for e in late.good]


def test_what_was_made_on_an_ended_leg_is_refused() -> None:
    remote = M2.pen(BASE, START + HOLD).caught().record
    todo = judge(SAVED, remote)
    assert todo.fate is Fate.AGAIN
    with pytest.raises(RefusedError, match="acted on leg 1; this is leg 2"):
        again(remote, todo)


@pytest.mark.parametrize(("by", "stake"), [(M1, []), (M2, ["Caught"])])
def test_what_counts_no_more_since_a_machine_was_revoked_is_lost_and_has_not_landed(
    by: Machine, stake: list[str]
) -> None:
    base = M1.pen(empty()).caught().saved()
    offered = M1.pen(base.record).saved().offered(TO_M2)
    caught = M2.pen(offered.record, START + MINUTE).caught()
    tips = {base.record.work: base.record.tip}
    draft = revoke(founded(), M1.id, reason="lost", tips=tips, by=M3.id, at=1, sign=M3.sign)
    roster = founded().extend(pairs(draft)).trusted()
    remote = read_record(pairs(*base.drafts), roster, base.record.work)
    local = remote.extend(pairs(*offered.drafts, *(caught.drafts if by is M2 else ())))
    todo = judge(local, remote, by)
    assert (todo.fate, kinds(todo)) == (Fate.LOST, ([], stake))
    assert todo.why == f"{M1.id}: revoked"
    assert judge(local, local, by).fate is Fate.LANDED


@settings(deadline=None)
@given(st.integers(1, 3), st.lists(st.booleans(), max_size=3), st.integers(0, 23))
def test_whatever_fits_lands_once_and_in_its_order(
    saves: int, between: list[bool], hours: int
) -> None:
    pen = M1.pen(BASE, START + MINUTE)
    for number in range(saves):
        pen = pen.saved(envelope=oid_of("blob", b"%d" % number))
    local, remote = pen.record, BASE
    for odd in between:
        remote = dirtied(remote, "replayed" if odd else "rubbish")
    todo = judge(local, remote, age=timedelta(hours=hours))
    after = again(remote, todo, later=2 * MINUTE).record if between else local
    assert todo.fate is (Fate.AGAIN if between else Fate.SEND)
    assert judge(local, after).fate is Fate.LANDED
    said = [(e.event.revision, getattr(e.event, "envelope", "")) for e in after.good]
    assert said == [(e.event.revision, getattr(e.event, "envelope", "")) for e in local.good]
    assert after.lease.state is State.HELD
    assert all(entry.tree == EMPTY_TREE for entry in after.good)
