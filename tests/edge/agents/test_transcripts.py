"""A file of an agent is replaced only if it is what it was when it was looked at."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handsoff.edge.agents.transcripts import Folder
from handsoff.errors import UnfitError


def writing(path: Path, body: bytes) -> Iterator[bytes]:
    """Yield what is to be installed, while an agent writes to the same file."""
    yield b"theirs\n"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body)


@pytest.mark.parametrize("stood", [None, 5])
def test_what_an_agent_writes_meanwhile_is_not_overwritten(
    tmp_path: Path, stood: int | None
) -> None:
    path = tmp_path / "p" / "a.jsonl"
    if stood:
        path.parent.mkdir()
        path.write_bytes(b"ours\n")
    with pytest.raises(OSError, match="written to meanwhile"):
        Folder(tmp_path).write("p/a.jsonl", writing(path, b"ours, more\n"), 1, stood=stood)
    assert path.read_bytes() == b"ours, more\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_was_taken_away_meanwhile_does_not_come_back(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="written to meanwhile"):
        Folder(tmp_path).write("a.jsonl", [b"theirs\n"], 1, stood=5)
    assert not list(tmp_path.iterdir())


def test_a_name_may_be_as_long_as_a_disk_takes_it(tmp_path: Path) -> None:
    name = "\u9879" * 85
    Folder(tmp_path).write(f"p/{name}", [b"x"], 1, stood=None)
    assert [path.name for path in (tmp_path / "p").iterdir()] == [name]


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """Return another disk of the user, with folders of agents; beside it a checkout."""
    for name in ("disk/projects", "disk/claude", "checkout/claude", "home"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "disk"


def link(path: Path, to: Path) -> Path:
    path.symlink_to(to)
    return path


NAME = "projects/-P/a.jsonl"


def test_the_first_folders_may_be_links_of_the_user(tmp_path: Path, away: Path) -> None:
    home = link(tmp_path / ".claude", link(tmp_path / "dotfiles", away / "claude"))
    link(home / "projects", away / "projects")
    folder = Folder(home, checkout=tmp_path / "checkout")
    folder.write(NAME, [b"theirs\n"], 1, stood=None)
    assert (away / "projects" / "-P" / "a.jsonl").read_bytes() == b"theirs\n"
    assert (folder.size(NAME), b"".join(folder.read(NAME))) == (7, b"theirs\n")
    assert (home / "projects").is_symlink()


@pytest.mark.parametrize(
    ("home", "links", "why"),
    [
        # below the first folder, wherever that is
        ("home", {"home/projects": "disk/projects", "disk/projects/-P": "disk/claude"},
         "projects/-P is a link, and none is followed"),
        # in a checkout, where a parcel may have put it: the folder, the home, on the way to either
        ("checkout/claude", {"checkout/claude/projects": "disk/projects"}, "in the checkout"),
        ("checkout/home", {"checkout/home": "disk"}, "in the checkout"),
        ("checkout/to/claude", {"checkout/to": "disk"}, "in the checkout"),
        ("by/claude", {"by": "checkout/to", "checkout/to": "disk"}, "in the checkout"),
        ("home", {"home/projects": "checkout/to/projects", "checkout/to": "disk"},
         "in the checkout"),
        ("home", {"home/projects": "nowhere"}, "is a link that leads to no folder"),
        ("home", {"home/projects": "home/projects"}, "is a link that leads to no folder"),
    ],
)  # fmt: skip
def test_no_other_link_is_followed(
    tmp_path: Path, away: Path, home: str, links: dict[str, str], why: str
) -> None:
    for at, to in links.items():
        link(tmp_path / at, away.parent / to)
    folder = Folder(tmp_path / home, checkout=tmp_path / "checkout")
    with pytest.raises(UnfitError, match=why):
        folder.write(NAME, [b"x"], 1)
    with pytest.raises(UnfitError, match=why):
        folder.size(NAME)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_link_of_another_user_is_not_followed(tmp_path: Path, away: Path) -> None:
    home = tmp_path / "home"
    os.chown(link(home / "projects", away / "projects"), 12345, 12345, follow_symlinks=False)
    with pytest.raises(UnfitError, match="is a link of another user"):
        Folder(home, checkout=tmp_path / "checkout").write(NAME, [b"x"], 1)
    with pytest.raises(UnfitError, match="and none is followed"):  # of ours none may be one
        Folder(home).write(NAME, [b"x"], 1)
