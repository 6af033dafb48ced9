"""Shallow clones: sent from, caught in, and left as shallow as they were."""

from pathlib import Path

import pytest

from tests.kit.clones import Pair, commits, goes_on, pair, sound
from tests.kit.compare import untouched
from tests.kit.machines import git
from tests.kit.monday import WORK
from tests.kit.running import at_home, inside, refused

ROUTES = ("direct", "remote", "file")
SHALLOW = ("--depth=1",)
NARROW = ("--depth=1", "--single-branch", "-b", "main")


def hand_over(both: Pair, route: str, *words: str | Path) -> None:
    """Send the work over ``route``, and catch it."""
    m1, m2, stick = both.m1, both.m2, both.world.folder / "stick"
    before = untouched(m1.top)
    if route == "direct":
        with at_home(m2) as there:
            inside(m1, "send", "m2", "--at", there.address).ok()
    elif route == "remote":
        inside(m1, "send", "m2", "--via", "remote").ok()
    else:
        inside(m1, "send", "m2", "--to-file", stick).ok()
        inside(m2, "receive", stick).ok()
    assert untouched(m1.top) == before
    inside(m2, "catch", WORK, *words).ok()


@pytest.mark.parametrize("route", ROUTES)
def test_a_shallow_clone_hands_over_what_it_added(tmp_path: Path, route: str) -> None:
    both = pair(tmp_path, sender=SHALLOW, receiver=("--single-branch", "-b", "main"))
    hand_over(both, route)
    both.arrived()
    # the history that the sender never had came from the remote
    assert both.m2.git("rev-list", "--count", "HEAD") == "7"
    assert both.m2.git("rev-parse", "--is-shallow-repository") == "false"


def test_a_shallow_clone_without_commits_of_its_own_hands_over_too(tmp_path: Path) -> None:
    both = pair(tmp_path, sender=SHALLOW)
    both.m1.git("stash", "drop", "-q")
    both.m1.git("reset", "-q", "--soft", f"origin/{WORK}")
    hand_over(both, "direct")
    both.arrived()


def test_what_neither_machine_nor_remote_has_is_refused_before_the_receipt(tmp_path: Path) -> None:
    both = pair(tmp_path)
    m1, m2, remote = both.m1, both.m2, both.world.remote
    # m1's history is now cut at a commit that nobody else has
    cut = m1.git("rev-parse", "HEAD~1")
    m1.write(".git/shallow", cut + "\n")
    m1.git("stash", "drop", "-q")
    before = remote.refs(), untouched(m2.top)
    with at_home(m2) as there:
        ran = inside(m1, "send", "m2", "--at", there.address)
    refused(ran, 8, f"the parcel builds on {cut[:10]}", "neither here nor on the remote origin",
            "hint: on the sender: git fetch --unshallow")  # fmt: skip
    assert (there.arrived, list((m2.home / "inbox").iterdir())) == ([], [])
    assert (remote.refs(), untouched(m2.top)) == before


@pytest.mark.parametrize("route", ROUTES)
def test_a_shallow_clone_catches_and_stays_shallow(tmp_path: Path, route: str) -> None:
    both = pair(tmp_path, receiver=NARROW)
    cut, before = both.m2.git("rev-parse", "HEAD"), commits(both.m2)
    hand_over(both, route)
    both.arrived()
    # over a connection m2 says that it has main, from which the branch was made
    seen = git(both.world.remote.path, "rev-parse", WORK, f"{WORK}~1").split()
    base = seen[1] if route == "direct" else seen[0]
    assert set((both.m2.top / ".git" / "shallow").read_text().split()) == {cut, base}
    news = commits(both.m2) - before
    assert both.m2.git("rev-list", "HEAD").split()[-1] == base
    # a base of which nothing older came, m1's commits, its stash entry, and the envelope
    on_top = int(both.m1.git("rev-list", "--count", f"{base}..HEAD"))
    assert len(news) == 1 + on_top + 2 + 3
    assert both.m2.git("rev-list", "main") == cut


def test_a_shallow_clone_catches_into_a_worktree(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=NARROW)
    hand_over(both, "direct", "--into", tmp_path / "beside")
    both.arrived(tmp_path / "beside")
    sound(both.m2.top)


def test_both_may_be_shallow_and_the_work_goes_back_and_forth(tmp_path: Path) -> None:
    both = pair(tmp_path, sender=SHALLOW, receiver=NARROW)
    hand_over(both, "remote")
    both.arrived()
    back = goes_on(both)
    sound(back.m2.top)


def test_a_shallow_clone_of_the_branch_sees_that_the_work_goes_on_from_it(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=("--depth=1", "--single-branch", "-b", WORK))
    old = both.m2.git("rev-parse", "HEAD")
    both.m1.run("git", "push", "-q", "--no-verify", "origin", "HEAD~1:" + WORK).ok()
    hand_over(both, "remote")
    both.arrived()
    assert (both.m2.top / ".git" / "shallow").read_text().split() == [old]
    assert both.m2.git("merge-base", old, "HEAD") == old


def test_a_branch_that_goes_on_from_older_history_is_caught_where_that_is_cut(
    tmp_path: Path,
) -> None:
    both = pair(tmp_path, receiver=NARROW)
    fork = git(both.world.remote.path, "rev-parse", "main~4")
    both.m1.git("stash", "drop", "-q")
    both.m1.git("reset", "-q", "--soft", fork)
    both.m1.git("commit", "-q", "-m", "from long ago")
    hand_over(both, "direct")
    both.arrived()
    assert fork in (both.m2.top / ".git" / "shallow").read_text().split()


def test_a_remote_that_is_away_when_a_base_is_lacking_is_said_before_the_receipt(
    tmp_path: Path,
) -> None:
    both = pair(tmp_path, receiver=NARROW)
    both.m2.git("remote", "set-url", "origin", str(tmp_path / "nowhere"))
    before = both.world.remote.refs(), untouched(both.m2.top)
    with at_home(both.m2) as there:
        ran = inside(both.m1, "send", "m2", "--at", there.address)
    refused(ran, 6, "the remote origin cannot be reached")
    assert list((both.m2.home / "inbox").iterdir()) == []
    assert (both.world.remote.refs(), untouched(both.m2.top)) == before


def test_what_was_collected_before_the_catch_is_fetched_again(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=NARROW)
    with at_home(both.m2) as there:
        inside(both.m1, "send", "m2", "--at", there.address).ok()
    cut = both.m2.git("rev-parse", "HEAD")
    both.m2.git("prune", "--expire=now")
    assert (both.m2.top / ".git" / "shallow").read_text().split() == [cut]
    inside(both.m2, "catch", WORK).ok()
    both.arrived()


@pytest.mark.parametrize("route", ROUTES)
def test_what_the_remote_has_lost_travels(tmp_path: Path, route: str) -> None:
    both = pair(tmp_path, receiver=("--single-branch", "-b", "main"))
    remote = both.world.remote.path
    git(remote, "update-ref", "-d", f"refs/heads/{WORK}")
    git(remote, "-c", "gc.pruneExpire=now", "gc", "-q")
    hand_over(both, route)
    both.arrived()
