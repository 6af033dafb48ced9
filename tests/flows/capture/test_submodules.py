"""Submodules travel by their commit; one that holds more than that is refused by name."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.conversions import over, put
from tests.kit.machines import git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import inside, refused
from tests.kit.submodules import SUB, give, populate, there_and_back


def link(top: Path) -> str:
    """Return how the index has the submodule."""
    return git(top, "ls-files", "--stage", "--", SUB)


def test_a_submodule_that_is_clean_and_pushed_arrives_as_its_commit(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    sub = give(monday)
    home = untouched(m1.top)
    said = over(m1, m2)
    assert untouched(m1.top) == home
    assert "git submodule update --init" in said
    assert link(m2.top) == link(m1.top)
    assert not list((m2.top / SUB).iterdir())
    assert m2.git("status", "--porcelain") == m1.git("status", "--porcelain")
    populate(m2)
    assert (m2.top / SUB / "code").read_text() == (sub / "code").read_text()
    put(m2, {"more.txt": b"m2\n"})
    over(m2, m1)
    assert (m1.top / "more.txt").exists()
    assert (sub / "code").read_text() == "2\n"


def test_a_submodule_that_nobody_has_populated_goes_there_and_back(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    give(monday)
    m1.git("submodule", "--quiet", "deinit", "--force", SUB)
    before = look(m2.top)
    said = over(m1, m2)
    assert "submodule update" not in said
    assert look(m2.top) == monday.travels
    there = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    assert not (m2.top / SUB).exists()
    inside(m2, "undo").ok()
    assert look(m2.top) == there
    over(m2, m1)
    assert look(m1.top).index == there.index


def test_the_commit_of_a_submodule_that_moved_on_moves_on_there(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    sub = give(monday)
    over(m1, m2)
    inside_m2 = populate(m2)
    git(inside_m2, "checkout", "-q", "HEAD~1")
    m2.git("add", SUB)
    over(m2, m1)
    assert link(m1.top) == link(m2.top)
    assert (sub / "code").read_text() == "2\n"  # that is git submodule's to change
    assert f" {SUB} " in m1.git("submodule", "status")


def _dirty(sub: Path) -> None:
    (sub / "code").write_text("mine\n")


def _untracked(sub: Path) -> None:
    (sub / "new\n").write_text("mine\n")


@pytest.mark.parametrize("spoil", [_dirty, _untracked])
def test_a_submodule_with_work_of_its_own_is_refused(
    monday: Monday, spoil: Callable[[Path], None]
) -> None:
    spoil(give(monday))
    before = monday.untouched()
    said = inside(monday.m1, "send", "m2", "--via", "remote")
    refused(said, 8, f"the submodule {SUB} has changes of its own", "commit and push them")
    assert monday.untouched() == before


def test_a_submodule_that_was_added_and_not_committed_is_refused(monday: Monday) -> None:
    give(monday)
    monday.m1.git("reset", "-q", "--soft", "HEAD~1")
    before = monday.untouched()
    said = inside(monday.m1, "send", "m2", "--via", "remote")
    refused(said, 8, f"the submodule {SUB} was added and is not committed", "commit it")
    assert monday.untouched() == before


def test_work_in_the_receivers_submodule_is_not_touched(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    sub = there_and_back(monday)
    _dirty(sub)
    _untracked(sub)
    mine = untouched(sub)
    put(m1, {"more.txt": b"m1\n"})
    over(m1, m2)
    assert (m2.top / "more.txt").exists()
    assert untouched(sub) == mine
    inside(m2, "undo").ok()
    assert untouched(sub) == mine
    assert not (m2.top / "more.txt").exists()


def test_a_receiver_whose_submodule_stands_elsewhere_is_clean_all_the_same(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    sub = there_and_back(monday)
    m2.git("switch", "-q", "-c", "other")
    m2.git("add", "-A")
    m2.git("commit", "-q", "-m", "all of it")  # so that it is not what was sent
    _dirty(sub)
    _another_commit(sub)
    mine = untouched(sub)
    put(m1, {"more.txt": b"m1\n"})
    over(m1, m2)
    assert (m2.top / "more.txt").exists()
    assert untouched(sub) == mine


def _another_commit(sub: Path) -> None:
    git(sub, "commit", "-q", "-a", "-m", "mine")
    _dirty(sub)


def _removed(monday: Monday) -> None:
    monday.m1.git("rm", "-q", "-f", SUB)


def _unlinked(monday: Monday) -> None:
    shutil.rmtree(monday.m1.top / SUB)


def _a_file(monday: Monday) -> None:
    _removed(monday)
    put(monday.m1, {SUB: b"a file now\n"})


def _a_folder(monday: Monday) -> None:
    _removed(monday)
    put(monday.m1, {f"{SUB}/code": b"a folder now\n"})
    monday.m1.git("add", SUB)


@pytest.mark.parametrize(
    ("change", "dirty"), [(_removed, True), (_unlinked, False), (_a_file, True), (_a_folder, False)]
)
def test_a_submodule_that_goes_and_is_populated_here_is_in_the_way(
    monday: Monday, change: Callable[[Monday], None], dirty: bool
) -> None:
    m1, m2 = monday.m1, monday.m2
    sub = there_and_back(monday)
    if dirty:
        _dirty(sub)
    change(monday)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before, mine = untouched(m2.top), untouched(sub)
    refused(inside(m2, "catch", WORK), 8, SUB, "git submodule deinit")
    assert (untouched(m2.top), untouched(sub)) == (before, mine)
    m2.git("submodule", "--quiet", "deinit", "--force", SUB)
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == monday.travels


def test_undo_does_not_remove_a_submodule_that_was_populated_since(monday: Monday) -> None:
    give(monday)
    over(monday.m1, monday.m2)
    sub = populate(monday.m2)
    before, mine = untouched(monday.m2.top), untouched(sub)
    refused(inside(monday.m2, "undo"), 8, SUB, "git submodule deinit")
    assert (untouched(monday.m2.top), untouched(sub)) == (before, mine)


@pytest.mark.parametrize("how", ["repository", "worktree"])
def test_a_repository_inside_is_refused_and_left_alone(monday: Monday, how: str) -> None:
    m1 = monday.m1
    if how == "repository":
        git(m1.top, "init", "-q", "vendor\n")
        git(m1.top / "vendor\n", "commit", "-q", "--allow-empty", "-m", "x")
    else:
        m1.git("worktree", "add", "-q", "--detach", "vendor\n")
    before = monday.untouched()
    what = "a repository of its own" if how == "repository" else "a worktree of this clone"
    refused(inside(m1, "send", "m2", "--via", "remote"), 8, f"vendor\\n/ is {what}")
    assert monday.untouched() == before
    m1.write(".git/info/exclude", "/.wip/\n/vendor*\n")
    m1.write(".wip/HANDOFF.md", PAGE)
    said = inside(m1, "send", "m2", "--via", "remote").ok()
    assert "vendor" in said.err
