"""Going back: what was here before the last catch comes back, and nothing is lost on the way."""

import sys

from tests.kit.compare import Look, look
from tests.kit.machines import Machine
from tests.kit.monday import ODD, PAGE, STAYS, WORK, Monday, send
from tests.kit.running import inside, refused


def caught(monday: Monday) -> tuple[Look, Look]:
    """Let m2 catch; return how it looked before and after."""
    before = look(monday.m2.top)
    inside(monday.m2, "catch", WORK).ok()
    return before, look(monday.m2.top)


def test_undo_brings_back_what_was_here_before_the_catch(sent: Monday) -> None:
    before, _ = caught(sent)
    said = inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    assert f"went back to main, as it was before the catch of {WORK}" in said.err
    assert sent.m2.run("git", "rev-parse", "-q", "--verify", f"refs/heads/{WORK}").code == 1


def test_undo_leaves_the_record_alone(sent: Monday) -> None:
    caught(sent)
    refs = sent.remote.refs()
    said = inside(sent.m2, "undo").ok()
    assert f"the record did not move: handsoff status says who carries {WORK}" in said.err
    assert sent.remote.refs() == refs


def test_undo_twice_brings_the_catch_back(sent: Monday) -> None:
    before, after = caught(sent)
    inside(sent.m2, "undo").ok()
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before


def test_undo_keeps_commits_made_since(sent: Monday) -> None:
    before, _ = caught(sent)
    head = sent.m2.commit("made since")
    after = look(sent.m2.top)
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after
    assert look(sent.m2.top).head.decode() == head


def test_undo_over_a_tree_with_work_in_it_loses_nothing(sent: Monday) -> None:
    before, _ = caught(sent)
    m2 = sent.m2
    m2.write("src/rounding.py", "# changed since\n")
    m2.write("src/new.py", "NEW = 1\n")
    m2.write("src/staged.py", "STAGED = 1\n")
    m2.git("add", "src/staged.py")
    m2.write(".wip/notes.md", "written since\n")
    m2.write(ODD, "changed\n")
    after = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    inside(m2, "undo").ok()
    assert look(m2.top) == after


def test_undo_leaves_ignored_files_where_they_are(sent: Monday) -> None:
    caught(sent)
    sent.m2.write("cache/rates.bin", "mine\n")
    inside(sent.m2, "undo").ok()
    assert (sent.m2.top / "cache" / "rates.bin").read_text() == "mine\n"


def test_a_file_of_ones_own_that_came_with_the_same_bytes_stays_after_an_undo(
    sent: Monday,
) -> None:
    mine = sent.m2.write("runs/last.log", "1 failed\n")  # ignored here, and carried there
    inside(sent.m2, "catch", WORK).ok()
    for _ in range(2):
        inside(sent.m2, "undo").ok()
        assert mine.read_text() == "1 failed\n"
        assert not (sent.m2.top / ".wip/notes.md").exists()
        inside(sent.m2, "undo").ok()
        assert (sent.m2.top / ".wip/notes.md").exists()


def test_undo_brings_back_ones_own_stash_alone(sent: Monday) -> None:
    sent.m2.write("src/rounding.py", "mine\n")
    sent.m2.git("stash", "push", "-q", "-m", "my own")
    before, after = caught(sent)
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top).stash == after.stash


def test_undo_moves_a_branch_back_that_was_here_before(sent: Monday) -> None:
    sent.m2.git("fetch", "-q")
    sent.m2.git("switch", "-q", WORK)
    before, after = caught(sent)
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after


def settings(monday: Monday) -> list[str]:
    """Return what is set in m2's clone."""
    return sorted(monday.m2.git("config", "--local", "--list").splitlines())


def test_undo_takes_back_what_was_set_for_a_branch_that_came(sent: Monday) -> None:
    sent.m2.git("config", f"branch.{WORK}.more.remote", "of another branch")
    before = settings(sent)
    caught(sent)
    after = settings(sent)
    assert f"branch.{WORK}.remote=origin" in after
    inside(sent.m2, "undo").ok()
    assert settings(sent) == before
    inside(sent.m2, "undo").ok()
    assert settings(sent) == after


def test_undo_brings_back_the_upstream_that_a_branch_had(sent: Monday) -> None:
    sent.m2.git("branch", "-q", "--track", WORK, "origin/main")
    sent.m2.git("config", f"branch.{WORK}.description", "two\nlines")
    before = settings(sent)
    caught(sent)
    after = settings(sent)
    assert after != before
    inside(sent.m2, "undo").ok()
    assert settings(sent) == before
    inside(sent.m2, "undo").ok()
    assert settings(sent) == after


def test_a_dry_run_of_undo_changes_nothing(sent: Monday) -> None:
    caught(sent)
    before = sent.untouched()
    said = inside(sent.m2, "undo", "--dry-run").ok()
    assert "would go back to main" in said.err
    told = inside(sent.m2, "undo", "--dry-run", "--json").ok().json
    assert (told["work"], told["branch"], told["dry_run"]) == (WORK, "main", True)
    assert told["writes"] > 0
    assert told["removals"] > 0
    assert sent.untouched() == before


def test_json_tells_what_was_gone_back_to(sent: Monday) -> None:
    before, _ = caught(sent)
    told = inside(sent.m2, "undo", "--json").ok().json
    assert (told["branch"], told["head"].encode()) == ("main", before.head)


def test_where_nothing_was_caught_there_is_nothing_to_undo(monday: Monday) -> None:
    before = monday.untouched()
    refused(inside(monday.m2, "undo"), 3, "there is nothing to undo here")
    assert monday.untouched() == before


def test_undo_waits_for_other_commands_in_the_clone(sent: Monday) -> None:
    caught(sent)
    before = sent.untouched()
    with sent.m2.checkout().lock():
        refused(inside(sent.m2, "undo"), 8, "another handsoff command is at work")
    assert sent.untouched() == before


def test_undo_in_the_middle_of_a_merge_keeps_it_for_the_way_back(sent: Monday) -> None:
    before, _ = caught(sent)
    merging = sent.m2.write(".git/MERGE_HEAD", sent.m2.git("rev-parse", "main") + "\n")
    after, text = look(sent.m2.top), merging.read_text()
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    assert not merging.exists()
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after
    assert merging.read_text() == text


def test_a_work_that_was_caught_and_undone_can_be_caught_up_with_again(sent: Monday) -> None:
    _, after = caught(sent)
    inside(sent.m2, "undo").ok()
    refused(inside(sent.m2, "catch", WORK), 8, "was undone here", "handsoff undo brings back")
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after


def killed(machine: Machine, step: str, *words: str) -> None:
    """Let a command be killed at a step."""
    machine.run("env", f"HANDSOFF_KILL_AT={step}", sys.executable, "-m", "handsoff", *words)


def test_an_interrupted_undo_removes_what_the_carry_list_no_longer_names(sent: Monday) -> None:
    before, after = caught(sent)
    killed(sent.m2, "catch.apply.remove.before#3", "undo")
    assert not (sent.m2.top / ".wip/carry").exists()
    assert (sent.m2.top / ".wip/notes.md").exists()
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == after


def test_an_undo_removes_what_an_interrupted_catch_wrote_before_its_carry_list(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    for machine in (m1, m2):
        machine.write(".git/info/exclude", "/.wip/\n/.aside/\n")
    m1.write(".aside/notes", "first of all\n")
    m1.write(".wip/carry", ".wip/notes.md\nruns/*.log\n.aside/notes\n")
    send(monday)
    before, travels = look(m2.top), look(m1.top).without(*STAYS)
    killed(m2, "catch.apply.file.before#2", "catch", WORK)
    assert (m2.top / ".aside/notes").exists()
    assert not (m2.top / ".wip/carry").exists()
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    inside(m2, "catch", WORK).ok()
    assert look(m2.top) == travels


def test_an_interrupted_catch_that_was_undone_can_be_caught_anew(sent: Monday) -> None:
    before, travels = look(sent.m2.top), sent.travels
    killed(sent.m2, "catch.apply.file.before#2", "catch", WORK)
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before
    said = inside(sent.m2, "catch", WORK).ok()
    assert "an interrupted catch was finished" in said.err
    assert look(sent.m2.top) == travels


def test_a_state_that_was_undone_to_is_not_sent_as_the_work(sent: Monday) -> None:
    caught(sent)
    inside(sent.m2, "undo").ok()
    sent.m2.git("switch", "-q", "-c", WORK)
    sent.m2.write(".wip/HANDOFF.md", PAGE)
    refused(inside(sent.m2, "send", "m1", "--via", "remote"), 3, "what stands here is not")


def test_ones_own_later_stash_survives_an_undo_and_a_collection(sent: Monday) -> None:
    _, after = caught(sent)
    sent.m2.write("src/places.py", "later\n")
    sent.m2.git("rm", "-q", "--cached", "src/soon.py")
    sent.m2.git("stash", "push", "-q", "-m", "later", "src/places.py")
    later = look(sent.m2.top).stash[0]
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top).stash == (later,)
    sent.m2.git("reflog", "expire", "--expire=now", "--all")
    sent.m2.git("stash", "store", "-m", "later", later.split(b" ")[0].decode())
    sent.m2.git("gc", "-q", "--prune=now")
    inside(sent.m2, "undo").ok()
    assert {*after.stash} <= {*look(sent.m2.top).stash}


def test_undo_does_not_overwrite_an_ignored_file_made_since(sent: Monday) -> None:
    sent.m2.write("tools/make.txt", "main's own\n")
    sent.m2.git("add", "-f", "tools/make.txt")
    sent.m2.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "tool")
    caught(sent)
    sent.m2.write(".git/info/exclude", "/.wip/\n/tools/\n")
    sent.m2.write("tools/make.txt", "made since\n")
    refused(inside(sent.m2, "undo"), 8, "in the way", "tools/make.txt")
    assert (sent.m2.top / "tools/make.txt").read_text() == "made since\n"


def test_empty_folders_that_came_go_with_an_undo_and_ones_own_stay(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    link = f"160000,{'0123' * 10},vendor/lib"
    m1.git("update-index", "--add", "--cacheinfo", link)
    m1.write(".gitmodules", '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib\n')
    for folder in ("vendor/lib", "spare/one", "spare/two"):
        (m1.top / folder).mkdir(parents=True)
    (m1.top / "README").unlink()
    (m1.top / "README").mkdir()
    (m2.top / "own").mkdir()
    send(monday)
    before, after = caught(monday)
    arrived = [m2.top / "vendor", m2.top / "spare/one", m2.top / "spare/two"]
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    assert not any(folder.exists() for folder in (*arrived, m2.top / "spare"))
    assert (m2.top / "own").is_dir()
    inside(m2, "undo").ok()
    assert look(m2.top) == after
    assert all(folder.is_dir() for folder in (*arrived, m2.top / "own"))
