"""Sparse checkouts: the receiver shows what the sender shows, and undo goes back."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.conversions import commit, objects_of, over, put
from tests.kit.machines import Machine
from tests.kit.monday import STAYS, WORK, Monday
from tests.kit.parcels import take_apart
from tests.kit.running import inside, refused

SETS = {
    "cone": ("--cone", "src"),
    "patterns": ("--no-cone", "/*", "!/data", "/data/caf*"),
    "sparse index": ("--cone", "--sparse-index", "src"),
}


def sparse(machine: Machine) -> tuple[str, ...]:
    """Return what git says of the sparse checkout: the patterns, the settings, what is hidden."""
    if machine.run("git", "config", "core.sparseCheckout").out != "true\n":
        return ()
    keys = ("core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse")
    hidden = [line for line in machine.git("ls-files", "-t").splitlines() if line[0] == "S"]
    listed = machine.run("git", "sparse-checkout", "list").out
    return (listed, *(machine.run("git", "config", key).out for key in keys), *hidden)


def show(machine: Machine, *patterns: str) -> None:
    """Let the machine show a part of the repository."""
    machine.run("git", "rm", "-q", "--cached", "src/soon.py")  # an intent to add crashes this git
    machine.git("sparse-checkout", "set", *patterns)


@pytest.mark.parametrize("name", SETS)
def test_a_sparse_sender_makes_the_receiver_sparse_in_the_same_way(
    monday: Monday, name: str
) -> None:
    m1, m2 = monday.m1, monday.m2
    show(m1, *SETS[name])
    assert not (m1.top / "data/a.csv").exists()
    home, before, whole = untouched(m1.top), look(m2.top), sparse(m2)
    over(m1, m2)
    assert untouched(m1.top) == home
    assert look(m2.top) == monday.travels
    assert sparse(m2) == sparse(m1)
    assert m2.git("status", "--porcelain") == m1.git("status", "--porcelain")
    assert not (m2.top / "data/a.csv").exists()
    there = look(m2.top), sparse(m2)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    assert sparse(m2) == whole
    inside(m2, "undo").ok()
    assert (look(m2.top), sparse(m2)) == there
    put(m2, {"src/more.py": b"m2\n"})
    over(m2, m1)
    assert look(m1.top).without(*STAYS) == look(m2.top)
    assert sparse(m1) == sparse(m2)
    m2.git("sparse-checkout", "disable")  # git still knows how to bring all of it back
    assert (m2.top / "data/a.csv").exists()


def test_what_a_sparse_sender_does_not_show_is_not_packed(monday: Monday, tmp_path: Path) -> None:
    m1, m2 = monday.m1, monday.m2
    files = {f"far/{number}.txt": b"far %d\n" % number for number in range(20)}
    commit(m1, files)
    m1.git("push", "-q", "--no-verify", "origin", WORK)
    m2.git("fetch", "-q")
    show(m1, "--cone", "src")
    file = tmp_path / "work.handsoff"
    inside(m1, "send", "m2", "--to-file", file).ok()
    pack, _ = take_apart(file, m2.member())
    assert not [data for data in objects_of(tmp_path / "p.git", pack, m2) if b"far 1" in data]
    inside(m2, "receive", file).ok()
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == monday.travels


def test_a_file_that_is_there_against_the_patterns_travels(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    show(m1, "--cone", "src")
    for machine in (m1, m2):
        machine.git("config", "sparse.expectFilesOutsideOfPatterns", "true")
    put(m1, {"data/a.csv": b"there all the same\n"})
    over(m1, m2)
    assert (m2.top / "data/a.csv").read_bytes() == b"there all the same\n"
    assert look(m2.top) == monday.travels


def _whole(machine: Machine) -> None:
    pass


def _same(machine: Machine) -> None:
    show(machine, "--cone", "src")


def _other(machine: Machine) -> None:
    show(machine, "--cone", "data")


@pytest.mark.parametrize("sender", [_whole, _same])
def test_a_receiver_that_shows_other_parts_is_refused_and_catches_beside(
    monday: Monday, sender: Callable[[Machine], None]
) -> None:
    m1, m2 = monday.m1, monday.m2
    sender(m1)
    m2.git("fetch", "-q")  # else what the parcel builds on comes with it
    _other(m2)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before, shown = untouched(m2.top), sparse(m2)
    said = inside(m2, "catch", WORK)
    refused(said, 8, "this checkout is sparse, and the work shows other parts", "--into DIR")
    assert untouched(m2.top) == before
    beside = m2.top.parent / "beside"
    inside(m2, "catch", WORK, "--into", beside).ok()
    there = Machine(m2.name, m2.home, beside)
    assert look(beside) == monday.travels
    assert sparse(there) == sparse(m1)
    assert sparse(m2) == shown
    inside(there, "undo").ok()
    inside(there, "undo").ok()
    assert look(beside) == monday.travels
    assert sparse(m2) == shown


def test_a_whole_receiver_stays_whole_when_a_sparse_work_is_caught_beside(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _same(m1)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = look(m2.top)
    beside = m2.top.parent / "beside"
    inside(m2, "catch", WORK, "--into", beside).ok()
    assert look(beside) == monday.travels
    assert sparse(Machine(m2.name, m2.home, beside)) == sparse(m1)
    assert look(m2.top).files == before.files
    assert m2.run("git", "config", "core.sparseCheckout").out.strip() in ("", "false")
    assert m2.git("status", "--porcelain") == ""
    m2.git("switch", "-q", "-c", "other")
    assert look(m2.top).files == before.files


def test_a_receiver_that_shows_the_same_parts_takes_the_work(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _same(m1)
    _same(m2)
    before = look(m2.top), sparse(m2)
    over(m1, m2)
    assert look(m2.top) == monday.travels
    assert sparse(m2) == sparse(m1)
    inside(m2, "undo").ok()
    assert (look(m2.top), sparse(m2)) == before


def test_a_work_that_became_whole_comes_back_whole(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _same(m1)
    shown, before = sparse(m1), look(m1.top)
    over(m1, m2)
    m2.git("sparse-checkout", "disable")
    over(m2, m1)
    assert look(m1.top).without(*STAYS) == look(m2.top)
    assert sparse(m1) == sparse(m2) == ()
    inside(m1, "undo").ok()
    assert (look(m1.top), sparse(m1)) == (before, shown)


def test_a_killed_catch_of_a_sparse_work_is_undone_and_done_anew(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _same(m1)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = look(m2.top)
    kill = "HANDSOFF_KILL_AT=catch.apply.branch.before"
    words = ("env", kill, sys.executable, "-m", "handsoff", "catch", WORK)
    assert m2.run(*words).code == -9
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == monday.travels
    assert sparse(m2) == sparse(m1)
