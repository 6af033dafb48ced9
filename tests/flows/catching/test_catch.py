"""Catching: all of it arrives, to one machine, and work goes on there with plain git."""

import os
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.machines import Machine
from tests.kit.monday import ODD, PAGE, STAYS, WORK, Monday, built, copy, send
from tests.kit.running import at_home, background, inside, refused, steps, wait_for


def hand_over(giver: Machine, taker: Machine) -> None:
    """Send directly and catch; the work's page must be there."""
    with at_home(taker) as there:
        inside(giver, "send", taker.name, "--at", there.address).ok()
    inside(taker, "catch", giver.git("branch", "--show-current")).ok()


def test_everything_arrives_and_the_page_is_printed(sent: Monday) -> None:
    travels = sent.travels
    said = inside(sent.m2, "catch", WORK).ok()
    assert look(sent.m2.top) == travels
    assert said.out == PAGE
    assert f"caught {WORK} r1 from m1: leg 2" in said.err
    assert "every file, index entry and stash was compared" in said.err
    assert sent.carrier == ("held", "m2", 2)


def test_all_may_lie_below_a_folder_whose_name_has_a_colon(templates: Path, tmp_path: Path) -> None:
    monday = copy(built(templates), tmp_path / "10:30")
    travels = monday.travels
    send(monday)
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
    inside(monday.m2, "undo").ok()


def test_a_name_that_is_no_text_arrives_as_the_bytes_it_is(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    assert (sent.m2.top / ODD).read_text() == "amount\n"
    for name in STAYS:
        assert not (sent.m2.top / name.decode()).exists()


def test_a_branch_that_follows_a_remote_unknown_here_is_told(monday: Monday) -> None:
    monday.m1.git("remote", "add", "fork", "/nowhere/fork.git")
    monday.m1.git("config", "handsoff.remote", "origin")
    monday.m1.git("config", f"branch.{WORK}.remote", "fork")
    send(monday)
    told = inside(monday.m2, "catch", WORK, "--json").ok().json["warnings"]
    assert any("follows the remote fork, which is not set up here" in line for line in told)
    assert monday.m2.git("config", f"branch.{WORK}.remote") == "origin"


def test_json_tells_what_was_caught(sent: Monday) -> None:
    told = inside(sent.m2, "catch", WORK, "--json").ok().json
    assert (told["work"], told["sender"], told["leg"], told["revision"]) == (WORK, "m1", 2, 1)
    assert told["page"] == PAGE
    assert told["top"] == str(sent.m2.top)
    assert told["writes"] > 5
    assert {item["path"] for item in told["left_behind"]} >= {".env.local", "cache/"}
    assert (told["already"], told["finished"], told["dry_run"]) == (False, False, False)


def test_a_dry_run_changes_no_byte_anywhere(sent: Monday) -> None:
    before = sent.untouched()
    said = inside(sent.m2, "catch", WORK, "--dry-run").ok()
    assert f"would catch {WORK} (r1) from m1" in said.err
    assert "nothing was changed" in said.err
    told = inside(sent.m2, "catch", WORK, "--dry-run", "--json").ok().json
    assert told["dry_run"]
    assert told["writes"] > 5
    assert sent.untouched() == before


def test_catching_twice_is_done_already(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    before = sent.untouched()
    said = inside(sent.m2, "catch", WORK).ok()
    assert f"this machine carries {WORK} already (leg 2)" in said.err
    assert inside(sent.m2, "take", WORK, "--json").ok().json["already"]
    assert sent.untouched() == before


def test_caught_again_where_another_branch_is_checked_out_it_says_where_the_work_is(
    sent: Monday,
) -> None:
    inside(sent.m2, "catch", WORK).ok()
    sent.m2.git("switch", "-q", "--force", "main")
    said = inside(sent.m2, "catch", WORK).ok()
    assert f"another branch is checked out here, main: git switch {WORK}" in said.err
    sent.m2.git("worktree", "add", "-q", "../beside", WORK)
    said = inside(sent.m2, "catch", WORK).ok()
    assert f"the branch {WORK} is checked out in {sent.m2.top.parent / 'beside'}" in said.err


@pytest.mark.parametrize("name", ["m1", "m3"])
def test_only_the_machine_it_is_for_catches_a_work(sent: Monday, name: str) -> None:
    other = sent.m1 if name == "m1" else sent.m3
    before = sent.untouched()
    refused(inside(other, "catch", WORK), 4, f"this work is offered to m2, not {name}", "ask m2")
    assert sent.untouched() == before
    inside(sent.m2, "catch", WORK).ok()
    before = sent.untouched()
    refused(inside(other, "catch", WORK), 4, "m2 carries this work", "ask m2")
    assert sent.untouched() == before


def test_a_work_that_nobody_handed_over_is_not_there_to_catch(monday: Monday) -> None:
    before = monday.untouched()
    refused(inside(monday.m2, "catch", "feat/none"), 3, "nobody has handed over a work called")
    assert monday.untouched() == before


def test_a_plain_push_works_after_a_catch_and_a_commit(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    head = sent.m2.commit("on m2")
    sent.m2.push().ok()
    assert sent.remote.refs()[f"refs/heads/{WORK}"] == head
    assert sent.m1.push("origin", WORK).code == 1


@pytest.mark.parametrize(
    "branch",
    [
        "never-pushed",
        "a/b/c/d",
        "x%2Fy",
        "it's-$HOME",
        "refs/heads/odd",
        "舍入",
        "n" * 240,
        "tagged",
    ],
)
def test_a_branch_that_was_never_pushed_arrives_and_can_be_pushed(
    monday: Monday, branch: str
) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.git("switch", "-q", "-c", branch)
    m1.write(".wip/HANDOFF.md", PAGE.replace(WORK, branch))
    if branch == "tagged":
        m1.git("tag", branch, "main")
    travels = monday.travels
    inside(m1, "send", "m2", "--via", "remote").ok()
    inside(m2, "catch", branch).ok()
    arrived = look(m2.top)
    assert arrived.upstream == f"origin refs/heads/{branch}\n".encode().strip()
    assert arrived.files == travels.files
    assert arrived.index == travels.index
    assert (arrived.branch, arrived.head) == (travels.branch, travels.head)
    head = m2.commit("on m2")
    m2.push().ok()
    assert monday.remote.refs()[f"refs/heads/{branch}"] == head


def test_a_remote_may_have_another_name_there(sent: Monday) -> None:
    sent.m2.git("remote", "rename", "origin", "hub")
    inside(sent.m2, "catch", WORK).ok()
    assert look(sent.m2.top).upstream == f"hub refs/heads/{WORK}".encode()
    head = sent.m2.commit("on m2")
    sent.m2.push().ok()
    assert sent.remote.refs()[f"refs/heads/{WORK}"] == head


def test_a_file_that_was_only_touched_is_no_work(sent: Monday) -> None:
    (sent.m2.top / "src" / "rounding.py").touch()
    inside(sent.m2, "catch", WORK).ok()


@pytest.mark.parametrize("keep", [False, True])
def test_a_clone_in_which_nothing_was_checked_out_has_no_work(sent: Monday, keep: bool) -> None:
    m2, travels = sent.m2, sent.travels
    m2.git("rm", "-qr", ".")
    (m2.top / ".git" / "index").unlink()
    if keep:  # a file that no index names is somebody's
        m2.write("src/mine.py", "MINE = 1\n")
        before = sent.untouched()
        refused(inside(m2, "catch", WORK), 8, "work of its own", "src/mine.py")
        assert sent.untouched() == before
        m2.git("clean", "-qfd", "src")
    there = sorted(m2.top.iterdir())
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == travels
    inside(m2, "undo").ok()
    assert sorted(m2.top.iterdir()) == there
    assert m2.git("ls-files") == ""
    inside(m2, "undo").ok()
    assert look(m2.top) == travels


def test_a_branch_that_is_behind_moves_forward(sent: Monday) -> None:
    sent.m2.git("fetch", "-q")
    sent.m2.git("branch", WORK, f"origin/{WORK}")
    travels = sent.travels
    inside(sent.m2, "catch", WORK).ok()
    assert look(sent.m2.top) == travels


def test_ones_own_stash_stays_below_the_one_that_arrives(sent: Monday) -> None:
    sent.m2.write("src/rounding.py", "mine\n")
    sent.m2.git("stash", "push", "-q", "-m", "my own")
    (own,) = look(sent.m2.top).stash
    inside(sent.m2, "catch", WORK).ok()
    assert look(sent.m2.top).stash == (*sent.travels.stash, own)


def test_a_work_goes_there_and_back_with_all_that_belongs_to_it(sent: Monday) -> None:
    m1, m2 = sent.m1, sent.m2
    inside(m2, "catch", WORK).ok()
    m2.write(".wip/HANDOFF.md", PAGE.replace("Make the", "m2 was here: make the"))
    m2.write(".wip/notes.md", "another sentence that matters\n")
    m2.write("runs/last.log", "0 failed\n")
    m2.write("src/money.py", "MONEY = 2\n")
    (m2.top / "latest").unlink()
    m2.write("src/places.py", "PLACES = 3\n")
    m2.git("rm", "-q", "--cached", "src/soon.py")  # git cannot stash beside an intent to add
    m2.git("stash", "push", "-q", "-m", "an idea of m2", "src/places.py")
    m2.git("add", "src/money.py")
    m2.commit("on m2")
    travels = look(m2.top)
    hand_over(m2, m1)
    assert look(m1.top).without(*STAYS) == travels
    assert (m1.top / ".env.local").read_text() == "TOKEN=not-a-real-one\n"
    assert sent.carrier == ("held", "m1", 3)


def test_a_third_machine_gets_it_from_the_second(sent: Monday) -> None:
    travels = sent.travels
    inside(sent.m2, "catch", WORK).ok()
    hand_over(sent.m2, sent.m3)
    assert look(sent.m3.top) == travels
    assert sent.carrier == ("held", "m3", 3)
    said = sent.m2.push("origin", WORK)
    assert said.code == 1
    assert "m3 carries this work" in said.err


@pytest.mark.parametrize(
    ("where", "again"),
    [
        ("catch.preflight.before", f"caught {WORK} r1 from m1: leg 2\n"),
        ("catch.record.push.before", f"caught {WORK} r1 from m1: leg 2\n"),
        ("catch.caught.after", "leg 2 (an interrupted catch was finished)"),
        ("catch.apply.index.before", "leg 2 (an interrupted catch was finished)"),
    ],
)
def test_a_catch_that_is_interrupted_is_taken_up_by_the_same_command(
    sent: Monday, tmp_path: Path, where: str, again: str
) -> None:
    before, travels = untouched(sent.m2.top), sent.travels
    log = tmp_path / "steps"
    env = {"HANDSOFF_PAUSE_AT": f"{where}:60", "HANDSOFF_STEPS_LOG": str(log)}
    with background(sent.m2, "catch", WORK, **env) as running:
        wait_for(lambda: where in steps(log))
        ended = running.interrupt()
    assert ended.code == 130
    assert "Traceback" not in ended.err
    if not where.startswith(("catch.caught", "catch.apply")):
        assert untouched(sent.m2.top) == before
        assert sent.carrier == ("offered", "m1", 1)
    assert again in inside(sent.m2, "catch", WORK).ok().err
    assert look(sent.m2.top) == travels
    assert sent.carrier == ("held", "m2", 2)


def test_a_stash_entry_that_the_other_side_dropped_stays_dropped(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    hand_over(m1, m2)
    m2.git("stash", "drop", "-q")
    left = look(m2.top).stash
    hand_over(m2, m1)
    assert look(m1.top).stash == left


def test_a_carried_file_that_the_other_side_removed_goes_and_ones_own_stays(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    hand_over(m1, m2)
    (m2.top / ".wip/notes.md").unlink()
    m1.write("cache/mine.bin", "mine\n")
    hand_over(m2, m1)
    assert not (m1.top / ".wip/notes.md").exists()
    assert (m1.top / "cache/mine.bin").read_text() == "mine\n"


def test_a_file_that_the_receiver_ignores_travels_on_and_is_not_removed_at_home(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.write("run.out", "from m1\n")
    m2.write(".git/info/exclude", "/.wip/\n*.out\n")
    hand_over(m1, m2)
    m2.write("run.out", "from m2\n")
    hand_over(m2, m1)
    assert (m1.top / "run.out").read_text() == "from m2\n"


def test_what_a_clean_stash_pop_leaves_behind_is_no_conflict(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.git("rm", "-q", "--cached", "src/soon.py")  # git cannot stash beside an intent to add
    m1.git("stash", "-q")
    m1.git("stash", "pop", "-q", "--index")
    tree = (m1.top / ".git/AUTO_MERGE").read_text()
    travels = monday.travels
    hand_over(m1, m2)
    assert look(m2.top) == travels
    assert (m2.top / ".git/AUTO_MERGE").read_text() == tree
    assert m2.git("cat-file", "-t", tree.strip()) == "tree"


def test_an_edit_made_while_the_record_is_pushed_is_not_overwritten(sent: Monday) -> None:
    pause = {"HANDSOFF_PAUSE_AT": "catch.record.push.before:1.5"}
    with background(sent.m2, "catch", WORK, **pause) as running:
        wait_for((sent.m2.top / ".git/handsoff/journal.json").exists)
        sent.m2.write("src/rounding.py", "typed meanwhile\n")
        assert running.end().code == 8
    assert (sent.m2.top / "src/rounding.py").read_text() == "typed meanwhile\n"
    sent.m2.git("checkout", "-q", "--", "src/rounding.py")
    inside(sent.m2, "catch", WORK).ok()
    assert look(sent.m2.top) == sent.travels


def test_what_is_done_to_a_file_in_the_second_in_which_it_was_written_is_seen(
    monday: Monday, tmp_path: Path
) -> None:
    (monday.m1.top / "src/rounding.py").chmod(0o600)
    send(monday)
    log, where = tmp_path / "steps", "catch.apply.index.before"
    place = monday.m2.top / "src/places.py"
    env = {"HANDSOFF_PAUSE_AT": f"{where}:1.1", "HANDSOFF_STEPS_LOG": str(log)}
    with background(monday.m2, "catch", WORK, **env) as running:
        wait_for(lambda: where in steps(log))
        (monday.m2.top / "src/rounding.py").chmod(0o644)
        at = place.stat()
        with place.open("r+") as file:
            file.write("X")  # git sees neither another size, nor another second
        os.utime(place, ns=(at.st_atime_ns, at.st_mtime_ns))
        ended = running.end()
    assert ended.code == 9
    assert "does not match the parcel: src/places.py, src/rounding.py" in ended.err


def test_a_branch_that_somebody_pushed_to_meanwhile_is_told(sent: Monday) -> None:
    sent.m2.git("fetch", "-q")
    tree = sent.m2.git("rev-parse", "main^{tree}")
    theirs = sent.m2.git("commit-tree", "-p", "main", "-m", "theirs", tree)
    sent.m2.git("push", "-q", "--no-verify", "origin", f"{theirs}:refs/heads/{WORK}", "--force")
    told = inside(sent.m2, "catch", WORK, "--dry-run", "--json").ok().json["warnings"]
    assert len(told) == 1
    assert told[0].startswith(f"origin/{WORK} has moved on")
    assert f"warning: origin/{WORK} has moved on" in inside(sent.m2, "catch", WORK).ok().err
