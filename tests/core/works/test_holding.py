"""Who may push, when a lease has run out, and which time is signed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from handsoff.core.times import moment
from handsoff.core.works.holding import (
    clamp,
    has_lapsed,
    is_carried_by,
    is_offered_to,
    may_push,
    may_take_back,
)
from handsoff.core.works.lease import HOLD, OFFER, Caught, Lease, Recipient, State
from tests.kit.leases import HELD, MINUTE, OFFERED, STATES, T0, after


@pytest.mark.parametrize(
    ("lease", "machine", "allowed", "said"),
    [
        (Lease(), "m3", True, ""),
        (STATES[State.CLOSED], "m3", True, ""),
        (HELD, "m1", True, ""),
        (HELD, "m3", False, "m1 carries this work since 2030-01-07 16:00 UTC"),
        (OFFERED, "m1", False, "this machine offered the work to m2 at 2030-01-07 16:00 UTC"),
        (OFFERED, "m2", False, "m1 offered this work to m2 at 2030-01-07 16:00 UTC"),
        (
            STATES[State.DROPPED],
            "m1",
            True,
            "nobody has caught this work since it dropped the work at 2030-01-07 16:00 UTC",
        ),
        (
            HELD.as_of(T0 + HOLD),
            "m1",
            True,
            "nobody has caught this work since its lease ran out at 2030-01-07 16:30 UTC",
        ),
        (
            OFFERED.as_of(T0 + OFFER),
            "m2",
            False,
            "m1 carried this work last; its offer ran out at 2030-01-08 16:00 UTC",
        ),
    ],
)
def test_who_may_push(lease: Lease, machine: str, allowed: bool, said: str) -> None:
    verdict = may_push(lease, machine, T0)
    assert (verdict.allowed, verdict.reason + verdict.notice) == (allowed, said)
    assert bool(verdict.reason) is not verdict.allowed


def test_who_was_caught_from_may_not_push_idle_or_not() -> None:
    taken = after(OFFERED, (Caught, "m2"))
    assert not may_push(taken, "m1", T0).allowed
    assert not may_push(taken, "m1", T0 + 900 * OFFER).allowed
    assert may_push(taken, "m2", T0 + 900 * OFFER).notice


def test_a_carrier_may_push_whatever_its_clock_says() -> None:
    for years in (-30, -1, 0, 1, 30):
        assert may_push(HELD, "m1", T0 + years * timedelta(days=365)).allowed
        assert not may_push(HELD, "m2", T0 + years * timedelta(days=365)).allowed


def test_a_time_to_sign_is_in_whole_seconds_and_never_before_the_last() -> None:
    now = T0 + timedelta(microseconds=7)
    assert clamp(now, None) == T0
    assert clamp(now, T0 - MINUTE) == T0
    assert clamp(now, T0 + MINUTE) == T0 + MINUTE


def test_a_lapse_needs_the_wall_clock_and_no_signed_time_against_it() -> None:
    end = T0 + HOLD
    assert not has_lapsed(HELD, end - MINUTE, latest=T0)
    assert has_lapsed(HELD, end, latest=T0)
    assert has_lapsed(HELD, end, latest=None)
    assert has_lapsed(HELD, end, latest=end)
    assert not has_lapsed(HELD, end, latest=end + MINUTE)
    assert not has_lapsed(STATES[State.DROPPED], end, latest=T0, waited=OFFER)


def test_a_lapse_can_be_waited_out_when_the_clocks_disagree() -> None:
    early = T0 - 900 * OFFER
    assert not has_lapsed(HELD, early, latest=T0, waited=HOLD - MINUTE)
    assert has_lapsed(HELD, early, latest=T0, waited=HOLD)
    assert not has_lapsed(OFFERED, early, latest=T0, waited=HOLD)


def test_a_moment_reads_in_utc() -> None:
    assert moment(T0) == "2030-01-07 16:00 UTC"
    assert moment(None) == "ever"


@pytest.mark.parametrize(
    ("lease", "route", "given", "away", "refused"),
    [
        (OFFERED, "direct", "", True, True),
        (OFFERED, "ssh", "", True, True),
        (OFFERED, "file", "", True, True),
        (OFFERED, "remote", "", True, False),
        (OFFERED, "remote", "m2", True, True),
        (OFFERED, "remote", None, True, True),
        (OFFERED, "remote", None, False, False),
        (STATES[State.DROPPED], "remote", None, True, False),
        (OFFERED, "remote", "m2", False, False),
        (OFFERED, "direct", "", False, False),
        (OFFERED, "file", "", False, False),
        (HELD, "direct", "m2", True, False),
        (STATES[State.DROPPED], "remote", "m2", True, True),
        (STATES[State.DROPPED], "direct", "", True, False),
        (OFFERED.as_of(T0 + 9 * OFFER), "remote", "m2", True, False),
    ],
)
def test_an_offer_whose_parcel_is_elsewhere_comes_back_only_in_contact(
    lease: Lease, route: str, given: str | None, away: bool, refused: bool
) -> None:
    said = may_take_back(lease, route, given=given, away=away)
    assert bool(said) == refused
    if refused and given is None:
        assert said.startswith("another clone of this machine offered it")
    elif refused:
        assert said == "m2 has the parcel, and the remote cannot say whether the work was caught"


def test_an_offer_to_anyone_is_not_named_after_a_machine() -> None:
    lease = replace(OFFERED, to=None)
    assert may_take_back(lease, "file", given="", away=True).startswith("anyone has the parcel")


def test_who_offers_a_work_carries_it_and_is_not_asked_to_catch_it() -> None:
    anyone = replace(OFFERED, to=Recipient())
    for lease, asked in ((OFFERED, ["m2"]), (anyone, ["m2", "m3"]), (HELD, [])):
        machines = ["m1", "m2", "m3", ""]
        assert [m for m in machines if is_offered_to(lease, m, "lin")] == asked
        assert [m for m in machines if is_carried_by(lease, m)] == ["m1"]
    assert not is_carried_by(STATES[State.DROPPED], "m1")
    assert not is_offered_to(anyone.as_of(T0 + OFFER), "m2", "lin")
