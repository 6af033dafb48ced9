"""Operations on the receiver: its own are never lost, and an undo or a crash keeps what arrived."""

import sys

import pytest

from handsoff.core.checkout.operation import NOTHING
from handsoff.edge.git import operation
from tests.kit import operations
from tests.kit.compare import look, untouched
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.operations import begin, finish, shell
from tests.kit.running import at_home, inside, refused


def send(forked: Monday, name: str) -> None:
    """Begin an operation on m1, and hand it over to m2."""
    begin(forked.m1.top, name)
    with at_home(forked.m2) as there:
        inside(forked.m1, "send", "m2", "--at", there.address).ok()


@pytest.mark.parametrize("name", ["rebase -r", "merge with rerere"])
def test_undo_brings_back_what_was_there_and_undo_again_the_operation(
    forked: Monday, name: str
) -> None:
    m1, m2 = forked.m1, forked.m2
    before = look(m2.top)
    send(forked, name)
    inside(m2, "catch", WORK).ok()
    after = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    assert operation.read(m2.checkout()) == NOTHING
    assert shell(m2.top, "git for-each-ref refs/bisect refs/rewritten").ok().out == ""
    m2.git("reflog", "expire", "--expire=now", "--all")
    m2.git("gc", "-q", "--prune=now")
    inside(m2, "undo").ok()
    assert look(m2.top) == after
    assert operation.read(m2.checkout()) == operation.read(m1.checkout())
    assert finish(m2.top, name) == finish(m1.top, name)


def test_a_branch_that_a_bisect_has_left_outlives_an_undo_and_a_collection(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    shell(m1.top, "git bisect start; git bisect bad HEAD~1; git bisect good base").ok()
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    m2.git("commit", "-q", "--allow-empty", "-m", "beside")
    beside, tip = m2.git("rev-parse", "HEAD"), m2.git("rev-parse", WORK)
    inside(m2, "undo").ok()
    m2.git("reflog", "expire", "--expire=now", "--all")
    m2.git("gc", "-q", "--prune=now")
    inside(m2, "undo").ok()
    assert (m2.git("rev-parse", "HEAD"), m2.git("rev-parse", WORK)) == (beside, tip)
    m2.git("fsck", "--connectivity-only")


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("rebase", "catch.apply.operation.before#3"),
        ("rebase", "catch.apply.config.before"),
        ("bisect", "catch.finish.before"),
        ("am", "catch.apply.operation.before#9"),
    ],
)
def test_a_catch_of_an_operation_that_was_killed_is_finished_by_the_same_command(
    forked: Monday, name: str, where: str
) -> None:
    m1, m2 = forked.m1, forked.m2
    send(forked, name)
    m2.run("env", f"HANDSOFF_KILL_AT={where}", sys.executable, "-m", "handsoff", "catch", WORK)
    said = inside(m2, "catch", WORK).ok().err
    assert "an interrupted catch was finished" in said
    assert look(m2.top) == forked.travels
    assert operation.read(m2.checkout()) == operation.read(m1.checkout())
    assert finish(m2.top, name) == finish(m1.top, name)


def test_a_killed_catch_of_an_operation_can_be_undone(forked: Monday) -> None:
    m2 = forked.m2
    before = look(m2.top)
    send(forked, "rebase")
    kill = "HANDSOFF_KILL_AT=catch.apply.config.before"
    m2.run("env", kill, sys.executable, "-m", "handsoff", "catch", WORK)
    assert operation.read(m2.checkout()) != NOTHING
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    assert operation.read(m2.checkout()) == NOTHING


def test_a_rebase_that_moves_other_branches_is_refused_until_it_does_not(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    shell(m1.top, "git branch mid HEAD~1; git rebase --update-refs theirs")
    before = forked.untouched()
    refused(inside(m1, "send", "m2"), 8, "also moves the branch mid", "git rebase --edit-todo")
    assert forked.untouched() == before
    shell(m1.top, "GIT_EDITOR='sed -i /update-ref/d' git rebase --edit-todo").ok()
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    assert finish(m2.top, "rebase") == finish(m1.top, "rebase")


# what the receiver has of its own


def busy(machine: Machine, name: str) -> None:
    """Let a machine stand in the middle of something of its own."""
    shell(machine.top, "git switch -q -c own").ok()
    operations.make(machine.top)
    begin(machine.top, name)


@pytest.mark.parametrize("name", ["rebase", "am"])
def test_a_receiver_with_an_operation_of_its_own_is_refused_and_left_alone(
    forked: Monday, name: str
) -> None:
    m2 = forked.m2
    busy(m2, name)
    send(forked, "rebase")
    before = forked.untouched()
    found = operations.DOING[name].what
    refused(inside(m2, "catch", WORK), 8, f"{found} is in progress here", "finish it first")
    refused(inside(m2, "catch", WORK, "--dry-run"), 8, f"{found} is in progress here")
    assert forked.untouched() == before
    assert forked.carrier == ("offered", "m1", 1)


def test_an_operation_is_caught_into_a_worktree_beside_one_of_the_receivers_own(
    forked: Monday,
) -> None:
    m1, m2 = forked.m1, forked.m2
    busy(m2, "bisect")
    own, before = operation.read(m2.checkout()), look(m2.top)
    send(forked, "bisect")
    place = m2.top.parent / "caught"
    said = inside(m2, "catch", WORK, "--into", place).ok()
    assert "in progress: a bisect" in said.err
    there = Machine("m2", m2.home, place)
    assert look(place) == forked.travels
    assert operation.stands(
        there.checkout(), operation.read(m1.checkout()), operation.read(there.checkout())
    )
    assert operation.read(m2.checkout()) == own
    assert (look(m2.top).files, look(m2.top).index) == (before.files, before.index)
    assert finish(place, "bisect") == finish(m1.top, "bisect")
    assert finish(m2.top, "bisect").startswith("own\n")


@pytest.mark.parametrize("name", ["rebase", "bisect"])
def test_a_worktree_of_the_receiver_in_which_the_branch_is_busy_is_named(
    forked: Monday, name: str
) -> None:
    m1, m2 = forked.m1, forked.m2
    place = m2.top.parent / "beside"
    shell(m2.top, "git fetch -q ../../m1/checkout theirs:theirs base:base $1:$1", WORK).ok()
    m2.git("worktree", "add", "-q", str(place), WORK)
    begin(place, name)
    m1.write("g", "more\n")
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    before = (forked.untouched(), untouched(place))
    refused(inside(m2, "catch", WORK), 8, f"the branch {WORK} is checked out in", str(place))
    assert (forked.untouched(), untouched(place)) == before


def test_files_of_an_operation_are_in_nobodys_way(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    stale = m2.write(".git/MERGE_MSG", "of long ago\n")
    m2.write(".git/AUTO_MERGE", m2.git("rev-parse", "HEAD^{tree}") + "\n")
    send(forked, "merge")
    inside(m2, "catch", WORK).ok()
    assert stale.read_text().startswith("Merge branch 'theirs'")
    inside(m2, "undo").ok()
    assert stale.read_text() == "of long ago\n"
    inside(m2, "undo").ok()
    assert finish(m2.top, "merge") == finish(m1.top, "merge")
