"""How the pre-push program starts, and what it makes of git's words; no push goes out here."""

import subprocess
import sys
from pathlib import Path

import pytest

from handsoff.prepush import place, remote_refs
from tests.kit.machines import ROOT, World

HEAVY = {"asyncio", "asyncssh", "kingfisher_sdk", "pygit2", "pyrage", "typer", "zeroconf"}
TOP = Path("/home/lin/checkout")


def test_nothing_slow_is_imported(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes("feat/x", lambda pen: pen.caught())
    line = "refs/heads/feat/x 1 refs/heads/feat/x 2\n"
    said = m1.run(
        sys.executable, "-X", "importtime", "-m", "handsoff.prepush", "origin", "x", given=line
    )
    assert said.code == 4
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in said.err.splitlines()}
    assert "cryptography" in imported
    assert not imported & HEAVY


def test_git_is_asked_before_the_rules_are_imported() -> None:
    code = "import sys, handsoff.prepush; print('handsoff.core.works.record' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert shown.stdout == b"False\n"


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("git@host.example:team/app.git", "ssh://git@HOST.example/team/app"),
        ("ssh://git@host.example:22/team/app/", "https://host.example/team/app.git"),
        ("https://user:secret@host.example/team/app", "git@host.example:team/app"),
        ("/srv/app.git", "file:///srv/app"),
        ("../app.git", "/home/lin/app/"),
    ],
)
def test_two_spellings_of_one_place_are_the_same(url: str, same: str) -> None:
    assert place(url, TOP) == place(same, TOP)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("git@host.example:team/app", "git@host.example:fork/app"),
        ("git@host.example:team/app", "git@other.example:team/app"),
        ("ssh://localhost:2201/app", "ssh://localhost:2202/app"),
        ("/srv/app", "/srv/app2"),
    ],
)
def test_two_places_are_told_apart(url: str, other: str) -> None:
    assert place(url, TOP) != place(other, TOP)


def test_a_local_name_may_have_blanks_in_it() -> None:
    lines = f"HEAD^{{/fix the bug}} {'1' * 40} refs/heads/main {'2' * 40}\n"
    assert remote_refs(lines) == ["refs/heads/main"]
