"""Where our refs lie: any place that git and hosts leave free, and no other."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.remote import places
from handsoff.errors import UsageError

GOOD = ("refs/wip", "refs/heads/handsoff", "refs/heads/team/handsoff", "refs/handsoff/", "refs/a.b")
BAD = (
    "", "refs", "refs/", "refs/heads", "refs/heads/", "refs/tags/handsoff", "refs/remotes/origin",
    "refs/notes/x", "refs/pull/1", "heads/handsoff", "handsoff", "/refs/wip", "refs//wip",
    "refs/wip.lock", "refs/a..b", "refs/.a", "refs/a.", "refs/a.lock/b", "refs/a b", "refs/a*",
    "refs/-a", "refs/é", "refs/" + "a" * 100, "refs/wip\n", "refs/heads/../wip", "refs/@{0}",
)  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_a_free_place_is_taken(text: str) -> None:
    assert places.check_prefix(text) == text.rstrip("/")


@pytest.mark.parametrize("text", BAD)
def test_another_is_refused_with_the_setting_by_name(text: str) -> None:
    with pytest.raises(UsageError, match=r"handsoff\.refs is") as caught:
        places.check_prefix(text)
    assert "git config handsoff.refs refs/heads/handsoff" in str(caught.value.hint)


@settings(max_examples=60)
@given(st.text("abAB.-_/lock", max_size=12))
def test_git_takes_whatever_passes(tail: str) -> None:
    try:
        prefix = places.check_prefix(f"refs/{tail}")
    except UsageError:
        return
    words = ["git", "check-ref-format", f"{prefix}/roster"]
    assert subprocess.run(words, check=False).returncode == 0


def test_only_branches_are_warned_about() -> None:
    assert places.warning("refs/wip") == ""
    assert "reviews" in places.warning("refs/heads/handsoff")


def test_a_roster_at_another_known_place_is_found() -> None:
    here, there = "refs/wip/roster", "refs/heads/handsoff/roster"
    assert places.elsewhere("refs/wip", {there}) == "refs/heads/handsoff"
    assert places.elsewhere("refs/heads/handsoff", {here}) == "refs/wip"
    assert places.elsewhere("refs/wip", {here, there}) == ""
    assert places.elsewhere("refs/wip", {"refs/heads/main"}) == ""


def test_a_branch_stands_in_the_way_of_refs_below_it() -> None:
    assert places.in_the_way("refs/heads/a/b", {"refs/heads/a"}) == "refs/heads/a"
    assert places.in_the_way("refs/heads/a/b", {"refs/heads/a/b"}) == "refs/heads/a/b"
    assert places.in_the_way("refs/heads/a/b", {"refs/heads/a/b/c", "refs/heads/ab"}) == ""


def test_what_a_fetch_made_of_our_branches_is_told_from_the_users() -> None:
    ours, place = "refs/remotes/origin/handsoff/lease/x", "refs/heads/handsoff"
    assert places.is_copy(place, ours)
    assert not places.is_copy("refs/wip", ours)
    assert not places.is_copy(place, "refs/remotes/origin/handsoff-x")
    assert not places.is_copy(place, "refs/heads/handsoff/lease/x")


def test_ours_are_those_below_the_place_and_below_the_usual_one() -> None:
    place = "refs/heads/handsoff"
    assert places.is_ours(place, f"{place}/roster")
    assert places.is_ours(place, "refs/wip/roster")
    assert not places.is_ours(place, "refs/heads/handsoff-x")
    assert not places.is_ours("refs/wip", f"{place}/roster")
