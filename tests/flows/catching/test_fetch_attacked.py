"""A fetch against what stands against it: a verb that was typed meanwhile, a file that is damaged.

Most of it is without the remote, where the machine that gives a parcel is the only one that can
say who may still catch the work.
"""

import os

from handsoff.flows.works.shelf import Shelf
from tests.flows.catching.test_fetch import fetch, knows, shelf
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, away, inside, refused


def catches(machine: Machine) -> bool:
    """Say whether a machine that catches without the remote has the work then."""
    caught = inside(machine, "catch", WORK)
    came = (machine.top / "src/money.py").exists()
    assert not came or caught.code == 6, caught.err
    return came


def test_what_was_withdrawn_without_the_remote_is_given_to_nobody(monday: Monday) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    inside(monday.m2, "status").ok()  # it knows the offer, and the parcel's name
    monday.m2.git("fetch", "-q")
    with away(monday.m1, monday.m2), at_home(monday.m1) as there:
        knows(monday.m2, monday.m1, there.address)
        assert inside(monday.m1, "withdraw").code == 6
        caught = inside(monday.m2, "catch", WORK)
        refused(caught, 6, "neither here nor on the remote")
    assert [h.event for h in there.happened if h.event != "refused"] == []


def test_without_the_remote_one_machine_alone_is_given_what_anyone_may_catch(
    monday: Monday,
) -> None:
    with away(monday.m1, monday.m2, monday.m3), at_home(monday.m1) as there:
        assert inside(monday.m1, "offer", "--anyone").code == 6
        for machine in (monday.m2, monday.m3):
            knows(machine, monday.m1, there.address)
        assert catches(monday.m2)
        assert not catches(monday.m3)


def test_what_was_given_is_not_dropped_and_taken_up_again_unseen(monday: Monday) -> None:
    with away(monday.m1, monday.m2), at_home(monday.m1) as there:
        assert inside(monday.m1, "offer", "--to", "m2").code == 6
        knows(monday.m2, monday.m1, there.address)
        assert catches(monday.m2)
        refused(inside(monday.m1, "drop", "--reason", "x"), 3, "m2 has the parcel")


def test_a_parcel_that_is_damaged_on_its_shelf_is_not_promised(monday: Monday) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    (parcel,) = shelf(monday.m1)
    path = Shelf(monday.m1.desk()).path(parcel)
    note, other = path.with_suffix(".json"), path.with_name("other")
    whole, known = path.read_bytes(), note.read_bytes()
    with at_home(monday.m1) as there:
        os.truncate(path, len(whole) // 2)
        assert "no parcel" in fetch(monday.m2, monday.m1, there, parcel)
        other.write_bytes(whole)
        path.unlink()
        path.symlink_to(other)
        assert "no parcel" in fetch(monday.m2, monday.m1, there, parcel)
        other.replace(path)
        note.write_text('{"parcel": 1}')
        assert "no parcel" in fetch(monday.m2, monday.m1, there, parcel)
        note.write_bytes(known)
        assert fetch(monday.m2, monday.m1, there, parcel) == ""
    assert [h.event for h in there.happened] == ["refused"] * 3 + ["giving", "gave"]


def test_what_was_given_once_and_is_offered_to_another_is_fetched_by_that_one(
    monday: Monday,
) -> None:
    inside(monday.m1, "offer", "--anyone").ok()
    parcel = shelf(monday.m1)
    with at_home(monday.m1) as there:
        for machine in (monday.m2, monday.m3):
            knows(machine, monday.m1, there.address)
        assert fetch(monday.m2, monday.m1, there, parcel[0]) == ""
        inside(monday.m1, "withdraw").ok()
        inside(monday.m1, "offer", "--to", "m3").ok()
        assert shelf(monday.m1) == parcel
        inside(monday.m3, "status").ok()
        monday.m3.git("fetch", "-q")
        with away(monday.m1, monday.m3):
            assert catches(monday.m3)
