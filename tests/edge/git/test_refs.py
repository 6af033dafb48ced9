"""Branch, HEAD, stash list and configuration of a branch: moved as they were, or not at all."""

import os
from pathlib import Path

import pytest

from handsoff.core.checkout.state import BranchConfig, StashEntry, State
from handsoff.edge.git import restore
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.git.restore import Refs
from handsoff.errors import UnfitError
from tests.kit.checkout import Here, traces


@pytest.fixture
def refs(checkout: Checkout) -> Refs:
    return Refs(checkout, "handsoff: test")


def standing_at(work: str, tip: str, head: str = "") -> State:
    """Return a state of ``work``; with ``head`` one whose HEAD is detached there."""
    return State(work, head or tip, "0 +0000", "", (), "", (), BranchConfig(), (), tip=tip,
                 detached=bool(head))  # fmt: skip


def test_the_branch_and_head_move_and_the_reflog_says_why(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    refs.move(standing_at("feat/x", new), None)
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/feat/x"
    assert here.git("rev-parse", "feat/x") == new
    assert "handsoff: test" in here.git("reflog", "feat/x")
    before = here.git("reflog")
    refs.move(standing_at("feat/x", new), new)
    assert here.git("reflog") == before
    refs.leave("main", old)
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/main"
    refs.leave("", old)
    assert here.checkout.branch() is None
    assert here.git("rev-parse", "HEAD") == old


def test_a_detached_head_stands_beside_its_branch(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    refs.move(standing_at("feat/x", new, old), None)
    assert here.checkout.branch() is None
    assert (here.git("rev-parse", "HEAD"), here.git("rev-parse", "feat/x")) == (old, new)
    refs.move(standing_at("fix/y", "", new), None)
    assert here.git("rev-parse", "HEAD") == new
    assert here.git("branch", "--list", "fix/y") == ""
    refs.move(standing_at("feat/x", new), new)
    assert here.checkout.branch() == "feat/x"
    assert here.git("rev-parse", "main") == old


def test_a_branch_that_moved_meanwhile_is_not_moved(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    here.git("branch", "other", new)
    newer = here.git("commit-tree", "-p", new, "-m", "y", f"{old}^{{tree}}")
    for claimed in (old, None):
        with pytest.raises(UnfitError, match="git cannot update-ref"):
            refs.move(standing_at("other", newer), claimed)
    assert here.git("rev-parse", "other") == new
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_branch_goes_back_or_goes(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    here.git("branch", "other", new)
    refs.reset_branch("other", old)
    assert here.git("rev-parse", "other") == old
    for _ in range(2):
        refs.reset_branch("other", "")
        assert here.git("branch", "--list", "other") == ""


# the stash


def listed(here: Here) -> list[str]:
    return here.git("stash", "list", "--format=%H %gs %gn %ge %gd", "--date=raw").splitlines()


def test_a_stash_list_keeps_its_order_messages_people_and_times(
    here: Here, refs: Refs, tmp_path: Path
) -> None:
    for number, message in enumerate(["one", "two: \N{SNOWMAN} %s", "three\x01", "-m"]):
        os.environ |= {
            "GIT_COMMITTER_DATE": f"@{number * 86400 + 1} -0330",
            "GIT_COMMITTER_NAME": f"Who {number} <",
            "GIT_COMMITTER_EMAIL": "" if number else "who@x",
        }
        here.stash(message, f"{number}\n")
    for name in ("DATE", "NAME", "EMAIL"):
        del os.environ[f"GIT_COMMITTER_{name}"]
    stash, before = here.look().stash, listed(here)
    assert len(before) == 4
    here.git("stash", "clear")
    refs.set_stash(stash, ())
    assert listed(here) == before
    assert here.look().stash == stash
    refs.set_stash(stash[1:3], stash)
    assert listed(here) == before[1:3]
    refs.set_stash((), stash[1:3])
    assert listed(here) == []


def test_a_stash_list_that_is_as_wanted_is_left_alone(here: Here, refs: Refs) -> None:
    here.stash("one")
    stash = here.look().stash
    before = traces(here.top)
    refs.set_stash(stash, stash)
    assert traces(here.top) == before


def test_a_stash_without_a_message_or_a_name_comes_through(here: Here, refs: Refs) -> None:
    oid = here.stash("one")
    here.git("stash", "clear")
    for message, who in (("", "Lin <l@x> 1700000000 +0000"), (" ", " <> 5 +0000")):
        refs.set_stash((StashEntry(oid, message, who),), here.look().stash[:0])
        assert [e.oid for e in here.look().stash] == [oid]
        here.git("stash", "clear")


# the configuration of the branch


def test_a_branch_gets_an_upstream_that_a_plain_push_uses(here: Here, checkout: Checkout) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    refs = Refs(open_checkout(here.top), "x")
    refs.configure("feat/x", BranchConfig(), "hub")
    assert here.git("config", "branch.feat/x.remote") == "hub"
    assert here.git("config", "branch.feat/x.merge") == "refs/heads/feat/x"
    before = traces(here.top)
    refs.configure("feat/x", BranchConfig(), "hub")
    assert traces(here.top) == before


@pytest.mark.parametrize(
    ("remote", "wanted"), [("=", "hub"), ("", "hub"), ("fork", "fork"), (".", "."), ("gone", "hub"),
                           ("ext::sh -c id", "hub")]
)  # fmt: skip
def test_an_upstream_is_one_that_is_known_here(here: Here, remote: str, wanted: str) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    here.git("remote", "add", "fork", "/nowhere")
    refs = Refs(here.checkout, "x")
    refs.configure("w", BranchConfig(remote, "refs/heads/main"), "hub")
    assert here.git("config", "branch.w.remote") == wanted
    assert here.git("config", "branch.w.merge") == "refs/heads/main"


def test_a_place_to_push_to_is_taken_only_if_it_is_known_here(here: Here) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    refs = Refs(here.checkout, "x")
    for place in ("fork", "https://evil.invalid/", "ext::sh -c id"):
        refs.configure("w", BranchConfig(others=(("pushremote", place),)), "hub")
        assert here.checkout.line("config", "branch.w.pushRemote") is None
    refs.configure("w", BranchConfig(others=(("pushremote", "hub"),)), "hub")
    assert here.git("config", "branch.w.pushRemote") == "hub"


@pytest.mark.parametrize(
    "text", ["plain", "-x\n", "--unset", "two\nlines\n", "a = b ; # c", "\udcff"]
)
def test_a_description_comes_through_whatever_it_says(here: Here, text: str) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    config = BranchConfig("=", "refs/heads/w", (("rebase", "true"), ("description", text)))
    Refs(here.checkout, "x").configure("w", config, "hub")
    assert restore.branch_config(here.checkout, "w", "hub") == config
    assert restore.branch_config(here.checkout, "other", "hub") == BranchConfig()
