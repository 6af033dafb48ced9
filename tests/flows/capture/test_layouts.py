"""Clones that borrow, lie elsewhere, or keep their index in another way: sent from, caught in."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.kit.clones import sound
from tests.kit.compare import look, untouched
from tests.kit.machines import Machine, git
from tests.kit.monday import STAYS, WORK, Monday, change
from tests.kit.running import at_home, inside


def _borrowing(machine: Machine) -> Machine:
    """Leave a clone as clone --shared and --reference do: what another has, it has not."""
    lender = machine.top.with_name("lender.git")
    git(machine.top.parent, "clone", "-q", "--mirror", str(machine.top), str(lender))
    (machine.top / ".git/objects/info/alternates").write_text(f"{lender}/objects\n")
    machine.git("repack", "-q", "-a", "-d", "-l")
    packs = machine.git("count-objects", "-v")
    assert "in-pack: 0" in packs or machine.name == "m1", packs
    return machine


def _borrowing_twice(machine: Machine) -> Machine:
    """Let the lender borrow in its turn, and name it by a relative path."""
    _borrowing(machine)
    lender, first = machine.top.with_name("lender.git"), machine.top.with_name("first.git")
    git(lender.parent, "clone", "-q", "--bare", str(lender), str(first))
    (lender / "objects/info/alternates").write_text("../../first.git/objects\n")
    git(lender, "repack", "-q", "-a", "-d", "-l")
    return machine


def _git_dir_elsewhere(machine: Machine) -> Machine:
    machine.git("init", "-q", "--separate-git-dir", str(machine.top.with_name("elsewhere.git")))
    assert (machine.top / ".git").is_file()
    return machine


def _linked(machine: Machine) -> Machine:
    """Put the machine into a linked worktree, in the same state."""
    branch = machine.git("branch", "--show-current")
    busy = bool(machine.git("status", "--porcelain"))
    machine.git("switch", "-q", "--force", "--detach", "main")
    top = machine.top.with_name("linked")
    machine.git("worktree", "add", "-q", str(top), branch)
    there = replace(machine, top=top)
    if busy:
        change(there)
    return there


def _replaced(machine: Machine) -> Machine:
    """Let git show another commit in place of the first one, and another file for one of its."""
    first = machine.git("rev-list", "--max-parents=0", "HEAD")
    other = machine.git("commit-tree", "-m", "another first", "main^{tree}")
    machine.git("replace", first, other)
    machine.git("replace", "main:data/a.csv", "main:.gitignore")
    return machine


def _grafted(machine: Machine) -> Machine:
    """Let git take the last commit for one without parents, by an old way to say so."""
    machine.write(".git/info/grafts", machine.git("rev-parse", "HEAD") + "\n")
    return machine


def _split_index(machine: Machine) -> Machine:
    machine.git("config", "core.splitIndex", "true")
    machine.git("update-index", "--split-index")
    assert list((machine.top / ".git").glob("sharedindex.*"))
    return machine


def _index_version_4(machine: Machine) -> Machine:
    machine.git("config", "index.version", "4")
    machine.git("update-index", "--index-version", "4")
    assert (machine.top / ".git/index").read_bytes()[:8] == b"DIRC\0\0\0\4"
    return machine


def _untracked_cache(machine: Machine) -> Machine:
    machine.git("config", "core.untrackedCache", "true")
    machine.git("update-index", "--force-untracked-cache")
    machine.git("status")
    machine.write("src/later/than/the/cache.py", "LATER = 1\n")
    if machine.name == "m2":
        machine.git("clean", "-q", "-f", "-d", "src/later")
    return machine


def _monitored(machine: Machine) -> Machine:
    """Let a monitor tell git that nothing was changed, whatever was."""
    liar = machine.home.parent / "monitor"
    liar.write_text("#!/bin/sh\nprintf 'token\\0'\n")
    liar.chmod(0o755)
    machine.git("config", "core.fsmonitor", str(liar))
    machine.git("update-index", "--fsmonitor")
    machine.git("status")
    if machine.name == "m1":
        machine.write("data/a.csv", "edited behind the monitor's back\n")
        assert "data/a.csv" not in machine.git("status", "--porcelain")
    return machine


LAYOUTS = (
    _borrowing, _borrowing_twice, _git_dir_elsewhere, _grafted, _linked, _replaced, _split_index,
    _index_version_4, _untracked_cache, _monitored,
)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__.strip("_"))
def test_a_work_goes_from_one_such_clone_to_another(
    monday: Monday, layout: Callable[[Machine], Machine]
) -> None:
    m1, m2 = layout(monday.m1), layout(monday.m2)
    before = untouched(m1.top)
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    assert untouched(m1.top) == before
    inside(m2, "catch", WORK).ok()
    for machine in (m1, m2):
        if layout is _monitored:
            machine.git("config", "--unset", "core.fsmonitor")
            machine.git("update-index", "--no-fsmonitor")
    assert look(m2.top) == look(m1.top).without(*STAYS)
    sound(m2.top)
    if layout is _linked:
        assert m2.git("-C", str(monday.m2.top), "status", "--porcelain") == ""


@pytest.mark.parametrize("layout", [_borrowing, _linked], ids=["borrowing", "linked"])
def test_a_work_goes_over_the_remote_and_is_undone_there(
    monday: Monday, layout: Callable[[Machine], Machine]
) -> None:
    m1, m2 = layout(monday.m1), layout(monday.m2)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = look(m2.top)
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == look(m1.top).without(*STAYS)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
