"""Large files of a filter whose content a server has: they stay, are told, and come back."""

from pathlib import Path

import pytest

from handsoff.core.guard.guard import DEFAULT_LIMIT
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, inside

_CLEAN = "sh -c 'echo pointer; head -c 5'"
WEIGHTS = b"heavy" + b"\0" * DEFAULT_LIMIT


def heavy(machine: Machine) -> None:
    machine.git("config", "filter.store.clean", _CLEAN)
    machine.git("config", "filter.store.smudge", "cat")


@pytest.fixture
def stored(forked: Monday) -> Monday:
    """Return Monday with a large file whose pointer is pushed, and a filter for it on both."""
    m1, m2 = forked.m1, forked.m2
    for machine in (m1, m2):
        heavy(machine)
    m1.write(".gitattributes", "*.bin filter=store -text\n")
    (m1.top / "model.bin").write_bytes(WEIGHTS)
    m1.git("add", ".gitattributes", "model.bin")
    m1.git("commit", "-q", "-m", "a model", "--", ".gitattributes", "model.bin")
    m1.git("push", "-q", "--no-verify", "origin", WORK)
    return forked


def hand_over(giver: Machine, taker: Machine) -> dict[str, str]:
    with at_home(taker) as there:
        told = inside(giver, "send", taker.name, "--at", there.address, "--json").ok().json
    inside(taker, "catch", WORK).ok()
    return {item["path"]: item["reason"] for item in told["left_behind"]}


def test_a_large_file_that_the_remote_has_stays_and_is_told(stored: Monday) -> None:
    left = hand_over(stored.m1, stored.m2)
    assert "the remote has it" in left["model.bin"]
    assert (stored.m2.top / "model.bin").read_bytes() == b"pointer\nheavy"
    assert (stored.m1.top / "model.bin").read_bytes() == WEIGHTS


def test_it_is_still_there_when_the_work_comes_home(stored: Monday) -> None:
    hand_over(stored.m1, stored.m2)
    stored.m2.write("more", "of it\n")
    hand_over(stored.m2, stored.m1)
    assert (stored.m1.top / "more").read_text() == "of it\n"
    assert (stored.m1.top / "model.bin").read_bytes() == WEIGHTS


def test_a_large_file_that_was_changed_is_refused_by_its_size(stored: Monday) -> None:
    Path(stored.m1.top / "model.bin").write_bytes(b"other" + WEIGHTS)
    with at_home(stored.m2) as there:
        ran = inside(stored.m1, "send", "m2", "--at", there.address)
    assert ran.code == 3
    assert "model.bin" in ran.err
