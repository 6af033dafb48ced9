"""Trees as values: grafting makes what git makes, and comparing finds what was grafted."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.checkout.trees import (
    Change,
    Leaf,
    Modes,
    composed,
    differences,
    entries_of,
    graft,
    leaf_at,
)
from handsoff.core.objects import EMPTY_TREE, EXECUTABLE, FILE, GITLINK, LINK, oid_of, parse_tree
from tests.kit.plumbing import line, raw, repository

Leaves = dict[bytes, Leaf]

# few names, so that files and folders meet; some sort differently as a folder than as a file
NAME = st.sampled_from([b"a", b"b", b"a-", b"a.", b"a0", b"\xff", b"a b", b"\n", b"\xc3\xa9"])
PATH = st.lists(NAME, min_size=1, max_size=4).map(b"/".join)
MODE = st.sampled_from([FILE, EXECUTABLE, LINK, GITLINK])
LEAF = st.builds(Leaf, MODE, st.sampled_from("123").map("{:0>40}".format))


def possible(leaves: Leaves) -> Leaves:
    """Return ``leaves`` without those that stand below another one."""
    return {
        path: leaf
        for path, leaf in leaves.items()
        if not any(path.startswith(other + b"/") for other in leaves)
    }


STATES = st.dictionaries(PATH, LEAF, max_size=10).map(possible)


class Store(dict[str, bytes]):
    """Trees by id, which counts what it is asked."""

    def __init__(self) -> None:
        self.reads: list[str] = []

    def read(self, oid: str) -> bytes:
        self.reads.append(oid)
        return self[oid]

    def emit(self, data: bytes) -> str:
        oid = oid_of("tree", data)
        self[oid] = data
        return oid

    def build(self, leaves: Leaves) -> str:
        return graft(self.read, EMPTY_TREE, leaves, self.emit)

    def leaves(self, tree: str, prefix: bytes = b"") -> Leaves:
        found: Leaves = {}
        for entry in entries_of(self.read, tree):
            if entry.mode == 0o040000:
                assert entry.oid != EMPTY_TREE
                found |= self.leaves(entry.oid, prefix + entry.name + b"/")
            else:
                found[prefix + entry.name] = Leaf(entry.mode, entry.oid)
        return found


def changes_between(old: Leaves, new: Leaves) -> dict[bytes, Leaf | None]:
    """Return what a plain comparison of two maps says, removals first."""
    removals: dict[bytes, Leaf | None] = {path: None for path in old if path not in new}
    return removals | {path: leaf for path, leaf in new.items() if old.get(path) != leaf}


@given(STATES)
def test_a_tree_holds_the_leaves_that_were_grafted(leaves: Leaves) -> None:
    store = Store()
    tree = store.build(leaves)
    assert store.leaves(tree) == leaves
    assert (tree == EMPTY_TREE) is (not leaves)
    for path, leaf in leaves.items():
        assert leaf_at(store.read, tree, path) == leaf
        assert leaf_at(store.read, tree, path + b"/a") is None
        assert leaf_at(store.read, tree, path.rpartition(b"/")[0]) is None


@given(STATES, STATES)
def test_grafting_the_differences_of_two_trees_leads_from_one_to_the_other(
    old: Leaves, new: Leaves
) -> None:
    store = Store()
    before, after = store.build(old), store.build(new)
    found = list(differences(store.read, before, after))
    assert {c.path: c.new for c in found} == changes_between(old, new)
    assert all(c.old == old.get(c.path) and c.old != c.new for c in found)
    assert len({c.path for c in found}) == len(found)
    assert graft(store.read, before, {c.path: c.new for c in found}, store.emit) == after
    assert graft(store.read, after, {c.path: c.old for c in found}, store.emit) == before
    back = list(differences(store.read, after, before))
    assert back == [Change(c.path, c.new, c.old) for c in found]


@given(STATES, STATES, STATES)
def test_two_ways_one_after_the_other_are_one_way(one: Leaves, two: Leaves, three: Leaves) -> None:
    store = Store()
    first, second, third = map(store.build, (one, two, three))
    ways = (differences(store.read, first, second), differences(store.read, second, third))
    assert composed(*ways) == sorted(differences(store.read, first, third))


@given(STATES, STATES)
def test_new_leaves_win_over_what_stood_in_their_way(old: Leaves, new: Leaves) -> None:
    store = Store()
    tree = graft(store.read, store.build(old), new, store.emit)
    kept = {
        path: leaf
        for path, leaf in old.items()
        if path not in new
        and not any(path.startswith(n + b"/") or n.startswith(path + b"/") for n in new)
    }
    assert store.leaves(tree) == kept | new
    assert tree == store.build(kept | new)


@given(STATES, st.sets(PATH, max_size=6))
def test_removals_take_the_leaves_they_name_and_no_others(old: Leaves, gone: set[bytes]) -> None:
    store = Store()
    tree = graft(store.read, store.build(old), dict.fromkeys(gone), store.emit)
    assert tree == store.build({p: leaf for p, leaf in old.items() if p not in gone})


@given(STATES)
def test_a_tree_differs_in_nothing_from_itself(leaves: Leaves) -> None:
    store = Store()
    tree = store.build(leaves)
    assert list(differences(store.read, tree, tree)) == []
    assert graft(store.read, tree, leaves, store.emit) == tree
    assert graft(store.read, tree, {}, store.emit) == tree


def test_what_stays_as_it_is_is_not_read() -> None:
    store = Store()
    leaf = Leaf(FILE, "1" * 40)
    tree = store.build({b"a/b/c": leaf, b"x/y/z": leaf})
    store.reads.clear()
    changed = graft(store.read, tree, {b"x/y/w": leaf}, store.emit)
    assert len(store.reads) == 3
    store.reads.clear()
    assert [c.path for c in differences(store.read, tree, changed)] == [b"x/y/w"]
    assert len(store.reads) == 6


def test_a_file_takes_the_place_of_a_folder_and_the_reverse() -> None:
    store = Store()
    leaf, other = Leaf(FILE, "1" * 40), Leaf(LINK, "2" * 40)
    folder = store.build({b"a/b/c": leaf, b"d": leaf})
    file = store.build({b"a": other, b"d": leaf})
    assert list(differences(store.read, folder, file)) == [
        Change(b"a", None, other),
        Change(b"a/b/c", leaf, None),
    ]
    assert graft(store.read, folder, {b"a": other}, store.emit) == file
    assert graft(store.read, file, {b"a/b/c": leaf}, store.emit) == folder


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("trees"))


@settings(max_examples=25, deadline=None)
@given(STATES, STATES)
def test_git_writes_the_same_tree_and_finds_the_same_differences(
    repo: Path, old: Leaves, new: Leaves
) -> None:
    store = Store()
    ours = []
    for leaves in (old, new):
        (repo / ".git" / "index").unlink(missing_ok=True)
        listed = b"".join(b"%o %s\t%s\0" % (*_of(leaf), path) for path, leaf in leaves.items())
        raw(repo, "update-index", "--add", "-z", "--index-info", given=listed)
        theirs = line(repo, "write-tree", "--missing-ok")
        ours.append(store.build(leaves))
        assert ours[-1] == theirs
        assert parse_tree(raw(repo, "cat-file", "tree", theirs)) == entries_of(store.read, theirs)
    fields = raw(repo, "diff-tree", "-r", "-z", "--no-renames", *ours).split(b"\0")[:-1]
    assert sorted(fields[1::2]) == sorted(c.path for c in differences(store.read, ours[0], ours[1]))


def _of(leaf: Leaf) -> tuple[int, bytes]:
    return leaf.mode, leaf.oid.encode()


@pytest.mark.parametrize(
    ("modes", "found", "indexed", "told"),
    [
        (Modes(bits=True, links=True), EXECUTABLE, FILE, EXECUTABLE),
        (Modes(bits=False, links=True), EXECUTABLE, FILE, FILE),
        (Modes(bits=False, links=True), FILE, EXECUTABLE, EXECUTABLE),
        (Modes(bits=False, links=True), FILE, LINK, FILE),
        (Modes(bits=False, links=True), LINK, EXECUTABLE, LINK),
        (Modes(bits=True, links=False), FILE, LINK, LINK),
        (Modes(bits=False, links=False), EXECUTABLE, LINK, EXECUTABLE),
        (Modes(bits=True, links=False), LINK, FILE, LINK),
        (Modes(bits=False, links=False), EXECUTABLE, None, EXECUTABLE),
    ],
)
def test_where_a_mode_means_nothing_the_index_decides(
    modes: Modes, found: int, indexed: int | None, told: int
) -> None:
    before = Leaf(indexed, "1" * 40) if indexed is not None else None
    assert modes.leaf(Leaf(found, "2" * 40), before) == Leaf(told, "2" * 40)
