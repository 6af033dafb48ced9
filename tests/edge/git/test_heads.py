"""HEAD, branches and the stash, told from files: what git says, or that git has to be asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from handsoff.edge.git import heads
from handsoff.edge.git.heads import UNCLEAR
from handsoff.edge.git.repo import open_checkout
from tests.kit.checkout import Here

NAMES = ["HEAD", "refs/heads/main", "refs/heads/feat", "refs/heads/feat/x", "refs/heads/new",
         "refs/stash", "refs/remotes/hub/main", "refs/remotes/hub/HEAD", "refs/tags/v1",
         "refs/heads/", "refs/heads/.", "refs/heads/../heads/main", "refs/heads//main",
         "refs/heads/none\n", "refs/heads/\N{SNOWMAN}"]  # fmt: skip


def two(here: Here) -> str:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    here.git("update-ref", "refs/remotes/hub/main", new)
    here.git("symbolic-ref", "refs/remotes/hub/HEAD", "refs/remotes/hub/main")
    here.git("branch", "feat/x", new)
    here.git("branch", "\N{SNOWMAN}", new)
    here.git("tag", "-a", "-m", "x", "v1")
    here.stash("one")
    return new


def packed_and_moved(here: Here) -> None:
    here.git("pack-refs", "--all")
    here.git("update-ref", "refs/heads/main", "refs/heads/feat/x")
    here.git("update-ref", "-d", "refs/heads/\N{SNOWMAN}")


CASES: dict[str, Callable[[Here], object]] = {
    "loose": lambda here: None,
    "packed": lambda here: here.git("pack-refs", "--all"),
    "packed, and some moved since": packed_and_moved,
    "detached": lambda here: here.git("switch", "-q", "--detach", "feat/x"),
    "unborn": lambda here: here.git("symbolic-ref", "HEAD", "refs/heads/new"),
    "by another name": lambda here: here.git("symbolic-ref", "refs/heads/new", "refs/heads/main"),
    "HEAD by two names": lambda here: (
        here.git("symbolic-ref", "refs/heads/new", "refs/heads/main"),
        here.git("symbolic-ref", "HEAD", "refs/heads/new"),
    ),
    "a HEAD that is no branch": lambda here: here.git("symbolic-ref", "HEAD", "refs/wip/x"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("linked", [False, True])
def test_what_the_files_say_is_what_git_says(
    here: Here, case: str, tmp_path: Path, *, linked: bool
) -> None:
    new = two(here)
    if linked:
        here.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), new)
        here = Here(tmp_path / "linked")
        here.git("switch", "-q", "feat/x")
    CASES[case](here)
    checkout = here.checkout
    answers = {}
    for name in NAMES:
        words = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        answers[name] = checkout.line(*words)
        assert checkout.commit(name) == answers[name], name
    ref = checkout.line("symbolic-ref", "-q", "HEAD") or ""
    assert checkout.branch() == (ref.removeprefix("refs/heads/") if "/heads/" in ref else None)
    # and git was asked for none of those that count each time
    told = [heads.tip(checkout.common_dir, name) for name in NAMES[1:6]]
    if "name" not in case:
        assert told == [answers[name] for name in NAMES[1:6]]
        assert case.startswith("a HEAD") or UNCLEAR not in heads.head(
            checkout.git_dir, checkout.common_dir
        )


def test_where_refs_are_no_plain_files_git_is_asked(tmp_path: Path) -> None:
    def said(head: bytes, ref: bytes | None = None) -> tuple[str | None, ...]:
        (tmp_path / "HEAD").write_bytes(head)
        if ref is not None:
            place.write_bytes(ref)
        return (*heads.head(tmp_path, tmp_path), heads.tip(tmp_path, "refs/heads/a/b"))

    place = tmp_path / "refs" / "heads" / "a" / "b"
    oid, ours = "1" * 40, b"ref: refs/heads/a/b\n"
    assert said(b"ref: refs/heads/.invalid\n") == (UNCLEAR,) * 3
    assert said(ours) == ("refs/heads/a/b", None, None)
    place.parent.mkdir(parents=True)
    assert said(ours) == ("refs/heads/a/b", None, None)
    assert said(ours, b"1" * 40 + b"\n") == ("refs/heads/a/b", oid, oid)
    for odd in (b"", b"1" * 40, b"1" * 39 + b"\n", b"ref: refs/heads/a/c\n", b"x\n"):
        assert said(ours, odd) == (UNCLEAR,) * 3
    for odd in (b"", b"ref: refs/heads/a/b", b"ref: refs/heads/../../x\n", b"ref: refs/tags/v\n"):
        assert said(odd, b"1" * 40 + b"\n") == (UNCLEAR, UNCLEAR, oid)
    place.unlink()
    place.symlink_to("c")
    assert said(ours) == (UNCLEAR,) * 3
    place.unlink()
    (tmp_path / "packed-refs").symlink_to("elsewhere")
    assert said(ours) == (UNCLEAR,) * 3


def test_the_last_word_is_read_each_time(here: Here) -> None:
    checkout = open_checkout(here.top)
    first = checkout.commit("HEAD")
    here.git("commit", "-q", "--allow-empty", "-m", "second")
    assert checkout.commit("HEAD") == here.git("rev-parse", "HEAD") != first
    here.git("switch", "-q", "-c", "other")
    assert checkout.branch() == "other"
