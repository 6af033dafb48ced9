"""Monday, and a small disk, for the tests of this room."""

from typing import Final

import pytest

from tests.kit.disks import small_disk
from tests.kit.monday import monday, sent, templates
from tests.kit.operations import forked

__all__ = ["forked", "monday", "sent", "small_disk", "templates"]

ENGINE: Final = frozenset({"test_attacked", "test_init", "test_pages", "test_send"})
"""The tests that look for secrets with the scanner's engine as well."""


@pytest.fixture(autouse=True)
def _own_rules_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # without a folder for compiled rules the guard does without its engine, which takes a third
    # of a second to start
    if request.module.__name__.rpartition(".")[2] in ENGINE:
        request.getfixturevalue("rules")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
