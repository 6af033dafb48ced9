"""Whether a submodule holds more than its commit, asked of real ones."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from handsoff.edge.git.submodule import work_in
from tests.kit.checkout import Here
from tests.kit.machines import git
from tests.kit.submodules import library

ODD = "s b\n\udcff"


@pytest.fixture
def sub(here: Here) -> Path:
    """Return the folder of a submodule that is committed, populated and clean."""
    here.git("submodule", "--quiet", "add", "--name", "lib", str(library(here.top.parent)), ODD)
    here.git("commit", "-qm", "a library")
    return here.top / ODD


def said(here: Here) -> str:
    """Return what is wrong with the submodule, or ""; the way out must name it."""
    (path,) = set(here.look().entries.links)
    found = work_in(here.checkout, path, here.look())
    assert found is None or found.hint
    return found.what if found else ""


def test_one_that_is_clean_and_pushed_holds_nothing_more(here: Here, sub: Path) -> None:
    assert said(here) == ""
    git(sub, "checkout", "-q", "-b", "mine")
    assert said(here) == ""
    git(sub, "checkout", "-q", "HEAD~1")
    here.git("commit", "-q", "-a", "-m", "an older one")
    assert said(here) == ""


@pytest.mark.parametrize("left", ["an empty folder", "nothing"])
def test_one_that_is_not_there_holds_nothing(here: Here, sub: Path, left: str) -> None:
    here.git("submodule", "--quiet", "deinit", "--all", "--force")
    if left == "nothing":
        sub.rmdir()
    assert said(here) == ""


def _dirty(sub: Path) -> None:
    (sub / "code").write_text("mine\n")


def _untracked(sub: Path) -> None:
    (sub / "new\n").write_text("mine\n")


def _staged(sub: Path) -> None:
    _dirty(sub)
    git(sub, "add", "code")


def _stashed(sub: Path) -> None:
    _dirty(sub)
    git(sub, "stash", "-q")


def _unpushed(sub: Path) -> None:
    git(sub, "commit", "-q", "--allow-empty", "-m", "mine")
    git(sub.parent, "commit", "-q", "-a", "-m", "mine")


def _unpushed_branch(sub: Path) -> None:
    git(sub, "branch", "mine", git(sub, "commit-tree", "-m", "mine", "HEAD^{tree}"))


def _another(sub: Path) -> None:
    git(sub, "checkout", "-q", "HEAD~1")


def _nested(sub: Path) -> None:
    git(sub, "init", "-q", "inner")


def _files_alone(sub: Path) -> None:
    git(sub.parent, "submodule", "--quiet", "deinit", "--all", "--force")
    (sub / "mine").write_text("mine\n")


def _hidden_by_configuration(sub: Path) -> None:
    _dirty(sub)
    git(sub.parent, "config", "submodule.lib.ignore", "all")
    git(sub, "config", "status.showUntrackedFiles", "no")


def _bisected(sub: Path) -> None:
    git(sub, "bisect", "start")
    git(sub, "bisect", "good", "HEAD~1")


def _merging(sub: Path) -> None:
    (Path(git(sub, "rev-parse", "--absolute-git-dir")) / "MERGE_HEAD").write_text(
        git(sub, "rev-parse", "HEAD~1") + "\n"
    )


def _rebasing(sub: Path) -> None:
    editor = ["-c", "sequence.editor=sed -i s/^pick/edit/"]
    git(sub, *editor, "rebase", "-q", "-i", "--root")


def _conflict(sub: Path) -> None:
    ours, theirs = git(sub, "rev-parse", "HEAD"), git(sub, "rev-parse", "HEAD~1")
    lines = [f"160000 {oid} {stage}\t{ODD}\0" for stage, oid in ((2, ours), (3, theirs))]
    words = ["git", "update-index", "-z", "--index-info"]
    subprocess.run(words, cwd=sub.parent, input=os.fsencode("".join(lines)), check=True)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (_dirty, "has changes of its own"),
        (_untracked, "has changes of its own"),
        (_staged, "has changes of its own"),
        (_stashed, "has a stash of its own"),
        (_unpushed, "has commits that no remote has"),
        (_unpushed_branch, "has commits that no remote has"),
        (_another, "has another commit checked out than the one recorded"),
        (_nested, "has changes of its own"),
        (_files_alone, "has files, but no repository"),
        (_bisected, "has a bisect of its own in progress"),
        (_rebasing, "has a rebase of its own in progress"),
        (_merging, "has a merge of its own in progress"),
        (_conflict, "is in a conflict, and nobody has said which commit it is to have"),
        (_hidden_by_configuration, "has changes of its own"),
    ],
)
def test_what_its_commit_would_not_bring_is_named(
    here: Here, sub: Path, spoil: Callable[[Path], None], what: str
) -> None:
    spoil(sub)
    assert said(here) == what


def test_one_that_was_added_and_not_committed_is_named(here: Here, sub: Path) -> None:
    here.git("reset", "-q", "--soft", "HEAD~1")
    assert said(here) == "was added and is not committed"


def test_a_repository_without_a_commit_has_another_one_than_was_recorded(
    here: Here, sub: Path
) -> None:
    git(sub, "checkout", "-q", "--orphan", "new")
    assert said(here) == "has another commit checked out than the one recorded"
