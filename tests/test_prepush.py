"""Before a push: who may move a branch on the shared remote, and what the others are told."""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.core.works.lease import Recipient
from handsoff.core.works.pen import Pen
from handsoff.edge import clock
from tests.kit.machines import Machine, World, git


@pytest.fixture
def pair(world: World) -> tuple[Machine, Machine]:
    """Return m1 and m2, both on feat/x with a commit to push; the remote has the branch."""
    m1, m2 = world.prepared("m1", "m2", by=_pushed)
    return m1, m2


def _pushed(world: World, m1: Machine, m2: Machine) -> None:
    for machine in (m1, m2):
        machine.git("switch", "-qc", "feat/x")
    m1.push("-q", "origin", "feat/x").ok()
    m2.git("pull", "-q", "origin", "feat/x")
    for machine in (m1, m2):
        machine.commit()


def caught(pen: Pen) -> Pen:
    return pen.caught()


def offer_to(machine: Machine) -> Callable[[Pen], Pen]:
    """Return what puts an offer to ``machine`` on a record."""
    to = Recipient(machine=machine.member().id)
    return lambda pen: pen.holding().saved(envelope="a" * 40).offered(to)


def branch(world: World) -> str:
    return world.remote.refs()["refs/heads/feat/x"]


def test_a_work_without_record_is_anyones(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, _ = pair
    said = m1.push("origin", "feat/x").ok()
    assert "handsoff" not in said.err


def test_the_carrier_pushes(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, _ = pair
    m1.writes("feat/x", caught)
    said = m1.push("origin", "feat/x").ok()
    assert "handsoff" not in said.err


def test_another_machine_is_told_who_carries_it_since_when_and_what_to_do(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    now = clock.now()
    m2.writes("feat/x", caught, now)
    before = branch(world)
    for words in (["feat/x"], ["-f", "feat/x"], [":feat/x"], ["HEAD:refs/heads/feat/x"]):
        said = m1.push("origin", *words)
        assert said.code == 1
        assert f"feat/x: m2 carries this work since {now:%Y-%m-%d %H:%M} UTC" in said.err
        assert "on m2: handsoff send m1; then here: handsoff catch feat/x" in said.err
    assert branch(world) == before


def test_one_refused_branch_stops_the_whole_push(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.writes("feat/x", caught)
    m1.git("branch", "other")
    assert m1.push("origin", "other", "feat/x").code == 1
    assert "refs/heads/other" not in world.remote.refs()
    m1.push("origin", "other").ok()


def test_a_work_that_was_handed_over_is_the_catchers(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m1.writes("feat/x", offer_to(m2))
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert "this machine offered the work to m2" in said.err
    assert "m2 may catch it until" in said.err
    said = m2.push("origin", "feat/x")
    assert said.code == 1
    assert "m1 offered this work to m2" in said.err
    assert "catch it first: handsoff catch feat/x" in said.err
    m2.writes("feat/x", caught)
    assert m1.push("origin", "feat/x").code == 1
    m2.push("origin", "feat/x").ok()


def test_a_lapse_passes_its_last_carrier_with_a_notice_and_nobody_else(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.writes("feat/x", caught, clock.now() - timedelta(hours=2))
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert "m2 carried this work last; its lease ran out at" in said.err
    said = m2.push("origin", "feat/x").ok()
    assert "nobody has caught this work since its lease ran out" in said.err
    assert "this push passes" in said.err


def test_after_an_idle_catch_the_former_carrier_is_refused(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    long_ago = clock.now() - timedelta(hours=3)
    m1.writes("feat/x", offer_to(m2), long_ago)
    m2.writes("feat/x", caught, long_ago + timedelta(hours=1))
    assert m1.push("origin", "feat/x").code == 1


def test_a_closed_work_is_anyones(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, m2 = pair
    m2.writes("feat/x", lambda pen: pen.caught().closed("merged"))
    m1.push("origin", ":feat/x").ok()


def test_a_void_entry_jams_nobody(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, _ = pair
    m1.writes("feat/x", caught)
    ref = m1.desk().shared.record_ref("feat/x")
    tip = git(
        world.remote.path, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "junk",
        "-p", ref, f"{ref}^{{tree}}",
    )  # fmt: skip
    git(world.remote.path, "update-ref", ref, tip)
    m1.push("origin", "feat/x").ok()


def test_another_remote_is_left_alone(
    world: World, pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    m1, m2 = pair
    m2.writes("feat/x", caught)
    git(tmp_path, "init", "-q", "--bare", "fork.git")
    m1.git("remote", "add", "fork", str(tmp_path / "fork.git"))
    m1.push("fork", "feat/x").ok()
    m1.push(str(tmp_path / "fork.git"), "+feat/x").ok()


def test_another_name_for_the_shared_remote_is_no_way_around(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.writes("feat/x", caught)
    path = str(world.remote.path)
    m1.git("remote", "add", "alias", f"file://{path}")
    m1.git("config", f"url.{path.removesuffix('remote.git')}.insteadOf", "short:")
    for remote in ("alias", path, f"{path}/", f"file://{path}", "../../remote.git",
                   "short:remote.git"):  # fmt: skip
        assert m1.push(remote, "feat/x").code == 1, remote


@pytest.mark.parametrize("how", ["rewound", "forked", "deleted"])
def test_a_record_that_was_taken_back_is_refused(
    world: World, pair: tuple[Machine, Machine], how: str
) -> None:
    m1, m2 = pair
    m1.writes("feat/x", caught)
    ref = m1.desk().shared.record_ref("feat/x")
    first = world.remote.refs()[ref]
    m1.writes("feat/x", offer_to(m2))
    assert m1.push("origin", "feat/x").code == 1
    if how == "deleted":
        git(world.remote.path, "update-ref", "-d", ref)
    else:
        git(world.remote.path, "update-ref", ref, first)
    if how == "forked":
        git(world.remote.path, "update-ref", ref, "refs/heads/main")
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert f"the record of feat/x was {how} on the remote" in said.err
    assert f"hint: {'somebody rewrote' if how == 'forked' else 'ask who touched'} {ref}" in said.err


def test_a_record_out_of_reach_is_refused(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, _ = pair
    world.remote.path.rename(world.folder / "away.git")
    line = "refs/heads/feat/x 1 refs/heads/feat/x 2\n"
    said = m1.run(sys.executable, "-m", "handsoff.prepush", "origin", "x", given=line)
    assert said.code == 6
    assert "cannot be reached" in said.err
    assert "nothing was pushed" in said.err


@pytest.mark.parametrize(
    "words",
    [
        ["origin", "main:refs/wip/lease/feat%2Fx"],
        ["origin", ":refs/wip/roster"],
        ["--mirror", "origin"],
        ["--mirr", "origin"],
        ["--prune", "origin", "refs/*:refs/*"],
    ],
)
def test_what_is_ours_is_not_pushed_along(
    world: World, pair: tuple[Machine, Machine], words: list[str]
) -> None:
    m1, _ = pair
    m1.writes("feat/x", caught)
    # so that nothing but the command itself says that it is a mirror push
    for ref in m1.git("for-each-ref", "--format=%(refname)", "refs/remotes").splitlines():
        m1.git("update-ref", "--no-deref", "-d", ref)
    before = world.remote.refs()
    said = m1.push(*words)
    assert said.code == 1, words
    assert "git push origin BRANCH" in said.err
    assert world.remote.refs() == before


def test_a_remote_that_is_set_to_mirror_is_refused_even_with_nothing_new(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    m1.git("config", "remote.origin.mirror", "true")
    assert m1.push().code == 1
    assert "refs/wip/roster" in world.remote.refs()


def test_a_machine_that_is_not_in_yet_pushes_what_nobody_carries(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    m3 = world.machine("m3")
    m3.card()
    m3.handsoff("init", "--trust", m1.desk().need_pin()).ok()
    m3.git("switch", "-qc", "feat/y")
    m3.push("origin", "feat/y").ok()
    m1.writes("feat/y", caught)
    m3.commit()
    assert m3.push("origin", "feat/y").code == 1


def test_a_machine_without_its_keys_is_refused(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, _ = pair
    m1.env["HANDSOFF_HOME"] = str(world.folder / "nowhere")
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert "set HANDSOFF_HOME" in said.err


def test_a_clone_that_was_never_set_up_is_left_alone(world: World) -> None:
    m3 = world.machine("m3")
    line = "refs/heads/main 1 refs/heads/main 2\n"
    url = str(world.remote.path)
    said = m3.run(sys.executable, "-m", "handsoff.prepush", "origin", url, given=line)
    assert (said.code, said.err) == (0, "")


def test_a_branch_of_any_name_is_judged(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    for name in ("名/字", "a%2Fb", "feat.lock.x", "-x", "o" * 230):
        m2.writes(name, caught)
        said = m1.push("origin", f"main:refs/heads/{name}")
        assert said.code == 1, name
        assert "m2 carries this work" in said.err
