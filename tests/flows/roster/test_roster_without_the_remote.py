"""The roster without the remote: changes wait, and so does a roster that is founded."""

from pathlib import Path

import pytest

from tests.kit.machines import World
from tests.kit.monday import Monday
from tests.kit.running import away, inside, refused


def test_changes_of_the_roster_wait_and_are_made_in_order(monday: Monday) -> None:
    m4 = monday.world.machine("m4")
    card = monday.world.folder / "m4.card"
    card.write_bytes(m4.card())
    with away(monday.m1):
        for words in (
            ["admit", card, "--yes"],
            ["roster", "rename", "m4", "desk"],
            ["roster", "revoke", "m3", "--reason", "lost", "--yes"],
            ["roster", "rename", "nobody", "somebody"],
        ):
            refused(inside(monday.m1, *words), 6, "waits here", "handsoff pending")
        out = inside(monday.m1, "pending").ok().out
        assert "roster: admit a card" in out
    told = inside(monday.m1, "status", "--json").ok().json["news"]
    assert [line.partition(":")[0] for line in told] == [
        *["made on the roster what waited"] * 3, "refused on the roster"
    ]  # fmt: skip
    members = inside(monday.m1, "roster", "--json").ok().json["members"]
    assert {m["name"] for m in members if not m["revoked"]} == {"m1", "m2", "desk"}
    assert "nothing waits" in inside(monday.m1, "pending").ok().out


def test_a_roster_founded_without_the_remote_waits_and_lands(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    m1 = world.machine("m1")
    with away(m1):
        refused(inside(m1, "init", "--name", "m1", "--person", "lin"), 6, "init --offline")
        told = inside(m1, "init", "--offline", "--name", "m1", "--person", "lin", "--json").ok()
        assert "waits here" in " ".join(told.json["done"])
        assert (
            inside(m1, "init", "--offline", "--json").ok().json["founding"]
            == (told.json["founding"])
        )
    assert inside(m1, "roster", "--json").ok().json["founding"] == told.json["founding"]
    assert world.remote.refs("refs/wip/roster")


def test_two_rosters_founded_apart_are_told_apart_and_the_one_on_the_remote_stands(
    tmp_path: Path,
) -> None:
    world = World.make(tmp_path)
    m1, m2 = world.machine("m1"), world.machine("m2")
    with away(m2):
        inside(m2, "init", "--offline", "--name", "m2", "--person", "kim").ok()
    stands = inside(m1, "init", "--name", "m1", "--person", "lin", "--json").ok().json["founding"]
    refused(inside(m2, "roster"), 7, "two rosters were founded apart", "by m1", stands)
    refused(inside(m2, "init"), 7, "founded")
    inside(m2, "init", "--trust", stands).ok()
    card = tmp_path / "m2.card"
    card.write_bytes(m2.card("kim"))
    inside(m1, "admit", card, "--yes").ok()
    assert {m["name"] for m in inside(m2, "roster", "--json").ok().json["members"]} == {"m1", "m2"}


@pytest.mark.parametrize("first", ["status", "prune", "history"])
def test_a_roster_that_waits_lands_with_whatever_reaches_the_remote_first(
    tmp_path: Path, first: str
) -> None:
    world = World.make(tmp_path)
    m1 = world.machine("m1")
    with away(m1):
        inside(m1, "init", "--offline", "--name", "m1", "--person", "lin").ok()
    told = inside(m1, "doctor", "--no-probe", "--repair")
    assert "founded here without the remote, and is not there yet" in told.out
    assert not world.remote.refs("refs/wip"), "doctor repairs what was lost there, and founds none"
    said = inside(m1, first)
    assert "was deleted" not in said.out + said.err
    assert world.remote.refs("refs/wip/roster")


def test_doctor_pushes_no_roster_over_another_that_was_founded_meanwhile(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    m1, m2 = world.machine("m1"), world.machine("m2")
    with away(m2):
        inside(m2, "init", "--offline", "--name", "m2", "--person", "kim").ok()
    inside(m1, "init", "--name", "m1", "--person", "lin").ok()
    before = world.remote.refs("refs/wip")
    told = inside(m2, "doctor", "--no-probe", "--repair")
    assert "two rosters were founded apart" in told.out
    assert "--keep here" not in told.out
    assert world.remote.refs("refs/wip") == before
