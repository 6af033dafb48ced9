"""When two checkouts are the same, and whether the story can be played at all."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.tour.story import STORY
from handsoff.core.tour.tour import Ends, Look, Starts, Step, Types, compare, filled, shown

FILES = {"a.py": "file 11", "b.py": "exec 22", ".env": "file 33"}
GIT = {"index": "44", "status": "55"}
NAMES = ("m1", "m2")
STAYS = {".env": "stays: a secret"}
M1 = Look(FILES, GIT)
M2 = Look({name: told for name, told in FILES.items() if name != ".env"}, GIT)


def test_a_file_that_stays_is_on_the_first_machine_only() -> None:
    told = compare(NAMES, M1, M2, STAYS)
    assert told.same
    assert told.count == 2
    assert [line.split() for line in told.lines] == [
        ["m1", "m2"],
        [".env", "33", "-", "stays:", "a", "secret"],
        ["a.py", "11", "11", "same"],
        ["b.py", "22", "22", "same"],
        ["index", "44", "44", "same"],
        ["status", "55", "55", "same"],
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (M1, M1),  # the secret travelled
        (M2, M2),  # the secret is gone
        (M1, Look({**M2.files, "a.py": "file 12"}, GIT)),
        (M1, Look({**M2.files, "a.py": "exec 11"}, GIT)),
        (M1, Look({"a.py": "file 11"}, GIT)),
        (M1, Look({**M2.files, "more": "file 1"}, GIT)),
        (M1, Look(M2.files, {**GIT, "index": "45"})),
    ],
)
def test_anything_else_is_not_the_same_and_is_named(first: Look, second: Look) -> None:
    told = compare(NAMES, first, second, STAYS)
    assert not told.same
    assert sum("NOT" in line for line in told.lines) == 1


looks = st.builds(
    Look,
    st.dictionaries(st.sampled_from("abc"), st.sampled_from(["file 1", "file 2"])),
    st.fixed_dictionaries({"index": st.sampled_from("12")}),
)


@given(looks, looks)
def test_two_are_the_same_exactly_if_they_hold_the_same(first: Look, second: Look) -> None:
    assert compare(NAMES, first, second, {}).same == (first == second)


def test_values_are_put_in_and_other_braces_stay() -> None:
    assert filled("git push {at} @{u} ${x} {nobody}", {"at": "here"}) == (
        "git push here @{u} ${x} {nobody}"
    )


def test_what_a_command_said_is_shown_as_lines_that_a_terminal_can_take() -> None:
    assert shown("in /t/m1/toy\n\x1b[31mred\n\n", "/t/m1") == ("in ~/toy", "[31mred")
    assert shown("\n", "/t/m1") == ()


@pytest.mark.parametrize("step", STORY, ids=lambda step: step.title)
def test_a_step_can_be_read_and_played(step: Step) -> None:
    known, waiting = {"remote"}, set()
    for act in step.acts:
        if isinstance(act, Types | Starts):
            named = {name for _, name, _, _ in string.Formatter().parse(act.line) if name}
            assert named <= known, act.line
        if isinstance(act, Starts):
            known |= set(re.compile(act.until).groupindex)
            waiting.add(act.machine)
        if isinstance(act, Ends):
            waiting.remove(act.machine)
    assert not waiting, "what was started has to come to its end"
    assert step.why
    assert step.facts or any(not isinstance(act, Types) for act in step.acts) or step is STORY[-1]
    texts = [step.title, *step.why, *(fact.text for fact in step.facts)]
    assert all(len(text) < 95 for text in texts)
