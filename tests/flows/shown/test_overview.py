"""What a clone knows, put together for a page: asking nobody, then with the remote."""

from dataclasses import replace
from datetime import timedelta

from handsoff.core.ids import work_component
from handsoff.edge.git.repo import Checkout
from handsoff.flows.shown.overview import Window
from handsoff.flows.shown.watching import Watcher
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import away, inside

WORK_URL = work_component(WORK)


def window(machine: Machine) -> Window:
    return Window(machine.desk())


def asked(machine: Machine) -> Window:
    """Return what a machine knows once its watcher has asked and audited."""
    found = window(machine)
    Watcher(found).ask()
    return found


def test_what_stayed_behind_is_told_where_a_parcel_is_and_nowhere_else(sent: Monday) -> None:
    for machine, knows in ((sent.m1, True), (sent.m2, True), (sent.m3, False)):
        view = asked(machine).work(WORK_URL)
        assert view is not None
        if not knows:
            assert view.left is None, machine.name
            continue
        assert view.left is not None, machine.name
        assert {path for path, _ in view.left.paths} == {".env.local", "cache/", "runs/"}
        assert "never travels" in dict(view.left.paths)[".env.local"]
    inside(sent.m2, "catch", WORK).ok()
    view = asked(sent.m2).work(WORK_URL)
    assert view is not None
    assert view.left is not None, "the one that caught it has opened it"


def test_an_offer_and_a_parcel_that_wait_are_shown_to_whom_they_are_for(sent: Monday) -> None:
    before = window(sent.m2).overview()
    assert [p.work for p in before.parcels] == [WORK]
    assert (before.asked, before.audited, before.cards) == (None, None, ())
    here, there = asked(sent.m2).overview(), asked(sent.m3).overview()
    assert [(c.state, c.carrier, c.to, c.for_me) for c in here.cards] == [
        ("offered", "m1", "m2", True)
    ]
    assert [(c.for_me, c.mine) for c in there.cards] == [(False, False)]
    assert here.audited is not None
    assert here.unaudited == ""
    assert [(m.name, m.own, [c.work for c in m.carries]) for m in here.machines] == [
        ("m1", False, [WORK]), ("m2", True, []), ("m3", False, []),
    ]  # fmt: skip


def test_without_the_remote_what_was_verified_stays_and_nothing_is_taken_for_it(
    sent: Monday,
) -> None:
    found = asked(sent.m3)
    with away(sent.m3):
        Watcher(found).ask()
        shown = found.overview()
    assert "cannot be reached" in shown.away
    assert [c.state for c in shown.cards] == ["offered"]
    desk = replace(sent.m3.desk(), now=sent.m3.desk().now + timedelta(days=2))
    lapsed = Window(desk)
    lapsed.desk = lambda: desk  # type: ignore[method-assign]  # two days from now
    assert [(c.state, c.offer_lapsed) for c in lapsed.overview().cards] == [("lapsed", True)]


def test_a_record_that_was_rewound_is_shown_as_last_seen_with_the_reason(sent: Monday) -> None:
    found = asked(sent.m3)
    ref = f"refs/wip/lease/{WORK_URL}"
    old = sent.m3.run("git", "-C", str(sent.remote.path), "rev-parse", f"{ref}~1").ok().out.strip()
    sent.m3.run("git", "-C", str(sent.remote.path), "update-ref", ref, old).ok()
    Watcher(found).ask()
    (card,) = found.overview().cards
    assert card.state == "offered"
    assert "rewound" in card.trouble
    weighs = found.overview().weighs
    assert [(row.grade, row.what) for row in weighs] == [("trust", "rewound")]


def test_a_new_roster_makes_cards_wait_for_their_verification(sent: Monday) -> None:
    found = asked(sent.m3)
    inside(sent.m1, "roster", "rename", "m2", "laptop").ok()
    sent.m3.desk().live_roster()  # another command here has seen the roster, and no record yet
    assert [c.state for c in found.overview().cards] == ["unverified"]
    Watcher(found).ask()
    assert [(c.state, c.to) for c in found.overview().cards] == [("offered", "laptop")]


def test_a_window_holds_no_lock(sent: Monday) -> None:
    checkout: Checkout = sent.m3.checkout()
    with checkout.lock():  # a verb is at work
        assert asked(sent.m3).overview().cards
        assert asked(sent.m3).work(WORK_URL) is not None
    assert window(sent.m3).work("no-such") is None
