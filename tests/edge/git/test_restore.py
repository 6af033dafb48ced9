"""From a state to a checkout: index, refs, stash and configuration, each all or nothing."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core import canon
from handsoff.core.checkout import envelope, index
from handsoff.core.checkout.index import NO_STAT, Entry
from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.restoring import Standing
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Leaf, differences
from handsoff.core.objects import FILE, LINK, encode_commit, oid_of
from handsoff.edge.git import restore, snapshot
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.sinks import Hashing, Storing
from handsoff.edge.git.writer import stat_of
from handsoff.errors import DamagedError, UnfitError
from tests.kit.checkout import Here, traces
from tests.kit.machines import git


def test_what_stands_at_a_path_is_compared_by_its_bytes_and_mode(here: Here) -> None:
    os.mkfifo(here.top / "pipe")
    tree = Worktree(here.top)
    same = Leaf(FILE, oid_of("blob", b"f\n"))
    assert restore.standing(tree, b"f", same) is Standing.SAME
    assert restore.standing(tree, b"f", same._replace(mode=0o100755)) is Standing.OTHER
    assert restore.standing(tree, b"f", Leaf(FILE, "0" * 40)) is Standing.OTHER
    assert restore.standing(tree, b"link", Leaf(LINK, oid_of("blob", b"f"))) is Standing.SAME
    assert restore.standing(tree, b"link", same) is Standing.OTHER
    assert restore.standing(tree, b"dir", same) is Standing.FOLDER
    assert restore.standing(tree, b"none", same) is Standing.NOTHING
    assert restore.standing(tree, b"f/none", same) is Standing.NOTHING
    assert restore.standing(tree, b"pipe", same) is Standing.OTHER


def test_all_that_a_folder_holds_is_listed_links_and_special_files_too(here: Here) -> None:
    here.write("d/a/b")
    here.write(b"d/\xff")
    (here.top / "d" / "way").symlink_to("/etc")
    (here.top / "d" / "file").symlink_to("../f")
    (here.top / "d" / "void").mkdir()
    os.mkfifo(here.top / "d" / "pipe")
    found = set(restore.files_below(Worktree(here.top), b"d"))
    assert found == {b"d/a/b", b"d/\xff", b"d/way", b"d/file", b"d/pipe"}


# the index


def entries_of(here: Here) -> list[Entry]:
    seen = here.look().entries
    return [entry for path in seen.paths for entry in seen[path]]


def test_an_index_that_another_git_holds_is_left_alone(here: Here, checkout: Checkout) -> None:
    (here.top / ".git" / "index.lock").write_text("theirs")
    before = traces(here.top)
    with pytest.raises(UnfitError, match=r"another git process holds .*index\.lock") as caught:
        restore.write_index(checkout, [])
    assert caught.value.hint
    assert traces(here.top) == before


def test_an_index_that_cannot_be_written_leaves_the_old_one_and_no_lock(
    here: Here, checkout: Checkout
) -> None:
    before = traces(here.top)

    def stop() -> list[index.Encoded]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore.write_index(checkout, (entry for entry in stop()))
    assert {k: v for k, v in traces(here.top).items() if k != ".git"} == {
        k: v for k, v in before.items() if k != ".git"
    }


def moved(here: Here, target: State, seen_from: State) -> list[Entry]:
    """Give the checkout the index of ``target``, and return what git says of it."""
    store = Objects(here.top / ".git" / "objects")
    changes = differences(store.tree, seen_from.index_tree, target.index_tree)
    entries = restore.new_entries(store.tree, here.look(), changes, target, {})
    restore.write_index(here.checkout, entries)
    return [e._replace(stat=NO_STAT) for e in entries_of(here)]


def test_the_index_goes_to_any_state_and_back_with_flags_and_stages(here: Here) -> None:
    plain = here.capture(Storing(here.objects)).state
    here.write("f", "staged\n")
    here.write("hid", "x")
    here.write("later", "x")
    here.write("deep/a/b", "x")
    here.git("add", "f", "hid", "deep")
    here.git("add", "-N", "later")
    here.git("rm", "-q", "--cached", "run")
    here.git("update-index", "--skip-worktree", "hid")
    here.git("update-index", "--assume-unchanged", "dir/g")
    odd = here.capture(Storing(here.objects)).state
    odd_entries = [e._replace(stat=NO_STAT) for e in entries_of(here)]
    git(here.top, "read-tree", "HEAD")
    plain_entries = [e._replace(stat=NO_STAT) for e in entries_of(here)]
    assert moved(here, odd, plain) == odd_entries
    assert moved(here, plain, odd) == plain_entries
    blobs = [here.git("hash-object", "-w", "--stdin", given=text) for text in ("a", "b", "c")]
    stages = tuple(Entry(b"f", FILE, oid, stage) for stage, oid in enumerate(blobs, 1))
    conflict = replace(odd, special=stages)
    assert [e for e in moved(here, conflict, plain) if e.path == b"f"] == list(stages)
    assert moved(here, odd, conflict) == odd_entries


def test_stat_data_are_believed_only_of_the_content_that_was_written(here: Here) -> None:
    state = here.capture().state
    read = here.objects.tree
    leaf = Leaf(FILE, oid_of("blob", b"f\n"))
    here.git("update-index", "--assume-unchanged", "dir/g")
    good = stat_of((here.top / "f").lstat())
    for written, believed in ((leaf, True), (leaf._replace(oid="1" * 40), False)):
        (here.top / ".git" / "index").unlink()
        here.git("read-tree", "HEAD")
        entries = restore.new_entries(read, here.look(), (), state, {b"f": (written, good)})
        restore.write_index(here.checkout, entries)
        assert (here.look().entries[b"f"][0].stat != NO_STAT) is believed
        assert (b"f" in here.look().suspects) is not believed


def test_stat_data_of_what_a_written_file_replaced_are_not_kept(here: Here) -> None:
    state = here.capture().state
    here.git("update-index", "--refresh")
    assert here.look().entries[b"f"][0].stat != NO_STAT
    other = Leaf(FILE, oid_of("blob", b"an edit\n")), stat_of((here.top / "f").lstat())
    entries = restore.new_entries(here.objects.tree, here.look(), (), state, {b"f": other})
    restore.write_index(here.checkout, entries)
    assert here.look().entries[b"f"][0].stat == NO_STAT


def test_stat_data_of_a_file_that_is_to_stand_edited_are_not_kept(here: Here) -> None:
    here.write("f", "edited\n")
    edited = here.capture(Storing(here.objects)).state
    here.write("f", "f\n")
    here.git("update-index", "--refresh")
    assert here.look().entries[b"f"][0].stat != NO_STAT
    entries = restore.new_entries(here.objects.tree, here.look(), (), edited, {})
    restore.write_index(here.checkout, entries)
    assert here.look().entries[b"f"][0].stat == NO_STAT


def test_an_edit_that_the_age_of_the_index_alone_shows_is_shown_by_a_new_index(here: Here) -> None:
    here.git("config", "core.trustctime", "false")
    path, second = here.write("f", "one"), 1_700_000_000
    os.utime(path, (second, second))
    here.git("add", "f")
    path.write_text("two")
    for written in (path, here.top / ".git" / "index"):
        os.utime(written, (second, second))
    assert here.git("diff", "--name-only") == "f"
    state = here.capture(Storing(here.objects)).state
    entries = restore.new_entries(here.objects.tree, here.look(), (), state, {})
    restore.write_index(here.checkout, entries)
    assert here.git("diff", "--name-only") == "f"


# packs


def test_packs_are_brought_in_once_and_can_be_read(
    here: Here, checkout: Checkout, tmp_path: Path
) -> None:
    other = Here.make(tmp_path / "other")
    other.write("more")
    other.git("add", "more")
    other.git("commit", "-qm", "more")
    other.git("repack", "-qad")
    oid = other.git("rev-parse", "HEAD")
    for _ in range(2):
        restore.install_pack(checkout, other.top / ".git" / "objects")
        assert Objects(here.top / ".git" / "objects").has(oid)
    names = sorted(p.suffix for p in (here.top / ".git" / "objects" / "pack").iterdir())
    assert names == [".idx", ".pack"]


# the envelope


@pytest.fixture
def state(here: Here) -> State:
    here.stash("one")
    return here.capture(Storing(here.objects)).state


def sealed(
    here: Here,
    state: State,
    lists: dict[bytes, bytes] | None = None,
    parents: tuple[str, ...] | None = None,
    inner: tuple[str, ...] | None = None,
) -> str:
    """Return the envelope of ``state`` with lists, parents and the snapshot's as given."""
    store = here.objects
    made = snapshot.seal_envelope(state, Storing(store))
    outer = store.commit(made.envelope)
    if lists is not None:
        blobs = {name: store.write("blob", data) for name, data in lists.items()}
        outer = replace(outer, tree=store.write("tree", envelope.encode_root(blobs, {})))
    if inner is not None:
        commit = replace(store.commit(made.snapshot), parents=inner)
        first = store.write("commit", encode_commit(commit))
        outer = replace(outer, parents=(first, *outer.parents[1:]))
    if parents is not None:
        outer = replace(outer, parents=parents)
    return store.write("commit", encode_commit(outer))


def test_an_envelope_of_ours_is_read(here: Here, state: State) -> None:
    assert restore.read_state(here.objects, sealed(here, state)) == state
    assert sealed(here, state) == snapshot.seal_envelope(state, Hashing()).envelope


@pytest.mark.parametrize("parents", [(), ("{head}",), ("{first}",), ("0" * 40,)])
def test_a_commit_that_is_no_envelope_is_damaged(
    here: Here, state: State, parents: tuple[str, ...]
) -> None:
    first = here.git("rev-parse", "HEAD")
    head = here.git("commit-tree", "-m", "x", "-p", first, "-p", state.stash[0].oid,
                    f"{first}^{{tree}}")  # fmt: skip
    spelled = tuple(p.format(head=head, first=first) for p in parents)
    with pytest.raises(DamagedError):
        restore.read_state(here.objects, sealed(here, state, parents=spelled))


@pytest.mark.parametrize("number", [0, 3])
def test_a_snapshot_with_too_few_or_too_many_parents_is_damaged(
    here: Here, state: State, number: int
) -> None:
    with pytest.raises(DamagedError, match="not one of handsoff's"):
        restore.read_state(here.objects, sealed(here, state, inner=(state.head,) * number))


def test_a_stash_list_that_the_envelope_does_not_bind_is_damaged(here: Here, state: State) -> None:
    lists = envelope.lists_of(state)
    entry = {"oid": state.head, "message": "x", "who": "x <y> 1 +0000"}
    for entries in ([], [entry]):
        changed = {**lists, b"stash": canon.encode({"entries": entries})}
        with pytest.raises(DamagedError, match="does not bind all commits"):
            restore.read_state(here.objects, sealed(here, state, changed))
    with pytest.raises(DamagedError, match="lists are malformed"):
        restore.read_state(here.objects, sealed(here, state, {}))


def test_what_is_no_commit_or_is_missing_is_damaged(here: Here, state: State) -> None:
    for oid in (state.index_tree, "0" * 40):
        with pytest.raises(DamagedError, match=r"is a tree|is missing"):
            restore.read_state(here.objects, oid)


def test_a_tree_of_a_merge_that_the_envelope_does_not_bind_is_damaged(
    here: Here, state: State
) -> None:
    other = replace(state, operation=Operation(merged=state.index_tree))
    assert restore.read_state(here.objects, sealed(here, other)) == other
    with pytest.raises(DamagedError, match="does not bind the tree of a merge"):
        restore.read_state(here.objects, sealed(here, other, envelope.lists_of(other)))


def test_files_of_an_operation_are_read_back_and_what_is_no_file_is_not(
    here: Here, state: State
) -> None:
    files = ((b"MERGE_MSG", b"x\n"), (b"rebase-merge/done", b""))
    other = replace(state, operation=Operation(files=files, commits=(state.head,)))
    made = sealed(here, other)
    assert restore.read_state(here.objects, made) == other
    assert here.objects.commit(made).parents[-1] == state.head
