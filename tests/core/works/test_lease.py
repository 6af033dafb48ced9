"""The lease: examples, and the whole table against the one written here by hand."""

from dataclasses import replace

import pytest

from handsoff.core.works.lease import (
    HOLD,
    OFFER,
    TRANSITIONS,
    Caught,
    Closed,
    Dropped,
    Event,
    Found,
    How,
    Lease,
    Offered,
    Pushed,
    Recipient,
    Refusal,
    Saved,
    State,
    Why,
    Withdrawn,
    advance,
)
from tests.kit.leases import EXTRA, HELD, MINUTE, OFFERED, PEOPLE, STATES, T0, after, event


def refusal(lease: Lease, happened: Event) -> Refusal:
    """Return the refusal of an event that must not be allowed."""
    result = advance(lease, happened, PEOPLE.get)
    assert isinstance(result, Refusal), result
    return result


TABLE = """
           Caught Saved Pushed Offered Withdrawn Dropped Closed
free       held   -     -      -       -         -       -
held       -      held  held   offered -         dropped closed
offered    -      -     -      -       held      dropped -
dropped    held   -     -      -       -         -       -
closed     held   -     -      -       -         -       -
"""
KINDS = {kind.__name__: kind for kind in EXTRA}
CELLS = [
    (row.split()[0], kind, cell)
    for row in TABLE.strip().splitlines()[1:]
    for kind, cell in zip(TABLE.split()[:7], row.split()[1:], strict=True)
]


@pytest.mark.parametrize(("state", "kind", "expected"), CELLS)
def test_the_carrier_may_do_what_the_table_says(state: str, kind: str, expected: str) -> None:
    lease = STATES[State(state)]
    result = advance(lease, event(KINDS[kind], lease), PEOPLE.get)
    shown = result.state.value if isinstance(result, Lease) else "-"
    assert shown == expected


def test_the_table_has_a_row_for_each_state_and_a_catch_wherever_nobody_holds() -> None:
    assert TRANSITIONS.keys() == set(State)
    assert {state for state, row in TRANSITIONS.items() if Caught in row} == set(State) - {
        State.HELD
    }


@pytest.mark.parametrize("kind", [Saved, Pushed, Offered, Dropped, Closed])
def test_only_the_carrier_may_change_a_held_work(kind: type[Event]) -> None:
    said = refusal(HELD, event(kind, HELD, "m2"))
    assert (said.reason, said.why) == ("m1 carries this work, not m2", Why.HELD)


@pytest.mark.parametrize("kind", [Withdrawn, Dropped])
def test_only_the_offerer_may_end_an_offer(kind: type[Event]) -> None:
    assert refusal(OFFERED, event(kind, OFFERED, "m2")).why is Why.HELD


def test_a_held_work_cannot_be_caught_and_the_carrier_is_named_since_when() -> None:
    said = refusal(HELD, event(Caught, HELD, "m3"))
    assert said.reason == "m1 carries this work since 2030-01-07 16:00 UTC, not m3"
    assert said.why is Why.HELD
    assert refusal(HELD, event(Caught, HELD, "m1")).why is Why.STATE


def test_what_cannot_be_done_in_a_state_is_named() -> None:
    assert refusal(Lease(), event(Saved, Lease())).reason == "a work that is free cannot be saved"
    assert refusal(OFFERED, event(Saved, OFFERED)).why is Why.STATE
    assert refusal(OFFERED, event(Saved, OFFERED, "m3")).why is Why.HELD


def test_a_catch_begins_the_next_leg_and_keeps_the_revision() -> None:
    saved = after(HELD, (Saved, "m1"), (Offered, "m1"))
    caught = after(saved, (Caught, "m2"))
    assert (caught.leg, caught.revision, caught.carrier) == (2, 1, "m2")
    assert (caught.state, caught.since, caught.until) == (State.HELD, T0, T0 + HOLD)
    assert (caught.to, caught.how, caught.reason) == (None, How.FREE, "")


def test_an_event_from_an_old_leg_is_refused_by_number() -> None:
    taken = after(OFFERED, (Caught, "m2"))
    said = refusal(taken, replace(event(Saved, taken), leg=1))
    assert (said.reason, said.why) == ("m1 acted on leg 1; this is leg 2", Why.STALE)


def test_an_event_on_an_old_revision_is_refused_by_number() -> None:
    saved = after(HELD, (Saved, "m1"))
    assert saved.revision == 1
    said = refusal(saved, event(Saved, saved, revision=0))
    assert (said.reason, said.why) == ("m1 acted on revision 0; this is revision 1", Why.STALE)


def test_a_save_pushes_the_lease_on_and_a_push_does_not() -> None:
    later = T0 + 20 * MINUTE
    saved = after(HELD, event(Saved, HELD, at=later, hold=5 * MINUTE))
    assert (saved.until, saved.length, saved.since) == (later + 5 * MINUTE, 5 * MINUTE, T0)
    assert after(HELD, event(Pushed, HELD, at=later)) == HELD


@pytest.mark.parametrize(
    ("to", "who"),
    [
        (Recipient(machine="m2"), {"m2"}),
        (Recipient(person="LIN"), {"m1", "m2"}),
        (Recipient(person="kim"), {"m3"}),
        (Recipient(), {"m1", "m2", "m3", "stranger"}),
    ],
)
def test_an_offer_is_for_those_it_names(to: Recipient, who: set[str]) -> None:
    lease = after(HELD, event(Offered, HELD, to=to))
    for machine in ("m1", "m2", "m3", "stranger"):
        result = advance(lease, event(Caught, lease, machine), PEOPLE.get)
        assert isinstance(result, Lease) == (machine in who)


def test_somebody_else_is_told_whom_an_offer_is_for() -> None:
    said = refusal(OFFERED, event(Caught, OFFERED, "m3"))
    assert (said.reason, said.why) == ("this work is offered to m2, not m3", Why.HELD)
    assert [Recipient(person="kim").shown(), Recipient().shown()] == ["kim", "anyone"]


def test_an_offer_that_has_run_out_before_it_was_made_is_refused() -> None:
    said = refusal(HELD, event(Offered, HELD, deadline=T0))
    assert said.why is Why.WRONG
    assert "run out before it was made" in said.reason


def test_an_offer_can_be_withdrawn_and_the_hold_begins_again() -> None:
    later = T0 + 60 * MINUTE
    held = after(OFFERED, event(Withdrawn, OFFERED, at=later, hold=7 * MINUTE))
    assert (held.state, held.to, held.leg) == (State.HELD, None, 1)
    assert (held.since, held.until, held.length) == (later, later + 7 * MINUTE, 7 * MINUTE)
    assert held.how is How.FREE


def test_an_offer_has_its_own_end_and_length() -> None:
    assert (OFFERED.until, OFFERED.length, OFFERED.since) == (T0 + OFFER, OFFER, T0)
    assert OFFERED.found() == Found(how=How.OFFER, by="m1", since=T0)


def test_a_lease_reads_as_dropped_from_the_second_it_ends() -> None:
    end = T0 + HOLD
    assert HELD.as_of(end - MINUTE / 60) == HELD
    dropped = HELD.as_of(end)
    assert (dropped.state, dropped.how, dropped.since) == (State.DROPPED, How.LAPSE, end)
    assert (dropped.carrier, dropped.until, dropped.leg) == ("m1", None, 1)
    assert dropped.as_of(end + OFFER) == dropped


def test_an_offer_that_ran_out_is_told_from_a_lease_that_did() -> None:
    dropped = OFFERED.as_of(T0 + OFFER)
    assert (dropped.state, dropped.how, dropped.to) == (State.DROPPED, How.OFFER_LAPSE, None)
    assert dropped.carrier == "m1"


def test_a_drop_keeps_its_reason_and_the_last_carrier() -> None:
    dropped = after(OFFERED, event(Dropped, OFFERED, reason="no key", blocked=True))
    assert (dropped.carrier, dropped.how, dropped.reason) == ("m1", How.DROP, "no key")
    assert (dropped.blocked, dropped.until, dropped.to, dropped.since) == (True, None, None, T0)


def test_a_closed_work_can_be_caught_anew() -> None:
    closed = STATES[State.CLOSED]
    assert (closed.how, closed.reason, closed.until, closed.since) == (
        How.CLOSED,
        "merged",
        None,
        T0,
    )
    assert after(closed, (Caught, "m3")).leg == 2


@pytest.mark.parametrize("lease", [STATES[s] for s in State if s is not State.HELD])
def test_a_catch_must_name_what_it_found(lease: Lease) -> None:
    found = lease.found()
    other = next(how for how in How if how is not found.how)
    wrongs = (
        replace(found, how=other),
        replace(found, by="m7"),
        replace(found, since=T0 + MINUTE),
    )
    for wrong in wrongs:
        said = refusal(lease, event(Caught, lease, "m2", found=wrong))
        assert said.why is Why.WRONG
        assert "did not find" in said.reason


def test_a_lapsed_lease_is_caught_again_by_its_last_carrier_or_by_anyone() -> None:
    late = T0 + 31 * MINUTE
    for who in ("m1", "m3"):
        caught = after(HELD, event(Caught, HELD, who, at=late))
        assert (caught.carrier, caught.leg) == (who, 2)
    assert refusal(HELD, event(Saved, HELD, at=late)).why is Why.STATE
    assert refusal(HELD, event(Offered, HELD, at=late)).why is Why.STATE
    assert refusal(OFFERED, event(Withdrawn, OFFERED, at=T0 + OFFER)).why is Why.STATE


def test_a_holder_with_a_slow_clock_still_saves_if_nobody_has_caught() -> None:
    slow = T0 + 29 * MINUTE  # by everyone else's watch it is an hour later
    assert after(HELD, event(Saved, HELD, at=slow)).revision == 1
    taken = after(HELD, event(Caught, HELD, "m3", at=T0 + 90 * MINUTE))
    assert refusal(taken, event(Saved, HELD, at=slow)).why is Why.STALE
