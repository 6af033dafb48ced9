"""A remote that takes branches only: the error names the setting, and with it all works there."""

from pathlib import Path

import pytest

from tests.kit.machines import World, git
from tests.kit.monday import PAGE
from tests.kit.running import inside, refused

BRANCHES = "refs/heads/handsoff"
SET = ("config", "handsoff.refs", BRANCHES)


def declining(remote: Path) -> None:
    hook = remote / "hooks" / "update"
    hook.write_text("#!/bin/sh\ncase $1 in refs/heads/*) ;; *) exit 1;; esac\n")
    hook.chmod(0o755)


def hiding(remote: Path) -> None:
    git(remote, "config", "receive.hideRefs", "refs/wip")


def hiding_all(remote: Path) -> None:
    git(remote, "config", "transfer.hideRefs", "refs/wip")


def test_what_is_written_there_leaves_the_users_clone_sound(world: World) -> None:
    m1 = world.machine("m1")
    m1.git(*SET)
    inside(m1, "init", "--name", "m1").ok()
    m1.git("switch", "-qc", "feat/cny")
    m1.commit()
    m1.write(".wip/HANDOFF.md", PAGE)
    for _ in range(2):
        inside(m1, "save").ok()
        m1.git("for-each-ref", "--format=%(objectname) %(objecttype)")
        m1.git("log", "--all", "--oneline")


@pytest.mark.parametrize("spoil", [declining, hiding, hiding_all])
def test_the_error_names_the_setting_that_helps(world: World, spoil: object) -> None:
    assert callable(spoil)
    spoil(world.remote.path)
    m1 = world.machine("m1")
    refused(inside(m1, "init", "--name", "m1"), 3, f"git config handsoff.refs {BRANCHES}")
    assert list(world.remote.refs()) == ["refs/heads/main"]
    m1.git(*SET)
    said = inside(m1, "init").ok()
    assert "warning: what handsoff keeps on the remote are branches there" in said.err
    assert list(world.remote.refs()) == [f"{BRANCHES}/roster", "refs/heads/main"]


def test_a_whole_hand_over_passes_through_branches(world: World) -> None:
    declining(world.remote.path)
    m1, m2 = world.machine("m1"), world.machine("m2")
    m1.git(*SET)
    founding = inside(m1, "init", "--name", "m1", "--json").ok().json["founding"]
    (m1.top / "m2.card").write_bytes(m2.card())
    inside(m1, "admit", "m2.card", "--yes").ok()
    (m1.top / "m2.card").unlink()
    # m2 lacks the setting: it must not found a roster of its own
    refused(inside(m2, "init"), 2, f"the roster on origin is below {BRANCHES}", f"refs {BRANCHES}")
    m2.git(*SET)
    inside(m2, "init", "--trust", founding).ok()

    m1.git("switch", "-qc", "feat/cny")
    m1.commit()
    m1.write(".wip/HANDOFF.md", PAGE)
    m1.write("new.py", "NEW = 1\n")
    # what a plain fetch brings of ours is not news of the user's, and in nobody's way
    m1.git("fetch", "-q", "--all")
    assert "remotes/origin/handsoff/roster" in m1.git("branch", "-a")
    told = inside(m1, "send", "m2", "--via", "remote", "--json").ok().json
    assert (told["counts"]["commits"], told["counts"]["untracked"]) == (1, 1)
    m2.git("fetch", "-q")
    assert f"remotes/origin/handsoff/snap/feat%2Fcny/{told['parcel']}" in m2.git("branch", "-a")
    inside(m2, "catch", "feat/cny").ok()
    assert (m2.top / "new.py").read_text() == "NEW = 1\n"
    assert all(ref.startswith("refs/heads/") for ref in world.remote.refs())
    (work,) = [w for w in inside(m1, "status", "--json").ok().json["works"] if w["leg"]]
    assert (work["work"], work["carrier"]) == ("feat/cny", "m2")
    # the guard of a push knows whose they are
    assert "m2 carries this work" in m1.push("origin", "feat/cny").err
    before = world.remote.refs()
    for words in (["--prune", "origin", "refs/heads/*:refs/heads/*"], ["--mirror", "origin"]):
        assert m2.push(*words).code == 1
    assert world.remote.refs() == before
    # nor can one be worked on
    m1.git("switch", "-q", "handsoff/roster")
    refused(inside(m1, "send", "m2"), 2, "handsoff/roster is handsoff's own")


def test_what_was_seen_stays_here_when_the_users_own_copy_goes(world: World) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    for machine in (m1, m2):
        machine.git(*SET)
    world.enrol(m1, m2)
    m1.writes("feat/cny", lambda pen: pen.caught())
    m2.git("fetch", "-q")  # now nothing is left for us to fetch
    inside(m2, "status").ok()
    seen = {tip for ref, tip in world.remote.refs().items() if ref.startswith(BRANCHES)}
    for name in ("roster", "lease/feat%2Fcny"):
        git(world.remote.path, "update-ref", "-d", f"{BRANCHES}/{name}")
    m2.git("fetch", "-q", "--prune")
    m2.git("reflog", "expire", "--expire=now", "--all")
    m2.git("gc", "-q", "--prune=now")
    assert len(seen) == 2
    assert m2.desk().shared.absent(seen) == set()


def test_a_machine_without_the_setting_is_told_that_the_roster_is_elsewhere(world: World) -> None:
    m1, _ = world.members("m1", "m2")
    m3 = world.machine("m3")
    m3.git(*SET)
    refused(inside(m3, "init", "--name", "m3"), 2, "is below refs/wip", "handsoff.refs refs/wip")
    assert m1.desk().pin


@pytest.mark.parametrize(
    ("value", "why"),
    [("refs/heads", "where all branches are"), ("refs/tags/x", "to git"), ("wip", "no place")],
)
def test_a_setting_that_cannot_be_is_refused(world: World, value: str, why: str) -> None:
    m1 = world.machine("m1")
    m1.git("config", "handsoff.refs", value)
    refused(inside(m1, "init", "--name", "m1"), 2, why, f"git config handsoff.refs {BRANCHES}")


def test_a_branch_in_the_way_is_named(world: World) -> None:
    m1 = world.machine("m1")
    m1.git(*SET)
    git(world.remote.path, "update-ref", BRANCHES, "refs/heads/main")
    refused(
        inside(m1, "init", "--name", "m1"), 2, f"origin has {BRANCHES}, so no ref", f"{BRANCHES}-2"
    )
