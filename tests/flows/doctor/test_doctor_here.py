"""Doctor on this machine and this clone: each thing that may be wrong is planted, and named."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handsoff.edge import door
from tests.kit.machines import Machine, World
from tests.kit.rights import as_the_owner
from tests.kit.running import at_home, inside


@pytest.fixture
def m1(world: World) -> Machine:
    first, _ = world.members("m1", "m2")
    return first


def told(machine: Machine, topic: str, cwd: Path | None = None, **env: str) -> list[dict[str, Any]]:
    """Return what doctor says about a topic beside what is well."""
    ran = inside(machine, "doctor", "--json", "--no-probe", cwd=cwd, **env)
    findings = json.loads(ran.out)["findings"]
    assert {f["level"] for f in findings} <= {"ok", "note", "problem"}
    assert ran.code == (3 if any(f["level"] == "problem" for f in findings) else 0)
    return [f for f in findings if f["topic"] == topic and f["level"] != "ok"]


@pytest.mark.parametrize("what", ["signing.key", "sealing.key", "machine.json", "inbox", ""])
def test_what_others_can_read_of_ours_is_a_problem(m1: Machine, what: str) -> None:
    path = m1.home / what
    if what == "inbox":
        path.mkdir(mode=0o700, exist_ok=True)
    assert told(m1, "keys") == []
    path.chmod(path.stat().st_mode | 0o044)
    (found,) = told(m1, "keys")
    assert str(path) in found["said"]
    assert found["do"].startswith(f"chmod {'700' if path.is_dir() else '600'} {path}")


@pytest.mark.parametrize("where", ["index.lock", "refs/heads/feat/x.lock", "remote"])
def test_a_lock_that_nobody_holds_any_more_is_a_problem_and_stays(
    m1: Machine, world: World, where: str
) -> None:
    path = m1.top / ".git" / where
    if where == "remote":
        path = world.remote.path / "refs" / "wip" / "roster.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    assert told(m1, "locks") == []
    os.utime(path, (1, 1))
    (found,) = told(m1, "locks")
    assert found["level"] == "problem"
    assert found["do"] == f"if no git is at work there: rm {path}"
    with path.open("w") as file:  # by a process without children, which might have it as well
        holder = subprocess.Popen(["sleep", "60"], stdout=file)
    os.utime(path, (1, 1))
    try:
        (held,) = told(m1, "locks")
    finally:
        holder.kill()
        holder.wait()
    assert (held["level"], held["do"]) == ("note", f"wait for it: ps -p {holder.pid}")
    assert path.exists()


def test_a_listener_is_asked_for_its_key(m1: Machine, world: World) -> None:
    note = m1.home / "listener.json"
    (found,) = told(m1, "listener")
    assert found["do"] == "handsoff listen"
    m2 = Machine("m2", world.folder / "m2" / "handsoff-home", world.folder / "m2" / "checkout")
    kept = {}
    for machine, level in ((m1, "note"), (m2, "problem")):
        with at_home(machine) as there, door.only_listener(m1.home) as at:
            at(there.address)
            kept = json.loads(note.read_text())
            (found,) = told(m1, "listener")
        assert found["level"] == level
    assert "does not prove to be this machine" in found["said"]
    note.write_text(json.dumps(kept))
    assert "has died" in told(m1, "listener")[0]["said"]
    note.write_text('{"pid": "x"}')
    assert "does not run" in told(m1, "listener")[0]["said"]


def test_a_small_disk_and_what_was_cut_are_said(m1: Machine, small_disk: Path) -> None:
    incoming = m1.home / "incoming"
    incoming.mkdir(mode=0o700, exist_ok=True)
    (incoming / f"{'0' * 32}.part").write_bytes(b"x" * 1000)
    assert "1 transfer that was cut" in told(m1, "leftovers")[0]["said"]
    full = told(m1, "disk", HANDSOFF_HOME=str(small_disk / "home"))
    assert full[0]["level"] == "problem"
    assert str(small_disk / "home") in full[0]["said"]


def test_without_an_ssh_client_only_that_route_is_missing(m1: Machine) -> None:
    (found,) = told(m1, "ssh", HANDSOFF_SSH="/nowhere/ssh -4")
    assert (found["level"], found["said"][:31]) == ("note", "there is no /nowhere/ssh here, ")
    (found,) = told(m1, "ssh", HANDSOFF_SSH="'")
    assert found["level"] == "problem"


def test_outside_a_clone_the_machine_alone_is_looked_at(m1: Machine, tmp_path: Path) -> None:
    (found,) = told(m1, "clone", cwd=tmp_path)
    assert found["level"] == "note"
    assert "this machine alone" in found["said"]
    (m1.home / "signing.key").chmod(0o644)
    assert told(m1, "keys", cwd=tmp_path)[0]["level"] == "problem"
    assert inside(m1, "doctor", "--repair", cwd=tmp_path).code == 2


def test_a_clone_without_a_remote_is_a_finding(m1: Machine) -> None:
    m1.git("remote", "remove", "origin")
    (found,) = told(m1, "remote")
    assert found["level"] == "problem"


def test_without_git_the_rest_of_this_machine_is_looked_at(m1: Machine, tmp_path: Path) -> None:
    (found,) = told(m1, "git", PATH=str(tmp_path))
    assert found["said"] == "git is not installed, or not on PATH"
    assert found["do"].startswith("install git")
    assert told(m1, "keys", PATH=str(tmp_path)) == []


def test_damaged_keys_do_not_make_a_roster_unknown(m1: Machine) -> None:
    (m1.home / "signing.key").write_bytes(b"nonsense")
    assert "damaged" in told(m1, "keys")[0]["said"]
    assert told(m1, "roster") == []


def test_a_clone_that_cannot_be_written_is_a_finding_and_no_bug(m1: Machine) -> None:
    folder = m1.top / ".git" / "handsoff"
    inside(m1, "note", "makes the lock").ok()
    (folder / "lock").chmod(0o400)
    with as_the_owner():
        ran = inside(m1, "note", "x")
    assert (ran.code, "Traceback" in ran.err) == (8, False)
    assert ran.err.startswith(f"handsoff: {folder}/lock cannot be used: permission denied")
    (folder / "objects").chmod(0o000)
    with as_the_owner():
        assert any("cannot be" in f["said"] for f in told(m1, "store"))
