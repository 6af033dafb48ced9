"""The envelope: its lists say the whole state, and what no state could say is damaged."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon, envelope
from handsoff.core.index import Entry, Flag
from handsoff.core.objects import (
    EMPTY_TREE,
    FILE,
    TREE,
    TreeEntry,
    oid_of,
    parse_commit,
    parse_tree,
)
from handsoff.core.state import KEPT_KEYS, BranchConfig, LeftBehind, StashEntry, State
from handsoff.errors import DamagedError
from tests.core.test_canon import TEXT, VALUES

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


STATES = st.builds(
    State,
    work=LINE,
    head=OIDS | st.just(""),
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
    empty_folders=st.lists(PATHS, max_size=3, unique=True).map(lambda found: tuple(sorted(found))),
    left_behind=st.lists(st.builds(LeftBehind, PATHS, TEXT), max_size=3).map(tuple),
)
A, B = "a" * 40, "b" * 40
STATE = State("feat/x", A, "1700000000 +0100", B, (), B, (), BranchConfig(), ())


def decoded(state: State, lists: dict[bytes, bytes]) -> State:
    return envelope.decode_lists(
        lists,
        head=state.head,
        head_time=state.head_time,
        index_tree=state.index_tree,
        work_tree=state.work_tree,
    )


@given(STATES)
def test_a_state_reads_back_from_its_lists(state: State) -> None:
    assert decoded(state, envelope.lists_of(state)) == state


@given(STATES, STATES)
def test_two_states_have_the_same_lists_only_if_they_are_the_same(one: State, two: State) -> None:
    two = replace(two, head=one.head, head_time=one.head_time, index_tree=one.index_tree,
                  work_tree=one.work_tree)  # fmt: skip
    assert (envelope.lists_of(one) == envelope.lists_of(two)) is (one == two)


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
    inner, *stash = parse_commit(outer).parents
    assert inner == oid_of("commit", snapshot)
    assert stash == list(dict.fromkeys(e.oid for e in state.stash))
    assert parse_commit(outer).tree == A
    assert {parse_commit(c).committer for c in (index_commit, snapshot, outer)} == {
        f"handsoff <snapshot@handsoff.invalid> {state.head_time}"
    }


def test_every_blob_of_a_special_entry_is_pinned_once() -> None:
    special = tuple(Entry(b"f", FILE, oid, stage) for stage, oid in enumerate((A, B, A), 1))
    pins = parse_tree(envelope.encode_pins(replace(STATE, special=special)))
    assert pins == [TreeEntry(A.encode(), FILE, A), TreeEntry(B.encode(), FILE, B)]


def test_the_root_names_the_lists_and_the_trees_if_there_are_any() -> None:
    blobs = dict.fromkeys(envelope.lists_of(STATE), A)
    names = [b"branch", b"empty-folders", b"index", b"left-behind", b"stash"]
    assert [e.name for e in parse_tree(envelope.encode_root(blobs, None, ""))] == names
    root = parse_tree(envelope.encode_root(blobs, EMPTY_TREE, B))
    assert TreeEntry(b"pins", TREE, EMPTY_TREE) in root
    assert TreeEntry(b"auto-merge", TREE, B) in root
    assert len(root) == 7


@pytest.mark.parametrize("name", envelope.lists_of(STATE))
def test_a_snapshot_that_lacks_a_list_is_damaged(name: bytes) -> None:
    lists = envelope.lists_of(STATE)
    del lists[name]
    with pytest.raises(DamagedError, match="lists are malformed"):
        decoded(STATE, lists)


ENTRY = {"oid": A, "message": "m", "who": "x <y> 1 +0000"}
BRANCH = {"work": "w", "remote": "=", "merge": "", "others": []}


NO_ENTRIES: list[Any] = [None, 7, "x", {"oid": A}, [7], [None], ["x"], [[]]]
NO_PATHS: list[Any] = [
    None, 7, ["x"], [{}], [{"path": "x"}], [{"path": 7, "reason": "x"}],
    [{"path": "\ud800", "reason": "x"}], [{"path": "x", "reason": 7}],
]  # fmt: skip
NOT_IN_AN_ENTRY: dict[str, list[Any]] = {
    "oid": ["", "x", 7, None, [], {}],
    "message": [7, None, [], {}, "a\nb", "a\0b", "\ud800"],
    "who": ["", 7, None, [], {}, "x <y>", "x <y> 1", "x\n <y> 1 +0000", "x <y> 1 +000",
            "x <y> -1 +0000", "x <y> 1 +0000\n", "x <y> 1 0000", "\ud800 <y> 1 +0000"],
}  # fmt: skip
NOT_OF_A_BRANCH: dict[str, list[Any]] = {
    "work": [None, 7, [], {}, "\ud800"],
    "remote": [None, 7, [], {}],
    "merge": [None, 7, [], {}],
    "others": [None, 7, {"a": 1}, ["x"], [[]], [["rebase"]], [["rebase", 7]], [[7, "x"]],
               [["rebase", "x", "y"]], [["remote", "x"]], [["merge", "x"]], [["", "x"]],
               [["vscode-merge-base", "x"]], [["x.y", "z"]], [["Rebase", "true"]],
               [["description\n[alias]", "x"]]],
}  # fmt: skip


def wrong_lists() -> list[tuple[bytes, Any]]:
    found: list[tuple[bytes, Any]] = [(b"stash", {}), (b"left-behind", {}), (b"branch", {})]
    found += [(b"stash", {"entries": value}) for value in NO_ENTRIES]
    found += [(b"left-behind", {"paths": value}) for value in NO_PATHS]
    for name, values in NOT_IN_AN_ENTRY.items():
        found += [(b"stash", {"entries": [{**ENTRY, name: value}]}) for value in values]
    for name, values in NOT_OF_A_BRANCH.items():
        found += [(b"branch", {**BRANCH, name: value}) for value in values]
    return found


@pytest.mark.parametrize(("name", "value"), wrong_lists(), ids=lambda value: ascii(value)[:40])
def test_a_list_with_a_wrong_value_is_damaged(name: bytes, value: object) -> None:
    lists = {**envelope.lists_of(STATE), name: canon.encode(value)}
    with pytest.raises(DamagedError):
        decoded(STATE, lists)


@pytest.mark.parametrize("data", [b"x", b"\0x", b"a\0b"])
def test_a_list_of_folders_that_is_cut_short_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedError, match="empty folders is cut short"):
        decoded(STATE, {**envelope.lists_of(STATE), b"empty-folders": data})


@given(st.sampled_from(sorted(envelope.lists_of(STATE))), st.binary(max_size=60) | VALUES)
def test_any_list_is_read_or_damaged(name: bytes, value: Any) -> None:
    body = value if isinstance(value, bytes) else canon.encode(value)
    try:
        decoded(STATE, {**envelope.lists_of(STATE), name: body})
    except DamagedError:
        return
    assert name in (b"empty-folders", b"index")
