"""Cards and admissions: who gets in, by whom, and what stock tools make of it."""

import json
from pathlib import Path

import pytest

from handsoff.errors import LostRaceError
from handsoff.flows.roster.roster import admit
from tests.kit.machines import Machine, World, git, run
from tests.kit.running import inside


def card_of(machine: Machine, person: str = "lin") -> str:
    return machine.card(person).decode()


def names(machine: Machine) -> list[str]:
    return [member.name for member in machine.desk().live_roster().trusted().members()]


def test_a_card_printed_twice_is_the_same_bytes(world: World, tmp_path: Path) -> None:
    m2 = world.machine("m2")
    first = inside(m2, "card", "--name", "m2", cwd=tmp_path).ok().out
    assert inside(m2, "card").ok().out == first
    assert inside(m2, "card", "--name", "m2").ok().out == first


def test_a_card_keeps_to_the_name_of_its_keys(world: World) -> None:
    m2 = world.machine("m2")
    card_of(m2)
    assert inside(m2, "card", "--name", "m3").code == 2


def test_a_new_machine_needs_a_name(world: World) -> None:
    said = world.machine("m2").handsoff("card")
    assert said.code == 2
    assert "--name" in said.err


def test_a_member_lets_a_machine_in_once(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    file = m1.write("../m2.card", card_of(m2))
    said = inside(m1, "admit", file, "--yes").ok()
    assert m2.member().fingerprint in said.err
    assert names(m1) == ["m1", "m2"]
    again = inside(m1, "admit", file).ok()
    assert "is a member already" in again.err
    assert names(m1) == ["m1", "m2"]


def test_nobody_is_let_in_unasked(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    before = world.remote.refs()
    said = inside(m1, "admit", "-", given=card_of(m2))
    assert said.code == 2
    assert m2.member().fingerprint in said.err
    assert world.remote.refs() == before


def test_a_dry_run_lets_nobody_in(world: World) -> None:
    (m1,) = world.members("m1")
    card = card_of(world.machine("m2"))
    before = world.remote.refs()
    said = inside(m1, "admit", "-", "--dry-run", given=card).ok()
    assert "m2 of lin would be in: SHA256:" in said.err
    assert "nothing was changed" in said.err
    assert world.remote.refs() == before


def test_json_tells_who_was_let_in(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    done = inside(m1, "admit", "-", "--yes", "--json", given=card_of(m2)).ok().json
    assert (done["already"], done["member"]["id"]) == (False, m2.member().id)


@pytest.mark.parametrize(
    ("change", "code"),
    [(("m2", "m3"), 7), (('"v":1', '"v":2'), 9), (("{", "["), 9), (("age1", "\x1b[1m"), 9)],
)
def test_a_card_that_was_changed_is_refused(
    world: World, change: tuple[str, str], code: int
) -> None:
    (m1,) = world.members("m1")
    card = card_of(world.machine("m2")).replace(*change)
    said = inside(m1, "admit", "-", "--yes", given=card)
    assert said.code == code
    assert "\x1b" not in said.err
    assert names(m1) == ["m1"]


def test_a_file_that_is_not_there_is_said_so(world: World) -> None:
    (m1,) = world.members("m1")
    said = inside(m1, "admit", "nowhere.card")
    assert said.code == 2
    assert "nowhere.card" in said.err


def test_who_is_not_in_lets_nobody_in(world: World) -> None:
    (m1,) = world.members("m1")
    m2, m3 = world.machine("m2"), world.machine("m3")
    card_of(m2)
    m2.desk().set_pin(m1.desk().need_pin())
    said = inside(m2, "admit", "-", "--yes", given=card_of(m3))
    assert said.code == 7
    assert "m2" in said.err


def test_another_persons_machine_is_theirs_to_let_in(world: World) -> None:
    (m1,) = world.members("m1")
    m2, m3 = world.machine("m2"), world.machine("m3")
    inside(m1, "admit", "-", "--yes", given=card_of(m2, "bo")).ok()
    said = inside(m1, "admit", "-", "--yes", given=card_of(m3, "bo"))
    assert said.code == 3
    assert "only a machine of bo" in said.err


def test_a_name_that_is_taken_is_refused(world: World) -> None:
    m1, _ = world.members("m1", "m2")
    other = world.machine("other")
    card = inside(other, "card", "--name", "M2", "--person", "lin").ok().out
    assert inside(m1, "admit", "-", "--yes", given=card).code == 3


def test_an_admission_that_loses_a_race_is_judged_again(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m3, m4 = (world.machine(name).card() for name in ("m3", "m4"))

    def meanwhile(_: str) -> None:
        admit(m2.desk(), m4, ask=lambda _: None)

    done = admit(m1.desk(), m3, ask=meanwhile)
    assert [m.name for m in done.roster.members()] == ["m1", "m2", "m4", "m3"]


def test_the_same_card_let_in_by_two_is_in_once(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m3 = world.machine("m3").card()

    def meanwhile(_: str) -> None:
        admit(m2.desk(), m3, ask=lambda _: None)

    assert admit(m1.desk(), m3, ask=meanwhile).already
    assert names(m1) == ["m1", "m2", "m3"]


def test_an_admission_that_always_loses_gives_up(world: World) -> None:
    (m1,) = world.members("m1")
    (world.remote.path / "refs" / "wip" / "roster.lock").touch()  # as a push that goes on has it
    card = world.machine("m2").card()
    with pytest.raises(LostRaceError):
        admit(m1.desk(), card, ask=lambda _: None)


def test_json_has_every_member(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    told = inside(m1, "roster", "--json").ok().json
    assert told["founding"] == m1.desk().pin
    shown = [(m["id"], m["name"], m["fingerprint"], m["self"]) for m in told["members"]]
    assert shown == [(m.member().id, m.name, m.member().fingerprint, m is m1) for m in (m1, m2)]


def test_the_roster_has_one_line_a_machine(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    founding, *lines = inside(m1, "roster").ok().out.splitlines()
    assert founding == f"founding {m1.desk().pin}"
    assert [line.split()[:4] for line in lines] == [
        [m.name, "lin", m.member().id, m.member().fingerprint] for m in (m1, m2)
    ]


def test_stock_git_verifies_the_roster_without_us(world: World) -> None:
    m1, _ = world.members("m1", "m2")
    signers = m1.write("../signers", inside(m1, "roster", "--allowed-signers").ok().out)
    setting = f"gpg.ssh.allowedSignersFile={signers}"
    shown = run(
        "git", "-c", setting, "log", "--show-signature", "refs/wip/roster", cwd=world.remote.path
    )
    assert shown.out.count('Good "git" signature') == 2


def test_the_roster_needs_a_checkout_that_is_set_up(world: World) -> None:
    m1 = world.machine("m1")
    card_of(m1)
    said = inside(m1, "roster", "--json")
    assert said.code == 2
    assert "handsoff init" in json.loads(said.out)["error"]["hint"]


def test_a_remote_that_is_away_is_said_to_be(world: World) -> None:
    (m1,) = world.members("m1")
    world.remote.path.rename(world.folder / "away.git")
    assert inside(m1, "roster").code == 6
    assert git(m1.top, "status", "--porcelain") == ""
