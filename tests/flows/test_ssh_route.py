"""The ssh route: the user's own ssh, a real sshd, and handsoff there as a program of one exchange."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit.compare import look
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside
from tests.kit.sshd import Sshd, missing, sshd

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

_SERVED = ("HANDSOFF_", "GIT_", "XDG_", "COVERAGE_", "PYTHON", "LC_", "HOME")


def program(folder: Path, body: str = 'exec {python} -m handsoff "$@"') -> Path:
    """Write a program called handsoff to ``folder``, and return it."""
    folder.mkdir(exist_ok=True)
    path = folder / "handsoff"
    path.write_text(f"#!/bin/sh\n{body.format(python=sys.executable)}\n")
    path.chmod(0o755)
    return path


@contextmanager
def at_sshd(machine: Machine, folder: Path, bashrc: str = "", **settings: str) -> Iterator[Sshd]:
    """Let the accounts of a machine's sshd see its keys, and its own programs first."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(Path(os.environ["GIT_CONFIG_GLOBAL"]).read_text())
    (home / ".bashrc").write_text(bashrc)
    env = {name: value for name, value in os.environ.items() if name.startswith(_SERVED)}
    env |= {"HOME": str(home), "HANDSOFF_HOME": str(machine.home)}
    env["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    with sshd(folder, env, **settings) as there:
        yield there


def config(path: Path, *parts: str) -> str:
    """Write a client's config, and return the ssh that reads it."""
    path.write_text("".join(parts))
    return f"ssh -F {path}"


@pytest.fixture
def there(monday: Monday, tmp_path: Path) -> Iterator[Sshd]:
    """Return the sshd of m2, which m1 knows as the alias ``box``."""
    program(tmp_path / "m2-sshd" / "bin") if (tmp_path / "m2-sshd").mkdir() is None else None
    with at_sshd(monday.m2, tmp_path / "m2-sshd") as there:
        monday.m1.git("config", "handsoff.ssh", config(tmp_path / "config", there.alias("box")))
        yield there


def test_a_work_goes_to_an_alias(monday: Monday, there: Sshd) -> None:
    travels = monday.travels
    sent = inside(monday.m1, "send", "box").ok()
    assert "handed" in sent.err
    assert "to m2" in sent.err
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
