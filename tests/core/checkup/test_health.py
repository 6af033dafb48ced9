"""What facts call for: nothing that needs somebody is called fine, and each has a next step."""

from datetime import timedelta

import pytest

from handsoff.core.checkup import health
from handsoff.core.checkup.health import Level, Probed
from handsoff.core.works.holding import SKEW
from handsoff.core.works.tips import Mend

WIP, BRANCHES = "refs/wip", "refs/heads/handsoff"
GOOD = Probed(shown=True, swaps=True, atomic=True, deletes=True)


def needs(probed: Probed, prefix: str = WIP) -> list[tuple[str, str]]:
    found = health.of_probe("origin", prefix, probed)
    assert all(f.do for f in found if f.level is Level.PROBLEM)
    return [(f.said, f.do) for f in found if f.level is Level.PROBLEM]


def test_a_remote_that_does_all_of_it_needs_nobody() -> None:
    assert needs(GOOD) == []
    assert health.healthy(health.of_probe("origin", WIP, GOOD))


@pytest.mark.parametrize(
    ("probed", "said"),
    [
        (Probed(refused="no", hint="set it"), "no"),
        (Probed(shown=False), "does not show them"),
        (Probed(shown=True, swaps=False, atomic=True, deletes=True), "two machines could carry"),
        (Probed(shown=True, swaps=None, atomic=True, deletes=True), "was not seen"),
        (Probed(shown=True, swaps=True, atomic=False, deletes=True), "two refs together"),
        (Probed(shown=True, swaps=True, atomic=True, deletes=False), "be deleted"),
    ],
)
def test_each_thing_that_a_remote_lacks_is_said_once(probed: Probed, said: str) -> None:
    (found,) = needs(probed)
    assert said in found[0]


def test_the_setting_is_named_only_where_it_would_help() -> None:
    ((_, do),) = needs(Probed(shown=False))
    assert f"git config handsoff.refs {BRANCHES}" in do
    ((_, do),) = needs(Probed(shown=False), BRANCHES)
    assert "handsoff.refs" not in do


def test_only_old_probes_of_this_machine_are_left_over() -> None:
    assert health.is_left_over("m1-1000-ab0", "m1", 1000 + health.OLD_PROBE + 1)
    assert not health.is_left_over("m1-1000-ab0", "m1", 1000 + health.OLD_PROBE)
    assert not health.is_left_over("m2-1000-ab0", "m1", 9000)
    assert not health.is_left_over("m1-x-ab0", "m1", 9000)


@pytest.mark.parametrize(
    ("version", "level"),
    [("2.30.9", Level.PROBLEM), ("2.31.0", Level.NOTE), ("2.39.5", Level.OK),
     ("3.0", Level.OK), ("2.50.1 (Apple Git-155)", Level.OK), ("?", Level.PROBLEM)],
)  # fmt: skip
def test_an_old_git_is_named(version: str, level: Level) -> None:
    assert health.of_git(version).level is level


def test_a_clock_that_is_behind_signed_times_is_named_with_how_much() -> None:
    assert health.of_clock(SKEW).level is Level.OK
    assert "6 minutes" in health.of_clock(timedelta(minutes=6)).said
    assert "3 hours" in health.of_clock(timedelta(hours=3)).said
    assert "3650 days" in health.of_clock(timedelta(days=3650)).said


def test_what_was_lost_can_be_pushed_back_and_a_fork_needs_people() -> None:
    of = {mend: health.of_chain("x", "refs/wip/lease/x%2Fy", mend, "said") for mend in Mend}
    assert of[Mend.PUSH_BACK].do.startswith("handsoff doctor --repair; ")
    assert "--keep here" in of[Mend.PEOPLE].do
    assert "--repair" not in of[Mend.PEOPLE].do


def test_void_entries_are_counted_and_some_shown() -> None:
    said = health.of_void("x", 7, ["a", "b"]).said
    assert said == "7 entries that count for nothing: a; b, and 5 more"
    assert health.of_void("x", 1, ["a"]).said == "1 entry that counts for nothing: a"
