"""Git and the core say the same of two trees, whatever the paths are called."""

from itertools import pairwise
from pathlib import Path

import pytest

from handsoff.core.checkout.trees import Change, Leaf, differences
from handsoff.core.objects import EMPTY_TREE, FILE, TreeEntry, encode_tree
from handsoff.edge.git import compared
from handsoff.edge.git.objects import Objects
from handsoff.errors import DamagedError
from tests.kit.checkout import Here


def test_git_finds_what_the_core_finds(here: Here) -> None:
    trees = [EMPTY_TREE]
    for step in range(5):
        here.write(b"new\nline \xff" if step % 2 else b":100644 x", f"{step}\n")
        here.write("turns/into" if step in (1, 3) else "plain", f"{step}\n")
        if step == 2:  # a folder becomes a file, and a file becomes a link
            here.git("rm", "-q", "-r", "--cached", "turns")
            (here.top / "turns" / "into").unlink()
            (here.top / "turns").rmdir()
            (here.top / "turns").symlink_to("plain")
        elif step == 3:
            continue
        (here.top / "plain").chmod(0o755 if step == 4 else 0o644)
        here.git("add", "-A")
        trees.append(here.git("write-tree"))
        trees.append(trees[-1])  # and pairs that do not differ
        if step == 2:
            (here.top / "turns").unlink()
    pairs = list(pairwise(trees))
    expected = [
        {c.path: c.new for c in differences(here.objects.tree, *pair) if c.new is not None}
        for pair in pairs
    ]
    assert [dict(found) for found in compared.added(here.checkout, pairs)] == expected
    wanted = [sorted(differences(here.objects.tree, *pair)) for pair in pairs]
    assert [sorted(found) for found in compared.changes(here.checkout, pairs)] == wanted
    assert any(expected)
    assert not expected[-1]


def test_a_tree_that_is_not_here_is_told(here: Here) -> None:
    with pytest.raises(DamagedError, match="missing or broken"):
        list(compared.added(here.checkout, [(EMPTY_TREE, "1" * 40)]))


def test_a_tree_is_found_in_further_folders(here: Here, tmp_path: Path) -> None:
    store = Objects(tmp_path)
    blob = store.write("blob", b"x")
    tree = store.write("tree", encode_tree([TreeEntry(b"f", FILE, blob)]))
    (found,) = compared.changes(here.checkout, [(EMPTY_TREE, tree)], tmp_path)
    assert found == [Change(b"f", None, Leaf(FILE, blob))]
