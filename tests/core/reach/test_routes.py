"""Which routes are tried, in which order, and what names a place and no machine."""

import pytest

from handsoff.core.reach.routes import in_order, is_place
from handsoff.errors import UsageError


@pytest.mark.parametrize(
    ("via", "at", "to_file", "known", "order"),
    [
        ("auto", None, False, (), ("remote",)),
        ("auto", None, False, ("ssh",), ("ssh", "remote")),
        ("auto", None, False, ("ssh", "direct"), ("direct", "ssh", "remote")),
        ("auto", "m2:7022", False, ("ssh",), ("direct",)),
        ("auto", "lin@box", False, ("direct",), ("ssh",)),
        ("ssh", "box", False, (), ("ssh",)),
        ("ssh", None, False, ("direct",), ("ssh",)),
        ("direct", None, False, ("ssh",), ("direct",)),
        ("remote", None, False, ("direct", "ssh"), ("remote",)),
        ("auto", None, True, ("direct", "ssh"), ("file",)),
    ],
)
def test_what_was_named_is_tried_alone_and_else_the_nearest_first(
    via: str, at: str | None, to_file: bool, known: tuple[str, ...], order: tuple[str, ...]
) -> None:
    assert in_order(via, at=at, to_file=to_file, known=known) == order


@pytest.mark.parametrize(
    ("via", "at", "said"),
    [
        ("pigeon", None, "no route called pigeon"),
        ("remote", "m2:7022", "does not go with"),
        ("direct", "lin@box", "does not go with"),
    ],
)
def test_words_that_do_not_go_together_are_refused(via: str, at: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        in_order(via, at=at, to_file=False, known=())


def test_a_name_of_the_roster_comes_first_and_only_ssh_can_tell_an_alias() -> None:
    assert is_place("m2", is_machine=True, via="ssh") is False
    assert is_place("lin@m2", is_machine=False, via="auto") is True
    assert is_place("box", is_machine=False, via="ssh") is True
    assert is_place("box", is_machine=False, via="auto") is None
    assert is_place("box", is_machine=False, via="remote") is False
