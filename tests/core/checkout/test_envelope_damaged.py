"""An envelope that says what no state could say is damaged, whoever signed it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.checkout import envelope
from handsoff.core.checkout.operation import Operation
from handsoff.errors import DamagedError
from tests.core.checkout.test_envelope import STATE, A, decoded
from tests.core.test_canon import VALUES


@pytest.mark.parametrize("name", envelope.lists_of(STATE))
def test_a_snapshot_that_lacks_a_list_is_damaged(name: bytes) -> None:
    lists = envelope.lists_of(STATE)
    del lists[name]
    with pytest.raises(DamagedError, match="lists are malformed"):
        decoded(STATE, lists)


@pytest.mark.parametrize("name", [b"hooks/post-checkout", b"config", b"rebase-merge/../HEAD"])
def test_a_file_that_belongs_to_no_operation_is_damaged(name: bytes) -> None:
    odd = replace(STATE, operation=Operation(files=((name, b"x"),)))
    with pytest.raises(DamagedError, match="belongs to no operation"):
        decoded(odd, envelope.lists_of(odd))


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/bisect/../heads/main", "HEAD"])
def test_a_ref_that_belongs_to_no_operation_is_damaged(name: str) -> None:
    odd = replace(STATE, operation=Operation(refs=((name, A),)))
    with pytest.raises(DamagedError, match="belongs to no operation"):
        decoded(odd, envelope.lists_of(odd))


ENTRY = {"oid": A, "message": "m", "who": "x <y> 1 +0000"}
BRANCH = {"work": "w", "remote": "=", "merge": "", "others": []}
HEAD = {
    "auto-merge": "", "commits": [], "detached": False, "refs": [], "short": [], "tip": "",
}  # fmt: skip
SPARSE = {"cone": True, "index": False, "patterns": ""}


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
NOT_IDS: list[Any] = [None, 0, 7, [], {}, "x", ["x"], A[1:], A.upper(), A + "\n"]
NOT_OF_HEAD: dict[str, list[Any]] = {
    "auto-merge": NOT_IDS,
    "tip": NOT_IDS,
    "commits": [None, 7, *([value] for value in ["", *NOT_IDS])],
    "detached": [None, 0, 1, "true", [], {}],
    "refs": [None, 7, ["x"], [[]], [["refs/bisect/bad"]], [["refs/bisect/bad", A, A]], [[7, A]],
             *([["refs/bisect/bad", value]] for value in ["", *NOT_IDS])],
    "short": [None, 7, ["x"], [[]], [["aaaa"]], [[7, A]], *([["aaaa", v]] for v in ["", *NOT_IDS])],
}  # fmt: skip
NOT_SPARSE: dict[str, list[Any]] = {
    "cone": [None, 0, 1, "true"],
    "index": [None, 0, 1, "true"],
    "patterns": [None, 7, [], "\ud800"],
}


def wrong_lists() -> list[tuple[bytes, Any]]:
    found: list[tuple[bytes, Any]] = [
        (name, {}) for name in (b"stash", b"left-behind", b"branch", b"head", b"sparse")
    ]
    found += [(b"stash", {"entries": value}) for value in NO_ENTRIES]
    found += [(b"left-behind", {"paths": value}) for value in NO_PATHS]
    for name, values in NOT_IN_AN_ENTRY.items():
        found += [(b"stash", {"entries": [{**ENTRY, name: value}]}) for value in values]
    for name, values in NOT_OF_A_BRANCH.items():
        found += [(b"branch", {**BRANCH, name: value}) for value in values]
    for name, values in NOT_OF_HEAD.items():
        found += [(b"head", {**HEAD, name: value}) for value in values]
    for name, values in NOT_SPARSE.items():
        found += [(b"sparse", {**SPARSE, name: value}) for value in values]
    return found


@pytest.mark.parametrize(("name", "value"), wrong_lists(), ids=lambda value: ascii(value)[:40])
def test_a_list_with_a_wrong_value_is_damaged(name: bytes, value: object) -> None:
    lists = {**envelope.lists_of(STATE), name: canon.encode(value)}
    with pytest.raises(DamagedError):
        decoded(STATE, lists)


@pytest.mark.parametrize("name", [b"empty-folders", b"raw", b"stale"])
@pytest.mark.parametrize("data", [b"x", b"a\0b", b"b\0a\0", b"a\0a\0"])
def test_a_list_of_paths_that_is_cut_short_or_in_no_order_is_damaged(
    name: bytes, data: bytes
) -> None:
    with pytest.raises(DamagedError, match="list of paths in the snapshot is malformed"):
        decoded(STATE, {**envelope.lists_of(STATE), name: data})


@pytest.mark.parametrize(
    "data",
    [
        b"600\tx\x00644\tx\0",
        b"x\0",
        b"644\0",
        b"644\t\0",
        b"64\tx\0",
        b"0644\tx\0",
        b"684\tx\0",
        b"644 x\0",
    ],
)
def test_a_mode_that_is_none_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedError, match="not a mode"):
        decoded(STATE, {**envelope.lists_of(STATE), b"modes": data})


@given(st.sampled_from([*envelope.lists_of(STATE), b"sparse"]), st.binary(max_size=60) | VALUES)
def test_any_list_is_read_to_the_last_byte_or_damaged(name: bytes, value: Any) -> None:
    body = value if isinstance(value, bytes) else canon.encode(value)
    lists = {**envelope.lists_of(STATE), name: body}
    try:
        found = decoded(STATE, lists)
    except DamagedError:
        return
    assert envelope.lists_of(found) == lists
    assert name in (b"empty-folders", b"index", b"modes", b"raw", b"resolved", b"stale")
