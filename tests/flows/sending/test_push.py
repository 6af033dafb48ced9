"""Push: the branch and its record move together, as the carrier's and nobody else's."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.core.remote.pushing import NOTHING_THERE
from handsoff.core.works.lease import Recipient
from handsoff.edge import clock
from tests.kit.machines import Machine, World, git
from tests.kit.pushing import WORK, branch, caught, entries, last, pair
from tests.kit.running import inside, refused

__all__ = ["pair"]


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_free_work_is_caught_and_its_branch_pushed_at_once(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    old, new = branch(world), m1.git("rev-parse", "HEAD")
    tried = inside(m1, "push", "--dry-run").ok()
    assert "would have pushed feat/x on origin" in tried.err
    assert (branch(world), "refs/wip/lease/feat%2Fx" in world.remote.refs()) == (old, False)
    done = inside(m1, "push", "--json").ok().json
    assert (done["old"], done["new"], done["commits"]) == (old, new, 1)
    assert (done["moved"], done["leg"], done["caught"]) == ("both", 1, True)
    assert branch(world) == new == m1.git("rev-parse", "refs/remotes/origin/feat/x")
    assert entries(m1) == ["Caught", "Pushed"]
    assert (last(m1).branch, last(m1).old, last(m1).new) == (WORK, old, new)
    said = inside(m1, "push").ok()
    assert said.err.startswith("nothing to push: feat/x on origin is at ")
    assert entries(m1) == ["Caught", "Pushed"]
    m1.commit()
    inside(m1, "push").ok()
    assert entries(m1) == ["Caught", "Pushed", "Pushed"]


def test_a_new_branch_gets_an_upstream_as_with_push_u(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m1.git("switch", "-qc", WORK)
    tip = m1.commit()
    done = inside(m1, "push", "--json").ok().json
    assert (done["old"], done["upstream_set"]) == ("", True)
    assert last(m1).old == NOTHING_THERE
    assert m1.git("rev-parse", "@{upstream}") == tip
    assert m1.git("status", "-sb").startswith("## feat/x...origin/feat/x")
    m1.git("switch", "-q", "--detach")
    tip = m1.commit()
    done = inside(m1, "push", "--as", WORK, "--json").ok().json
    assert (done["branch"], done["upstream_set"], branch(world)) == (WORK, False, tip)
    m2.git("fetch", "-q")
    m2.git("switch", "-q", "--detach", "origin/feat/x")
    assert inside(m2, "push", "--as", WORK).code == 4


def test_a_machine_that_does_not_carry_the_work_is_told_who_does(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    before = branch(world)
    m2.writes(WORK, caught)
    assert inside(m1, "push", "--dry-run").code == 4
    assert not world.remote.refs("refs/wip/notes")
    refused(inside(m1, "push"), 4, "m2 carries this work since", "handsoff send m1")
    assert "m1 may not push it" in inside(m2, "history", WORK, "--json").ok().out
    offer = Recipient()
    m2.writes(WORK, lambda pen: pen.saved(envelope="a" * 40).offered(offer))
    for machine in (m1, m2):
        said = inside(machine, "push", "--json")
        assert (said.code, said.json["error"]["code"]) == (4, "held")
        assert "offered" in said.json["error"]["message"]
    m2.writes(WORK, lambda pen: pen.dropped("train"))
    refused(inside(m1, "push"), 4, "m2 carried this work last", "handsoff catch feat/x")
    assert branch(world) == before


def test_what_this_machine_let_lapse_is_caught_again_in_the_same_push(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    m1.writes(WORK, caught, clock.now() - timedelta(hours=2))
    said = inside(m1, "push").ok()
    assert "nobody has caught this work since its lease ran out" in said.err
    assert entries(m1) == ["Caught", "Caught", "Pushed"]
    assert branch(world) == m1.git("rev-parse", "HEAD")


def test_what_is_no_fast_forward_is_refused_and_forced_only_over_what_was_seen(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    inside(m1, "push").ok()
    m1.git("commit", "-q", "--amend", "-m", "said better")
    refused(
        inside(m1, "push"), 3, "commits that are not in what you push", "git pull origin feat/x"
    )
    before = branch(world)
    inside(m1, "push", "--force").ok()
    assert (last(m1).old, last(m1).new) == (before, branch(world))
    # a commit that is not even here
    m2.git("pull", "-q", "origin", WORK)
    m2.commit("theirs")
    m2.push("-q", "--no-verify", "origin", WORK).ok()
    m1.commit()
    refused(inside(m1, "push"), 3, "git pull")
    m1.git("pull", "-q", "--rebase")
    inside(m1, "push").ok()


@pytest.mark.parametrize("place", ["kept", "hooksPath"])
def test_the_user_s_own_hook_is_asked_as_git_asks_it(
    world: World, pair: tuple[Machine, Machine], tmp_path: Path, place: str
) -> None:
    m1, _ = pair
    log, folder = tmp_path / "log", m1.top / ".git" / "hooks"
    (folder / "pre-push").unlink()
    if place == "hooksPath":
        folder = m1.top / "tools"
        m1.git("config", "core.hooksPath", "tools")
    script(folder / "pre-push", f'echo said; echo "$@" >{log}; cat >>{log}; pwd >>{log}')
    inside(m1, "init").ok()
    old, new = branch(world), m1.git("rev-parse", "HEAD")
    inside(m1, "push", "-n").ok()
    assert not log.exists()
    done = inside(m1, "push", "--json").ok()
    assert done.json["moved"] == "both"
    assert log.read_text().splitlines() == [
        f"origin {world.remote.path}",
        f"refs/heads/feat/x {new} refs/heads/feat/x {old}",
        str(m1.top),
    ]
    kept = folder / ("pre-push" if place == "hooksPath" else "pre-push.before-handsoff")
    script(kept, "exit 3")
    m1.commit()
    before = world.remote.refs()
    refused(inside(m1, "push"), 3, "your own pre-push hook refuses it")
    assert world.remote.refs() == before


Setting = Callable[[World], None]


def set_up(*words: str) -> Setting:
    def change(world: World) -> None:
        git(world.remote.path, "config", *words)

    return change


def declines(world: World) -> None:
    script(
        world.remote.path / "hooks" / "update", "case $1 in refs/heads/*) echo frozen; exit 1; esac"
    )


@pytest.mark.parametrize(
    ("setting", "words", "said"),
    [
        (declines, (), "a hook of the remote origin refuses it"),
        (set_up("receive.advertiseAtomic", "false"), (), "cannot move two refs together"),
        (
            set_up("receive.denyNonFastForwards", "true"),
            ("--force",),
            "does not move feat/x, and nobody else did",
        ),
        (set_up("receive.hideRefs", "refs/wip"), (), "does not move feat/x, and nobody else did"),
    ],
)
def test_each_no_of_the_remote_has_its_own_word_and_moves_nothing(
    world: World, pair: tuple[Machine, Machine], setting: Setting, words: tuple[str, ...], said: str
) -> None:
    m1, _ = pair
    m1.push("-q").ok()
    m1.git("commit", "-q", "--amend", "-m", "again")
    if not words:
        m1.git("reset", "-q", "--hard", "origin/feat/x")
        m1.commit("on top")
    setting(world)
    before = world.remote.refs()
    refused(inside(m1, "push", *words), 3, said)
    assert world.remote.refs() == before


def test_an_upstream_of_another_name_is_pushed_to_only_where_git_would(world: World) -> None:
    (m1,) = world.members("m1")
    m1.git("switch", "-qc", WORK, "origin/main")
    tip = m1.commit()
    before = branch(world, "main")
    refused(inside(m1, "push"), 3, "feat/x follows main on origin", "--unset-upstream")
    m1.git("config", "push.default", "upstream")
    done = inside(m1, "push", "--json").ok().json
    assert (done["branch"], branch(world, "main"), branch(world)) == ("main", tip, "")
    assert (last(m1).branch, last(m1).old) == ("main", before)
    assert m1.git("rev-parse", "origin/main") == tip


def test_a_remote_with_a_push_url_of_its_own_keeps_its_tracking_ref(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    m1.git("config", "remote.origin.pushurl", f"file://{world.remote.path}")
    inside(m1, "push").ok()
    assert m1.git("rev-parse", "origin/feat/x") == m1.git("rev-parse", "HEAD")
