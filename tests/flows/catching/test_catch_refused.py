"""Catching where there is no place for it: refused before the first write, by name."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.compare import untouched
from tests.kit.disks import noise
from tests.kit.machines import git
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, inside, refused


def _unstaged(monday: Monday) -> None:
    monday.m2.write("src/rounding.py", "mine\n")


def _staged(monday: Monday) -> None:
    monday.m2.write("src/mine.py", "mine\n")
    monday.m2.git("add", "src/mine.py")


def _untracked(monday: Monday) -> None:
    monday.m2.write("src/money.py", "mine\n")


def _hidden(monday: Monday) -> None:
    monday.m2.write("src/rounding.py", "mine\n")
    monday.m2.git("update-index", "--assume-unchanged", "src/rounding.py")


def _ignored_in_the_way(monday: Monday) -> None:
    monday.m2.write("runs/last.log", "mine\n")


def _notes_in_the_way(monday: Monday) -> None:
    monday.m2.write(".wip/notes.md", "mine\n")


def _page_in_the_way(monday: Monday) -> None:
    monday.m2.write(".wip/HANDOFF.md", "mine\n")


def _carry_list_in_the_way(monday: Monday) -> None:
    monday.m2.write(".wip/carry", ".wip/mine.md\n")
    monday.m2.write(".wip/mine.md", "mine\n")


def _ignored_where_a_tracked_file_arrives(monday: Monday) -> None:
    monday.m2.write(".git/info/exclude", "/.wip/\n/src/soon.py\n")
    monday.m2.write("src/soon.py", "mine\n")


def _folder_in_the_way(monday: Monday) -> None:
    monday.m2.write("runs/last.log/mine.log", "mine\n")


def _link_in_the_way(monday: Monday) -> None:
    monday.m2.write(".git/info/exclude", "/.wip/\n/runs\n")
    outside = monday.m2.top.parent / "outside"
    outside.mkdir()
    (monday.m2.top / "runs").symlink_to(outside)


def _file_where_a_folder_arrives(monday: Monday) -> None:
    monday.m2.write(".git/info/exclude", "/.wip/\n/runs\n")
    monday.m2.write("runs", "mine\n")


def _merging(monday: Monday) -> None:
    monday.m2.write(".git/MERGE_HEAD", monday.m2.git("rev-parse", "HEAD") + "\n")


def _bisecting(monday: Monday) -> None:
    monday.m2.git("bisect", "start")


def _branch_ahead(monday: Monday) -> None:
    monday.m2.git("fetch", "-q")
    monday.m2.git("switch", "-q", WORK)
    monday.m2.commit("mine")
    monday.m2.git("switch", "-q", "main")


def _checked_out_elsewhere(monday: Monday) -> None:
    monday.m2.git("fetch", "-q")
    monday.m2.git("worktree", "add", "-q", "../other", WORK)


def _another_name_for_a_branch(monday: Monday) -> None:
    monday.m2.git("branch", "-q", "mine", "HEAD~1")
    monday.m2.git("symbolic-ref", f"refs/heads/{WORK}", "refs/heads/mine")


def _stash_without_its_log(monday: Monday) -> None:
    monday.m2.write("src/rounding.py", "mine\n")
    monday.m2.git("stash")
    (monday.m2.top / ".git/logs/refs/stash").unlink()


def _log_of_a_stash_that_is_gone(monday: Monday) -> None:
    _stash_without_its_log(monday)
    was = monday.m2.git("rev-parse", "refs/stash")
    monday.m2.git("update-ref", "-d", "refs/stash")
    monday.m2.write(".git/logs/refs/stash", f"{'0' * 40} {was} A <a@x> 1 +0000\told\n")


def _branch_where_a_folder_is_needed(monday: Monday) -> None:
    monday.m2.git("branch", "-q", WORK.partition("/")[0])


def _config_locked(monday: Monday) -> None:
    monday.m2.write(".git/config.lock", "")


def _loose_commits(monday: Monday) -> None:
    monday.m2.git("switch", "-q", "--detach")
    monday.m2.commit("mine")


def _sparse(monday: Monday) -> None:
    monday.m2.git("sparse-checkout", "set", "--no-cone", "/*", "!/data")


def _without_its_filter(monday: Monday) -> None:
    monday.m2.git("config", "filter.tidy.required", "true")
    monday.m2.write(".git/info/attributes", "places.py filter=tidy\n")


def _parcel_gone(monday: Monday) -> None:
    shutil.rmtree(monday.m2.home / "inbox")


def _not_a_member(monday: Monday) -> None:
    shutil.rmtree(monday.m2.home)
    monday.m2.card()


def _parcel_of_another(monday: Monday) -> None:
    (folder,) = (monday.m2.home / "inbox").iterdir()
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"work":"feat/cny"', b'"work":"feat/jpy"'))


@pytest.mark.parametrize(
    ("spoil", "code", "parts"),
    [
        (_unstaged, 8, ["this checkout has work of its own: src/rounding.py", "--into DIR"]),
        (_staged, 8, ["this checkout has work of its own: src/mine.py"]),
        (_untracked, 8, ["this checkout has work of its own: src/money.py"]),
        (_hidden, 8, ["own: src/rounding.py", "--no-assume-unchanged src/rounding.py; then"]),
        (_ignored_in_the_way, 8, ["in the way", "runs/last.log: exists here with other content"]),
        (_notes_in_the_way, 8, ["in the way", ".wip/notes.md: exists here with other content"]),
        (_page_in_the_way, 8, [".wip/HANDOFF.md: exists here with other content"]),
        (_carry_list_in_the_way, 8, [".wip/carry: exists here with other content"]),
        (_ignored_where_a_tracked_file_arrives, 8, ["src/soon.py: exists here with other"]),
        (_folder_in_the_way, 8, ["runs/last.log: a folder here holds runs/last.log/mine.log"]),
        (_link_in_the_way, 8, ["runs: a file or link stands where a folder must be"]),
        (_file_where_a_folder_arrives, 8, ["runs: a file or link stands where a folder must"]),
        (_merging, 8, ["a merge is in progress here"]),
        (_bisecting, 8, ["a bisect is in progress here"]),
        (_branch_ahead, 8, [f"the branch {WORK} has commits here that are not in the parcel"]),
        (_checked_out_elsewhere, 8, [f"the branch {WORK} is checked out in", "/other"]),
        (_log_of_a_stash_that_is_gone, 8, ["logs/refs/stash", "a stash list that is gone"]),
        (_branch_where_a_folder_is_needed, 8, ["the branch feat keeps a branch called", "-m feat"]),
        (_another_name_for_a_branch, 8, [f"the branch {WORK} is another name for mine here"]),
        (_stash_without_its_log, 8, ["a stash stands in refs/stash here"]),
        (_config_locked, 8, ["another git process holds", "/.git/config.lock"]),
        (_loose_commits, 8, ["HEAD is detached here on commits that no branch has"]),
        (_sparse, 8, ["this checkout is sparse, and the work shows other parts", "--into DIR"]),
        (_without_its_filter, 8, ["git requires the filter tidy for src/places.py"]),
        (_parcel_gone, 6, ["neither here nor on the remote", "handsoff receive FILE"]),
        (_not_a_member, 7, ["this machine (m2) is not in the roster"]),
        (_parcel_of_another, 7, ["not the one that the record names"]),
    ],
)
def test_a_checkout_that_has_no_place_for_the_work_is_refused_and_left_alone(
    sent: Monday, spoil: Callable[[Monday], None], code: int, parts: list[str]
) -> None:
    spoil(sent)
    before = sent.untouched()
    refused(inside(sent.m2, "catch", WORK), code, *parts)
    assert sent.untouched() == before
    refused(inside(sent.m2, "catch", WORK, "--dry-run"), code, *parts)
    assert sent.untouched() == before


def test_where_the_branch_is_checked_out_the_hint_names_what_can_be_done(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    inside(sent.m2, "send", "m1", "--via", "remote").ok()
    inside(sent.m1, "catch", WORK).ok()
    inside(sent.m1, "send", "m2", "--via", "remote").ok()
    sent.m2.write("src/mine.py", "MINE = 1\n")
    said = inside(sent.m2, "catch", WORK)
    refused(said, 8, "work of its own", "git stash -u")
    assert "--into" not in said.err  # git has a branch in one worktree only


def test_a_file_that_is_the_same_already_is_not_in_the_way(sent: Monday) -> None:
    sent.m2.write("runs/last.log", "1 failed\n")
    sent.m2.write(".wip/notes.md", "the one sentence that matters\n")
    inside(sent.m2, "catch", WORK).ok()


def test_an_empty_folder_is_not_in_the_way(sent: Monday) -> None:
    (sent.m2.top / "runs" / "last.log").mkdir(parents=True)
    inside(sent.m2, "catch", WORK).ok()
    assert (sent.m2.top / "runs" / "last.log").read_text() == "1 failed\n"


def test_two_commands_in_one_clone_wait_for_each_other(sent: Monday) -> None:
    before = sent.untouched()
    with sent.m2.checkout().lock():
        refused(inside(sent.m2, "catch", WORK), 8, "another handsoff command is at work")
    assert sent.untouched() == before


def test_a_worktree_that_does_not_fit_is_refused_before_the_first_write(
    monday: Monday, small_disk: Path
) -> None:
    m1, m2 = monday.m1, monday.m2
    for n in range(3):
        m1.write(f"data/big{n}.txt", "one and the same line\n" * 150_000)  # deflates to nothing
    m2.git("fetch", "-q")
    top = small_disk / "checkout"
    shutil.move(m2.top, top)
    m2.top.symlink_to(top)
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = untouched(top)
    said = inside(m2, "catch", WORK, cwd=top)
    refused(said, 8, "the disk has", "bytes free", "are needed")
    assert untouched(top) == before
    assert git(top, "status", "--porcelain") == ""
    assert monday.carrier == ("offered", "m1", 1)


def test_a_listener_without_room_takes_nothing(monday: Monday, small_disk: Path) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.write("data/noise.txt", noise(4_500_000))
    m1.write("data/more.txt", noise(4_500_000)[::-1])
    shutil.move(m2.home, small_disk / "home")
    m2.home.symlink_to(small_disk / "home")
    before = monday.untouched()
    with at_home(m2) as there:
        said = inside(m1, "send", "m2", "--at", there.address)
    refused(said, 8, "m2 has", "bytes free, too few for a parcel of", "make room on m2")
    assert monday.untouched() == before
    assert not [*(small_disk / "home" / "incoming").iterdir()]
