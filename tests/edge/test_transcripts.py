"""A file of an agent is replaced only if it is what it was when it was looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from handsoff.edge.transcripts import Folder


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
