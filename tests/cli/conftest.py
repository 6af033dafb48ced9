"""Monday, for the tests of this room."""

from pathlib import Path

import pytest

from tests.kit.monday import monday, sent, templates

__all__ = ["monday", "sent", "templates"]


@pytest.fixture(autouse=True)
def _compiled(rules: Path) -> None:
    """Let no test of this room wait until the scanner's rules are compiled."""
