"""Two works in one checkout, each on its branch: what a verb of one does to the other."""

from tests.kit.machines import Machine
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import inside, refused

OTHER = "fix/two"


def aside(machine: Machine, branch: str, *words: str) -> None:
    """Put everything in a commit, and switch."""
    machine.git("add", "-A")
    machine.git("commit", "-q", "--allow-empty", "-m", "aside")
    machine.git("switch", "-q", *words, branch)


def write_page(machine: Machine) -> None:
    """Write a page that is about no work by name."""
    machine.write(".wip/HANDOFF.md", PAGE.replace(f"work: {WORK}\n", ""))


def begin_another(monday: Monday) -> None:
    """Have m3 hand a second work to m2."""
    monday.m3.git("switch", "-q", "-c", OTHER)
    monday.m3.write("two.txt", "two\n")
    write_page(monday.m3)
    inside(monday.m3, "send", "m2", "--via", "remote").ok()


def test_works_on_two_branches_of_one_checkout_are_saved_in_turn(monday: Monday) -> None:
    m1 = monday.m1
    inside(m1, "save").ok()
    aside(m1, OTHER, "-c")
    write_page(m1)
    inside(m1, "save").ok()
    m1.git("switch", "-q", WORK)
    m1.write(".wip/HANDOFF.md", PAGE)
    inside(m1, "save").ok()
    inside(m1, "send", "m2", "--via", "remote").ok()
    assert monday.carrier == ("offered", "m1", 1)
    m1.git("switch", "-q", OTHER)
    write_page(m1)
    inside(m1, "save").ok()


def catch_both(monday: Monday) -> None:
    """Have m2 catch one work, put it aside in a commit, and catch the other one."""
    m2 = monday.m2
    begin_another(monday)
    inside(m2, "catch", OTHER).ok()
    m2.write(".wip/carry", "notes/*\n")
    m2.write(".git/info/exclude", "/.wip/\nnotes/\n")
    m2.write("notes/one", "one\n")
    aside(m2, "main")
    (m2.top / ".wip" / "HANDOFF.md").unlink()
    (m2.top / ".wip" / "carry").unlink()
    inside(m2, "catch", WORK).ok()


def test_a_catch_leaves_a_work_that_stands_on_its_branch(sent: Monday) -> None:
    m2 = sent.m2
    catch_both(sent)
    assert (m2.top / "notes/one").read_text() == "one\n"
    aside(m2, OTHER)
    write_page(m2)
    inside(m2, "save").ok()
    m2.git("switch", "-q", WORK)
    write_page(m2)
    inside(m2, "save").ok()


def test_undo_takes_away_the_work_that_was_caught_and_leaves_the_other(sent: Monday) -> None:
    m2 = sent.m2
    catch_both(sent)
    inside(m2, "undo").ok()
    m2.git("switch", "-q", OTHER)
    write_page(m2)
    inside(m2, "save").ok()
    m2.git("switch", "-q", "-c", WORK)
    refused(inside(m2, "save"), 3, f"what stands here is not the {WORK}")
    m2.git("switch", "-q", OTHER)
    m2.git("branch", "-q", "-D", WORK)
    inside(m2, "undo").ok()
    assert m2.git("symbolic-ref", "--short", "HEAD").strip() == WORK
    inside(m2, "save").ok()


def test_a_work_that_an_undo_took_away_with_changes_is_not_saved_from_its_bare_branch(
    sent: Monday,
) -> None:
    m2 = sent.m2
    catch_both(sent)
    aside(m2, OTHER)
    m2.write("two.txt", "changed\n")
    write_page(m2)
    inside(m2, "save").ok()
    inside(m2, "undo").ok()
    m2.git("switch", "-q", OTHER)
    assert (m2.top / "two.txt").read_text() == "two\n"
    write_page(m2)
    refused(inside(m2, "save"), 3, f"what stands here is not the {OTHER}", "handsoff undo")


def test_commits_that_were_sent_may_come_back_as_others_after_another_work_was_saved(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.git("add", "-A")
    m1.git("commit", "-q", "-m", "aside")
    inside(m1, "send", "m2", "--via", "remote").ok()
    m1.git("switch", "-q", "-c", OTHER, "origin/main")
    write_page(m1)
    inside(m1, "save").ok()
    for name in ("HANDOFF.md", "carry"):
        (m1.top / ".wip" / name).unlink()
    inside(m2, "catch", WORK).ok()
    m2.git("commit", "-q", "--amend", "-m", "amended")
    tip = m2.git("rev-parse", "HEAD")
    inside(m2, "send", "m1", "--via", "remote").ok()
    inside(m1, "catch", WORK).ok()
    assert m1.git("rev-parse", WORK) == tip
