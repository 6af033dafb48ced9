"""One checkout: where its parts are, whatever it is called, and git run in it undisturbed."""

import os
from pathlib import Path

import pytest

from handsoff.edge.git import command, repo
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.errors import UnfitError, UsageError
from tests.kit.checkout import Here
from tests.kit.machines import git


def test_a_checkout_is_found_from_any_folder_in_it(here: Here) -> None:
    found = open_checkout(here.top / "dir")
    assert found == open_checkout(here.top)
    assert (found.top, found.git_dir, found.common_dir) == (
        here.top,
        here.top / ".git",
        here.top / ".git",
    )


def test_a_linked_worktree_has_its_own_folder_and_shares_the_clone(
    here: Here, tmp_path: Path
) -> None:
    here.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "wt"))
    found = open_checkout(tmp_path / "wt")
    assert found.top == tmp_path / "wt"
    assert found.git_dir == here.top / ".git" / "worktrees" / "wt"
    assert found.common_dir == here.top / ".git"
    assert found.store_dir == here.top / ".git" / "handsoff"
    assert found.own_dir == found.git_dir / "handsoff"
    assert found.branch() == "other"


@pytest.mark.parametrize(
    "name", ["a b", "\u2028", "\x85", "\x1c", "-x", "中文", "\udcff", "'\"$(id)"]
)
def test_a_checkout_may_have_any_name(tmp_path: Path, name: str) -> None:
    here = Here.make(tmp_path / name)
    assert here.checkout.top == tmp_path / name
    assert here.look().is_clean


def test_where_there_is_no_checkout_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    for where in (tmp_path, tmp_path / "bare"):
        with pytest.raises(UsageError, match="not in a git checkout"):
            open_checkout(where)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="not in a git checkout"):
        open_checkout()


def test_a_git_that_cannot_read_a_checkout_is_not_taken_for_none(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = here.top / ".git" / "config"
    kept = config.read_bytes()
    config.write_bytes(b"[core\n")
    with pytest.raises(UnfitError, match="git cannot read this checkout: bad config line 1"):
        open_checkout(here.top)
    config.write_bytes(kept)
    with pytest.raises(UnfitError, match=r"the folder .*/gone is gone"):
        open_checkout(here.top / "gone")
    monkeypatch.setenv("PATH", str(here.top))
    with pytest.raises(UnfitError, match="git is not installed"):
        open_checkout(here.top)


def test_a_hook_that_runs_us_names_the_checkout(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(here.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(here.top))
    assert open_checkout().top == here.top


def test_nothing_of_a_calling_git_leads_us_astray(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Here.make(tmp_path / "other")
    checkout = here.checkout
    for name, value in {
        "GIT_DIR": str(other.top / ".git"),
        "GIT_WORK_TREE": str(other.top),
        "GIT_INDEX_FILE": str(tmp_path / "no-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "no-objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_PREFIX": "dir/",
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_CEILING_DIRECTORIES": "/",
        "GIT_QUARANTINE_PATH": "/x",
    }.items():
        monkeypatch.setenv(name, value)
    here.write("new")
    assert here.look().untracked == {b"new"}
    assert checkout.commit("HEAD")
    assert not [
        n for n in command.environment() if n in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX")
    ]


def test_settings_are_read_as_git_reads_them(here: Here) -> None:
    config = here.top / ".git" / "config"
    config.write_text(
        config.read_text()
        + "[Handsoff]\n\tA = 1\n\ta = two words\n\tOn\n\toff = no\n\tyes = Yes\n"
        + '[remote "b.c"]\n\turl = x\n[remote "A"]\n\turl = y\n\turl = z\n'
        + '[remote "none"]\n\tfetch = x\n[x]\n\tlines = "a\\nb"\n'
    )
    checkout = here.checkout
    assert checkout.setting("handsoff.a") == "two words"
    assert checkout.setting("handsoff.none") is None
    assert checkout.setting("x.lines") == "a\nb"
    assert [checkout.switch(f"handsoff.{key}") for key in ("on", "off", "yes", "a", "none")] == [
        True, False, True, False, False,
    ]  # fmt: skip
    assert checkout.remotes() == ["A", "b.c"]
    checkout.set_config("handsoff.a", "three")
    assert checkout.setting("handsoff.a") == "three"


def test_a_name_leads_to_a_commit_or_to_nothing(here: Here) -> None:
    checkout = here.checkout
    head = here.git("rev-parse", "HEAD")
    here.git("tag", "-a", "-m", "x", "v1")
    assert checkout.commit("refs/heads/main") == checkout.commit("refs/tags/v1") == head
    for name in ("refs/heads/none", "HEAD:f", "--all", "", "0" * 40):
        assert checkout.commit(name) is None
    assert checkout.branch() == "main"
    here.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert checkout.branch() == "unborn"
    here.git("update-ref", "--no-deref", "HEAD", head)
    assert checkout.branch() is None


def test_what_git_cannot_do_is_said_in_its_words(here: Here) -> None:
    with pytest.raises(UnfitError, match=r"git cannot update-ref: .*not a valid SHA1"):
        here.checkout.git("update-ref", "refs/heads/x", "zzz")
    assert here.checkout.line("config", "no.such") is None
    with pytest.raises(UnfitError, match=r"git cannot try: .*not a git command"):
        repo.read_all([here.checkout.start("no-such-command")], "try")
    with pytest.raises(UnfitError, match=r"the folder .* is gone"):
        command.run(["status"], cwd=here.top / "none")
    assert str(command.failed(b"", "x")) == "git cannot x: no reason given"


def test_two_commands_do_not_work_in_one_clone_at_once(here: Here, tmp_path: Path) -> None:
    here.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "wt"))
    with (
        here.checkout.lock(),
        pytest.raises(UnfitError, match="another handsoff command is at work"),
        open_checkout(tmp_path / "wt").lock(),
    ):
        pass
    with here.checkout.lock():
        pass


def test_a_child_that_has_just_begun_keeps_no_lock(here: Here) -> None:
    theirs, ours = os.pipe()
    with here.checkout.lock():
        child = os.fork()
        if child == 0:  # it has all that is open, as one has that another thread begins
            os.read(theirs, 1)
            os._exit(0)
    try:
        with here.checkout.lock():
            pass
    finally:
        os.write(ours, b".")
        os.waitpid(child, 0)
        os.close(ours)
        os.close(theirs)


def test_bytes_and_texts_lead_to_one_another() -> None:
    assert repo.encode(repo.decode(b"a\xff\xc3\xa9")) == b"a\xff\xc3\xa9"
    assert repo.split(b"a\0b\0") == [b"a", b"b"]
    assert repo.split(b"") == []
    assert Checkout(Path("/x"), Path("/x/.git"), Path("/x/.git")).page == Path("/x/.wip/HANDOFF.md")


def test_a_scratch_folder_is_gone_afterwards_and_so_are_those_of_killed_runs(here: Here) -> None:
    checkout = open_checkout(here.top)
    with checkout.scratch() as folder:
        assert list(folder.iterdir()) == []
        left = folder.parent / "left"
        (left / "inner").mkdir(parents=True)
    assert not folder.exists()
    with checkout.scratch() as other:
        assert not left.exists()
    assert list(other.parent.iterdir()) == [other.parent / "lock"]


def test_a_scratch_folder_that_is_in_use_is_not_swept(here: Here) -> None:
    checkout = open_checkout(here.top)
    with checkout.scratch() as first:
        (first / "kept").touch()
        with checkout.scratch() as second:
            assert first != second
            assert (first / "kept").exists()
