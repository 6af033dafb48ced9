"""Resolved conflicts: git reads back from our index what it listed of its own."""

from pathlib import Path

import pytest

from handsoff.core.checkout.index import Entry, encode
from handsoff.core.checkout.resolved import encode_resolved, parse_resolved
from handsoff.errors import DamagedError
from tests.kit.machines import git

A, B = "a" * 40, "b" * 40


def listed(top: Path) -> list[bytes]:
    return git(top, "ls-files", "--resolve-undo", "-z").encode().split(b"\0")[:-1]


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [Entry(b"f", 0o100644, A, 1), Entry(b"f", 0o100755, B, 2), Entry(b"f", 0o100644, A, 3)],
        [Entry(b"added", 0o100644, A, 2), Entry(b"gone", 0o120000, B, 1)],
        [Entry(b"a b\n", 0o100644, A, 3)],
    ],
)
def test_git_reads_back_what_it_listed(tmp_path: Path, entries: list[Entry]) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "index").write_bytes(encode([], encode_resolved(entries)))
    assert parse_resolved(listed(tmp_path)) == entries


def test_what_git_does_not_print_is_damaged() -> None:
    with pytest.raises(DamagedError, match="resolve-undo"):
        parse_resolved([b"100644 short 1\tf"])
