"""What is not carried yet is named, with the way out, before anything is sent or changed."""

import shutil
from pathlib import Path

import pytest

from handsoff.edge.git import shape
from handsoff.edge.git.look import look
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.errors import UnfitError
from tests.kit.checkout import Here
from tests.kit.machines import git, run
from tests.kit.rights import as_the_owner


def said(found: object) -> list[str]:
    assert hasattr(found, "__iter__")
    return [oddity.what for oddity in found]


def script(here: Here, lines: str) -> None:
    """Run shell commands that may fail, as a conflict does."""
    run("sh", "-c", lines, cwd=here.top)


FORK = """git switch -qc other; echo theirs >f; git commit -qam theirs; git format-patch -q -1
git switch -q main; echo ours >f; git commit -qam ours;"""


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("git merge other", "a merge is in progress here"),
        ("git rebase other", "a rebase is in progress here"),
        ("git rebase --apply other", "a rebase is in progress here"),
        ("git am -3 0001-theirs.patch", "git am is in progress here"),
        ("git cherry-pick other", "a cherry-pick is in progress here"),
        ("git cherry-pick other~1..other", "a cherry-pick is in progress here"),
        ("git revert --no-edit HEAD~1", "a revert is in progress here"),
        ("git bisect start", "a bisect is in progress here"),
        ("git merge --squash other", "a squash merge is in progress here"),
        ("git merge --no-commit --no-ff -s ours other", "a merge is in progress"),
        ("git merge other; rm .git/MERGE_HEAD", "an operation is in progress here"),
    ],
)
def test_an_operation_in_progress_is_named(here: Here, lines: str, what: str) -> None:
    assert said(shape.operations(here.look())) == []
    script(here, FORK + lines)
    found = said(shape.operations(here.look()))
    assert [text for text in found if text.startswith(what)], found
    with pytest.raises(UnfitError) as caught:
        shape.refuse(shape.operations(here.look()))
    assert caught.value.hint


def test_a_worktree_whose_folder_is_gone_is_to_be_forgotten(here: Here, tmp_path: Path) -> None:
    here.git("worktree", "add", "-q", "-b", "feat/x", str(tmp_path / "wt"))
    [found] = shape.taken_elsewhere(here.checkout, "feat/x")
    assert (str(tmp_path / "wt") in found.what, "go on there" in found.hint) == (True, True)
    shutil.rmtree(tmp_path / "wt")
    [found] = shape.taken_elsewhere(here.checkout, "feat/x")
    assert "git worktree prune" in found.hint
    here.git("worktree", "prune")
    assert said(shape.taken_elsewhere(open_checkout(here.top), "feat/x")) == []


def test_operations_of_another_worktree_do_not_count(here: Here, tmp_path: Path) -> None:
    script(here, FORK + "git merge other")
    here.git("worktree", "add", "-q", "-b", "third", str(tmp_path / "wt"))
    assert said(shape.operations(look(open_checkout(tmp_path / "wt"), []))) == []
    shape.refuse(iter(()))


@pytest.mark.parametrize(
    "lines", ["git rebase other", "git rebase --apply other", "git bisect start"]
)
def test_a_branch_that_another_worktree_has_left_for_a_while_is_busy(
    here: Here, tmp_path: Path, lines: str
) -> None:
    place = tmp_path / "wt"
    script(here, FORK)
    here.git("worktree", "add", "-q", "--detach", str(place))
    beside = Here(place)
    assert shape.other_worktree(beside.checkout, "main") == str(here.top)
    script(here, f"{lines}; git checkout -q --detach")
    assert shape.other_worktree(beside.checkout, "main") == str(here.top)
    assert shape.other_worktree(here.checkout, "main") is None
    script(here, "git rebase --abort; git bisect reset; git checkout -q --detach")
    script(beside, f"git checkout -q main; {lines}; git checkout -q --detach")
    assert shape.other_worktree(here.checkout, "main") == str(place)


def test_a_clone_of_an_odd_shape_is_named(here: Here, tmp_path: Path) -> None:
    assert said(shape.clone_shape(here.checkout)) == []
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{here.top}", "shallow")
    git(tmp_path, "init", "-q", "--object-format=sha256", "other")
    here.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{here.top}", "partial")
    assert "sha256" in said(shape.clone_shape(open_checkout(tmp_path / "other")))[0]
    for name in ("shallow", "partial"):  # which are carried
        assert said(shape.clone_shape(open_checkout(tmp_path / name))) == []
    here.git("sparse-checkout", "set", "dir")
    assert said(shape.clone_shape(here.checkout)) == []  # and so is a sparse one


def nested(here: Here, *carry: bytes) -> list[str]:
    return said(shape.nested(here.checkout, here.look(carry)))


def test_a_stash_that_its_list_has_lost_is_named_until_it_is_stored_again(
    here: Here, checkout: Checkout
) -> None:
    here.stash("one")
    oid = here.git("rev-parse", "refs/stash")
    assert said(shape.lost_stash(checkout, here.look())) == []
    here.git("reflog", "expire", "--expire=now", "--all")
    assert here.git("stash", "list") == ""
    found = next(shape.lost_stash(checkout, here.look()))
    assert found.hint.endswith(f"git stash store {oid}")
    here.git("update-ref", "-d", "refs/stash")
    here.git("stash", "store", oid)
    assert said(shape.lost_stash(checkout, here.look())) == []
    assert [entry.oid for entry in here.look().stash] == [oid]


def test_a_submodule_and_an_inner_repository_are_named(here: Here) -> None:
    inner = Here.make(here.top / "inner")
    Here.make(here.top / "built" / "repo")
    assert nested(here) == ["inner/ is a repository of its own inside this checkout"]
    assert nested(here, b"/built/repo/") == [
        "inner/ is a repository of its own inside this checkout",
        "built/repo/ is a repository of its own inside this checkout",
    ]
    head = inner.git("rev-parse", "HEAD")
    here.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    assert nested(here) == ["the submodule inner was added and is not committed"]


def test_a_worktree_of_the_same_clone_inside_is_named_as_one(here: Here) -> None:
    here.git("worktree", "add", "-q", "--detach", "beside")
    assert nested(here) == ["beside/ is a worktree of this clone inside this checkout"]


def test_a_folder_that_cannot_be_read_is_named_unless_it_is_ignored(here: Here) -> None:
    for name in ("dir", "built"):
        (here.top / name).mkdir(exist_ok=True)
        here.write(f"{name}/x")
        (here.top / name).chmod(0)
    try:
        with as_the_owner():
            assert said(shape.unreadable(here.look())) == ["the folder dir cannot be read"]
    finally:
        for name in ("dir", "built"):
            (here.top / name).chmod(0o700)


def test_a_new_file_of_a_name_that_no_receiver_takes_is_named(here: Here) -> None:
    here.write("git", "x")
    assert said(shape.unwritable(here.look())) == []
    here.write("dir/.GIT", "x")
    assert said(shape.unwritable(here.look())) == [
        "the file dir/.GIT reaches into .git: no machine takes such a name"
    ]


def test_a_branch_that_another_worktree_has_is_found(here: Here, tmp_path: Path) -> None:
    here.git("worktree", "add", "-q", "-b", "feat/x", str(tmp_path / "w t"))
    checkout = here.checkout
    assert shape.other_worktree(checkout, "feat/x") == str(tmp_path / "w t")
    assert shape.other_worktree(checkout, "main") is None
    assert shape.other_worktree(checkout, "feat") is None
    assert shape.other_worktree(open_checkout(tmp_path / "w t"), "feat/x") is None
    assert shape.other_worktree(open_checkout(tmp_path / "w t"), "main") == str(here.top)


def test_commits_that_no_ref_names_are_found(here: Here, checkout: Checkout) -> None:
    assert not shape.has_loose_commits(checkout)
    here.git("switch", "-q", "--detach")
    assert not shape.has_loose_commits(checkout)
    here.git("commit", "-q", "--allow-empty", "-m", "loose")
    assert shape.has_loose_commits(checkout)
    here.git("tag", "v1")
    assert not shape.has_loose_commits(checkout)
    here.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert not shape.has_loose_commits(checkout)


def test_descent_is_seen_through_objects_that_are_not_in_the_clone_yet(
    here: Here, checkout: Checkout, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(here.top), "other")
    other = Here(tmp_path / "other")
    old = here.git("rev-parse", "HEAD")
    other.git("commit", "-q", "--allow-empty", "-m", "x")
    new = other.git("rev-parse", "HEAD")
    arrived = other.top / ".git" / "objects"
    assert shape.is_ancestor(checkout, old, new, arrived)
    assert not shape.is_ancestor(checkout, new, old, arrived)
    assert not shape.is_ancestor(checkout, old, new, tmp_path / "none")
    assert not shape.folds_names(checkout)
    (here.top / ".git" / "hEaD").touch()
    assert shape.folds_names(checkout)


LOCKED = "feat/x"


@pytest.mark.parametrize(
    "lock", ["index", "HEAD", "shared/config", "packed-refs", "refs/stash", f"refs/heads/{LOCKED}"]
)
def test_a_lock_on_anything_that_is_written_is_named(tmp_path: Path, lock: str) -> None:
    here = Here.make(tmp_path / "co")
    git_dir = here.top / ".git"
    (git_dir / "shared").mkdir()
    (git_dir / "config").rename(git_dir / "shared" / "config")
    (git_dir / "config").symlink_to("shared/config")
    assert said(shape.locked(here.checkout, LOCKED)) == []
    place = git_dir / f"{lock}.lock"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    assert said(shape.locked(here.checkout, LOCKED)) == [f"another git process holds {place}"]


@pytest.mark.parametrize(
    ("place", "what"),
    [("rebase-merge", "no operation"), ("sequencer", "no operation"),
     ("logs/refs/heads/feat", "no log of feat/x")],
)  # fmt: skip
def test_a_file_where_git_needs_a_folder_is_named(tmp_path: Path, place: str, what: str) -> None:
    here = Here.make(tmp_path / "co")
    assert said(shape.misshapen(here.checkout, LOCKED)) == []
    here.write(f".git/{place}", "")
    full = here.top / ".git" / place
    assert said(shape.misshapen(here.checkout, LOCKED)) == [
        f"{full} is no folder, so {what} can be put there"
    ]
