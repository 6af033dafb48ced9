"""Fetching: a parcel that still lies with its maker comes from its listener."""

import os
from pathlib import Path

import pytest

from handsoff.flows.works.shelf import Shelf
from tests.flows.receiving.test_listen import address_in
from tests.kit.compare import look
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.proxy import Line, Proxy
from tests.kit.running import AtHome, at_home, away, background, inside, refused


def shelf(machine: Machine) -> list[str]:
    """Return the ids of the sealed parcels that a machine keeps."""
    return sorted(p.stem for p in Shelf(machine.desk()).folder.glob("*.handsoff"))


def knows(machine: Machine, other: Machine, address: str) -> None:
    """Let a machine have an address of another."""
    machine.desk().home.remember_address(other.member().id, address)


def gone_from_remote(monday: Monday) -> None:
    for ref in monday.remote.refs("refs/wip/snap"):
        monday.m1.git("push", "-q", "--no-verify", "origin", f":{ref}")


def test_a_catch_fetches_the_parcel_from_its_maker_before_the_remote(monday: Monday) -> None:
    travels = monday.travels
    inside(monday.m1, "offer", "--to", "m2").ok()
    with at_home(monday.m1) as there:
        knows(monday.m2, monday.m1, there.address)
        told = inside(monday.m2, "catch", WORK, "--json").ok().json
    assert (told["route"], told["route_why"]) == ("direct", "from the listener of m1")
    assert [h.event for h in there.happened] == ["giving", "gave"]
    assert look(monday.m2.top) == travels


def test_an_offer_made_while_the_remote_is_away_is_fetched_by_a_machine_that_never_heard_of_it(
    monday: Monday,
) -> None:
    travels = monday.travels
    with away(monday.m1, monday.m2), at_home(monday.m1) as there:
        assert inside(monday.m1, "send", "m2", "--via", "remote").code == 6
        knows(monday.m2, monday.m1, there.address)
        caught = inside(monday.m2, "catch", WORK)
        assert caught.code == 6, caught.err
        assert "route: " not in caught.err or "direct" in caught.err
        assert look(monday.m2.top) == travels
        # what was fetched may have been caught: it is not taken back unseen
        refused(inside(monday.m1, "withdraw"), 3, "m2 has the parcel")
    inside(monday.m1, "status").ok()
    inside(monday.m1, "pending", "--send").ok()
    inside(monday.m2, "pending", "--send").ok()
    assert monday.carrier == ("held", "m2", 2)


def test_an_offer_of_what_was_saved_before_is_fetched_while_the_remote_is_away(
    monday: Monday,
) -> None:
    travels = monday.travels
    inside(monday.m1, "save").ok()
    with away(monday.m1, monday.m2), at_home(monday.m1) as there:
        # the parcel of the save has a record that knows nothing of the offer
        assert inside(monday.m1, "offer", "--to", "m2").code == 6
        knows(monday.m2, monday.m1, there.address)
        caught = inside(monday.m2, "catch", WORK)
        assert caught.code == 6, caught.err
        assert look(monday.m2.top) == travels
    inside(monday.m1, "pending", "--send").ok()
    inside(monday.m2, "pending", "--send").ok()
    assert monday.carrier == ("held", "m2", 2)


@pytest.mark.parametrize("how", ["down", "refuses"])
def test_where_the_maker_has_nothing_the_remote_has(monday: Monday, how: str) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    if how == "refuses":
        Shelf(monday.m1.desk()).remove(shelf(monday.m1)[0])
    with at_home(monday.m1) as there:
        knows(monday.m2, monday.m1, "127.0.0.1:9" if how == "down" else there.address)
        told = inside(monday.m2, "catch", WORK, "--json").ok().json
    assert told["route"] == "remote"
    assert ("waits here for m2" if how == "refuses" else "cannot reach") in told["route_why"]


def test_a_parcel_goes_to_nobody_that_it_is_not_sealed_to(monday: Monday) -> None:
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    parcel = monday.m1.record(WORK).kept
    assert parcel is not None
    with at_home(monday.m1) as there:
        said = fetch(monday.m3, monday.m1, there, parcel.parcel)
        assert f"no parcel of {WORK} waits here for m3" in said
        assert "no parcel" in fetch(monday.m3, monday.m1, there, "")
        assert "no parcel" in fetch(monday.m2, monday.m1, there, "0" * 32)
        assert "sealed" not in said
    assert [h.event for h in there.happened] == ["refused"] * 3


def fetch(machine: Machine, of: Machine, there: AtHome, parcel: str) -> str:
    """Let a machine ask for a parcel, and return what it was told."""
    from handsoff.errors import HandsoffError
    from handsoff.flows.catching.fetching import Fetch

    knows(machine, of, there.address)
    desk = machine.desk()
    member = desk.fresh_roster().member(of.member().id)
    assert member is not None
    try:
        Fetch(desk, member, WORK, parcel, lambda *_: None).run()
    except HandsoffError as error:
        return str(error)
    return ""


def test_a_fetch_that_is_cut_goes_on_where_it_stopped(monday: Monday) -> None:
    (monday.m1.top / "big.bin").write_bytes(os.urandom(4_000_000))
    inside(monday.m1, "offer", "--to", "m2").ok()
    gone_from_remote(monday)
    with at_home(monday.m1) as there, Proxy(there.address, Line(down=3_000_000), Line()) as line:
        knows(monday.m2, monday.m1, line.address)
        inside(monday.m2, "catch", WORK).ok()
        assert len(line.passed) == 2
        assert line.down < 1.05 * 4_000_000 + 1_000_000
    assert not [*(monday.m2.home / "incoming").iterdir()]


def test_a_maker_that_answers_and_gives_nothing_is_left_for_the_remote(
    monday: Monday, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    monkeypatch.setattr("handsoff.flows.catching.fetching._STALLED", 0.5)
    monkeypatch.setattr("handsoff.flows.catching.fetching.USUAL", 0.5)
    file = tmp_path / "address"
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    with background(monday.m1, *words, HANDSOFF_PAUSE_AT="listen.give.before:60") as listener:
        knows(monday.m2, monday.m1, address_in(file, listener))
        told = inside(monday.m2, "catch", WORK, "--json").ok().json
    assert told["route"] == "remote"
    assert "cut" in told["route_why"]


def test_sealed_parcels_are_kept_until_the_work_is_caught(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    (first,) = shelf(monday.m1)
    monday.m1.write("src/money.py", "MONEY = 7\n")
    inside(monday.m1, "offer", "--to", "m2").ok()
    (second,) = shelf(monday.m1)
    assert first != second
    desk = monday.m1.desk()
    desk.view(WORK)
    assert Shelf(desk).superfluous() == []
    inside(monday.m2, "catch", WORK).ok()
    desk.view(WORK)
    assert Shelf(desk).superfluous() == [second]
