"""A HEAD that is detached for no operation: its work is named, and arrives detached."""

import pytest

from tests.kit.compare import look
from tests.kit.machines import Machine
from tests.kit.monday import PAGE, STAYS, WORK, Monday
from tests.kit.running import at_home, inside, refused

NAME = "fix/rounding"


@pytest.fixture
def loose(monday: Monday) -> Monday:
    """Return Monday, but m1 stands on commits that no branch has."""
    m1 = monday.m1
    m1.git("switch", "-q", "--detach")
    m1.git("branch", "-q", "-D", WORK)
    m1.git("commit", "-q", "-m", "loose")
    m1.write(".wip/HANDOFF.md", PAGE.replace(WORK, NAME))
    return monday


def send(giver: Machine, taker: Machine, *words: str) -> None:
    with at_home(taker) as there:
        inside(giver, "send", taker.name, "--at", there.address, *words).ok()


def test_a_detached_head_is_refused_until_it_has_a_name(loose: Monday) -> None:
    before = loose.untouched()
    refused(inside(loose.m1, "send", "m2"), 8, "HEAD is detached", "--as NAME")
    refused(inside(loose.m1, "page", "--no-edit"), 8, "HEAD is detached", "--as NAME")
    assert loose.untouched() == before


def test_a_detached_head_arrives_detached_at_the_same_commit(loose: Monday) -> None:
    m1, m2 = loose.m1, loose.m2
    travels = loose.travels
    send(m1, m2, "--as", NAME)
    inside(m2, "catch", NAME).ok()
    assert look(m2.top) == travels
    assert (travels.branch, m2.checkout().branch()) == (b"", None)
    assert m2.git("for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"


def test_what_was_caught_detached_is_sent_back_without_its_name(loose: Monday) -> None:
    m1, m2 = loose.m1, loose.m2
    send(m1, m2, "--as", NAME)
    inside(m2, "catch", NAME).ok()
    m2.commit("on m2")
    m2.write(".wip/HANDOFF.md", PAGE.replace(WORK, NAME) + "\nback\n")
    travels = look(m2.top)
    send(m2, m1)
    inside(m1, "catch", NAME).ok()
    assert look(m1.top).without(*STAYS) == travels
    assert m1.checkout().branch() is None


def test_undo_leaves_a_detached_head_and_undo_again_comes_back_to_it(loose: Monday) -> None:
    m1, m2 = loose.m1, loose.m2
    before = look(m2.top)
    send(m1, m2, "--as", NAME)
    inside(m2, "catch", NAME).ok()
    after = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    m2.git("reflog", "expire", "--expire=now", "--all")
    m2.git("gc", "-q", "--prune=now")
    inside(m2, "undo").ok()
    assert look(m2.top) == after


@pytest.mark.parametrize("name", ["a b", "-x", "a..b", "x.lock", "", "/x", "a~1"])
def test_what_is_no_name_of_a_branch_is_no_name_of_a_work(loose: Monday, name: str) -> None:
    before = loose.untouched()
    for verb in (("send", "m2"), ("page", "--no-edit")):
        refused(inside(loose.m1, *verb, f"--as={name}"), 2, "is no name for a branch")
    assert loose.untouched() == before


def test_a_branch_has_its_own_name_and_takes_no_other(monday: Monday) -> None:
    before = monday.untouched()
    refused(inside(monday.m1, "send", "m2", "--as", NAME), 2, f"stands on {WORK}")
    refused(inside(monday.m1, "page", "--no-edit", "--as", NAME), 2, f"stands on {WORK}")
    assert monday.untouched() == before
    send(monday.m1, monday.m2, "--as", WORK)


def test_a_page_of_a_detached_head_is_made_under_its_name(loose: Monday) -> None:
    loose.m1.checkout().page.unlink()
    inside(loose.m1, "page", "--no-edit", "--as", NAME).ok()
    assert f"work: {NAME}" in loose.m1.checkout().page.read_text()
