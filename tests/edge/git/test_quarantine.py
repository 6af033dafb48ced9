"""A received pack: git's own gate, then ours; hostile trees are refused, and bombs stay cheap."""

import io
import os
import random
import signal
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from handsoff.core.checkout.paths import DEPTH_LIMIT
from handsoff.core.objects import (
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    GITLINK,
    LINK,
    TREE,
    Commit,
    TreeEntry,
    encode_commit,
    encode_tree,
    oid_of,
)
from handsoff.edge.git import command, quarantine
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import PackWriter, Piece, pack_object
from handsoff.errors import DamagedError, RefusedError
from tests.kit.checkout import Here, traces

BLOB = oid_of("blob", b"x")
WHO = "Lin <lin@example.invalid> 1700000000 +0000"


def pack_of(*objects: tuple[str, bytes]) -> io.BytesIO:
    """Return a pack of objects, ready to be read."""
    file = io.BytesIO()
    writer = PackWriter(file, lambda _: None)
    writer.add([Piece(kind, data, b"", "") for kind, data in objects])
    writer.finish()
    file.seek(0)
    return file


def check_in(folder: Path, pack: io.BytesIO, alternate: Path | None = None) -> Objects:
    """Check a pack in, and return what can be read of it."""
    folder.mkdir()
    path = folder / "pack"
    path.write_bytes(pack.getvalue())
    with path.open("rb", buffering=0) as file:
        return Objects(quarantine.check_in(folder, file, alternate))


def with_commit(*trees: bytes) -> list[tuple[str, bytes]]:
    """Return trees, the last one under a commit, and a blob."""
    commit = Commit(oid_of("tree", trees[-1]), (), WHO, WHO, "m\n")
    kinds = [("tree", data) for data in trees]
    return [("blob", b"x"), *kinds, ("commit", encode_commit(commit))]


def link_to(here: Here, folder: Path, commit: Commit, *trees: bytes) -> None:
    """Check a commit in, with some trees and a blob, which builds on HEAD of the clone."""
    data = encode_commit(commit)
    made = [("blob", b"x"), *(("tree", tree) for tree in trees), ("commit", data)]
    alternate = here.top / ".git" / "objects"
    check_in(folder, pack_of(*made), alternate)
    objects = Objects(folder / "objects", alternate)
    quarantine.check_links(folder, objects, oid_of("commit", data), commit.parents[:1])


def tree(*entries: tuple[bytes, int, str]) -> bytes:
    return encode_tree([TreeEntry(*entry) for entry in entries])


def raw_tree(*entries: tuple[bytes, bytes]) -> bytes:
    """Return a tree with modes and names as given, in this order."""
    return b"".join(b"%s %s\0" % entry + bytes.fromhex(BLOB) for entry in entries)


def stored(folder: Path, trees: Sequence[bytes]) -> Objects:
    """Return an object folder with trees that nobody looked at."""
    folder.mkdir(exist_ok=True)
    objects = Objects(folder)
    for data in trees:
        objects.write("tree", data)
    return objects


def test_an_honest_pack_is_let_in_and_can_be_read(here: Here, tmp_path: Path) -> None:
    data = tree((b"f", FILE, BLOB), (b"x", EXECUTABLE, BLOB), (b"l", LINK, BLOB))
    before = traces(here.top)
    objects = check_in(tmp_path / "q", pack_of(*with_commit(data)), here.top / ".git" / "objects")
    assert objects.blob(BLOB) == b"x"
    quarantine.check_trees(objects, [oid_of("tree", data), EMPTY_TREE])
    assert traces(here.top) == before


def test_a_pack_may_build_on_the_clone_but_only_on_what_is_there(
    here: Here, tmp_path: Path
) -> None:
    head, base = here.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    file = here.git("ls-tree", "-r", "HEAD").split()[2]
    old = tree((b"old", FILE, file), (b"sub", GITLINK, "2" * 40))
    link_to(here, tmp_path / "fine", Commit(base, (head,), WHO, WHO, "m\n"))
    link_to(here, tmp_path / "old", Commit(oid_of("tree", old), (head,), WHO, WHO, "m\n"), old)
    lost = tree((b"lost", FILE, "1" * 40))
    commits = [
        Commit(base, (head, "1" * 40), WHO, WHO, ""),
        Commit("1" * 40, (head,), WHO, WHO, ""),
    ]
    commits.append(Commit(oid_of("tree", lost), (head,), WHO, WHO, ""))
    for number, commit in enumerate(commits):
        with pytest.raises(DamagedError, match="do not pass"):
            link_to(here, tmp_path / str(number), commit, lost)


@pytest.mark.parametrize("mode", [FILE, LINK, TREE])
def test_what_a_tree_names_is_what_the_tree_calls_it(here: Here, tmp_path: Path, mode: int) -> None:
    head, folder = here.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    ours = tree((b"f", FILE, BLOB))
    known, fresh = (folder, oid_of("tree", ours)) if mode != TREE else (BLOB, BLOB)
    for number, (parents, oid) in enumerate([((head,), known), ((), known), ((), fresh)]):
        data = tree((b"a", mode, oid))
        commit = Commit(oid_of("tree", data), parents, WHO, WHO, "m\n")
        with pytest.raises((DamagedError, RefusedError), match="do not pass"):
            link_to(here, tmp_path / str(number), commit, data, ours)


def test_without_a_clone_a_pack_may_lead_anywhere_but_must_be_sound(tmp_path: Path) -> None:
    loose = encode_commit(Commit("1" * 40, ("2" * 40,), WHO, WHO, "m\n"))
    assert check_in(tmp_path / "a", pack_of(("commit", loose))).has(oid_of("commit", loose))
    with pytest.raises(DamagedError):
        check_in(tmp_path / "b", pack_of(("tree", raw_tree((b"100644", b".git")))))


@pytest.mark.parametrize(
    "data",
    [
        raw_tree((b"100644", b".git")),
        raw_tree((b"100644", b".GIT")),
        raw_tree((b"100644", b"git~1")),
        raw_tree((b"100644", b".git ")),
        raw_tree((b"100644", ".g\u200cit".encode())),
        raw_tree((b"100644", b"..")),
        raw_tree((b"100644", b".")),
        raw_tree((b"100644", b"a/b")),
        raw_tree((b"100644", b"a"), (b"100755", b"a")),
        raw_tree((b"100644", b"b"), (b"100644", b"a")),
        raw_tree((b"120000", b".gitmodules")),
        raw_tree((b"100644", b"a"))[:-3],
        b"100644 a",
    ],
    ids=range(13),
)
def test_a_hostile_tree_does_not_pass_the_gate(here: Here, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DamagedError, match="do not pass"):
        check_in(tmp_path / "q", pack_of(*with_commit(data)), here.top / ".git" / "objects")


def test_what_git_does_not_take_is_named_with_its_reason(here: Here, tmp_path: Path) -> None:
    long = b"*.a " + b"x" * 3000 + b"\n"
    oid = oid_of("blob", long)
    data = tree((b".gitattributes", FILE, oid))
    pack = pack_of(*with_commit(data), ("blob", long))
    with pytest.raises(DamagedError, match=f"{oid}: .gitattributes has too long lines"):
        check_in(tmp_path / "q", pack, here.top / ".git" / "objects")


def test_what_only_old_and_honest_history_trips_passes(here: Here, tmp_path: Path) -> None:
    subtree = tree((b"f", FILE, BLOB))
    padded = b"040000 d\0" + bytes.fromhex(oid_of("tree", subtree))
    objects = [("blob", b"x"), ("tree", subtree), ("tree", padded)]
    for who in ("Lin <lin 1700000000 +0000", "Lin lin@x 1700000000 +0000", "<l@x> 1 +0000",
                "Lin <l@x>1700000000 +0000", "Lin <l@x> 1700000000 +000000"):  # fmt: skip
        commit = Commit(oid_of("tree", padded), (), who, WHO, "m\n")
        objects.append(("commit", encode_commit(commit)))
    found = check_in(tmp_path / "q", pack_of(*objects), here.top / ".git" / "objects")
    quarantine.check_trees(found, [oid_of("tree", padded)])


@pytest.mark.parametrize("end", [0, 1, 11, 12, 31, 60, -1, -20, -21])
def test_a_pack_that_is_cut_does_not_pass(here: Here, tmp_path: Path, end: int) -> None:
    whole = pack_of(*with_commit(tree((b"f", FILE, BLOB)))).getvalue()
    with pytest.raises(DamagedError, match="do not pass"):
        check_in(tmp_path / "q", io.BytesIO(whole[:end]), here.top / ".git" / "objects")


def test_a_pack_with_a_turned_bit_does_not_pass(here: Here, tmp_path: Path) -> None:
    whole = pack_of(*with_commit(tree((b"f", FILE, BLOB)))).getvalue()
    for number, at in enumerate((0, 8, 13, len(whole) // 2, len(whole) - 1)):
        turned = bytearray(whole)
        turned[at] ^= 4
        with pytest.raises(DamagedError, match="do not pass"):
            check_in(tmp_path / str(number), io.BytesIO(turned), here.top / ".git" / "objects")


def test_nobodys_configuration_lets_a_bad_pack_in(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lenient = tmp_path / "lenient"
    lenient.write_text('[fsck]\n\thasDotgit = ignore\n[receive "fsck"]\n\thasDotgit = ignore\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(lenient))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "fsck.hasDotgit")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "ignore")
    with pytest.raises(DamagedError, match="do not pass"):
        check_in(tmp_path / "q", pack_of(*with_commit(raw_tree((b"100644", b".git")))))


def test_an_object_that_says_it_is_smaller_than_it_is_does_not_pass(tmp_path: Path) -> None:
    small = pack_object("blob", b"x")
    body = b"PACK" + (2).to_bytes(4, "big") + (1).to_bytes(4, "big") + small.head
    body += zlib.compress(b"\0" * 50_000_000)
    with pytest.raises(DamagedError, match="do not pass"):
        check_in(tmp_path / "q", io.BytesIO(body + bytes.fromhex(oid_of("blob", body))))


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ((b".git", FILE, BLOB), r"reaches into \.git"),
        ((b".Git", TREE, EMPTY_TREE), r"reaches into \.git"),
        ((b"git~3", FILE, BLOB), r"reaches into \.git"),
        ((b".git::$INDEX_ALLOCATION", FILE, BLOB), r"reaches into \.git"),
        ((b".git\\config", FILE, BLOB), r"reaches into \.git"),
        ((b"..", FILE, BLOB), "not a clean relative path"),
        ((b".", TREE, EMPTY_TREE), "not a clean relative path"),
        ((b"a/b", FILE, BLOB), "malformed"),
        ((b"a", 0o100666, BLOB), "malformed"),
        ((b"a", 0, BLOB), "malformed"),
        ((b"n" * 256, FILE, BLOB), "a name of 256 bytes"),
    ],
)
def test_a_hostile_entry_is_refused_however_deep_it_is(
    tmp_path: Path, entry: tuple[bytes, int, str], what: str
) -> None:
    inner = tree(entry)
    outer = tree((b"a", TREE, oid_of("tree", inner)), (b"b", FILE, BLOB))
    objects = stored(tmp_path / "o", [inner, outer, b""])
    for data in (inner, outer):
        with pytest.raises((RefusedError, DamagedError), match=what):
            quarantine.check_trees(objects, [EMPTY_TREE, oid_of("tree", data)])


def test_a_submodule_is_a_name_and_a_commit_that_is_elsewhere(tmp_path: Path) -> None:
    data = tree((b"sub", GITLINK, "1" * 40))
    objects = stored(tmp_path / "o", [data])
    quarantine.check_trees(objects, [oid_of("tree", data)])


def test_a_tree_that_is_missing_is_damaged(tmp_path: Path) -> None:
    objects = stored(tmp_path / "o", [tree((b"a", TREE, "1" * 40))])
    with pytest.raises(DamagedError, match="missing"):
        quarantine.check_trees(objects, [oid_of("tree", tree((b"a", TREE, "1" * 40)))])


def chain(below: bytes, name: bytes, levels: int) -> list[bytes]:
    """Return trees, each of which holds the one before it; the first is ``below``."""
    trees = [below]
    for _ in range(levels):
        trees.append(tree((name, TREE, oid_of("tree", trees[-1]))))
    return trees


def test_folders_may_be_as_deep_as_a_path_and_no_deeper(tmp_path: Path) -> None:
    trees = chain(tree((b"f", FILE, BLOB)), b"d", DEPTH_LIMIT + 1)
    objects = stored(tmp_path / "o", trees)
    quarantine.check_trees(objects, [oid_of("tree", trees[DEPTH_LIMIT - 1])])
    with pytest.raises(RefusedError, match="deeper than 128, in d/d/d/"):
        quarantine.check_trees(objects, [oid_of("tree", trees[DEPTH_LIMIT + 1])])


def test_depth_cannot_be_hidden_in_a_tree_that_was_seen_before(tmp_path: Path) -> None:
    # each tree is met first where it is shallow, and then again at the end of a long way
    trees = chain(tree((b"f", FILE, BLOB)), b"d", 100)
    for _ in range(12):
        before = oid_of("tree", trees[-1])
        way = chain(trees[-1], b"d", 90)[1:]
        trees += [*way, tree((b"a", TREE, before), (b"b", TREE, oid_of("tree", way[-1])))]
    objects = stored(tmp_path / "o", trees)
    with pytest.raises(RefusedError, match="deeper than 128"):
        quarantine.check_trees(objects, [oid_of("tree", trees[-1])])


def test_a_path_that_is_too_long_is_refused_though_its_names_are_short(tmp_path: Path) -> None:
    trees = chain(tree((b"f", FILE, BLOB)), b"n" * 250, 16)
    objects = stored(tmp_path / "o", trees)
    quarantine.check_trees(objects, [oid_of("tree", trees[15])])
    with pytest.raises(RefusedError, match="a path of 4017 bytes"):
        quarantine.check_trees(objects, [oid_of("tree", trees[16])])


def test_a_bomb_of_a_few_trees_and_more_files_than_atoms_is_cheap(
    here: Here, tmp_path: Path
) -> None:
    trees = [tree(*((b"f%d" % n, FILE, BLOB) for n in range(10)))]
    for _ in range(40):
        oid = oid_of("tree", trees[-1])
        trees.append(tree(*((b"d%d" % n, TREE, oid) for n in range(10))))
    began = time.monotonic()
    objects = check_in(tmp_path / "q", pack_of(*with_commit(*trees)), here.top / ".git" / "objects")
    with pytest.raises(RefusedError, match="files, and 500000 is the most"):
        quarantine.check_trees(objects, [oid_of("tree", trees[-1])])
    assert time.monotonic() - began < 20


def test_a_quarantine_is_private(here: Here, tmp_path: Path) -> None:
    check_in(tmp_path / "q", pack_of(*with_commit(tree((b"f", FILE, BLOB)))))
    for where, folders, _ in os.walk(tmp_path / "q"):
        assert [f for f in folders if (Path(where) / f).stat().st_mode & 0o077] == []


def test_what_hangs_on_nothing_has_its_own_links_followed(here: Here, tmp_path: Path) -> None:
    head, folder = here.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    commit = Commit(folder, (head,), WHO, WHO, "m\n")
    link_to(here, tmp_path / "a", commit, tree((b"f", FILE, BLOB)))
    link_to(here, tmp_path / "b", commit, tree((b"sub", TREE, folder)))
    for name, lost in (("c", (b"f", FILE, "1" * 40)), ("d", (b"d", TREE, "1" * 40))):
        with pytest.raises(DamagedError, match="do not pass"):
            link_to(here, tmp_path / name, commit, tree(lost))


def test_git_reads_what_it_is_given_under_limits_and_nothing_less(here: Here) -> None:
    much = random.Random(7).randbytes(100_000)

    def fed(*words: str, feed: command.Feed = lambda write: write(much)) -> int:
        return command.run_limited(words, cwd=here.top, feed=feed, largest=1 << 9).returncode

    assert fed("hash-object", "--stdin") == 0
    assert fed("hash-object", "-w", "--stdin") == -signal.SIGXFSZ
    assert fed("version") == 1, "it did not read it"
    with pytest.raises(ZeroDivisionError):
        fed("hash-object", "--stdin", feed=lambda _: 1 // 0)
