"""No test sees the home, the git configuration, the agents or the keys of whoever runs it."""

import os
from pathlib import Path

import pytest

from tests.kit.machines import World, sealed


@pytest.fixture(autouse=True)
def _seal(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    env = sealed(tmp_path_factory.getbasetemp() / "sealed")
    for name in set(os.environ) - set(env):
        if not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a bare remote with nothing of ours on it."""
    return World.make(tmp_path)
