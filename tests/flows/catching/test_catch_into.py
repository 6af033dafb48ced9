"""Catching into a worktree of its own: the present one stays, and a failure leaves none behind."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import background, inside, refused, steps, wait_for


def test_a_work_is_caught_into_a_new_worktree_beside_a_busy_one(sent: Monday) -> None:
    m2, travels = sent.m2, sent.travels
    m2.write("src/rounding.py", "mine\n")
    m2.write(".wip/HANDOFF.md", "my own page\n")
    before = look(m2.top)
    place = m2.top.parent / "caught"
    told = inside(m2, "catch", WORK, "--into", "../caught", "--json").ok().json
    assert told["top"] == str(place)
    assert told["page"] == PAGE
    assert look(place) == travels
    after = look(m2.top)
    assert (after.files, after.index, after.branch) == (before.files, before.index, before.branch)
    assert sent.carrier == ("held", "m2", 2)


def test_work_goes_on_in_the_new_worktree_with_plain_git(sent: Monday) -> None:
    m2 = sent.m2
    place = m2.top.parent / "caught"
    inside(m2, "catch", WORK, "--into", place).ok()
    there = type(m2)(m2.name, m2.home, place)
    head = there.commit("on m2")
    there.push().ok()
    assert sent.remote.refs()[f"refs/heads/{WORK}"] == head
    assert inside(there, "catch", WORK).ok().err.startswith("this machine carries")


def test_undo_in_the_new_worktree_brings_back_what_it_began_with(sent: Monday) -> None:
    m2 = sent.m2
    place = m2.top.parent / "caught"
    inside(m2, "catch", WORK, "--into", place).ok()
    inside(m2, "undo", cwd=place).ok()
    assert look(place).files == look(m2.top).files


def _nothing(monday: Monday) -> None:
    pass


def _folder_is_there(monday: Monday) -> None:
    (monday.m2.top.parent / "caught").mkdir()


def _link_is_there(monday: Monday) -> None:
    (monday.m2.top.parent / "caught").symlink_to("nowhere")


def _file_above(monday: Monday) -> None:
    monday.m2.write("../caught", "mine\n")


def _parcel_gone(monday: Monday) -> None:
    shutil.rmtree(monday.m2.home / "inbox")


def _branch_ahead(monday: Monday) -> None:
    monday.m2.git("branch", WORK)
    monday.m2.git("switch", "-q", WORK)
    monday.m2.commit("mine")
    monday.m2.git("switch", "-q", "main")


def _on_the_branch(monday: Monday) -> None:
    monday.m2.git("fetch", "-q")
    monday.m2.git("switch", "-q", WORK)


def _unborn(monday: Monday) -> None:
    monday.m2.git("symbolic-ref", "HEAD", "refs/heads/new")


@pytest.mark.parametrize(
    ("spoil", "words", "code", "parts"),
    [
        (_folder_is_there, [WORK, "--into", "../caught"], 3, ["caught exists already"]),
        (_link_is_there, [WORK, "--into", "../caught"], 3, ["caught exists already"]),
        (_file_above, [WORK, "--into", "../caught/deep"], 8, ["caught"]),
        (_nothing, [WORK, "--into", "../caught", "--dry-run"], 2, ["do not go together"]),
        (_nothing, ["feat/none", "--into", "../caught"], 3, ["nobody has handed over"]),
        (_parcel_gone, [WORK, "--into", "../caught"], 6, ["neither here nor on the remote"]),
        (_branch_ahead, [WORK, "--into", "../caught"], 8, ["commits here that are not in the"]),
        (_on_the_branch, [WORK, "--into", "../caught"], 8, ["is checked out in"]),
        (_unborn, [WORK, "--into", "../caught"], 8, ["has no commit yet"]),
    ],
)
def test_a_catch_into_a_place_that_fails_leaves_no_worktree_behind(
    sent: Monday, spoil: Callable[[Monday], None], words: list[str], code: int, parts: list[str]
) -> None:
    spoil(sent)
    around = sorted(sent.m2.top.parent.iterdir())
    worktrees = sent.m2.git("worktree", "list", "--porcelain")
    before = sent.untouched()
    refused(inside(sent.m2, "catch", *words), code, *parts)
    assert sorted(sent.m2.top.parent.iterdir()) == around
    assert sent.m2.git("worktree", "list", "--porcelain") == worktrees
    assert sent.untouched() == before
    assert sent.carrier == ("offered", "m1", 1)


@pytest.mark.parametrize("name", ["m1", "m3"])
def test_who_it_is_not_for_gets_no_worktree_either(sent: Monday, name: str) -> None:
    other = sent.m1 if name == "m1" else sent.m3
    place = other.top.parent / "caught"
    before = sent.untouched()
    refused(inside(other, "catch", WORK, "--into", place), 4, "offered to m2")
    assert not place.exists()
    assert sent.untouched() == before


def test_an_interrupted_catch_into_a_place_leaves_nothing_before_the_record_moved(
    sent: Monday, tmp_path: Path
) -> None:
    m2, log = sent.m2, tmp_path / "steps"
    place = m2.top.parent / "caught"
    before = untouched(m2.top)
    env = {"HANDSOFF_PAUSE_AT": "catch.preflight.before:60", "HANDSOFF_STEPS_LOG": str(log)}
    with background(m2, "catch", WORK, "--into", place, **env) as running:
        wait_for(lambda: "catch.preflight.before" in steps(log))
        assert running.interrupt().code == 130
    assert not place.exists()
    assert untouched(m2.top) == before
    inside(m2, "catch", WORK, "--into", place).ok()
    assert look(place) == sent.travels


def test_typed_again_it_says_where_the_work_is(sent: Monday) -> None:
    sent.m2.git("switch", "-q", "main")
    inside(sent.m2, "catch", WORK, "--into", "../caught one").ok()
    said = inside(sent.m2, "catch", WORK, "--into", "../caught one")
    refused(said, 3, "caught one exists already", f"{WORK} is there: cd '../caught one'")
