"""No test sees the home, the git configuration, the agents or the keys of whoever runs it."""

import fcntl
import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from handsoff.edge.scan import warm
from tests.kit.machines import World, sealed

# how fast this machine is at the moment is no property of the code
settings.register_profile(
    "thorough", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# 100 examples, hypothesis's own number, are for --hypothesis-profile=thorough
settings.register_profile("suite", settings.get_profile("thorough"), max_examples=50)
settings.load_profile("suite")

_MEMORY = Path("/dev/shm")
_ROOM = 2 << 30

# Nearly every test syncs what it writes to disk, as the program does; in memory that costs nothing.
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


_LONG = Path(__file__).with_name("long.txt")


def pytest_addoption(parser: pytest.Parser) -> None:
    said = f"run the tests of {_LONG.name}, which are left out else, and no others"
    parser.addoption("--long", action="store_true", help=said)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    # Thousands of tests are made and none is dropped: to look through them for garbage, again and
    # again, was half of collecting them. Frozen, they are passed over while the tests run as well.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any("::" in word for word in config.args):
        return  # a test that somebody named is run
    lines = [line.split() for line in _LONG.read_text().splitlines() if line[0] != "#"]
    left = {f"tests/{name}": int(kept[0]) if kept else 0 for name, *kept in lines}
    taken: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        name = item.nodeid.partition("[")[0]
        stays = name not in left or left[name] > 0
        if name in left:
            left[name] -= 1
        taken[stays != config.getoption("--long")].append(item)
    items[:] = taken[True]
    config.hook.pytest_deselected(items=taken[False])


@pytest.fixture(scope="session")
def shared_cache(request: pytest.FixtureRequest) -> Path:
    """Return a folder for what takes seconds to make and never changes: compiled rules."""
    return Path(request.config.cache.mkdir("handsoff"))


@pytest.fixture(scope="session")
def rules(shared_cache: Path) -> Path:
    """Return the folder in which the scanner's rules lie compiled: once for all tests."""
    folder = shared_cache / "handsoff"
    with (shared_cache / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        warm(folder)
    return folder


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
