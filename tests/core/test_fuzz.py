"""A few changed inputs for each parser, every time; 100,000 and more: lab/fuzz.py."""

import pytest

from tests.kit.fuzzing import TARGETS, Target, fuzz, unchanged


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_changed_inputs_are_taken_or_refused_in_our_own_words(target: Target) -> None:
    unchanged(target)
    assert fuzz(target, 25) > 0
