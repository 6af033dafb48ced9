"""What is news to the other end: every object once, and under the name a person would know."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.edge.git import clone, news
from handsoff.edge.git.bare import Bare
from handsoff.edge.git.news import News
from handsoff.edge.git.pack import PackWriter
from handsoff.edge.git.remote import open_shared
from handsoff.errors import DamagedError, UnfitError
from tests.kit.checkout import Here
from tests.kit.machines import World, git


def commit(here: Here, message: str = "x") -> str:
    here.git("add", "-A")
    here.git("commit", "-q", "-m", message)
    return here.git("rev-parse", "HEAD")


def named(here: Here, tips: Iterable[str], have: Iterable[str]) -> tuple[News, dict[str, bytes]]:
    """Return the news, and the path of each of its objects; each comes exactly once."""
    sending = news.to_send(here.checkout, list(tips), list(have))
    wanted = news.missing(here.checkout, tips, have)
    assert sending.objects == wanted
    assert sending.commits == [oid for oid in wanted if here.objects.kind(oid) == "commit"]
    found = News(here.checkout, here.objects, sending)
    pieces = [piece for batch in found.pieces() for piece in batch]
    assert sorted(oid for oid, _, _ in pieces) == sorted(wanted)
    assert all(where for _, _, where in pieces)
    return found, {oid: path for oid, path, _ in pieces}


def test_the_empty_tree_is_read_though_git_writes_it_nowhere(here: Here) -> None:
    old = here.git("rev-parse", "HEAD")
    empty = here.git("commit-tree", EMPTY_TREE, "-p", old, "-m", "nothing is left")
    _, found = named(here, [empty], [old])
    assert {*found} == {empty, EMPTY_TREE}
    assert here.objects.has(EMPTY_TREE)
    assert here.objects.size(EMPTY_TREE) == 0
    assert news.read_piece(here.objects, (EMPTY_TREE, b"", "")).data == b""


def test_only_what_the_other_end_lacks_is_news(here: Here) -> None:
    old = here.git("rev-parse", "HEAD")
    here.write("dir/new", "new\n")
    new = commit(here)
    found, paths = named(here, [new], [old])
    assert paths[oid_of("blob", b"new\n")] == b"dir/new"
    assert paths[new] == b""
    assert len(paths) == 4
    assert found.new_names == []
    assert news.missing(here.checkout, [old], [new]) == []
    assert news.missing(here.checkout, [], [old]) == []
    assert news.all_of(here.checkout, [new]) > set(paths)


def test_a_rename_is_no_news_but_a_new_name(here: Here) -> None:
    old = here.git("rev-parse", "HEAD")
    here.git("mv", "f", "secret.pem")
    here.git("mv", "dir/g", "dir/h")
    new = commit(here)
    found, _ = named(here, [new], [old])
    where = f"commit {new[:10]}"
    assert set(found.new_names) == {(p, where, False) for p in (b"secret.pem", b"dir/h")}


def test_content_that_goes_back_to_what_it_was_is_no_new_name(here: Here) -> None:
    here.write("f", "2\n")
    old = commit(here)
    here.write("f", "f\n")
    found, _ = named(here, [commit(here)], [old])
    assert found.new_names == []


def test_every_commit_on_the_way_is_looked_at(here: Here) -> None:
    old = here.git("rev-parse", "HEAD")
    here.write("token", "secret\n")
    commit(here, "oops")
    (here.top / "token").unlink()
    new = commit(here, "gone again")
    _, paths = named(here, [new], [old])
    assert paths[oid_of("blob", b"secret\n")] == b"token"


def test_both_sides_of_a_merge_are_news(here: Here) -> None:
    old = here.git("rev-parse", "HEAD")
    here.git("switch", "-qc", "side")
    here.write("side", "side\n")
    commit(here)
    here.git("switch", "-q", "main")
    here.write("here", "here\n")
    commit(here)
    here.git("merge", "-q", "--no-edit", "--no-commit", "side")
    here.write("evil", "only in the merge\n")
    _, paths = named(here, [commit(here)], [old])
    for name in (b"side", b"here"):
        assert paths[oid_of("blob", name + b"\n")] == name
    assert paths[oid_of("blob", b"only in the merge\n")] == b"evil"


def test_a_first_commit_is_news_from_its_first_file_on(here: Here) -> None:
    found, paths = named(here, [here.git("rev-parse", "HEAD")], [])
    assert paths[oid_of("blob", b"g\n")] == b"dir/g"
    # the link has the same bytes as no file here, so each path is named
    assert {path for path in paths.values() if path} == {b"f", b"dir/g", b"run", b"link",
                                                         b".gitignore"}  # fmt: skip
    assert found.new_names == []


@pytest.mark.parametrize("name", [b"new\nline", b"\xff", b" ", b"a\tb", b'"'])
def test_a_name_of_any_bytes_is_told(here: Here, name: bytes) -> None:
    old = here.git("rev-parse", "HEAD")
    here.write(name, "odd\n")
    _, paths = named(here, [commit(here)], [old])
    assert paths[oid_of("blob", b"odd\n")] == name


def test_many_objects_come_in_batches_and_are_read(here: Here) -> None:
    for number in range(450):
        here.write(f"many/{number}", f"{number}\n")
    new = commit(here)
    sending = news.to_send(here.checkout, [new], [])
    listed = News(here.checkout, here.objects, sending)
    packed = {oid_of("blob", b"7\n"), here.git("rev-parse", "HEAD^{tree}")}
    named = [item for batch in listed.pieces(packed) for item in batch]
    pieces = [news.read_piece(here.objects, item) for item in named]
    assert {oid_of(p.kind, p.data) for p in pieces} == {*sending.objects} - packed


def test_however_much_a_commit_adds_a_worker_holds_little_of_it(here: Here, tmp_path: Path) -> None:
    old = here.git("rev-parse", "HEAD")
    for number in range(6):
        here.write(f"large{number}", f"{number}" * 600_000)
    sending = news.to_send(here.checkout, [commit(here)], [old])
    held: list[int] = []
    with (tmp_path / "pack").open("w+b") as file:
        writer = PackWriter(file, lambda pieces: held.append(sum(len(p.data) for p in pieces)))
        for batch in News(here.checkout, here.objects, sending).pieces():
            writer.each(batch, partial(news.read_piece, here.objects))
        writer.finish()
    assert writer.written == {*sending.objects}
    assert sum(held) > 3_600_000
    assert max(held) < 1_700_000


def test_a_clone_that_lacks_objects_says_so(here: Here) -> None:
    for tips, have in ((["1" * 40], []), ([], ["1" * 40])):
        with pytest.raises(UnfitError, match="this clone lacks objects"):
            news.missing(here.checkout, [here.git("rev-parse", "HEAD"), *tips], have)


def test_a_commit_that_git_would_not_make_is_named(here: Here) -> None:
    tree = here.git("rev-parse", "HEAD^{tree}")
    odd = here.objects.write("commit", f"tree {tree}\nauthor A <a@x> 1 +0000\n\nx\n".encode())
    with pytest.raises(DamagedError, match=f"the commit {odd[:10]} is malformed") as caught:
        here.objects.commit(odd)
    assert caught.value.hint == f"to see what is wrong with it: git cat-file -p {odd[:10]}"


def test_tips_are_those_of_the_remote_or_all_that_are_here(world: World) -> None:
    machine = world.machine("m1")
    checkout = machine.checkout()
    head = machine.git("rev-parse", "HEAD")
    own = machine.commit()
    machine.git("tag", "-a", "-m", "x", "v1")
    assert news.known_tips(checkout, "origin") == [head]
    assert news.known_tips(checkout, "other") == []
    tag = machine.git("rev-parse", "v1")
    assert news.own_tips(checkout, 100) == sorted({head, own, tag})
    assert len(news.own_tips(checkout, 1)) == 1
    git(machine.top, "update-ref", "refs/remotes/originx/main", own)
    assert news.known_tips(checkout, "origin") == [head]


@pytest.mark.parametrize("name", ["a\u2028b", "a\x85b"])
def test_a_branch_may_be_called_what_unicode_takes_for_two_lines(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = world.machine("m1")
    machine.git("branch", name)
    machine.git("push", "-q", "origin", name)
    head, shared = machine.git("rev-parse", "HEAD"), open_shared(machine.checkout())
    assert clone.branches(shared) == {"main": head, name: head}
    assert news.tips_there(shared) == news.own_tips(shared.checkout, 9) == [head]
    monkeypatch.setenv("GIT_DIR", str(world.remote.path))  # as git has it for a hook
    there = {"refs/heads/main": head, f"refs/heads/{name}": head}
    assert Bare(world.remote.path).tips("refs/heads") == there
