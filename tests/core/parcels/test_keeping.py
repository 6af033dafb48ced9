"""Keeping: which sealed parcels stay with their maker, and to whom they are given."""

from datetime import timedelta

import pytest

from handsoff.core.parcels.keeping import LONGEST, UNDER_WAY, may_be_given, may_go
from handsoff.core.works.lease import Caught, Closed, Lease, Offered, Recipient, State
from tests.kit.leases import HELD, MINUTE, OFFERED, STATES, T0, after, event

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("lease", "named", "ours", "age", "goes"),
    [
        (OFFERED, True, True, 6 * DAY, False),
        (OFFERED, True, True, LONGEST, False),
        (OFFERED, True, True, LONGEST + MINUTE, True),
        (HELD, True, True, 8 * DAY, False),
        (HELD, True, False, MINUTE, True),
        (after(OFFERED, event(Caught, OFFERED, "m2")), True, False, MINUTE, True),
        (after(HELD, (Closed, "m1")), True, True, MINUTE, True),
        (HELD.as_of(T0 + 9 * DAY), True, False, 8 * DAY, False),
        (HELD, False, True, UNDER_WAY, False),
        (HELD, False, True, UNDER_WAY + MINUTE, True),
        (Lease(), False, False, MINUTE, False),
    ],
)
def test_what_goes(lease: Lease, named: bool, ours: bool, age: timedelta, goes: bool) -> None:
    assert may_go(lease, named=named, ours=ours, made=T0, now=T0 + age) is goes


def may(lease: Lease, to: str, person: str, *, named: bool = False, given: str = "") -> bool:
    return may_be_given(lease, to, person, giver="m1", named=named, given=given)


def test_who_names_no_parcel_gets_what_it_may_catch() -> None:
    yes = {state.value for state, lease in STATES.items() if may(lease, "m2", "kim")}
    assert yes == {"offered", "dropped"}
    lease = after(HELD, event(Offered, HELD, to=Recipient(machine="m2")))
    assert may(lease, "m2", "kim")
    assert not may(lease, "m3", "kim")
    lease = after(HELD, event(Offered, HELD, to=Recipient(person="kim")))
    assert may(lease, "m3", "Kim")
    assert not may(lease, "m3", "lin")


def test_who_names_it_gets_it_but_for_what_the_giver_took_back_or_closed() -> None:
    yes = {state.value for state, lease in STATES.items() if may(lease, "m2", "kim", named=True)}
    assert yes == {"free", "offered", "dropped"}
    caught = after(OFFERED, event(Caught, OFFERED, "m2"))
    assert may(caught, "m2", "kim", named=True)


@pytest.mark.parametrize("named", [False, True])
def test_of_many_that_may_catch_it_the_first_one_alone_gets_it(named: bool) -> None:
    lease = after(HELD, event(Offered, HELD, to=Recipient()))
    for one in (lease, STATES[State.DROPPED]):
        assert may(one, "m2", "kim", named=named, given="m2")
        assert not may(one, "m3", "kim", named=named, given="m2")
    caught = after(lease, event(Caught, lease, "m3"))
    assert may(caught, "m3", "kim", named=True, given="m2")
