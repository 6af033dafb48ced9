"""Lists of a parcel that a member made by hand: what they may not name is refused, or let alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core.checkout.state import Sparse
from handsoff.core.checkout.trees import Leaf, graft
from handsoff.core.objects import FILE, GITLINK, LINK, TREE, TreeEntry, encode_tree
from handsoff.edge.git.sinks import Storing
from tests.kit.conversions import put
from tests.kit.forger import Forger
from tests.kit.monday import Monday
from tests.kit.running import inside, refused

OUTSIDE = (b"../x", b".git/hooks/post-checkout", b"/etc/passwd", b"a//b", b"a/.GIT/config")


def test_what_is_not_forged_is_taken(monday: Monday, tmp_path: Path) -> None:
    forger = Forger.at(monday, tmp_path)
    inside(monday.m2, "receive", forger.parcel(forger.honest)).ok()


def test_a_list_tells_of_files_of_the_state_and_of_no_others(
    monday: Monday, tmp_path: Path
) -> None:
    forger = Forger.at(monday, tmp_path)
    put(monday.m2, {".env.local": b"mine\n"})
    before = monday.untouched()
    # of this machine, a folder, a link, a file that was removed
    others = (b".env.local", b"src", b"latest", b"src/legacy.py")
    answers = {**dict.fromkeys(OUTSIDE, (3, "the path ")),
               **dict.fromkeys(others, (9, "the snapshot has no file"))}  # fmt: skip
    for path, (code, words) in answers.items():
        for lists in ({"raw": (path,)}, {"modes": ((path, 0o666),)}):
            said = inside(monday.m2, "receive", forger.parcel(replace(forger.honest, **lists)))
            refused(said, code, words, "nothing of it was kept")
    assert monday.untouched() == before


def test_an_empty_folder_outside_is_refused(monday: Monday, tmp_path: Path) -> None:
    forger = Forger.at(monday, tmp_path)
    before = monday.untouched()
    for path in OUTSIDE:
        state = replace(forger.honest, empty_folders=(path,))
        said = inside(monday.m2, "receive", forger.parcel(state))
        refused(said, 3, "the path", "nothing of it was kept")
    assert monday.untouched() == before


@pytest.mark.parametrize(
    "settings",
    [
        (("core.sshcommand", "true"),),
        (("core.sparsecheckoutcone", "!touch x"),),
        (("index.sparse", "maybe"),),
        (("filter.evil.clean", "true"),),
    ],
)
def test_a_sparse_list_sets_what_is_sparse_and_nothing_else(
    monday: Monday, tmp_path: Path, settings: tuple[tuple[str, str], ...]
) -> None:
    forger = Forger.at(monday, tmp_path)
    before = monday.untouched()
    state = replace(forger.honest, sparse=Sparse(b"/*\n", settings))
    said = inside(monday.m2, "receive", forger.parcel(state))
    refused(said, 9, "sets what belongs to no sparse checkout")
    assert monday.untouched() == before


def test_attributes_that_are_no_file_are_not_read(monday: Monday, tmp_path: Path) -> None:
    forger = Forger.at(monday, tmp_path)
    monday.m2.git("config", "filter.tidy.required", "true")  # so that attributes are asked for
    blob = forger.store.write("blob", b"* filter=tidy\n")
    leaves = {
        b"a/.gitattributes": Leaf(LINK, blob),
        b"b/.gitattributes/.gitattributes": Leaf(FILE, blob),
        b"c/.gitattributes": Leaf(GITLINK, "1" * 40),
    }
    write = Storing(forger.store).put
    tree = graft(
        forger.store.tree, forger.honest.work_tree, leaves,
        lambda data: write("tree", data, b"", ""),
    )  # fmt: skip
    said = inside(monday.m2, "receive", forger.parcel(replace(forger.honest, work_tree=tree)))
    assert "Traceback" not in said.err
    assert said.code in (0, 3, 9), said.err


def test_the_files_of_an_operation_are_counted_before_they_are_listed(
    monday: Monday, tmp_path: Path
) -> None:
    forger = Forger.at(monday, tmp_path)
    oid, mode = forger.store.write("blob", b"x"), FILE
    for _ in range(10):  # 10^10 files
        inner = [TreeEntry(b"%d" % n, mode, oid) for n in range(10)]
        oid, mode = forger.store.write("tree", encode_tree(inner)), TREE
    said = inside(monday.m2, "receive", forger.parcel(forger.honest, operation=oid))
    refused(said, 3, "10000000000 files of an operation", "nothing of it was kept")


def test_a_list_that_is_too_long_is_not_read(
    monday: Monday, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forger = Forger.at(monday, tmp_path)
    file = forger.parcel(replace(forger.honest, stale=(b"x" * 200,)))
    monkeypatch.setattr("handsoff.core.parcels.bounds.LIST_LIMIT", 200)
    refused(inside(monday.m2, "receive", file), 9, "bytes, and 200 may be")
