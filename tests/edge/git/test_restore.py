"""From a state to a checkout: index, refs, stash and configuration, each all or nothing."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core import canon, envelope, index
from handsoff.core.envelope import BranchConfig, StashEntry, State
from handsoff.core.index import NO_STAT, Entry
from handsoff.core.objects import FILE, LINK, encode_commit, oid_of
from handsoff.core.restoring import Standing
from handsoff.core.trees import Leaf
from handsoff.edge.git import restore, snapshot
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.git.restore import Refs
from handsoff.edge.git.snapshot import Hashing, Storing
from handsoff.edge.git.writer import stat_of
from handsoff.errors import DamagedError, UnfitError
from tests.kit.checkout import Here, traces
from tests.kit.machines import git


@pytest.fixture
def refs(checkout: Checkout) -> Refs:
    return Refs(checkout, "handsoff: test")


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
    entries = restore.new_entries(store.tree, here.look(), seen_from, target, {})
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
        entries = restore.new_entries(read, here.look(), state, state, {b"f": (written, good)})
        restore.write_index(here.checkout, entries)
        assert (here.look().entries[b"f"][0].stat != NO_STAT) is believed
        assert (b"f" in here.look().suspects) is not believed


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


# refs


def test_the_branch_and_head_move_and_the_reflog_says_why(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    refs.move_branch("feat/x", new, None)
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/feat/x"
    assert here.git("rev-parse", "feat/x") == new
    assert "handsoff: test" in here.git("reflog", "feat/x")
    before = here.git("reflog")
    refs.move_branch("feat/x", new, new)
    assert here.git("reflog") == before
    refs.leave("main", old)
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/main"
    refs.leave("", old)
    assert here.checkout.branch() is None
    assert here.git("rev-parse", "HEAD") == old


def test_a_branch_that_moved_meanwhile_is_not_moved(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    here.git("branch", "other", new)
    newer = here.git("commit-tree", "-p", new, "-m", "y", f"{old}^{{tree}}")
    for claimed in (old, None):
        with pytest.raises(UnfitError, match="git cannot update-ref"):
            refs.move_branch("other", newer, claimed)
    assert here.git("rev-parse", "other") == new
    assert here.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_branch_goes_back_or_goes(here: Here, refs: Refs) -> None:
    old = here.git("rev-parse", "HEAD")
    new = here.git("commit-tree", "-p", old, "-m", "x", f"{old}^{{tree}}")
    here.git("branch", "other", new)
    refs.reset_branch("other", old)
    assert here.git("rev-parse", "other") == old
    for _ in range(2):
        refs.reset_branch("other", "")
        assert here.git("branch", "--list", "other") == ""


# the stash


def listed(here: Here) -> list[str]:
    return here.git("stash", "list", "--format=%H %gs %gn %ge %gd", "--date=raw").splitlines()


def test_a_stash_list_keeps_its_order_messages_people_and_times(
    here: Here, refs: Refs, tmp_path: Path
) -> None:
    for number, message in enumerate(["one", "two: \N{SNOWMAN} %s", "three\x01", "-m"]):
        os.environ |= {
            "GIT_COMMITTER_DATE": f"@{number * 86400 + 1} -0330",
            "GIT_COMMITTER_NAME": f"Who {number} <",
            "GIT_COMMITTER_EMAIL": "" if number else "who@x",
        }
        here.stash(message, f"{number}\n")
    for name in ("DATE", "NAME", "EMAIL"):
        del os.environ[f"GIT_COMMITTER_{name}"]
    stash, before = here.look().stash, listed(here)
    assert len(before) == 4
    here.git("stash", "clear")
    refs.set_stash(stash, ())
    assert listed(here) == before
    assert here.look().stash == stash
    refs.set_stash(stash[1:3], stash)
    assert listed(here) == before[1:3]
    refs.set_stash((), stash[1:3])
    assert listed(here) == []


def test_a_stash_list_that_is_as_wanted_is_left_alone(here: Here, refs: Refs) -> None:
    here.stash("one")
    stash = here.look().stash
    before = traces(here.top)
    refs.set_stash(stash, stash)
    assert traces(here.top) == before


def test_a_stash_without_a_message_or_a_name_comes_through(here: Here, refs: Refs) -> None:
    oid = here.stash("one")
    here.git("stash", "clear")
    for message, who in (("", "Lin <l@x> 1700000000 +0000"), (" ", " <> 5 +0000")):
        refs.set_stash((StashEntry(oid, message, who),), here.look().stash[:0])
        assert [e.oid for e in here.look().stash] == [oid]
        here.git("stash", "clear")


# the configuration of the branch


def test_a_branch_gets_an_upstream_that_a_plain_push_uses(here: Here, checkout: Checkout) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    refs = Refs(open_checkout(here.top), "x")
    refs.configure("feat/x", BranchConfig(), "hub")
    assert here.git("config", "branch.feat/x.remote") == "hub"
    assert here.git("config", "branch.feat/x.merge") == "refs/heads/feat/x"
    before = traces(here.top)
    refs.configure("feat/x", BranchConfig(), "hub")
    assert traces(here.top) == before


@pytest.mark.parametrize(
    ("remote", "wanted"), [("=", "hub"), ("", "hub"), ("fork", "fork"), (".", "."), ("gone", "hub"),
                           ("ext::sh -c id", "hub")]
)  # fmt: skip
def test_an_upstream_is_one_that_is_known_here(here: Here, remote: str, wanted: str) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    here.git("remote", "add", "fork", "/nowhere")
    refs = Refs(here.checkout, "x")
    refs.configure("w", BranchConfig(remote, "refs/heads/main"), "hub")
    assert here.git("config", "branch.w.remote") == wanted
    assert here.git("config", "branch.w.merge") == "refs/heads/main"


def test_a_place_to_push_to_is_taken_only_if_it_is_known_here(here: Here) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    refs = Refs(here.checkout, "x")
    for place in ("fork", "https://evil.invalid/", "ext::sh -c id"):
        refs.configure("w", BranchConfig(others=(("pushremote", place),)), "hub")
        assert here.checkout.line("config", "branch.w.pushRemote") is None
    refs.configure("w", BranchConfig(others=(("pushremote", "hub"),)), "hub")
    assert here.git("config", "branch.w.pushRemote") == "hub"


@pytest.mark.parametrize(
    "text", ["plain", "-x\n", "--unset", "two\nlines\n", "a = b ; # c", "\udcff"]
)
def test_a_description_comes_through_whatever_it_says(here: Here, text: str) -> None:
    here.git("remote", "add", "hub", "/nowhere")
    config = BranchConfig("=", "refs/heads/w", (("rebase", "true"), ("description", text)))
    Refs(here.checkout, "x").configure("w", config, "hub")
    assert restore.branch_config(here.checkout, "w", "hub") == config
    assert restore.branch_config(here.checkout, "other", "hub") == BranchConfig()


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
        outer = replace(outer, tree=store.write("tree", envelope.encode_root(blobs, None)))
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
        with pytest.raises(DamagedError, match="disagree"):
            restore.read_state(here.objects, sealed(here, state, changed))
    with pytest.raises(DamagedError, match="lists are malformed"):
        restore.read_state(here.objects, sealed(here, state, {}))


def test_what_is_no_commit_or_is_missing_is_damaged(here: Here, state: State) -> None:
    for oid in (state.index_tree, "0" * 40):
        with pytest.raises(DamagedError, match=r"is a tree|is missing"):
            restore.read_state(here.objects, oid)
