"""A remote that shows one machine an old state: found when machines talk to each other."""

import shutil
from pathlib import Path

from handsoff.flows.desk import Desk
from handsoff.flows.remote import heard
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, inside


def freeze(machine: Machine, monday: Monday, folder: Path) -> str:
    """Show ``machine`` the remote as it is now, for ever; return where it was."""
    shutil.copytree(monday.remote.path, folder)
    before = machine.git("remote", "get-url", "origin")
    machine.git("remote", "set-url", "origin", str(folder))
    return before


def doubts(machine: Machine) -> list[str]:
    return list(inside(machine, "status", "--json").ok().json["doubts"])


def test_a_receiver_is_shown_less_than_the_sender_wrote(monday: Monday, tmp_path: Path) -> None:
    url = freeze(monday.m2, monday, tmp_path / "frozen.git")
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address).ok()
    (said,) = there.doubted
    assert f"m1 saw the record of {WORK} at " in said
    assert "frozen" in said
    assert doubts(monday.m2) == [said]
    assert f"warning: {said}" in inside(monday.m2, "status").ok().out
    monday.m2.git("remote", "set-url", "origin", url)
    assert doubts(monday.m2) == []
    inside(monday.m2, "catch", WORK).ok()


def test_a_sender_is_shown_less_than_the_receiver_saw(monday: Monday, tmp_path: Path) -> None:
    url = freeze(monday.m1, monday, tmp_path / "frozen.git")
    m4 = monday.world.machine("m4")
    (tmp_path / "m4.card").write_bytes(m4.card())
    inside(monday.m2, "admit", tmp_path / "m4.card", "--yes").ok()
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address).ok()  # it is a finding, no refusal
    assert len(there.doubted) == 1  # the record that m1 wrote to its own remote
    (said,) = doubts(monday.m1)
    assert "m2 saw the roster at " in said
    monday.m1.git("remote", "set-url", "origin", url)
    assert doubts(monday.m1) == []


def test_machines_that_see_the_same_say_nothing(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address).ok()
    assert there.doubted == []
    assert doubts(monday.m1) == doubts(monday.m2) == []
    assert not (monday.m2.checkout().store_dir / "heard.json").exists()


def claim(desk: Desk, by: Machine, tip: str) -> list[str]:
    return heard.compare(desk, by.member().id, roster=desk.roster_tip, work=WORK, record=tip)


def test_a_lie_is_a_finding_and_stops_no_hand_over(monday: Monday) -> None:
    desk = monday.m1.desk()
    desk.live_roster()
    assert len(claim(desk, monday.m2, "a" * 40)) == 1
    assert len(claim(desk, monday.m2, "b" * 40)) == 1
    (said,) = doubts(monday.m1)
    assert "m2 saw the record of feat/cny at bbbbbbbbbbbb" in said
    inside(monday.m1, "send", "m2", "--via", "remote").ok()


def test_without_the_remote_a_claim_waits_until_it_answers(monday: Monday) -> None:
    away = monday.world.folder / "away.git"
    desk = monday.m1.desk()
    desk.live_roster()
    monday.remote.path.rename(away)
    assert claim(desk, monday.m2, "a" * 40) == []
    assert doubts(monday.m1) == []
    away.rename(monday.remote.path)
    assert len(doubts(monday.m1)) == 1
