"""Branches moved past the record, with real git: found by audit and status, and put back."""

from typing import Any

import pytest

from handsoff.edge.git.merged import reaches
from tests.kit.machines import Machine, World, git
from tests.kit.monday import WORK as MONDAYS
from tests.kit.monday import Monday, send
from tests.kit.pushing import WORK, branch, entries, last
from tests.kit.running import inside

FORCE = ("--no-verify", "-f", "-q", "origin")


@pytest.fixture
def pair(world: World) -> tuple[Machine, Machine]:
    """Return m1, which is on feat/x, and m2, which carries it and has pushed it on the record."""
    m1, m2 = world.members("m1", "m2")
    for machine in (m1, m2):
        machine.git("switch", "-qc", WORK)
    m2.commit()
    inside(m2, "push").ok()
    return m1, m2


def found(machine: Machine, *words: str) -> list[tuple[str, str]]:
    """Return what an audit finds about branches, with its grade."""
    ran = inside(machine, "audit", "--json", *words)
    findings = [f for f in ran.json["findings"] if f["what"].startswith("branch-")]
    assert ran.code == (3 if any(f["grade"] == "work" for f in findings) else 0), ran.out
    for finding in findings:
        assert (finding["work"], finding["ref"]) == (WORK, f"refs/heads/{WORK}")
    return [(f["what"], f["grade"]) for f in findings]


def astray(machine: Machine) -> list[dict[str, Any]]:
    """Return what a status says of the branch."""
    told = inside(machine, "status", "--json").ok().json
    (work,) = [w for w in told["works"] if w["work"] == WORK]
    return list(work["strayed"])


def test_a_branch_that_was_forced_is_found_and_put_back(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    assert found(m1) == found(m2) == []
    assert astray(m1) == astray(m2) == []
    named, forced = branch(world), m1.commit("m1: it did not stop")
    m1.push(*FORCE, WORK).ok()
    assert branch(world) == forced != named
    for machine in pair:
        assert found(machine) == [("branch-rewritten", "work")]
    said = inside(m2, "audit")
    assert named[:12] in said.out
    assert "git does not tell who did it" in " ".join(said.out.split())
    assert "m1" not in said.out[said.out.index("work: ") :]  # who did it nobody knows
    told = inside(m2, "status").ok().out
    assert f"{WORK} was changed past the record: it is at {forced[:12]}" in told
    assert "next: handsoff push --force puts back what is here" in told
    (seen,) = astray(m2)
    assert (seen["how"], seen["tip"], seen["named"], seen["by"]) == (
        "rewritten", forced, named, "m2",
    )  # fmt: skip
    (other,) = astray(m1)
    assert (other["how"], other["next"][:24]) == ("rewritten", "on m2: handsoff status s")
    inside(m2, "push", "--force").ok()
    assert branch(world) == named
    assert (found(m2), astray(m2)) == ([], [])


def test_without_the_commit_in_its_branch_the_carrier_puts_it_back_with_git(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    named = branch(world)
    m1.commit()
    m1.push(*FORCE, WORK).ok()
    m2.git("reset", "-q", "--hard", "HEAD~1")
    (seen,) = astray(m2)
    command = seen["next"].removesuffix(" puts it back").split()
    assert command[:2] == ["git", "push"]
    m2.run(*command).ok()
    assert branch(world) == named


def test_a_branch_that_was_deleted_is_pushed_anew_and_a_cut_push_is_finished(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    named = branch(world)
    m1.push(*FORCE, f":refs/heads/{WORK}").ok()
    assert found(m2) == [("branch-deleted", "work")]
    assert [s["next"] for s in astray(m2)] == ["handsoff push puts it back"]
    inside(m2, "push").ok()
    assert (branch(world), found(m2), astray(m2)) == (named, [], [])
    new = m2.commit()
    inside(m2, "push").ok()
    before = entries(m2)
    git(world.remote.path, "update-ref", f"refs/heads/{WORK}", last(m2).old)
    assert found(m2) == [("branch-set-back", "work")]
    (seen,) = astray(m2)
    assert (seen["how"], seen["next"]) == ("set-back", "handsoff push puts it back")
    assert "cut off" in seen["said"]
    inside(m2, "push").ok()
    assert (branch(world), entries(m2), found(m2)) == (new, before, [])


def test_what_the_carrier_does_with_plain_git_is_no_finding(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.commit()
    m2.push("-q", "origin", WORK).ok()
    assert found(m1) == [("branch-ahead", "note")]
    assert astray(m2) == astray(m1) == []
    m1.git("fetch", "-q")
    m1.git("reset", "-q", "--hard", f"origin/{WORK}")
    m1.commit("past the record, on top")
    m1.push(*FORCE, WORK).ok()
    (seen,) = astray(m2)
    assert (seen["how"], seen["next"].split(" takes")[0]) == (
        "ahead", f"git pull origin refs/heads/{WORK}",
    )  # fmt: skip
    m2.run(*seen["next"].split(" takes")[0].split()).ok()
    assert astray(m2) == []
    said = inside(m2, "push").ok()  # what plain git moved is put on the record, once
    assert "the record says so now" in said.err
    assert (last(m2).new, found(m2)) == (branch(world), [])
    assert "nothing to push" in inside(m2, "push").ok().err
    m2.git("commit", "-q", "--amend", "-m", "rebased")
    m2.push("-q", "--force-with-lease", "origin", WORK).ok()
    assert found(m1) == [("branch-rewritten", "work")]
    assert [s["next"] for s in astray(m2)] == [
        "handsoff push puts on the record what this checkout has"
    ]
    inside(m2, "push").ok()
    assert (found(m1), astray(m2)) == ([], [])
    m2.git("commit", "-q", "--amend", "-m", "rebased again")
    inside(m2, "push", "--force").ok()
    assert found(m1) == []


def test_a_branch_that_was_merged_or_closed_may_go(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.push("--no-verify", "-q", "origin", f"{WORK}:main", f":{WORK}").ok()
    assert found(m1) == found(m2) == []
    git(world.remote.path, "update-ref", "refs/heads/main", "refs/heads/main~1")
    assert found(m1) == [("branch-deleted", "work")]
    m2.writes(WORK, lambda pen: pen.closed("merged"))
    assert (found(m1), astray(m2)) == ([], [])
    m2.writes(WORK, lambda pen: pen.caught())
    assert found(m1) == []  # what was pushed before it was closed binds nobody


def test_a_clone_whose_history_is_cut_off_says_that_it_cannot_tell(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    named = branch(world)
    pin = m1.desk().pin
    assert pin is not None
    m2.commit()
    m2.push("-q", "origin", WORK).ok()
    remote = f"file://{world.remote.path}"

    def clone(name: str, *how: str) -> Machine:
        git(world.folder, "clone", "-q", *how, remote, name)
        return Machine("ops", world.folder / "nowhere", world.folder / name)

    cut = clone("cut", "--depth", "1", "-b", WORK)
    assert found(cut, "--trust", pin) == [("branch-unknown", "work")]
    fresh = clone("fresh", "--depth", "1")
    assert found(fresh, "--trust", pin) == [("branch-ahead", "note")]
    assert reaches(m1.desk().shared, ["f" * 40], named) is None
    m1.commit()
    m1.push(*FORCE, WORK).ok()
    late = clone("late", "--depth", "1")
    assert found(late, "--trust", pin) == [("branch-unknown", "work")]
    git(world.remote.path, "config", "uploadpack.allowFilter", "true")
    for number, how in enumerate((["--no-checkout"], ["--filter=tree:0", "--no-checkout"])):
        whole = clone(f"whole{number}", *how)
        refs = git(whole.top, "for-each-ref")
        assert found(whole, "--trust", pin) == [("branch-rewritten", "work")]
        assert git(whole.top, "for-each-ref") == refs
    m1.push(*FORCE, f":{WORK}").ok()
    assert found(late, "--trust", pin) == [("branch-unknown", "note")]


def test_a_hand_over_says_that_the_branch_was_changed_past_the_record(monday: Monday) -> None:
    m1, m2, work = monday.m1, monday.m2, MONDAYS
    inside(m1, "push").ok()
    named, before = m1.git("rev-parse", "HEAD"), m1.git("rev-parse", "HEAD~1")
    m2.push(*FORCE, f":refs/heads/{work}").ok()

    def told(machine: Machine, *words: str) -> str:
        done = inside(machine, *words, "--dry-run", "--json").ok().json
        return " ".join(w for w in done["warnings"] if named[:12] in w)

    assert f"{work} is gone" in told(m1, "save")
    send(monday)
    assert f"{work} is gone" in told(m2, "catch", work)
    m1.push(*FORCE, f"{before}:refs/heads/{work}").ok()
    assert "handsoff push puts it back" in told(m2, "catch", work)
    m1.push(*FORCE, f"{named}:refs/heads/{work}").ok()
    assert told(m2, "catch", work) == ""
