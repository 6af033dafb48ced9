"""After a drop or a lapse: whose contact was lost, how and when, and what to check first."""

from datetime import timedelta

from handsoff.core.pages.page import parse
from handsoff.core.works.dropped import check_before
from handsoff.core.works.lease import HOLD, OFFER, Dropped, Lease
from tests.kit.leases import HELD, OFFERED, T0, after, event

PAGE = parse(
    """# Handoff

## In flight
- deploying 42 to the staging host

## Next
1. Keep zero decimals for JPY.
2. Run the tests.

## Tried and failed
HALF_EVEN.

## References
- the run: https://ci.invalid/42
"""
)


def told(lease: Lease, *, saved: bool = True) -> list[str]:
    return check_before(
        lease,
        work="feat/it's mine",
        name_of=lambda machine: machine.upper(),
        saved=T0 if saved else None,
        page=PAGE if saved else None,
    )


def dropped(*, blocked: bool) -> Lease:
    return after(HELD, event(Dropped, HELD, reason="the disk is full", blocked=blocked))


def test_nothing_is_said_of_a_work_that_somebody_has() -> None:
    assert told(HELD) == told(OFFERED) == told(Lease()) == []


def test_it_says_who_how_when_and_the_last_save() -> None:
    lines = told(dropped(blocked=False))
    assert lines[0] == (
        "contact with M1 was lost: it dropped the work (the disk is full) at 2030-01-07 16:00 UTC"
    )
    assert lines[1] == f"the last accepted save is r{HELD.revision}, of 2030-01-07 16:00 UTC"
    assert "it blocked the work (the disk is full)" in told(dropped(blocked=True))[0]
    lapsed = told(HELD.as_of(T0 + HOLD))
    assert "its lease ran out at 2030-01-07 16:30 UTC" in lapsed[0]
    uncaught = told(OFFERED.as_of(T0 + OFFER + timedelta(days=1)))
    assert "its offer ran out, uncaught, at 2030-01-08 16:00 UTC" in uncaught[0]


def test_steps_in_flight_come_first_then_all_next_steps_and_where_to_look() -> None:
    assert told(dropped(blocked=False))[2:6] == [
        "was in flight, check it first: deploying 42 to the staging host",
        "may be done already: Keep zero decimals for JPY.",
        "may be done already: Run the tests.",
        "check through: the run: https://ci.invalid/42",
    ]


def test_it_says_what_to_do_with_a_step_that_nobody_can_tell() -> None:
    *_, every, check, stop = told(dropped(blocked=False))
    assert "may have done more than one step" in every
    assert "not only the first" in every
    assert "check its outcome through the references, even if it looks safe to repeat" in check
    assert "do only the rest if it was partly done" in check
    assert stop.endswith("""handsoff drop 'feat/it'"'"'s mine' --blocked --reason WHY""")


def test_where_nothing_was_saved_all_is_unknown() -> None:
    lines = told(dropped(blocked=False), saved=False)
    assert lines[1] == "M1 saved nothing: all that it did is unknown"
    assert len(lines) == 5
