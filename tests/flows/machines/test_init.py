"""Setting a checkout up: what it makes, what it refuses, and that it does so once."""

import os
import pty
import sys
from pathlib import Path

import pytest

from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.edge.git.remote import open_shared
from handsoff.errors import TrustError
from handsoff.flows.machines.init import Gate, _found
from tests.kit.machines import Machine, Ran, World, git, run
from tests.kit.running import inside


def files_in(*folders: Path) -> dict[Path, bytes]:
    """Return every file under the folders, with its bytes."""
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in found}


def untouched(machine: Machine) -> bool:
    """Say whether a machine has no keys, and its clone no pin and no hook of ours."""
    dot_git = machine.top / ".git"
    made = (machine.home, dot_git / "handsoff" / "roster.json", dot_git / "hooks" / "pre-push")
    return not any(path.exists() for path in made)


def roster(machine: Machine) -> Roster:
    return machine.desk().live_roster().trusted()


def founding_of(machine: Machine) -> str:
    return roster(machine).founding


def answered(machine: Machine, answer: str, *words: str) -> Ran:
    """Run handsoff with a person at the terminal who types ``answer``."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    script = f"exec {sys.executable} -m handsoff {' '.join(words)} <{os.ttyname(theirs)}"
    try:
        return machine.run("sh", "-c", script)
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_first_machine_founds_the_roster(world: World) -> None:
    m1 = world.machine("m1")
    done = m1.handsoff("init", "--name", "m1", "--person", "lin", "--json").ok().json
    assert (done["machine"]["name"], done["machine"]["person"]) == ("m1", "lin")
    assert done["member"]
    assert list(world.remote.refs("refs/wip")) == ["refs/wip/roster"]
    assert [m.id for m in roster(m1).members()] == [done["machine"]["id"]]
    assert m1.desk().pin == done["founding"]
    assert m1.desk().home.clones(done["founding"]) == [m1.top]
    assert m1.git("status", "--porcelain", "--ignored") == ""


def test_keys_are_for_their_owner_only(world: World) -> None:
    m1 = world.machine("m1")
    inside(m1, "init", "--name", "m1").ok()
    modes = {path.name: path.stat().st_mode & 0o777 for path in m1.home.iterdir()}
    assert m1.home.stat().st_mode & 0o777 == 0o700
    assert (modes["signing.key"], modes["sealing.key"]) == (0o600, 0o600)


def test_a_second_run_changes_nothing_and_says_so(world: World) -> None:
    m1 = world.machine("m1")
    inside(m1, "init", "--name", "m1").ok()
    before = files_in(m1.top, m1.home), world.remote.refs()
    again = inside(m1, "init").ok()
    assert "nothing to do" in again.err
    assert (files_in(m1.top, m1.home), world.remote.refs()) == before


def test_a_person_is_shown_who_founded_the_roster_and_asked(world: World) -> None:
    world.members("m1")
    m2 = world.machine("m2")
    said = answered(m2, "n\n", "init", "--name", "m2")
    assert said.code == 2
    assert "founded by m1 of lin (SHA256:" in said.err
    assert untouched(m2)
    assert answered(m2, "y\n", "init", "--name", "m2").code == 0
    assert m2.desk().pin is not None


def test_without_a_person_nothing_is_trusted(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    said = inside(m2, "init", "--name", "m2")
    assert said.code == 2
    assert founding_of(m1) in said.err
    assert untouched(m2)


def test_a_machine_that_is_let_in_later_is_told_how(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    said = inside(m2, "init", "--name", "m2", "--person", "lin", "--trust", founding_of(m1)).ok()
    assert "here, handsoff card > ~/m2.card" in said.err
    assert "there, handsoff admit m2.card" in said.err
    card = inside(m2, "card").ok().out
    inside(m1, "admit", "-", "--yes", given=card).ok()
    assert inside(m2, "init", "--json").ok().json["member"]


@pytest.mark.parametrize(("trust", "code"), [("0" * 40, 7), ("SHA256:abc", 2)])
def test_another_roster_than_the_one_named_is_refused(world: World, trust: str, code: int) -> None:
    world.members("m1")
    m2 = world.machine("m2")
    assert inside(m2, "init", "--name", "m2", "--trust", trust).code == code
    assert untouched(m2)


def test_a_roster_that_is_named_must_be_there(world: World) -> None:
    m1 = world.machine("m1")
    said = inside(m1, "init", "--name", "m1", "--trust", "0" * 40)
    assert (said.code, world.remote.refs("refs/wip")) == (7, {})


def test_a_clone_keeps_to_the_roster_that_it_trusts(world: World) -> None:
    (m1,) = world.members("m1")
    tip = world.remote.refs()["refs/wip/roster"]
    git(world.remote.path, "update-ref", "-d", "refs/wip/roster")
    assert inside(m1, "init").code == 7
    m2 = world.machine("m2")
    world.enrol(m2)
    said = inside(m1, "init")
    assert said.code == 7
    assert f"this clone trusts {tip[:12]}" in said.err


def test_the_environment_and_git_may_name_the_machine(world: World) -> None:
    m1 = world.machine("m1")
    m1.git("config", "wip.machine", "desk-7")
    by_git = inside(m1, "card").ok().out
    assert '"name":"desk-7"' in by_git
    m2 = world.machine("m2")
    m2.git("config", "wip.machine", "desk-7")
    m2.env["MACHINE_ID"] = "desk-8"
    assert '"name":"desk-8"' in inside(m2, "card").ok().out
    m3 = world.machine("m3")
    m3.env["MACHINE_ID"] = "desk-8"
    assert '"name":"m3"' in inside(m3, "card", "--name", "m3").ok().out


@pytest.mark.parametrize(
    ("user", "person"), [("Lin Wéi", "Lin-Wei"), ("林伟", "sam"), ("  ", "sam"), ("anyone", "sam")]
)
def test_the_person_is_whom_git_knows_or_who_logged_in(
    world: World, user: str, person: str
) -> None:
    m1 = world.machine("m1")
    m1.git("config", "user.name", user)
    m1.env["LOGNAME"] = "sam"
    assert f'"person":"{person}"' in inside(m1, "card", "--name", "m1").ok().out


@pytest.mark.parametrize("name", ["a b", "../x", "anyone", "名"])
def test_a_name_that_will_not_do_is_refused_first(world: World, name: str) -> None:
    m1 = world.machine("m1")
    assert inside(m1, "init", f"--name={name}").code == 2
    assert (untouched(m1), world.remote.refs("refs/wip")) == (True, {})


def test_a_machine_keeps_its_name(world: World) -> None:
    (m1,) = world.members("m1")
    said = inside(m1, "init", "--name", "m9")
    assert said.code == 2
    assert "m1 already, not m9" in said.err
    assert inside(m1, "init", "--person", "bo").code == 2


def test_a_name_that_is_taken_is_refused_before_keys_are_made(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    said = inside(m2, "init", "--name", "M1", "--trust", founding_of(m1))
    assert said.code == 2
    assert untouched(m2)


def test_whoever_is_slower_joins_the_roster_of_the_faster(world: World) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    inside(m2, "card", "--name", "m2", "--person", "bo").ok()
    inside(m1, "init", "--name", "m1").ok()
    asked: list[str] = []
    desk = m2.desk()
    gate = Gate(desk.shared, desk.machine, pinned=None, trust=None, ask=asked.append)
    read = _found(desk, gate, RosterRead())
    assert [m.name for m in read.trusted().members()] == ["m1"]
    assert len(asked) == 1


def test_a_run_cut_off_after_founding_is_finished_by_the_next(world: World) -> None:
    (m1,) = world.members("m1")
    (m1.top / ".git" / "handsoff" / "roster.json").unlink()
    inside(m1, "init").ok()
    assert m1.desk().pin == founding_of(m1)


def test_junk_on_the_ref_of_the_roster_is_stood_upon(world: World) -> None:
    m1 = world.machine("m1")
    m1.git("push", "-q", "origin", "main:refs/wip/roster")
    inside(m1, "init", "--name", "m1").ok()
    assert [m.name for m in roster(m1).members()] == ["m1"]


@pytest.mark.parametrize("line", ["/.wip/", ".wip/", ".wip"])
def test_what_git_ignores_already_is_not_said_twice(world: World, line: str) -> None:
    m1 = world.machine("m1")
    exclude = m1.top / ".git" / "info" / "exclude"
    exclude.write_text(f"*.log\n{line}")
    inside(m1, "init", "--name", "m1").ok()
    assert exclude.read_text() == f"*.log\n{line}"


def test_the_line_goes_below_one_without_an_end(world: World) -> None:
    m1 = world.machine("m1")
    exclude = m1.top / ".git" / "info" / "exclude"
    exclude.write_text("*.log")
    inside(m1, "init", "--name", "m1").ok()
    assert exclude.read_text() == "*.log\n/.wip/\n"


def test_a_linked_worktree_is_as_good_as_any(world: World) -> None:
    m1 = world.machine("m1")
    side = m1.top.parent / "side"
    m1.git("worktree", "add", "-q", str(side), "-b", "side")
    inside(m1, "init", "--name", "m1", cwd=side).ok()
    assert (m1.top / ".git" / "hooks" / "pre-push").exists()
    assert m1.desk().home.clones() == [side]


def test_git_dir_in_the_environment_names_the_checkout(world: World) -> None:
    m1 = world.machine("m1")
    m1.env.update(GIT_DIR=str(m1.top / ".git"), GIT_WORK_TREE=str(m1.top))
    inside(m1, "init", "--name", "m1", cwd=world.folder).ok()
    assert m1.desk().home.clones() == [m1.top]


def test_another_remote_may_be_the_shared_one(world: World) -> None:
    m1 = world.machine("m1")
    m1.git("remote", "rename", "origin", "hub")
    m1.git("remote", "add", "fork", str(world.folder / "nowhere.git"))
    assert inside(m1, "init", "--name", "m1").code == 2
    inside(m1, "init", "--name", "m1", "--remote", "hub").ok()
    assert open_shared(m1.desk().checkout).name == "hub"
    inside(m1, "init").ok()


def test_what_is_no_checkout_with_a_remote_is_refused(world: World) -> None:
    m1 = world.machine("m1")
    assert inside(m1, "init", "--name", "m1", cwd=world.folder).code == 2
    assert inside(m1, "init", "--name", "m1", cwd=world.remote.path).code == 2
    m1.git("remote", "remove", "origin")
    said = inside(m1, "init", "--name", "m1")
    assert said.code == 2
    assert "no remote" in said.err
    assert untouched(m1)


def test_a_repository_of_longer_ids_is_refused_by_name(world: World) -> None:
    m1 = world.machine("m1")
    top = world.folder / "sha256"
    run("git", "init", "-q", "--object-format=sha256", str(top), cwd=world.folder).ok()
    git(top, "remote", "add", "origin", str(world.remote.path))
    said = inside(m1, "init", "--name", "m1", cwd=top)
    assert said.code == 8
    assert "sha256" in said.err


def test_a_remote_that_is_away_leaves_nothing_half_done(world: World) -> None:
    m1 = world.machine("m1")
    world.remote.path.rename(world.folder / "away.git")
    said = inside(m1, "init", "--name", "m1", "--json")
    assert (said.code, said.json["error"]["code"]) == (6, "unreachable")
    assert untouched(m1)


def test_a_remote_that_hides_our_refs_says_which_setting(world: World) -> None:
    m1 = world.machine("m1")
    git(world.remote.path, "config", "receive.hideRefs", "refs/wip")
    said = inside(m1, "init", "--name", "m1")
    assert said.code == 3
    assert "receive.hideRefs" in said.err
    assert m1.desk().pin is None


def test_a_rewound_roster_is_found(world: World) -> None:
    m1, _ = world.members("m1", "m2")
    git(world.remote.path, "update-ref", "refs/wip/roster", founding_of(m1))
    with pytest.raises(TrustError, match=r"was (forked|rewound) on the remote"):
        m1.desk().live_roster()
    assert inside(m1, "roster").code == 7
