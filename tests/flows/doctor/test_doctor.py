"""Doctor: what a remote can do is found by trying it; what is wrong is said with a command."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handsoff.edge import clock
from tests.kit.machines import Machine, Ran, World, git
from tests.kit.running import inside

HOOKS = {
    "nothing but branches": "case $1 in refs/heads/*) ;; *) exit 1;; esac",
    "no updates": '[ "$2" = "$Z" ] || [ "$3" = "$Z" ]',
    "no deletions": '[ "$3" != "$Z" ]',
}


@pytest.fixture
def m1(world: World) -> Machine:
    first, _ = world.members("m1", "m2")
    return first


def hook(world: World, rule: str) -> None:
    path = world.remote.path / "hooks" / "update"
    path.write_text(f"#!/bin/sh\nZ={'0' * 40}\n{HOOKS[rule]}\n")
    path.chmod(0o755)


def doctor(machine: Machine, *words: str) -> tuple[Ran, list[dict[str, Any]]]:
    """Return how doctor ended, and what needs somebody."""
    ran = inside(machine, "doctor", "--json", *words)
    told = json.loads(ran.out)
    needs = [f for f in told["findings"] if f["level"] == "problem"]
    assert ran.code == (3 if needs else 0)
    assert told["healthy"] == (not needs)
    assert all(f["do"] for f in needs if f["topic"] != "works")
    return ran, needs


def test_where_all_is_well_it_says_so_and_leaves_nothing_behind(m1: Machine, world: World) -> None:
    m1.writes("feat/x", lambda pen: pen.caught().saved())
    before = world.remote.refs()
    inside(m1, "status").ok()
    ran = inside(m1, "doctor").ok()
    assert world.remote.refs() == before
    for said in (
        "ok   remote: origin takes refs under refs/wip, and shows them",
        "ok   remote: origin swaps a ref only where it compares equal",
        "ok   remote: origin moves two refs together or none",
        "ok   the record of feat/x: 2 entries, as this clone saw it",
        "ok   roster: this machine is in it, with 2 in all",
    ):
        assert said in ran.out
    assert "!!" not in ran.out


@pytest.mark.parametrize(
    ("rule", "said", "do"),
    [
        (
            "nothing but branches",
            "a hook of the remote",
            "git config handsoff.refs refs/heads/handsoff",
        ),
        ("no updates", "did not let a ref be moved", "look for a hook"),
        ("no deletions", "does not let refs be deleted", "receive.denyDeletes"),
    ],
)
def test_what_the_remote_refuses_is_found_by_trying(
    m1: Machine, world: World, rule: str, said: str, do: str
) -> None:
    before = world.remote.refs()
    hook(world, rule)
    _, (found,) = doctor(m1)
    assert said in found["said"]
    assert do in found["do"]
    if rule != "no deletions":
        assert world.remote.refs() == before


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("receive.hideRefs", "refs/wip/probe", "does not take refs under refs/wip"),
        ("uploadpack.hideRefs", "refs/wip/probe", "does not show them"),
        ("receive.advertiseAtomic", "false", "two refs together"),
    ],
)
def test_a_setting_of_the_remote_is_found_by_trying(
    m1: Machine, world: World, name: str, value: str, said: str
) -> None:
    git(world.remote.path, "config", name, value)
    _, (found,) = doctor(m1)
    assert said in found["said"]


def test_a_remote_that_takes_branches_only_is_fit_with_the_setting(world: World) -> None:
    hook(world, "nothing but branches")
    m1 = world.machine("m1")
    m1.git("config", "handsoff.refs", "refs/heads/handsoff")
    world.enrol(m1)
    ran, needs = doctor(m1)
    assert needs == []
    assert "reviews" in ran.out
    m1.git("config", "--unset", "handsoff.refs")
    before = world.remote.refs()
    _, needs = doctor(m1, "--no-probe", "--repair")
    assert world.remote.refs() == before
    assert "the roster on origin is below refs/heads/handsoff" in needs[0]["said"]
    assert needs[0]["do"] == "git config handsoff.refs refs/heads/handsoff"


def test_old_probes_of_this_machine_go_and_others_stay(m1: Machine, world: World) -> None:
    tip, now = git(world.remote.path, "rev-parse", "main"), int(clock.now().timestamp())
    own = m1.member().id
    names = [f"{own}-{now - 9999}-ab0", f"{own}-{now}-ab0", f"other-{now - 9999}-ab0"]
    for name in names:
        git(world.remote.path, "update-ref", f"refs/wip/probe/{name}", tip)
    doctor(m1)
    left = [ref.rpartition("/")[2] for ref in world.remote.refs("refs/wip/probe")]
    assert sorted(left) == sorted(names[1:])


def test_before_init_it_tells_what_the_remote_takes(world: World) -> None:
    m9 = world.machine("m9")
    ran, needs = doctor(m9)
    assert "origin takes refs under refs/wip" in ran.out
    assert [f["do"] for f in needs] == ["handsoff init --name NAME", *["handsoff init"] * 3]
    assert list(world.remote.refs()) == ["refs/heads/main"]


def test_without_the_remote_it_says_so_and_looks_at_the_rest(m1: Machine, world: World) -> None:
    world.remote.path.rename(world.folder / "away.git")
    ran, needs = doctor(m1)
    assert [f["topic"] for f in needs] == ["remote"]
    assert "keys private" in ran.out


@pytest.mark.parametrize("what", ["hook", "page", "keys", "store", "roster"])
def test_what_is_wrong_here_is_said_with_the_command(m1: Machine, world: World, what: str) -> None:
    if what == "hook":
        (m1.top / ".git" / "hooks" / "pre-push").unlink()
    elif what == "page":
        (m1.top / ".git" / "info" / "exclude").write_text("")
    elif what == "keys":
        (m1.home / "signing.key").chmod(0o644)
    elif what == "store":
        (m1.checkout().store_dir / "heard.json").write_text("{")
    else:
        git(world.remote.path, "update-ref", "refs/wip/roster", "main")
    _, needs = doctor(m1, "--no-probe")
    assert needs[0]["topic"] == {"roster": "the roster"}.get(what, what)


def test_times_ahead_of_this_clock_are_named(m1: Machine, world: World) -> None:
    m1.writes("feat/x", lambda pen: pen.caught(), now=clock.now() + timedelta(days=3650))
    _, (found,) = doctor(m1, "--no-probe")
    assert found["topic"] == "clock"
    assert "days ahead of this clock" in found["said"]


def test_rubbish_on_top_is_listed_and_harms_nobody(m1: Machine, world: World) -> None:
    m1.writes("feat/x", lambda pen: pen.caught())
    ref, path = "refs/wip/lease/feat%2Fx", world.remote.path
    tree = git(path, "rev-parse", f"{ref}^{{tree}}")
    for number in range(3):
        made = m1.run("git", "commit-tree", tree, "-p", ref, "-m", f"rubbish {number}", cwd=path)
        git(path, "update-ref", ref, made.ok().out.strip())
    ran, needs = doctor(m1, "--no-probe")
    assert needs == []
    assert "3 entries that count for nothing" in ran.out
    assert "not signed" in ran.out
    assert m1.writes("feat/x", lambda pen: pen.saved()).lease.revision == 1


def test_dry_run_makes_no_probe(m1: Machine, world: World, tmp_path: Path) -> None:
    hook(world, "nothing but branches")
    assert doctor(m1, "--dry-run")[1] == []


def test_a_store_that_lost_its_objects_gets_them_again_or_says_which(
    m1: Machine, world: World
) -> None:
    m1.writes("feat/x", lambda pen: pen.caught().saved())
    inside(m1, "status").ok()
    objects = m1.checkout().store_dir / "objects"
    shutil.rmtree(objects)
    assert doctor(m1, "--no-probe")[1] == []
    ref = "refs/wip/lease/feat%2Fx"
    shutil.rmtree(objects)
    git(world.remote.path, "update-ref", ref, f"{ref}~1")
    _, needs = doctor(m1, "--no-probe")
    assert needs[0]["topic"] == "store"
    assert "which is no longer in the store" in needs[0]["said"]
    assert needs[0]["do"] == f"handsoff doctor --of {ref} --keep remote"
