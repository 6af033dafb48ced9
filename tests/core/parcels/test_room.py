"""Room: whether a parcel may come in, and whose."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.machines.roster import Member, Revocation, Roster
from handsoff.core.parcels.room import COPIES, Limits, Stock, no_room
from handsoff.core.parcels.welcome import Welcome, turned_away, who_knows
from handsoff.errors import RefusedError, TrustError, UnfitError
from tests.kit.signing import M1, M2, START

EMPTY = Stock(count=0, total=0, count_of_one=0, total_of_one=0, free=10**9, disk=10**9)
LIMITS = Limits(parcel=1000, count=4, total=4000)


@pytest.mark.parametrize(
    ("stock", "size", "kind", "part"),
    [
        (EMPTY, 1000, None, ""),
        (EMPTY, 1001, RefusedError, "at most 1000 bytes, and this has 1001"),
        (replace(EMPTY, count=3), 10, None, ""),
        (replace(EMPTY, count=4), 10, UnfitError, "4 parcels waiting"),
        (replace(EMPTY, total=3000), 1000, None, ""),
        (replace(EMPTY, total=3001), 1000, UnfitError, "3001 bytes"),
        (replace(EMPTY, count=1, count_of_one=1), 10, None, ""),
        (replace(EMPTY, count=2, count_of_one=2), 10, UnfitError, "2 parcels of this sender"),
        (replace(EMPTY, total=1500, total_of_one=1500), 500, None, ""),
        (replace(EMPTY, total=1500, total_of_one=1500), 501, UnfitError, "of this sender"),
        (replace(EMPTY, free=3000), 1000, None, ""),
        (replace(EMPTY, free=2999), 1000, UnfitError, "2999 bytes free, too few for a parcel"),
    ],
)
def test_the_limits(stock: Stock, size: int, kind: type[Exception] | None, part: str) -> None:
    said = no_room(LIMITS, stock, size, 0, "m2")
    assert (type(said) if said else None) is kind
    assert part in str(said or "")
    assert said is None or said.hint


def test_what_is_here_needs_no_room_again() -> None:
    assert no_room(LIMITS, replace(EMPTY, free=2000), 1000, 1000, "m2") is None


def test_one_parcel_may_come_where_only_one_may() -> None:
    assert no_room(replace(LIMITS, count=1), EMPTY, 1, 0, "m2") is None


def test_half_of_the_disk_is_the_limit_that_nobody_set() -> None:
    usual = Limits(parcel=10**9)
    assert no_room(usual, replace(EMPTY, free=10**10), 10**9 // 4, 0, "m2") is None
    assert no_room(usual, replace(EMPTY, free=10**10), 10**9 // 4 + 1, 0, "m2") is not None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 1200)), max_size=12))
def test_whatever_comes_the_limits_hold_and_nobody_shuts_out_the_others(
    offers: list[tuple[str, int]],
) -> None:
    taken: list[tuple[str, int]] = []
    for who, size in offers:
        of_one = [s for w, s in taken if w == who]
        stock = Stock(
            count=len(taken), total=sum(s for _, s in taken), count_of_one=len(of_one),
            total_of_one=sum(of_one), free=10**6, disk=10**6,
        )  # fmt: skip
        if no_room(LIMITS, stock, size, 0, "m2") is None:
            taken.append((who, size))
    assert len(taken) <= LIMITS.count
    assert sum(s for _, s in taken) <= (LIMITS.total or 0)
    assert all(size <= LIMITS.parcel for _, size in taken)
    if not any(who == "b" for who, _ in taken):
        of_a = [s for _, s in taken]
        stock = replace(EMPTY, count=len(of_a), total=sum(of_a))
        assert no_room(LIMITS, stock, 1, 0, "m2") is None


def test_there_is_room_for_the_parcel_sealed_opened_and_indexed() -> None:
    assert COPIES == 3


def member(who: object, person: str) -> Member:
    card = replace((M1 if who is M1 else M2).card(START), person=person)
    return Member(name=card.name, card=card, admitted=1)


def roster_of(*members: Member) -> Roster:
    everyone = {member.id: member for member in members}
    return Roster(founding="0" * 40, everyone=everyone, numbers={}, tip="", seq=0, at=0)


def test_whose_parcels_are_taken() -> None:
    own, other = member(M1, "Lin"), member(M2, "kim")
    for welcome in (Welcome.ALL, Welcome.ASK):
        assert turned_away(welcome, other, "m9", "lin") is None
    assert turned_away(Welcome.MINE, own, "m9", "lin") is None
    said = turned_away(Welcome.MINE, other, "m9", "lin")
    assert said is not None
    assert "m9 takes parcels of lin's machines only" in str(said)
    assert "kim" in str(said)


def test_of_several_rosters_one_that_knows_is_taken_and_a_revocation_counts_in_all() -> None:
    one, two = member(M1, "lin"), member(M2, "lin")
    gone = replace(two, revoked=Revocation(seq=3, by=one.id, at=0, reason="", tips={}))
    small, whole, later = (roster_of(*m) for m in ((one,), (one, two), (one, gone)))
    assert who_knows([None, small, whole], two.id) == 2
    assert who_knows([None, small], two.id) is None
    assert who_knows([None, whole, small], one.id) == 1
    with pytest.raises(TrustError, match="was revoked"):
        who_knows([whole, later], two.id)
