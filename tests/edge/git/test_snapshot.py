"""Capturing: the whole state under one id, and not one byte of the checkout changed by it."""

import io
import os
from pathlib import Path

import pytest

from handsoff.core.checkout.index import Flag
from handsoff.core.checkout.trees import Leaf, differences, leaf_at
from handsoff.core.objects import EXECUTABLE, FILE, LINK, oid_of
from handsoff.edge.git import restore, snapshot
from handsoff.edge.git.disk import ChangedError, Worktree
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import PackWriter
from handsoff.edge.git.sinks import Hashing, Packing, Storing
from handsoff.edge.git.snapshot import Snapshot
from tests.kit.checkout import Here, traces
from tests.kit.machines import git

NO_LIMIT = 1 << 40


def monday(here: Here) -> None:
    """Leave the checkout in the middle of everything at once."""
    here.stash("one", "first stash\n")
    here.stash("two", "second stash\n")
    here.write("f", "staged\n")
    here.git("add", "f")
    here.write("f", "staged, then edited\r\n")
    here.git("rm", "-q", "--cached", "link")
    (here.top / "link").unlink()
    (here.top / "link").symlink_to(os.fsdecode(b"\xff/nowhere"))
    (here.top / "dir" / "g").unlink()
    (here.top / "dir").rmdir()
    here.write("dir", "a file now\n")
    (here.top / "run").unlink()
    here.write("run/inner", "a folder now\n").chmod(0o755)
    here.write("later", "intended\n")
    here.git("add", "-N", "later")
    here.write("hidden", "1")
    here.git("add", "hidden")
    here.git("update-index", "--assume-unchanged", "hidden")
    here.write("hidden", "2")
    here.write(b"odd\xff\nname", b"\0\r\n")
    here.write("notes.log", "carried\n")
    (here.top / "void").mkdir()


def packed(here: Here, where: Path, limit: int = NO_LIMIT) -> tuple[Snapshot, str, set[str]]:
    """Capture into a pack file at ``where``; return the state, its envelope, and what is in it."""

    def too_big(path: bytes, size: int, oid: str) -> bool:
        raise AssertionError(path, size, oid)

    with where.open("w+b") as file:
        writer = PackWriter(file, lambda _: None)
        sink = Packing(writer, limit=limit, oversize=too_big)
        state = here.capture(sink, [b"*.log"])
        sealed = snapshot.seal_envelope(state.state, sink)
        writer.finish()
    return state, sealed.envelope, writer.written


def test_capturing_changes_not_one_byte_of_the_checkout(here: Here, tmp_path: Path) -> None:
    monday(here)
    before = traces(here.top)
    here.capture(Hashing(), [b"*.log"])
    packed(here, tmp_path / "pack")
    assert traces(here.top) == before


def test_the_same_state_has_the_same_id_wherever_it_goes(here: Here, tmp_path: Path) -> None:
    monday(here)
    here.write("large", b"large" * (1 << 18))
    (tmp_path / "store").mkdir()
    store = Objects(tmp_path / "store", here.top / ".git" / "objects")
    hashed = here.capture(Hashing(), [b"*.log"])
    stored = here.capture(Storing(store), [b"*.log"])
    into_pack, envelope, written = packed(here, tmp_path / "pack")
    assert hashed.state == stored.state == into_pack.state
    first = snapshot.seal_envelope(hashed.state, Hashing())
    assert first == snapshot.seal_envelope(stored.state, Storing(store))
    assert first.envelope == envelope
    assert {oid_of(kind, data) for kind, data in first.objects} <= written
    assert hashed.changed_since(Worktree(here.top)) == []


def test_a_state_reads_back_from_its_envelope(here: Here, tmp_path: Path) -> None:
    monday(here)
    (tmp_path / "store").mkdir()
    store = Objects(tmp_path / "store", here.top / ".git" / "objects")
    state = here.capture(Storing(store), [b"*.log"]).state
    envelope = snapshot.seal_envelope(state, Storing(store)).envelope
    assert restore.read_state(store, envelope) == state
    assert [(e.path, e.flags) for e in state.special] == [
        (b"hidden", Flag.ASSUME_UNCHANGED),
        (b"later", Flag.INTENT_TO_ADD),
    ]
    assert state.empty_folders == (b"void",)
    assert [e.message for e in state.stash] == ["On main: two", "On main: one"]


def test_the_pack_and_what_is_public_make_a_whole_that_git_accepts(
    here: Here, tmp_path: Path
) -> None:
    monday(here)
    _, envelope, _ = packed(here, tmp_path / "pack")
    git(tmp_path, "clone", "-q", "--bare", str(here.top), "bare")
    git(tmp_path / "bare", "fetch", "-q", str(here.top), *(
        e.oid for e in here.look().stash))  # fmt: skip
    pack = tmp_path / "bare" / "objects" / "pack" / "pack-1.pack"
    pack.write_bytes((tmp_path / "pack").read_bytes())
    git(tmp_path / "bare", "index-pack", "--strict", str(pack))
    git(tmp_path / "bare", "update-ref", "refs/heads/envelope", envelope)
    assert git(tmp_path / "bare", "fsck", "--strict") == ""


def test_plain_git_can_rescue_the_snapshot_without_us(here: Here, tmp_path: Path) -> None:
    here.write("f", "staged\n")
    here.git("add", "f")
    here.write("f", "edited\n")
    here.git("rm", "-q", "run")
    here.write("new", "untracked\n")
    objects = here.objects
    state = here.capture(Storing(objects)).state
    sealed = snapshot.seal_envelope(state, Storing(objects))
    here.git("reset", "-q", "--hard")
    (here.top / "new").unlink()
    here.git("stash", "apply", "-q", "--index", sealed.snapshot)
    assert (here.top / "f").read_text() == "edited\n"
    assert (here.top / "new").read_text() == "untracked\n"
    assert not (here.top / "run").exists()
    assert here.git("show", ":f") == "staged"
    assert here.git("ls-files", "run") == ""


def leaves(here: Here, state: Snapshot) -> dict[bytes, Leaf]:
    read = state.reader(here.objects)
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    return {c.path: c.new for c in differences(read, empty, state.state.work_tree) if c.new}


def test_the_tree_of_the_snapshot_says_what_is_on_disk(here: Here) -> None:
    monday(here)
    state = here.capture(carry=[b"*.log"])
    found = leaves(here, state)
    on_disk = {}
    for path in here.top.rglob("*"):
        name = os.fsencode(path.relative_to(here.top))
        if name.split(b"/")[0] == b".git" or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            on_disk[name] = Leaf(LINK, oid_of("blob", os.fsencode(path.readlink())))
        else:
            mode = EXECUTABLE if path.stat().st_mode & 0o100 else FILE
            on_disk[name] = Leaf(mode, oid_of("blob", path.read_bytes()))
    assert found == on_disk


def test_bytes_are_taken_raw_and_not_through_a_filter(here: Here) -> None:
    here.write(".gitattributes", "f filter=shout text eol=crlf ident\n")
    here.git("config", "filter.shout.clean", "tr a-z A-Z")
    here.git("config", "core.autocrlf", "true")
    here.write("f", "whisper $Id$\r\n")
    state = here.capture()
    assert leaves(here, state)[b"f"].oid == oid_of("blob", b"whisper $Id$\r\n")


def test_a_flagged_file_that_did_not_change_is_no_change(here: Here) -> None:
    here.git("update-index", "--skip-worktree", "f")
    seen = here.look()
    assert here.capture(seen=seen).changed_paths(seen) == set()
    (here.top / "f").unlink()
    seen = here.look()
    state = here.capture(seen=seen)
    assert state.changed_paths(seen) == {b"f"}
    assert b"f" not in leaves(here, state)


def test_where_modes_do_not_count_the_index_says_them(here: Here) -> None:
    here.git("config", "core.fileMode", "false")
    (here.top / "run").chmod(0o644)
    here.write("run", "edited").chmod(0o644)
    assert leaves(here, here.capture())[b"run"].mode == EXECUTABLE
    here.git("config", "core.fileMode", "true")
    assert leaves(here, here.capture())[b"run"].mode == FILE


def test_of_a_conflict_ours_stands_in_the_index_and_the_disk_in_the_snapshot(here: Here) -> None:
    here.git("switch", "-qc", "other")
    here.write("f", "theirs\n")
    here.git("commit", "-qam", "theirs")
    here.git("switch", "-q", "main")
    here.write("f", "ours\n")
    here.git("commit", "-qam", "ours")
    with pytest.raises(AssertionError, match="CONFLICT"):
        here.git("merge", "other")
    state = here.capture()
    read = state.reader(here.objects)
    ours = leaf_at(read, state.state.index_tree, b"f")
    assert ours == Leaf(FILE, oid_of("blob", b"ours\n"))
    assert [e.stage for e in state.state.special] == [1, 2, 3]
    assert leaves(here, state)[b"f"].oid == oid_of("blob", (here.top / "f").read_bytes())


def test_a_file_that_vanishes_after_the_look_is_a_change(here: Here) -> None:
    here.write("new")
    seen = here.look()
    (here.top / "new").unlink()
    with pytest.raises(ChangedError, match="new"):
        here.capture(seen=seen)


@pytest.mark.parametrize("name", ["f", "new"])
def test_a_file_that_is_written_after_it_was_read_is_named(here: Here, name: str) -> None:
    here.write("f", "edited")
    here.write("new")
    state = here.capture()
    path = here.top / name
    at = path.stat().st_mtime_ns
    path.write_text("again!"[: path.stat().st_size])
    os.utime(path, ns=(at, at))
    assert state.changed_since(Worktree(here.top)) == [name.encode()]
    path.unlink()
    assert state.changed_since(Worktree(here.top)) == [name.encode()]


@pytest.mark.parametrize("let_pass", [False, True])
def test_a_file_over_the_limit_is_asked_about_and_packed_whole_or_not_at_all(
    here: Here, let_pass: bool
) -> None:
    here.write("big", b"x" * 101)
    here.write("small", b"x" * 100)
    asked = []

    def oversize(path: bytes, size: int, oid: str) -> bool:
        asked.append((path, size, oid))
        return let_pass

    with io.BytesIO() as file:
        writer = PackWriter(file, lambda _: None)
        taken = here.capture(Packing(writer, limit=100, oversize=oversize)).taken
        writer.finish()
    assert asked == [(b"big", 101, oid_of("blob", b"x" * 101))]
    assert (oid_of("blob", b"x" * 101) in writer.written) is let_pass
    assert (b"big" in taken) is let_pass
    assert oid_of("blob", b"") not in writer.written


def test_a_branch_without_commits_is_a_state_too(here: Here, tmp_path: Path) -> None:
    here.git("checkout", "-q", "--orphan", "fresh")
    (tmp_path / "store").mkdir()
    store = Objects(tmp_path / "store", here.top / ".git" / "objects")
    state = here.capture(Storing(store)).state
    assert (state.head, state.head_time) == ("", "0 +0000")
    envelope = snapshot.seal_envelope(state, Storing(store)).envelope
    assert restore.read_state(store, envelope) == state
    assert state.index_tree == here.git("write-tree")


def test_the_time_of_a_state_is_that_of_its_commit(here: Here) -> None:
    os.environ["GIT_COMMITTER_DATE"] = "@1700000000 -0930"
    here.git("commit", "-q", "--allow-empty", "-m", "x")
    del os.environ["GIT_COMMITTER_DATE"]
    state = here.capture().state
    assert state.head_time == "1700000000 -0930"
