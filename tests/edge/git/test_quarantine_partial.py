"""A pack that arrives beside a partial clone: checked as hard as what was promised allows."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from handsoff.core.objects import FILE, Commit, TreeEntry, encode_commit, encode_tree, oid_of
from handsoff.edge.git import quarantine
from handsoff.edge.git.pack import PackWriter, Piece
from handsoff.errors import DamagedError
from tests.kit.clones import TABLE, blobs, clone, remote_with_history
from tests.kit.machines import Machine

WHO = "Lin <lin@example.invalid> 1700000000 +0000"
NOWHERE = "1" * 40


@pytest.fixture
def partial(tmp_path: Path) -> Machine:
    """Return a clone that has commits and trees, and not one file."""
    return clone(remote_with_history(tmp_path), "m1", "--filter=blob:none", "--no-checkout")


def checked_in(folder: Path, machine: Machine, tree: bytes, parents: Sequence[str]) -> str:
    """Check in a pack with one commit on ``parents``, and return the commit."""
    commit = encode_commit(Commit(oid_of("tree", tree), tuple(parents), WHO, WHO, "m\n"))
    folder.mkdir()
    with (folder / "pack").open("w+b", buffering=0) as file:
        writer = PackWriter(file, lambda _: None)
        made = (("blob", b"x"), ("tree", tree), ("commit", commit))
        writer.add([Piece(kind, data, b"", "") for kind, data in made])
        writer.finish()
        file.seek(0)
        quarantine.check_in(folder, file, machine.top / ".git" / "objects", whole=False)
    return oid_of("commit", commit)


def tree_with(oid: str) -> bytes:
    here = TreeEntry(b"here", FILE, oid_of("blob", b"x"))
    return encode_tree([here, TreeEntry(b"table", FILE, oid)])


def test_what_is_missing_and_was_promised_passes(partial: Machine, tmp_path: Path) -> None:
    base, older = partial.git("rev-parse", "main", f"main~3:{TABLE}").split()
    tip = checked_in(tmp_path / "q", partial, tree_with(older), [base])
    assert quarantine.absent(tmp_path / "q", tip, [base]) == [older]
    quarantine.check_promised(tmp_path / "q", tip, [base])
    assert blobs(partial) == set()


def test_what_a_base_has_is_not_even_asked_for(partial: Machine, tmp_path: Path) -> None:
    base, table = partial.git("rev-parse", "main", f"main:{TABLE}").split()
    tip = checked_in(tmp_path / "q", partial, tree_with(table), [base])
    assert quarantine.absent(tmp_path / "q", tip, [base]) == []
    quarantine.check_promised(tmp_path / "q", tip, [base])


def test_what_is_missing_and_nobody_promised_does_not_pass(
    partial: Machine, tmp_path: Path
) -> None:
    base = partial.git("rev-parse", "main")
    tip = checked_in(tmp_path / "q", partial, tree_with(NOWHERE), [base])
    assert quarantine.absent(tmp_path / "q", tip, [base]) == [NOWHERE]
    with pytest.raises(DamagedError, match=f"missing blob object '{NOWHERE}"):
        quarantine.check_promised(tmp_path / "q", tip, [base])


def test_a_pack_without_the_commit_that_it_is_for_does_not_pass(
    partial: Machine, tmp_path: Path
) -> None:
    base = partial.git("rev-parse", "main")
    checked_in(tmp_path / "q", partial, tree_with(NOWHERE), [base])
    for check in (quarantine.absent, quarantine.check_promised):
        with pytest.raises(DamagedError, match="do not pass"):
            check(tmp_path / "q", NOWHERE, [base])


def test_a_commit_on_a_parent_that_nobody_has_does_not_pass(
    partial: Machine, tmp_path: Path
) -> None:
    base, table = partial.git("rev-parse", "main", f"main:{TABLE}").split()
    tip = checked_in(tmp_path / "q", partial, tree_with(table), [base, NOWHERE])
    with pytest.raises(DamagedError, match="do not pass"):
        quarantine.check_promised(tmp_path / "q", tip, [base])


def test_git_looks_into_each_object_all_the_same(partial: Machine, tmp_path: Path) -> None:
    hostile = b"100644 .git\0" + bytes.fromhex(oid_of("blob", b"x"))
    with pytest.raises(DamagedError, match="do not pass"):
        checked_in(tmp_path / "q", partial, hostile, [])
