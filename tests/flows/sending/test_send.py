"""Sending: what is refused by name with nothing changed anywhere, and what a hand-over leaves."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from handsoff.flows.sending.send import _builds_on_branches
from handsoff.flows.sending.wishes import Wishes
from tests.kit.compare import untouched
from tests.kit.machines import git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import at_home, inside, refused


def test_a_hand_over_changes_no_byte_of_the_sender(monday: Monday) -> None:
    before = untouched(monday.m1.top)
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address).ok()
    assert untouched(monday.m1.top) == before
    assert there.arrived == [f"{WORK} from m1"]
    assert f"handed {WORK} to m2: r1, leg 1" in said.err
    assert "2 unpushed commits, 3 staged, 3 unstaged, 3 untracked, 2 carried, 2 stash" in said.err
    assert f"next: stop working on {WORK} here; on m2: handsoff catch {WORK}" in said.err
    assert monday.carrier == ("offered", "m1", 1)


def test_what_stays_behind_is_named_with_its_reason(monday: Monday) -> None:
    for place in ("moved/.git", "cache/dep/.git"):
        monday.m1.write(place, "gitdir: /nowhere\n")
    told = inside(monday.m1, "send", "m2", "--dry-run", "--json").ok().json
    behind = {item["path"]: item["reason"] for item in told["left_behind"]}
    assert behind[".env.local"] == "an environment file: it never travels"
    assert behind["cache/"].startswith("ignored; name it in .wip/carry")
    assert behind["moved/.git"] == "git takes it for no repository of its own: it stays"
    assert "cache/dep/.git" not in behind


def test_a_special_file_in_place_of_a_tracked_one_is_said_to_be_missing_there(
    monday: Monday,
) -> None:
    place = monday.m1.top / "tools" / "run"
    place.unlink()
    os.mkfifo(place)
    os.mkfifo(monday.m1.top / "pipe")
    told = inside(monday.m1, "send", "m2", "--dry-run", "--json").ok().json
    behind = {item["path"]: item["reason"] for item in told["left_behind"]}
    assert behind["tools/run"] == "a FIFO in place of a file, which arrives as missing"
    assert behind["pipe"] == "a FIFO: it has no content to carry"


def test_a_repository_around_files_of_the_work_is_said_to_stay(monday: Monday) -> None:
    git(monday.m1.top, "init", "-q", "src")
    monday.m1.write("src/new.py", "travels\n")
    told = inside(monday.m1, "send", "m2", "--dry-run", "--json").ok().json
    behind = {item["path"]: item["reason"] for item in told["left_behind"]}
    assert behind["src/.git"].startswith("a repository around files of this work")


def test_hard_links_that_git_has_as_they_are_are_named_where_both_are_here(monday: Monday) -> None:
    top = monday.m1.top
    monday.m1.write("one.txt", "shared\n")
    (top / "two.txt").hardlink_to(top / "one.txt")
    monday.m1.write("three.txt", "another\n")
    (top.parent / "elsewhere").hardlink_to(top / "three.txt")
    monday.m1.git("add", "one.txt", "two.txt", "three.txt")
    monday.m1.git("commit", "-qm", "linked", "--", "one.txt", "two.txt", "three.txt")
    told = inside(monday.m1, "send", "m2", "--dry-run", "--json").ok().json
    linked = [item["path"] for item in told["left_behind"] if "hard link" in item["reason"]]
    assert linked == ["one.txt", "two.txt"]


def test_what_the_carry_list_names_and_is_not_there_is_named(monday: Monday) -> None:
    with (monday.m1.top / ".wip/carry").open("a") as carry:
        carry.write("notes/typo.md\nno-such-*\nmoney.py\n")
    told = inside(monday.m1, "send", "m2", "--dry-run", "--json").ok().json
    absent = [warning for warning in told["warnings"] if "carry" in warning]
    assert absent == ["notes/typo.md is named in .wip/carry, and is not here"]


def test_json_tells_what_was_sent(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        told = inside(monday.m1, "send", "m2", "--at", there.address, "--json").ok().json
    assert (told["work"], told["to"], told["leg"], told["revision"]) == (WORK, "m2", 1, 1)
    assert told["route"]["name"] == "direct"
    assert told["counts"] | {"objects": 0, "unpacked": 0} == {
        "commits": 2, "staged": 3, "unstaged": 3, "untracked": 3, "carried": 2, "stash": 2,
        "objects": 0, "files": 14, "unpacked": 0,
    }  # fmt: skip
    assert (told["dry_run"], told["already"]) == (False, False)
    assert monday.m2.desk().home.parcel(told["parcel"]) is not None
    assert {"capture", "guard", "seal", "send", "record"} <= told["phases"].keys()


def test_a_dry_run_changes_nothing_and_sends_nothing(monday: Monday) -> None:
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address, "--dry-run").ok()
    assert f"would hand {WORK} to m2" in said.err
    assert "nothing was sent or changed" in said.err
    assert (there.arrived, there.failed) == ([], [])
    assert monday.untouched() == before


def test_an_option_may_stand_in_the_environment(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", HANDSOFF_SEND_AT=there.address).ok()
    assert there.arrived
    assert "would catch" in inside(monday.m2, "catch", WORK, HANDSOFF_CATCH_DRY_RUN="1").ok().err


# --- places that are no checkout of a work ------------------------------------------------------


def _not_a_repository(monday: Monday) -> None:
    shutil.rmtree(monday.m1.top / ".git")


def _detached(monday: Monday) -> None:
    monday.m1.git("checkout", "-q", "--detach")


def _unborn(monday: Monday) -> None:
    monday.m1.write(".wip/HANDOFF.md", PAGE.replace(f"work: {WORK}", ""))
    monday.m1.git("symbolic-ref", "HEAD", "refs/heads/new")


def _like_an_option(monday: Monday) -> None:
    monday.m1.git("update-ref", "refs/heads/-x", "HEAD")
    monday.m1.git("symbolic-ref", "HEAD", "refs/heads/-x")


def _no_remote(monday: Monday) -> None:
    monday.m1.git("remote", "remove", "origin")


def _two_remotes(monday: Monday) -> None:
    monday.m1.git("remote", "rename", "origin", "a")
    monday.m1.git("remote", "add", "b", "../elsewhere")


def _not_set_up(monday: Monday) -> None:
    shutil.rmtree(monday.m1.top / ".git" / "handsoff")


def _no_keys(monday: Monday) -> None:
    shutil.rmtree(monday.m1.home)


def _nested(monday: Monday) -> None:
    git(monday.m1.top, "init", "-q", "vendor")
    git(monday.m1.top / "vendor", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q",
        "--allow-empty", "-m", "x")  # fmt: skip


def _encrypted(monday: Monday) -> None:
    monday.m1.git("config", "filter.git-crypt.clean", "tr a-z n-za-m")
    monday.m1.write(".git/info/attributes", "money.py filter=git-crypt\n")


def _half_restored(monday: Monday) -> None:
    monday.m1.write(".git/handsoff/journal.json", '{"verb": "catch", "work": "feat/x"}')


@pytest.mark.parametrize(
    ("spoil", "code", "parts"),
    [
        (_not_a_repository, 2, ["not in a git checkout"]),
        (_detached, 8, ["HEAD is detached", "git switch"]),
        (_unborn, 8, ["this branch has no commit yet", "make a first commit"]),
        (_like_an_option, 8, ["take -x for an option", "git branch -m NAME"]),
        (_no_remote, 2, ["this checkout has no remote", "git remote add origin"]),
        (_two_remotes, 2, ["which remote is the shared one? there are a, b", "handsoff.remote"]),
        (_not_set_up, 2, ["this checkout was not set up for handsoff", "handsoff init"]),
        (_no_keys, 2, ["this machine has no name yet", "handsoff init --name"]),
        (_nested, 8, ["vendor/ is a repository of its own"]),
        (_encrypted, 3, ["a filter encrypts src/money.py", "commit it"]),
        (_half_restored, 3, ["a restore here was interrupted", "handsoff undo"]),
    ],
)
def test_a_checkout_that_cannot_be_handed_over_is_refused_by_name(
    monday: Monday, spoil: Callable[[Monday], None], code: int, parts: list[str]
) -> None:
    spoil(monday)
    before = monday.untouched()
    with at_home(monday.m2) as there:
        refused(inside(monday.m1, "send", "m2", "--at", there.address), code, *parts)
    assert there.arrived == []
    assert monday.untouched() == before


# --- the page -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "parts"),
    [
        (None, ["there is no page", "handsoff page"]),
        ("", ["the page is empty"]),
        (PAGE.replace("1. Make", "1. TODO make"), ["section 'Next' still says", "(line 7)"]),
        (PAGE.replace("The table of places: finance owns it.", ""), ["'Do not touch' is empty"]),
        (PAGE.replace("## Tried and failed", "## Other"), ["'Tried and failed' is missing"]),
        (
            PAGE.replace("work: feat/cny", "work: feat/jpy"),
            ["the page is about 'feat/jpy', and this is 'feat/cny' (line 3)"],
        ),
        (PAGE + "\nsecret: hunter2-is-my-password\n", ["a 'secret:' that is not a pointer"]),
    ],
)
def test_a_page_that_is_not_ready_is_refused(
    monday: Monday, page: str | None, parts: list[str]
) -> None:
    path = monday.m1.top / ".wip" / "HANDOFF.md"
    if page is None:
        path.unlink()
    else:
        path.write_text(page)
    before = monday.untouched()
    with at_home(monday.m2) as there:
        refused(inside(monday.m1, "send", "m2", "--at", there.address), 3, *parts)
    assert there.arrived == []
    assert monday.untouched() == before


# --- who, and where -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        (["m9"], 2, ["no machine called m9 in the roster", "there are m1, m2, m3"]),
        (["m1"], 2, ["m1 is this machine"]),
        (["m2", "--via", "pigeon"], 2, ["no route called pigeon", "auto, direct, ssh, remote"]),
        (["m2", "--via", "direct"], 6, ["no address of m2 is known", "--at HOST:PORT"]),
        (["m2", "--at", "here"], 2, ["here"]),
        (["m2", "--at", "localhost:port"], 2, ["localhost:port"]),
        (["m2", "--at", "127.0.0.1:1"], 6, ["127.0.0.1:1"]),
        (["m2", "--to-file", "/nowhere/x"], 8, ["cannot write /nowhere/x"]),
        (["m2", "--to-file", "/"], 8, ["cannot write /: is a directory"]),
        (["m2", "--max-size", "2"], 3, ["must not leave this machine", "--max-size"]),
    ],
)
def test_a_wish_that_cannot_be_granted_changes_nothing(
    monday: Monday, words: list[str], code: int, parts: list[str]
) -> None:
    before = monday.untouched()
    refused(inside(monday.m1, "send", *words), code, *parts)
    assert monday.untouched() == before


def test_a_machine_that_is_not_admitted_sends_nothing(monday: Monday) -> None:
    shutil.rmtree(monday.m1.home)
    monday.m1.card()
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
        refused(said, 7, "this machine (m1) is not in the roster", "handsoff pair")
    assert there.arrived == []
    assert monday.untouched() == before


def test_another_machine_at_the_address_is_not_sent_anything(monday: Monday) -> None:
    before = monday.untouched()
    with at_home(monday.m3) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
    refused(said, 7, f"{there.address} is another machine", monday.m3.member().fingerprint)
    assert there.arrived == []
    assert monday.untouched() == before


def test_a_machine_without_a_clone_of_the_repository_says_so(monday: Monday) -> None:
    clones = monday.m2.home / "clones.json"
    founding = monday.m2.desk().need_pin()
    clones.write_text(clones.read_text().replace(founding, "0" * 40))
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
    refused(said, 8, "m2 has no clone of this repository", "handsoff init")
    assert monday.untouched() == before


def test_the_address_at_which_a_machine_answered_is_tried_again(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address, "--max-size", "2")
        told = inside(monday.m1, "send", "m2", "--json").ok().json
    assert told["route"] == {"name": "direct", "why": f"m2 is at {there.address}"}


def test_a_machine_that_has_gone_gets_its_parcel_by_the_remote(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address, "--max-size", "2")
    told = inside(monday.m1, "send", "m2", "--json").ok().json
    assert told["route"]["name"] == "remote"
    assert "m2 did not answer" in told["route"]["why"]
    assert inside(monday.m2, "catch", WORK).code == 0


# --- the remote ---------------------------------------------------------------------------------


def _hidden(remote: Path) -> None:
    git(remote, "config", "receive.hideRefs", "refs/wip")


def _declining(remote: Path) -> None:
    hook = remote / "hooks" / "update"
    hook.write_text("#!/bin/sh\ncase $1 in refs/wip/*) echo 'branches only' >&2; exit 1;; esac\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("route", ["remote", "direct"])
@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (_hidden, ["the remote origin does not take refs under refs/wip", "receive.hideRefs"]),
        (_declining, ["a hook of the remote origin refuses it", "let that hook pass refs/wip"]),
    ],
)
def test_a_remote_that_refuses_our_refs_leaves_the_sender_the_carrier(
    monday: Monday, spoil: Callable[[Path], None], parts: list[str], route: str
) -> None:
    spoil(monday.remote.path)
    before, inbox = monday.untouched(), monday.m2.home / "inbox"
    with at_home(monday.m2) as there:
        words = ["--at", there.address] if route == "direct" else ["--via", "remote"]
        refused(inside(monday.m1, "send", "m2", *words), 3, *parts)
    # what arrived cannot be caught: no record names it
    if inbox.exists():
        shutil.rmtree(inbox)
        inbox.mkdir()
    assert monday.untouched() == before


def test_a_remote_that_hides_our_refs_is_told_which_setting_does_it(monday: Monday) -> None:
    git(monday.remote.path, "config", "transfer.hideRefs", "refs/wip")
    before = monday.untouched()
    said = inside(monday.m1, "send", "m2", "--via", "remote")
    refused(said, 7, "the roster", "on the remote")
    assert monday.untouched() == before


def test_a_large_file_that_is_let_pass_arrives_whole(monday: Monday) -> None:
    body = bytes(range(256)) * 30_000  # 7.7 MB
    (monday.m1.top / "dump.bin").write_bytes(body)
    no = inside(monday.m1, "send", "m2", "--via", "remote")
    assert (no.code, "dump.bin: 7680000 bytes" in no.err) == (3, True)
    fingerprint = re.findall(r"--allow ([0-9a-f]{16})", no.err)[0]
    inside(monday.m1, "send", "m2", "--via", "remote", "--allow", fingerprint).ok()
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "dump.bin").read_bytes() == body


def test_a_raised_limit_lets_a_large_file_pass_whole(monday: Monday) -> None:
    body = bytes(range(256)) * 30_000
    (monday.m1.top / "dump.bin").write_bytes(body)
    inside(monday.m1, "send", "m2", "--via", "remote", "--max-size", "8000000").ok()
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "dump.bin").read_bytes() == body


def test_a_large_file_that_the_remote_has_travels_under_any_name_and_mode(monday: Monday) -> None:
    m1, body = monday.m1, bytes(range(256)) * 30_000
    (m1.top / "assets.bin").write_bytes(body)
    m1.git("add", "assets.bin")
    m1.git("commit", "-q", "-m", "assets", "--", "assets.bin")
    m1.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/shared")
    m1.git("fetch", "-q")
    (m1.top / "assets.bin").chmod(0o755)
    shutil.copyfile(m1.top / "assets.bin", m1.top / "copy.bin")
    inside(m1, "send", "m2", "--via", "remote").ok()
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "assets.bin").stat().st_mode & 0o777 == 0o755
    assert (monday.m2.top / "copy.bin").read_bytes() == body
    (monday.m2.top / "copy.bin").write_bytes(body + b"!")
    refused(inside(monday.m2, "send", "m1", "--via", "remote"), 3, "copy.bin: 7680001 bytes")


@pytest.mark.parametrize("route", [["--via", "remote"], ["--to-file"]])
def test_what_the_remote_has_is_no_news_from_a_clone_that_has_not_fetched_it(
    monday: Monday, tmp_path: Path, route: list[str]
) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.write(".env", "A=plain words\n")
    m1.write("dump.bin", "x" * 6_000_000)
    m1.git("add", "-f", ".env", "dump.bin")
    m1.git("commit", "-q", "-m", "pushed long ago", "--", ".env", "dump.bin")
    m1.git("push", "-q", "--no-verify", "origin", WORK)
    inside(m1, "send", "m2", "--via", "remote").ok()
    inside(m2, "catch", WORK).ok()
    m2.write("more.py", "MORE = 1\n")
    file = [tmp_path / "back"] if route == ["--to-file"] else []
    inside(m2, "send", "m1", *route, *file).ok()
    if file:
        inside(m1, "receive", *file).ok()
    inside(m1, "catch", WORK).ok()
    assert (m1.top / "more.py").read_text() == "MORE = 1\n"


def test_a_file_refused_by_name_is_found_under_its_older_name_too(monday: Monday) -> None:
    m1 = monday.m1
    m1.write(".env", "A=plain words\n")
    m1.git("add", "-f", ".env")
    m1.git("commit", "-q", "-m", "env", "--", ".env")
    m1.git("mv", ".env", "config.txt")
    m1.git("commit", "-q", "-m", "renamed", "--", ".env", "config.txt")
    refused(inside(m1, "send", "m2", "--via", "remote"), 3, ".env: environment file in commit")


def test_what_the_receiver_would_refuse_is_refused_before_the_record_moves(
    monday: Monday,
) -> None:
    monday.m1.write("git~1/x.txt", "x\n")
    refused(inside(monday.m1, "send", "m2"), 8, "git~1/x.txt reaches into .git", "rename it")
    monday.m1.git("-c", "core.protectNTFS=false", "add", "git~1/x.txt")
    before = monday.untouched()
    for route in (["--via", "remote"], ["--to-file", monday.m1.top.parent / "f"]):
        refused(inside(monday.m1, "send", "m2", *route), 3, "the receiver would refuse", "git~1")
    assert monday.untouched() == before


def test_a_lost_file_can_be_written_again(monday: Monday, tmp_path: Path) -> None:
    inside(monday.m1, "send", "m2", "--to-file", tmp_path / "a").ok()
    inside(monday.m1, "send", "m2", "--to-file", tmp_path / "b").ok()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_hook_that_git_no_longer_runs_is_said(monday: Monday) -> None:
    monday.m1.git("config", "core.hooksPath", ".husky")
    said = inside(monday.m1, "send", "m2", "--via", "remote").ok()
    assert "no longer runs the pre-push hook" in said.err


@pytest.mark.parametrize(
    ("wishes", "early"),
    [
        (Wishes(verb="save"), True),
        (Wishes(verb="offer", whole=True), False),
        (Wishes(to="m2"), False),
        (Wishes(to="m2", via="remote"), True),
        (Wishes(to="m2", to_file=Path("parcel")), True),
        (Wishes(to="m2", at="host:1"), False),
        (Wishes(to="m2", at="lin@host"), False),
    ],
)
def test_what_the_remote_has_is_asked_for_early_where_it_decides_what_goes_along(
    wishes: Wishes, *, early: bool
) -> None:
    assert _builds_on_branches(wishes) is early


@pytest.mark.parametrize("listed", ["a\0b\0", "a\n" * 10_001, "a" * 300_000])
def test_a_carry_list_that_git_cannot_be_asked_with_is_refused(monday: Monday, listed: str) -> None:
    (monday.m1.top / ".wip/carry").write_text(listed)
    refused(inside(monday.m1, "send", "m2", "--dry-run"), 3, ".wip/carry is too long", "hint")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda place: place.symlink_to("notes")])
def test_a_carry_list_that_is_no_file_is_not_read(
    monday: Monday, make: Callable[[Path], None]
) -> None:
    place = monday.m1.top / ".wip/carry"
    place.unlink()
    make(place)
    refused(inside(monday.m1, "send", "m2", "--dry-run"), 3, ".wip/carry is no file", "hint")
