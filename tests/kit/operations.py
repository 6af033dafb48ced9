"""Operations that stand half done: how each comes about, and how it goes on to its end.

    make(top)                a history in which two sides touch the same line
    DOING["a rebase"]        shell lines that leave it in progress, and lines that finish it

Both are plain git, run by ``sh``. Whoever finishes one in two places gets the same trees.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.kit import monday
from tests.kit.machines import Ran, run
from tests.kit.monday import Monday

_HISTORY: Final = r"""
export GIT_AUTHOR_DATE="1893456000 +0000" GIT_COMMITTER_DATE="1893456000 +0000"
c() { git add -A; git commit -qm "$1"; }
lines() { printf '%s\n' "$1" 2 3 4 "$2" >f; }
lines 1 5; c base; git branch base
git switch -qc theirs; lines theirs 5; c theirs-1; echo h >h; c theirs-2
lines theirs theirs; c theirs-3; git tag -m 'a tag' v1
git switch -qc clean base; echo clean >clean; c clean-1
git switch -qc old base~1; echo old >old; c old-1; git switch -q "$1"
lines ours 5; c ours-1; echo g >g; c ours-2; lines ours-b 5; c ours-3
"""
_PATCHES: Final = "git format-patch -q -o ../patches base..theirs;"
_RESOLVE: Final = 'lines() { printf "done $n\\n2\\n3\\n4\\ndone $n\\n" >f; git add f; };'
_LOOP: Final = (
    _RESOLVE + " for n in 1 2 3 4 5 6; do"
    " git ls-files -u | grep -q . && lines; git VERB --continue && exit 0; done; exit 1"
)


@dataclass(frozen=True)
class Doing:
    """One operation."""

    begin: str
    """Lines that leave it half done."""
    end: str
    """Lines that go on to its end."""
    what: str
    """What it is called."""
    stop: str = ""
    """The line that gives it up, and brings back what was there before; "" if there is none."""


def _picks(begin: str, verb: str = "rebase", what: str = "a rebase") -> Doing:
    return Doing(begin, _LOOP.replace("VERB", verb), what, f"git {verb} --abort")


def _merge(begin: str) -> Doing:
    return Doing(begin, _RESOLVE + "lines; git merge --continue", "a merge", "git merge --abort")


DOING: Final = {
    "merge": _merge("git merge theirs"),
    "merge --no-commit": Doing(
        "git merge --no-ff --no-commit clean",
        "git merge --continue",
        "a merge",
        "git merge --abort",
    ),
    "merge --squash": Doing("git merge --squash clean", "git commit", "a squash merge"),
    "merge --autostash": _merge("echo more >>g; git merge --autostash theirs"),
    "merge of a tag": _merge("git merge v1"),
    "merge with rerere": _merge("git config rerere.enabled true; git merge theirs"),
    "rebase": _picks("git rebase theirs"),
    "rebase --apply": _picks("git rebase --apply theirs"),
    "rebase --autostash": _picks("echo more >>g; git rebase --autostash theirs"),
    "rebase -i": Doing(
        "GIT_SEQUENCE_EDITOR=\"sed -i '2s/^pick/edit/'\" git rebase -i base",
        "echo more >>g; git commit -qa --amend --no-edit; git rebase --continue",
        "a rebase",
        "git rebase --abort",
    ),
    "rebase -r": _picks(
        "git switch -q -c side HEAD~1; echo s >s; git add s; git commit -qm side; git switch -q -;"
        "git merge -q --no-edit side; git merge -q --no-edit old; echo e >e; git add e;"
        "git commit -qm last; git rebase -r theirs"
    ),
    "cherry-pick": _picks(
        "git cherry-pick theirs~2 theirs~1 theirs", "cherry-pick", "a cherry-pick"
    ),
    "revert": _picks("git revert --no-edit HEAD~2 HEAD~1", "revert", "a revert"),
    "am": _picks(_PATCHES + "git am -3 ../patches/*", "am", "git am"),
    "bisect": Doing(
        "git bisect start; git bisect bad HEAD; git bisect good base",
        "git bisect run sh -c '! grep -q ours-b f' && git bisect reset",
        "a bisect",
        "git bisect reset",
    ),
}


def shell(top: Path, lines: str, *words: str) -> Ran:
    """Run shell lines in a checkout, at a fixed time and with an editor that changes nothing."""
    date = "1893460000 +0000"
    env = {"GIT_EDITOR": "true", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return run("sh", "-c", lines, "sh", *words, cwd=top, env={**os.environ, **env})


def make(top: Path) -> None:
    """Make a history in the checkout at ``top``, on the branch that it stands on."""
    branch = run("git", "branch", "--show-current", cwd=top).ok().out.strip()
    shell(top, "set -e" + _HISTORY, branch).ok()


def begin(top: Path, name: str) -> None:
    """Leave the operation ``name`` half done; what it says of conflicts is no failure."""
    shell(top, DOING[name].begin)


def finish(top: Path, name: str) -> str:
    """Go on with the operation ``name`` to its end, and return what it adds up to.

    That is branch, state of the worktree, and each commit's tree, message and number of parents.
    """
    shell(top, DOING[name].end).ok()
    said = (
        "git branch --show-current; git status --porcelain=2; git stash list --format=%gs;"
        "git log --topo-order --format='%T %B'; cat f g;"
        "git rev-list --topo-order --parents HEAD | awk '{ print NF - 1 }'"
    )
    return shell(top, said).ok().out


@pytest.fixture
def forked(templates: Path, tmp_path: Path) -> Monday:
    """Return Monday, but m1 is done with it, and has a history in which operations stop."""
    made = templates / "forked"
    if not made.exists():
        m1 = monday.copy(monday.built(templates), made).m1
        shell(m1.top, "git reset -q --hard; git clean -fdq").ok()
        make(m1.top)
    return monday.copy(made, tmp_path / "monday")
