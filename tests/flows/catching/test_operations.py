"""An operation in progress is handed over, and goes on where it stopped, with plain git."""

import shutil

import pytest

from handsoff.core.checkout.operation import kind_of
from handsoff.edge.git import operation
from handsoff.edge.git.repo import open_checkout
from tests.kit.compare import Look, look, untouched
from tests.kit.machines import Machine
from tests.kit.monday import PAGE, STAYS, WORK, Monday
from tests.kit.operations import DOING, begin, finish, shell
from tests.kit.running import at_home, inside

LEFT = ("rebase", "rebase --apply", "rebase -i", "rebase -r", "rebase --autostash", "bisect")


def hand_over(giver: Machine, taker: Machine, *words: str) -> str:
    """Send directly and catch; return what the catch said."""
    with at_home(taker) as there:
        inside(giver, "send", taker.name, "--at", there.address, *words).ok()
    return inside(taker, "catch", WORK).ok().err


def busy(machine: Machine) -> str:
    """Return what is in progress, or ""."""
    kind = kind_of(operation.read(machine.checkout()))
    return kind.what if kind else ""


def given_up(machine: Machine, name: str) -> Look:
    """Return what giving the operation up would leave, tried on a copy of the checkout."""
    top = machine.top.parent / "copy"
    shutil.copytree(machine.top, top, symlinks=True)
    shell(top, "git update-index -q --refresh; " + DOING[name].stop).ok()
    assert kind_of(operation.read(open_checkout(top))) is None
    return look(top).without(*STAYS)


@pytest.mark.parametrize("name", DOING)
def test_an_operation_goes_on_at_the_receiver_as_it_would_at_home(
    forked: Monday, name: str
) -> None:
    m1, m2 = forked.m1, forked.m2
    begin(m1.top, name)
    before = untouched(m1.top)
    tip = m1.git("rev-parse", WORK)
    said = hand_over(m1, m2)
    assert untouched(m1.top) == before
    assert f"in progress: {DOING[name].what}; to go on: git " in said
    assert look(m2.top) == forked.travels
    assert operation.read(m2.checkout()) == operation.read(m1.checkout())
    assert m2.git("rev-parse", WORK) == tip
    assert m2.checkout().branch() == (None if name in LEFT else WORK)
    if DOING[name].stop:
        there = given_up(m2, name)
        assert there == given_up(m1, name)
        assert (there.branch, there.head) == (b"refs/heads/" + WORK.encode(), tip.encode())
    done = finish(m2.top, name)
    assert done == finish(m1.top, name)
    assert done.startswith(WORK + "\n")
    assert busy(m2) == ""


def test_what_rerere_saw_on_one_machine_it_knows_on_the_other(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    begin(m1.top, "merge with rerere")
    hand_over(m1, m2)
    finish(m2.top, "merge with rerere")
    shell(m2.top, "git reset -q --hard HEAD^; git merge $1", m1.git("rev-parse", "theirs"))
    assert (m2.top / "f").read_text().startswith("done")


@pytest.mark.parametrize("name", ["rebase", "bisect"])
def test_what_was_sent_half_done_comes_back_done(forked: Monday, name: str) -> None:
    m1, m2 = forked.m1, forked.m2
    begin(m1.top, name)
    hand_over(m1, m2)
    done = finish(m2.top, name)
    m2.write(".wip/HANDOFF.md", PAGE.replace("Make the", "Finished; make the"))
    hand_over(m2, m1)
    assert look(m1.top).without(*STAYS) == look(m2.top)
    assert done.startswith(WORK + "\n")
    assert busy(m1) == ""
    assert shell(m1.top, "git for-each-ref refs/bisect refs/rewritten").ok().out == ""


def test_an_operation_goes_there_and_back_half_done(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    begin(m1.top, "rebase -i")
    hand_over(m1, m2)
    m2.write("g", "from m2\n")
    m2.git("add", "g")
    hand_over(m2, m1)
    assert (m1.top / "g").read_text() == "from m2\n"
    assert operation.read(m1.checkout()) == operation.read(m2.checkout())
    assert finish(m1.top, "rebase -i") == finish(m2.top, "rebase -i")


def test_an_operation_begun_on_the_receiver_comes_home(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    hand_over(m1, m2)
    shell(m2.top, "git fetch -q ../../m1/checkout theirs:theirs base:base").ok()
    begin(m2.top, "rebase")
    hand_over(m2, m1)
    assert busy(m1) == "a rebase"
    assert finish(m1.top, "rebase") == finish(m2.top, "rebase")


def test_an_orig_head_of_the_receiver_does_not_disturb(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    m2.write(".git/ORIG_HEAD", m2.git("rev-parse", "HEAD") + "\n")
    begin(m1.top, "cherry-pick")
    hand_over(m1, m2)
    assert finish(m2.top, "cherry-pick") == finish(m1.top, "cherry-pick")


def test_the_commands_of_a_rebase_are_told_before_they_run(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    shell(m1.top, "git rebase theirs --exec 'touch ../ran' --exec 'true \x1b[31m'")
    with at_home(m2) as there:
        sent = inside(m1, "send", "m2", "--at", there.address, "--json").ok().json
    assert sent["operation"] == "a rebase"
    told = inside(m2, "catch", WORK, "--dry-run", "--json").ok().json
    assert set(told["runs"]) == {"touch ../ran", "true \x1b[31m"}
    said = inside(m2, "catch", WORK).ok().err
    assert "going on will run: touch ../ran" in said
    assert "\x1b" not in said
    assert not (m2.top.parent / "ran").exists()
