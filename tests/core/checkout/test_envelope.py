"""The envelope: its lists say the whole state, and its commits bind all that the state needs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout import envelope, operation
from handsoff.core.checkout.index import Entry, Flag
from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.state import (
    KEPT_KEYS,
    SPARSE_KEYS,
    BranchConfig,
    LeftBehind,
    Sparse,
    StashEntry,
    State,
)
from handsoff.core.objects import (
    EMPTY_TREE,
    FILE,
    TREE,
    TreeEntry,
    oid_of,
    parse_commit,
    parse_tree,
)
from tests.core.test_canon import TEXT

OIDS = st.binary(min_size=20, max_size=20).map(bytes.hex)
LINE = TEXT.filter(lambda text: not {"\n", "\0"} & set(text))
WHEN = st.sampled_from(["0 +0000", "1700000000 +0100", "1700000000 -0930", "99999999999 +0000"])
PATHS = st.binary(min_size=1, max_size=8).filter(lambda p: 0 not in p)
STASH = st.builds(
    StashEntry, OIDS, LINE, st.builds(lambda name, when: f"{name} <x@y> {when}", LINE, WHEN)
)
SPECIAL = st.one_of(
    st.builds(lambda path, oid: Entry(path, FILE, oid, 0, int(Flag.SKIP_WORKTREE)), PATHS, OIDS),
    st.builds(
        lambda path, oid, stage: Entry(path, FILE, oid, stage), PATHS, OIDS, st.integers(1, 3)
    ),
)


def in_order(entries: list[Entry]) -> tuple[Entry, ...]:
    merged = {e.path for e in entries if not e.stage}
    kept = [e for e in entries if not (e.stage and e.path in merged)]
    return tuple(sorted(kept, key=lambda e: (e.path, e.stage)))


IDS_OR_NONE = OIDS | st.just("")
FILES = st.dictionaries(
    st.sampled_from([
        *sorted(operation.FILES), b"rebase-merge/done", b"sequencer/todo", b"tags/" + b"a" * 40,
        b"rr-cache/" + b"a" * 40 + b"/preimage",
    ]),
    st.binary(max_size=20),
    max_size=3,
)  # fmt: skip
REFS = st.sampled_from(["refs/bisect/bad", "refs/bisect/good-1", "refs/rewritten/onto"])
SHORT = st.builds(lambda oid, length: (oid[:length], oid), OIDS, st.integers(4, 39))
OPERATIONS = st.builds(
    Operation,
    FILES.map(lambda found: tuple(sorted(found.items()))),
    st.lists(st.tuples(REFS, OIDS), max_size=2).map(tuple),
    st.lists(OIDS, max_size=3).map(tuple),
    st.lists(SHORT, max_size=2).map(tuple),
    IDS_OR_NONE,
)
MODES = st.dictionaries(PATHS, st.integers(0, 0o777), max_size=3)
SPARSE_SETTINGS = st.lists(
    st.tuples(st.sampled_from(SPARSE_KEYS), st.sampled_from(["true", "false", "", "0"])), max_size=2
).map(tuple)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)
RESOLVED = st.builds(
    lambda path, oid, stage: Entry(path, FILE, oid, stage), PATHS, OIDS, st.integers(1, 3)
)
SORTED_PATHS = st.lists(PATHS, max_size=3, unique=True).map(lambda found: tuple(sorted(found)))

STATES = st.builds(
    State,
    work=LINE,
    head=IDS_OR_NONE,
    head_time=WHEN,
    index_tree=OIDS,
    special=st.lists(SPECIAL, max_size=4, unique_by=lambda e: (e.path, e.stage)).map(in_order),
    work_tree=OIDS,
    stash=st.lists(STASH, max_size=3).map(tuple),
    branch=st.builds(
        BranchConfig,
        TEXT,
        TEXT,
        st.lists(st.tuples(st.sampled_from(sorted(KEPT_KEYS)), TEXT), max_size=3).map(tuple),
    ),
    empty_folders=SORTED_PATHS,
    left_behind=st.lists(st.builds(LeftBehind, PATHS, TEXT), max_size=3).map(tuple),
    tip=IDS_OR_NONE,
    detached=st.booleans(),
    operation=OPERATIONS,
    raw=SORTED_PATHS,
    stale=SORTED_PATHS,
    modes=MODES.map(lambda found: tuple(sorted(found.items()))),
    sparse=st.none() | st.builds(Sparse, st.binary(max_size=20), SPARSE_SETTINGS),
    resolved=st.lists(RESOLVED, max_size=3, unique_by=lambda e: (e.path, e.stage)).map(in_order),
    lfs=st.dictionaries(DIGESTS, OIDS, max_size=2).map(lambda found: tuple(sorted(found.items()))),
)
A, B = "a" * 40, "b" * 40
STATE = State("feat/x", A, "1700000000 +0100", B, (), B, (), BranchConfig(), ())


def decoded(state: State, lists: dict[bytes, bytes]) -> State:
    large = parse_tree(envelope.encode_lfs(state))
    bound = envelope.Bound(
        state.head, state.head_time, state.index_tree, state.work_tree, tuple(large)
    )
    return envelope.decode_lists(lists, dict(state.operation.files), bound)


@given(STATES)
def test_a_state_reads_back_from_its_lists(state: State) -> None:
    assert decoded(state, envelope.lists_of(state)) == state


@given(STATES, STATES)
def test_two_states_have_the_same_lists_only_if_they_are_the_same(one: State, two: State) -> None:
    files = replace(two.operation, files=one.operation.files)  # those are a tree of their own
    two = replace(two, head=one.head, head_time=one.head_time, index_tree=one.index_tree,
                  work_tree=one.work_tree, operation=files)  # fmt: skip
    same = envelope.lists_of(one) == envelope.lists_of(two) and one.lfs == two.lfs
    assert same is (one == two)


@pytest.mark.parametrize(
    "change",
    [
        {"tip": B},
        {"detached": True},
        {"raw": (b"a",)},
        {"modes": ((b"a", 0o600),)},
        {"sparse": Sparse(b"", ())},
        {"sparse": Sparse(b"/*\n", ())},
        {"sparse": Sparse(b"", (("index.sparse", "true"),))},
        {"operation": Operation(refs=(("refs/bisect/bad", A),))},
        {"operation": Operation(commits=(A,))},
        {"operation": Operation(short=(("aaaa", A),))},
        {"operation": Operation(merged=A)},
    ],
    ids=str,
)
def test_a_field_that_differs_is_another_list(change: dict[str, Any]) -> None:
    other = replace(STATE, **change)
    assert envelope.lists_of(other) != envelope.lists_of(STATE)
    assert decoded(other, envelope.lists_of(other)) == other


@given(STATES)
def test_the_commits_bind_the_state_and_the_stash(state: State) -> None:
    index_commit = envelope.encode_index_commit(state)
    snapshot = envelope.encode_snapshot(state, oid_of("commit", index_commit))
    outer = envelope.encode_envelope(state, oid_of("commit", snapshot), A)
    head = (state.head,) if state.head else ()
    assert parse_commit(index_commit).parents == head
    assert parse_commit(index_commit).tree == state.index_tree
    assert parse_commit(snapshot).parents == (*head, oid_of("commit", index_commit))
    assert parse_commit(snapshot).tree == state.work_tree
    inner, *others = parse_commit(outer).parents
    assert inner == oid_of("commit", snapshot)
    assert others == envelope.anchors(state)
    assert parse_commit(outer).tree == A
    assert {parse_commit(c).committer for c in (index_commit, snapshot, outer)} == {
        f"handsoff <snapshot@handsoff.invalid> {state.head_time}"
    }


@given(STATES)
def test_every_commit_of_a_state_is_bound_once(state: State) -> None:
    found = envelope.anchors(state)
    stash = list(dict.fromkeys(e.oid for e in state.stash))
    needed = {*state.operation.commits, *(oid for _, oid in state.operation.refs)}
    tip = {state.tip} if state.detached and state.tip else set()
    assert found[: len(stash)] == stash
    assert {*found} == {*stash, *needed, *tip}
    assert len(found) == len({*found})


def test_every_blob_of_a_special_entry_is_pinned_once() -> None:
    special = tuple(Entry(b"f", FILE, oid, stage) for stage, oid in enumerate((A, B, A), 1))
    pins = parse_tree(envelope.encode_pins(replace(STATE, special=special)))
    assert pins == [TreeEntry(A.encode(), FILE, A), TreeEntry(B.encode(), FILE, B)]


def test_the_root_names_the_lists_and_the_trees_if_there_are_any() -> None:
    blobs = dict.fromkeys(envelope.lists_of(STATE), A)
    names = [b"branch", b"empty-folders", b"head", b"index", b"left-behind", b"modes", b"raw",
             b"resolved", b"stale", b"stash"]  # fmt: skip
    trees = {b"auto-merge": "", b"operation": "", b"pins": ""}
    assert [e.name for e in parse_tree(envelope.encode_root(blobs, trees))] == names
    trees = {b"auto-merge": B, b"operation": A, b"pins": EMPTY_TREE}
    root = parse_tree(envelope.encode_root(blobs, trees))
    assert {e for e in root if e.mode == TREE} == {
        TreeEntry(name, TREE, oid) for name, oid in trees.items()
    }
    assert len(root) == len(names) + 3
