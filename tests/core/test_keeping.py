"""Keeping: which sealed parcels stay with their maker, and to whom they are given."""

from datetime import timedelta

import pytest

from handsoff.core.keeping import LONGEST, UNDER_WAY, may_be_given, may_go
from handsoff.core.lease import Caught, Closed, Lease, Offered, Recipient
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


def test_who_names_no_parcel_gets_what_it_may_catch() -> None:
    given = {state: may_be_given(lease, "m2", "kim") for state, lease in STATES.items()}
    assert {state.value: yes for state, yes in given.items() if yes} == {
        "offered": True, "dropped": True,
    }  # fmt: skip
    lease = after(HELD, event(Offered, HELD, to=Recipient(machine="m2")))
    assert may_be_given(lease, "m2", "kim")
    assert not may_be_given(lease, "m3", "kim")
    lease = after(HELD, event(Offered, HELD, to=Recipient(person="kim")))
    assert may_be_given(lease, "m3", "Kim")
    assert not may_be_given(lease, "m3", "lin")
