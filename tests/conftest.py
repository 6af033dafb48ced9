"""No test sees the home, the git configuration, the agents or the keys of whoever runs it."""

import os
import shutil
from pathlib import Path

import pytest

from tests.kit.machines import World, sealed

_MEMORY = Path("/dev/shm")
_ROOM = 2 << 30

# Nearly every test syncs what it writes to disk, as the program does; in memory that costs nothing.
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.fixture(scope="session")
def shared_cache(request: pytest.FixtureRequest) -> Path:
    """Return a folder for what takes seconds to make and never changes: compiled rules."""
    return Path(request.config.cache.mkdir("handsoff"))


@pytest.fixture(autouse=True)
def _seal(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, shared_cache: Path
) -> None:
    env = sealed(tmp_path_factory.getbasetemp() / "sealed")
    for name in set(os.environ) - set(env):
        if not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for a remote and machines to be copied; see ``World.members``."""
    return tmp_path_factory.mktemp("worlds")


@pytest.fixture
def world(tmp_path: Path, worlds: Path) -> World:
    """Return a bare remote with nothing of ours on it."""
    if not (worlds / "remote.git").exists():
        World.make(worlds)  # here and not there: what is made for all tests is made sealed
    return World.copy_of(worlds, tmp_path)
