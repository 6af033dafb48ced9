"""What the tests of SSH share: a machine that listens, and a home whose SSH files are traps."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.listening import Machine, echo, poison_home


@pytest.fixture
def users_own_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let every test fail that looks into the user's own SSH configuration."""
    poison_home(monkeypatch, tmp_path / "home")


@pytest.fixture
def m2() -> Iterator[Machine]:
    """Return a machine that listens, and says again what it hears."""
    machine = Machine(echo)
    with machine.listener:
        yield machine
