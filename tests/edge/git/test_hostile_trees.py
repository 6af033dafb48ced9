"""Hostile trees, each kind on its own: refused by git's gate or by ours, or harmless as it is."""

import io
from pathlib import Path

import pytest

from handsoff.core.checkout import paths
from handsoff.core.objects import Commit, encode_commit, oid_of
from handsoff.edge.git import quarantine
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import PackWriter, Piece
from handsoff.errors import DamagedError, RefusedError
from tests.kit.checkout import Here
from tests.kit.poison import ARRIVES, REFUSED, Poison

WHO = "Lin <lin@example.invalid> 1700000000 +0000"


def judged(poison: Poison, folder: Path, alternate: Path) -> Objects:
    """Check in a pack of one kind, and judge its tree as a receiver does."""
    objects = [*poison.objects()]
    tree = oid_of(*objects[-1])
    objects.append(("commit", encode_commit(Commit(tree, (), WHO, WHO, "m\n"))))
    file = io.BytesIO()
    writer = PackWriter(file, lambda _: None)
    writer.add([Piece(kind, data, b"", "") for kind, data in objects])
    writer.finish()
    folder.mkdir()
    (folder / "pack").write_bytes(file.getvalue())
    with (folder / "pack").open("rb", buffering=0) as pack:
        arrived = Objects(quarantine.check_in(folder, pack, alternate))
    quarantine.check_trees(arrived, [tree])
    return arrived


def test_every_hostile_tree_is_refused(here: Here, tmp_path: Path) -> None:
    for number, poison in enumerate(REFUSED):
        with pytest.raises((DamagedError, RefusedError)):
            judged(poison, tmp_path / str(number), here.top / ".git" / "objects")
            pytest.fail(f"passed: {poison.name}")


def test_every_odd_tree_that_harms_nobody_passes(here: Here, tmp_path: Path) -> None:
    for number, poison in enumerate(ARRIVES):
        judged(poison, tmp_path / str(number), here.top / ".git" / "objects")


def test_a_file_system_that_folds_names_is_told_of_every_pair_that_is_one_there() -> None:
    # what CVE-2021-21300 needs: a link and a folder that such a file system takes for one
    twins = {p.name for p in ARRIVES if paths.collisions(path for path, _, _ in p.named())}
    assert twins == {
        "a link and a folder of another case", "two names of another case",
        "composed and decomposed",
    }  # fmt: skip


def test_the_corpus_is_as_large_as_it_was() -> None:
    assert len(REFUSED) + len(ARRIVES) >= 46
