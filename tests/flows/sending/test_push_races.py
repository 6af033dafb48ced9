"""Push while others act, and after it or the remote was killed: one carrier, whole or nothing."""

from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.core.machines.admission import revoke
from handsoff.edge import clock
from handsoff.edge.git.moves import Move
from tests.kit.machines import Machine, World, git, store
from tests.kit.pushing import WORK, branch, caught, entries, last, pair
from tests.kit.running import background, inside, steps, wait_for

__all__ = ["pair"]


def test_a_stale_ex_carrier_is_refused_by_the_remote_itself(
    world: World, pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    m1, m2 = pair
    m1.writes(WORK, caught, clock.now() - timedelta(hours=2))
    before, log = branch(world), tmp_path / "steps"
    at = {"HANDSOFF_STEPS_LOG": str(log), "HANDSOFF_PAUSE_AT": "push.push.before:1"}
    with background(m1, "push", **at) as running:
        wait_for(lambda: "push.push.before" in steps(log))
        m2.writes(WORK, caught)
        m1.git("config", "core.hooksPath", "/dev/null")
        said = running.end()
    assert said.code == 5, said.err
    assert "feat/x is m2's now: the remote origin took neither the branch nor the entry" in said.err
    assert branch(world) == before
    assert entries(m2) == ["Caught", "Caught"]
    assert "took neither the branch" in inside(m2, "history", WORK, "--json").ok().out
    # what no machine can stop on a remote without our hook: seen afterwards, in the record
    m1.push("--no-verify", "origin", WORK).ok()
    assert branch(world) == m1.git("rev-parse", "HEAD")
    assert m2.record(WORK).lease.carrier == m2.member().id


def test_a_machine_that_is_revoked_meanwhile_moves_nothing(
    world: World, pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    m1, m2 = pair
    m1.writes(WORK, caught)
    log = tmp_path / "steps"
    at = {"HANDSOFF_STEPS_LOG": str(log), "HANDSOFF_PAUSE_AT": "push.push.before:1"}
    with background(m1, "push", **at) as running:
        wait_for(lambda: "push.push.before" in steps(log))
        desk, own = m2.desk(), m2.member()
        read = desk.live_roster()
        tips = {WORK: world.remote.refs()["refs/wip/lease/feat%2Fx"]}
        when = read.trusted().at
        draft = revoke(read, m1.member().id, reason="lost", tips=tips, by=own.id, at=when,
                       sign=own.sign)  # fmt: skip
        store(desk).write_drafts([draft])
        desk.shared.push(Move(desk.shared.roster_ref, draft.oid, read.git_tip or ""))
        before = world.remote.refs()
        said = running.end()
    assert (said.code, world.remote.refs()) == (7, before), said.err


def test_what_others_may_do_meanwhile_is_no_loss(
    world: World, pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    m1, _ = pair
    m1.writes(WORK, caught)
    log = tmp_path / "steps"
    at = {"HANDSOFF_STEPS_LOG": str(log), "HANDSOFF_PAUSE_AT": "push.push.before:1"}
    with background(m1, "push", **at) as running:
        wait_for(lambda: "push.push.before" in steps(log))
        m1.writes(WORK, lambda pen: pen.saved(envelope="a" * 40))
        (m1.top.parent / "m3.card").write_bytes(world.machine("m3").card())
        inside(m1, "admit", m1.top.parent / "m3.card", "--yes").ok()
        said = running.end().ok()
    assert "pushed feat/x on origin" in said.err
    assert entries(m1) == ["Caught", "Saved", "Pushed"]


@pytest.mark.parametrize("torn", ["branch", "record", "neither"])
def test_a_push_that_a_dying_remote_did_by_half_is_made_whole(
    world: World, pair: tuple[Machine, Machine], torn: str
) -> None:
    """``--atomic`` is atomic for other pushers, not for a server that loses its power."""
    m1, _ = pair
    m1.writes(WORK, caught)
    ref, old = "refs/wip/lease/feat%2Fx", branch(world)
    record = world.remote.refs()[ref]
    killed = {"HANDSOFF_KILL_AT": "push.push.after"}
    with background(m1, "push", **killed) as running:
        assert running.end().code == -9
    new = branch(world)
    if torn == "branch":
        git(world.remote.path, "update-ref", ref, record)
    if torn == "record":
        git(world.remote.path, "update-ref", "refs/heads/feat/x", old)
    done = inside(m1, "push", "--json").ok().json
    assert done["moved"] == {"branch": "record", "record": "branch", "neither": "nothing"}[torn]
    assert branch(world) == new == m1.git("rev-parse", "HEAD")
    assert entries(m1) == ["Caught", "Pushed"]
    assert (last(m1).old, last(m1).new) == (old, new)
    assert "nothing to push" in inside(m1, "push").ok().err


def test_killed_before_the_push_nothing_moved_and_the_next_one_does_it(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    before = world.remote.refs()
    with background(m1, "push", HANDSOFF_KILL_AT="push.push.before") as running:
        assert running.end().code == -9
    assert world.remote.refs() == before
    inside(m1, "push").ok()
    assert entries(m1) == ["Caught", "Pushed"]


def test_a_push_of_git_s_own_by_the_carrier_is_put_on_the_record_once(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    inside(m1, "push").ok()
    old, new = branch(world), m1.commit()
    m1.push("-q").ok()
    assert "the record says so now" in inside(m1, "push").ok().err
    assert (last(m1).old, last(m1).new, branch(world)) == (old, new, new)
    assert "nothing to push" in inside(m1, "push").ok().err
    assert entries(m1) == ["Caught", "Pushed", "Pushed"]
