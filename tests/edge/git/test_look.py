"""Looking at a checkout: every edit is seen, however it hides, and nothing is touched or opened."""

import os
import socket
import time

import pytest

from handsoff.core.checkout.index import Flag
from handsoff.core.objects import LINK
from handsoff.edge.git import look, walk
from tests.kit.checkout import Here, traces
from tests.kit.machines import run
from tests.kit.rights import as_the_owner

ODD = [b"a b", b"new\nline", b'"quoted"', b"tab\t", b"\xff\xfe", b"\xc3\xa9", b"-f", b"back\\slash",
       b":(top)x", b"*", b"#", b"!x"]  # fmt: skip
SECOND = 1_700_000_000


def test_a_fresh_checkout_is_clean(here: Here) -> None:
    seen = here.look()
    assert seen.is_clean
    assert (seen.head, seen.branch) == (here.git("rev-parse", "HEAD"), "main")
    assert seen.entries.paths == {b"f", b"dir/g", b"run", b"link", b".gitignore"}
    assert seen.suspects == seen.staged == seen.untracked == seen.ignored == frozenset()
    assert seen.walked == walk.Walked()


def test_looking_changes_nothing_and_takes_no_lock(here: Here) -> None:
    here.stash("one")
    here.write("f", "edited")
    here.write("new.log")
    os.utime(here.top / "run")
    (here.top / ".git" / "index.lock").touch()
    before = traces(here.top)
    here.look([b"*.log"])
    assert traces(here.top) == before


def test_an_edit_in_the_same_instant_and_of_the_same_size_is_seen(here: Here) -> None:
    for setting in ("core.trustctime=false", "core.checkStat=minimal"):
        here.git("config", *setting.split("="))
    path = here.write("f", "one")
    here.git("add", "f")
    at = path.stat().st_mtime_ns
    os.utime(here.top / ".git" / "index", ns=(at, at))
    path.write_text("two")
    os.utime(path, ns=(at, at))
    assert b"f" in here.look().suspects


def test_an_edit_that_this_clone_is_told_to_overlook_is_seen(here: Here) -> None:
    for setting in ("core.trustctime=false", "core.checkStat=minimal"):
        here.git("config", *setting.split("="))
    old = (SECOND, SECOND)
    os.utime(here.write("f", "one"), old)
    here.git("add", "f")
    other = here.write("other", "two")
    os.utime(other, old)
    other.rename(here.top / "f")
    assert here.git("diff", "--name-only") == ""
    assert b"f" in here.look().suspects


def test_an_edit_of_which_only_the_time_of_change_tells_is_seen(here: Here) -> None:
    here.git("config", "core.trustctime", "false")
    path = here.write("f", "one")
    os.utime(path, (SECOND, SECOND))
    here.git("add", "f")
    time.sleep(1.1)  # git compares whole seconds, and nobody can set this time
    path.write_text("two")
    os.utime(path, (SECOND, SECOND))
    assert here.git("diff", "--name-only") == ""
    assert b"f" in here.look().suspects


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_a_file_that_git_was_told_not_to_look_at_is_looked_at(here: Here, flag: str) -> None:
    here.git("update-index", f"--{flag}", "f")
    assert here.look().is_clean
    here.write("f", "hidden edit")
    assert here.git("status", "--porcelain") == ""
    seen = here.look()
    assert seen.suspects == {b"f"}
    assert here.capture(seen=seen).changed_paths(seen) == {b"f"}


def test_a_file_added_under_ignore_stat_is_looked_at(here: Here) -> None:
    here.git("-c", "core.ignoreStat=true", "add", "--renormalize", ".")
    here.git("config", "core.ignoreStat", "true")
    here.write("h", "1")
    here.git("add", "h")
    here.write("h", "2")
    assert b"h" in here.look().suspects


def test_staged_unstaged_untracked_and_removed_are_told_apart(here: Here) -> None:
    here.write("f", "staged")
    here.git("add", "f")
    here.write("dir/g", "unstaged")
    here.write("dir/new", "untracked")
    here.git("rm", "-q", "link")
    (here.top / "run").unlink()
    here.write("later")
    here.git("add", "-N", "later")
    seen = here.look()
    assert seen.staged == {b"f", b"link", b"later"}
    assert seen.suspects == {b"dir/g", b"run", b"later"}
    assert seen.untracked == {b"dir/new"}
    assert seen.entries[b"later"][0].flags == Flag.INTENT_TO_ADD
    assert not seen.is_clean


def test_a_conflict_is_seen_with_all_its_stages(here: Here) -> None:
    here.git("switch", "-qc", "other")
    here.write("f", "theirs\n")
    here.git("commit", "-qam", "theirs")
    here.git("switch", "-q", "main")
    here.write("f", "ours\n")
    here.git("commit", "-qam", "ours")
    with pytest.raises(AssertionError, match="exit 1"):
        here.git("merge", "-q", "other")
    seen = here.look()
    assert [e.stage for e in seen.entries[b"f"]] == [1, 2, 3]
    assert seen.entries.of(b"nothing") == []
    assert b"f" in seen.suspects
    assert b"f" in seen.staged


@pytest.mark.parametrize("words", ["--index-version 4", "--split-index", "--untracked-cache"])
def test_an_index_of_any_format_is_read(here: Here, words: str) -> None:
    here.write("f", "staged")
    here.git("add", "f")
    here.git("update-index", "--skip-worktree", "run")
    first = here.look()
    here.git("update-index", "--force-write-index", *words.split())
    seen = here.look()
    for path in first.entries.paths:
        assert seen.entries[path] == first.entries[path]
    assert seen.staged | seen.suspects == {b"f", b"run"}


def test_names_of_any_bytes_are_seen_as_they_are(here: Here) -> None:
    for name in ODD:
        here.write(b"odd/" + name)
    wanted = {b"odd/" + name for name in ODD}
    assert here.look().untracked == wanted
    here.git("add", "odd")
    assert here.look().staged == wanted
    here.git("commit", "-qm", "odd")
    for name in ODD:
        here.write(b"odd/" + name, "edited")
    assert here.look().suspects == wanted


def test_ignored_files_are_named_and_only_the_wanted_ones_carried(here: Here) -> None:
    here.write("a.log")
    here.write("keep.log")
    here.write("built/deep/x.o")
    here.write("built/notes.md")
    here.write(".wip/HANDOFF.md")
    here.git("config", "core.excludesFile", "/dev/null")
    (here.top / ".git" / "info").mkdir(exist_ok=True)
    (here.top / ".git" / "info" / "exclude").write_text(".wip/\n")
    seen = here.look()
    assert seen.ignored == {b"a.log", b"keep.log", b"built/"}
    assert seen.carried == frozenset()
    assert seen.untracked == frozenset()
    assert here.look([b"*.log", b"!keep.log", b"/built/notes.md"]).carried == {
        b"a.log",
        b"built/notes.md",
    }


def test_what_is_carried_of_a_folder_is_what_git_finds_anywhere(here: Here) -> None:
    here.git("config", "core.ignoreCase", "true")
    for name in (b"Odd/[a] *", b"Odd/:(top)x", b"Odd/deep/\xff", b"other/Odd/:(top)x", b"oddly"):
        here.write(name)
    Here.make(here.top / "Odd" / "inner")
    patterns = [b"odd/\\[A] \\*", b"odd/:(top)X", b"/ODD/deep/", b"odd/inner/f"]
    wanted = {b"Odd/[a] *", b"Odd/:(top)x", b"Odd/deep/\xff"}
    assert here.look(patterns).carried == wanted
    assert here.look([*patterns, b"!nothing", b"nowhere"]).carried == wanted
    assert look.glance(here.checkout, patterns, here.look(patterns)) == set()


def test_a_repository_inside_the_checkout_is_named_and_not_entered(here: Here) -> None:
    Here.make(here.top / "inner" / "repo")
    here.write("inner/x")
    seen = here.look()
    assert seen.nested == {b"inner/repo/"}
    assert seen.untracked == {b"inner/x"}
    assert not seen.is_clean


def test_a_fifo_a_socket_and_an_empty_folder_are_named_and_never_opened(here: Here) -> None:
    os.mkfifo(here.top / "dir" / "pipe")
    (here.top / "void" / "within").mkdir(parents=True)
    (here.top / "run").unlink()
    os.mkfifo(here.top / "run")
    # a socket's path must be short
    where = os.open(here.top, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"/proc/self/fd/{where}/sock")
        os.close(where)
        seen = here.look()
    assert seen.walked.special == {b"dir/pipe": "a FIFO", b"run": "a FIFO", b"sock": "a socket"}
    assert seen.walked.empty == [b"void/within"]
    assert seen.untracked == frozenset()
    assert b"run" in seen.suspects
    assert b"run" not in here.capture(seen=seen).taken


@pytest.mark.parametrize("how", ["a repository around a tracked file", "no repository to git"])
def test_a_folder_with_a_git_folder_that_git_looks_into_is_walked_as_well(
    here: Here, how: str
) -> None:
    if how.startswith("a repository"):
        here.git("init", "-q", "dir")
    else:
        here.write("dir/.git", "gitdir: /nowhere\n")
    (here.top / "dir" / "void").mkdir()
    os.mkfifo(here.top / "dir" / "pipe")
    here.git("init", "-q", "dir/own")
    (here.top / "dir" / "own" / "void").mkdir()
    seen = here.look()
    assert seen.walked.special == {b"dir/pipe": "a FIFO"}
    assert seen.walked.empty == [b"dir/void"]
    assert sorted(seen.walked.inner) == [b"dir", b"dir/own"]
    assert seen.nested == {b"dir/own/"}


def test_a_device_is_named_as_one() -> None:
    assert walk._kind(os.lstat(os.devnull).st_mode) == "a device"


def test_a_link_to_a_folder_is_a_link(here: Here) -> None:
    (here.top / "way").symlink_to("/")
    seen = here.look()
    assert seen.untracked == {b"way"}
    assert seen.entries[b"link"][0].mode == LINK
    assert seen.walked == walk.Walked()


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_folder_that_cannot_be_read_or_entered_is_named(here: Here, mode: int) -> None:
    here.write("dir/g", "an edit that git cannot see")
    folder = here.top / "dir"
    folder.chmod(mode)
    try:
        with as_the_owner():
            assert here.look().walked.unreadable == [b"dir"]
    finally:
        folder.chmod(0o755)


def test_the_stash_list_is_read_with_its_messages_and_times(here: Here) -> None:
    oids = []
    for number, message in enumerate(["one", "two  \N{SNOWMAN}", "a\x01b", "x" * 3000]):
        os.environ["GIT_COMMITTER_DATE"] = f"@{1_700_000_000 + number} +0130"
        oids.append(here.stash(message, f"{number}\n"))
    del os.environ["GIT_COMMITTER_DATE"]
    stash = here.look().stash
    assert [e.oid for e in stash] == oids[::-1]
    assert [e.message for e in stash] == [
        "On main: " + "x" * 3000,
        "On main: a\x01b",
        "On main: two \N{SNOWMAN}",
        "On main: one",
    ]
    assert stash[0].who == "Lin <lin@example.invalid> 1700000003 +0130"
    here.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    here.git("config", "log.date", "relative")
    here.git("config", "log.showSignature", "true")
    assert here.look().stash == stash


def test_an_unborn_branch_has_no_head_and_its_files_are_staged(here: Here) -> None:
    here.git("checkout", "-q", "--orphan", "fresh")
    seen = here.look()
    assert (seen.head, seen.branch) == ("", "fresh")
    assert seen.staged == seen.entries.paths


def test_a_detached_head_has_no_branch(here: Here) -> None:
    here.git("switch", "-q", "--detach")
    seen = here.look()
    assert seen.branch is None
    assert seen.head


def test_a_folder_that_vanishes_while_it_is_walked_is_no_trouble(here: Here) -> None:
    assert walk.walk_folders(here.top / "nowhere") == walk.Walked()


def test_nothing_of_the_users_settings_hides_a_change(here: Here) -> None:
    here.write("f", "edited")
    here.write("u ntracked")
    here.git("mv", "dir/g", "dir/h")
    for setting in ("status.showUntrackedFiles=no", "diff.ignoreSubmodules=all",
                    "diff.renames=copies", "core.quotePath=false", "color.ui=always",
                    "core.fsmonitor=/bin/false", "diff.external=/bin/false", "diff.noprefix=true",
                    "core.pager=/bin/false", "diff.orderFile=/dev/null",
                    "core.preloadIndex=false"):  # fmt: skip
        here.git("config", *setting.split("="))
    seen = here.look()
    assert seen.suspects == {b"f"}
    assert seen.staged == {b"dir/g", b"dir/h"}
    assert seen.untracked == {b"u ntracked"}


def test_a_glance_after_nothing_happened_sees_nothing(here: Here) -> None:
    here.stash("one")
    here.write("f", "edited")
    here.write("new")
    here.write("a.log")
    here.git("update-index", "--assume-unchanged", "run")
    Here.make(here.top / "inner")
    seen = here.look([b"*.log"])
    assert look.glance(here.checkout, [b"*.log"], seen) == set()
    assert look.glance(here.checkout, [], here.look()) == set()


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("echo 2 >dir/g", {b"dir/g"}),
        ("rm run", {b"run"}),
        ("echo 2 >other", {b"other"}),
        ("rm new", {b"new"}),
        ("rm a.log", {b"a.log"}),
        ("git init -q inner", {b"inner/"}),
        ("git add new", {b"new", b"the index"}),
        ("git update-index --skip-worktree run", {b"the index"}),
        ("git commit -q --allow-empty -m x", {b"HEAD or the stash"}),
        ("git symbolic-ref HEAD refs/heads/other", {b"HEAD or the stash"}),
        ("git stash drop -q", {b"HEAD or the stash"}),
    ],
)
def test_a_glance_names_what_happened_since(here: Here, words: str, changed: set[bytes]) -> None:
    here.stash("one")
    here.write("new")
    here.write("a.log")
    seen = here.look([b"*.log"])
    run("sh", "-c", words, cwd=here.top).ok()
    found = look.glance(here.checkout, [b"*.log"], seen)
    assert changed <= found
    assert found <= changed | {b"the index", b"HEAD or the stash"}


def test_a_checkout_without_an_index_has_no_signature_of_one(here: Here) -> None:
    assert look.index_signature(here.checkout)
    (here.top / ".git" / "index").unlink()
    assert look.index_signature(here.checkout) is None
