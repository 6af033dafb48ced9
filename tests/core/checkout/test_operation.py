"""What git keeps of an operation: what it is, which branch it left, what may be written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout import operation
from handsoff.core.checkout.operation import FILES, FOLDERS, Kind, Operation

A = "a" * 40
PICKS = b"sequencer/todo"


def of(*names: bytes) -> Operation:
    return Operation(tuple((name, b"") for name in names))


# what is in progress


@pytest.mark.parametrize(
    ("names", "what", "command", "stop"),
    [
        (
            [b"MERGE_HEAD", b"MERGE_MSG", b"ORIG_HEAD"],
            "a merge",
            "git merge --continue",
            "git merge --abort",
        ),
        ([b"SQUASH_MSG"], "a squash merge", "git commit", "git reset --merge"),
        (
            [b"CHERRY_PICK_HEAD", b"sequencer/todo"],
            "a cherry-pick",
            "git cherry-pick --continue",
            "git cherry-pick --abort",
        ),
        ([b"REVERT_HEAD"], "a revert", "git revert --continue", "git revert --abort"),
        (
            [b"sequencer/todo"],
            "a sequence of picks",
            "git cherry-pick --continue",
            "git cherry-pick --abort",
        ),
        (
            [b"CHERRY_PICK_HEAD", b"rebase-merge/done"],
            "a rebase",
            "git rebase --continue",
            "git rebase --abort",
        ),
        (
            [b"rebase-apply/next", b"rebase-apply/rebasing"],
            "a rebase",
            "git rebase --continue",
            "git rebase --abort",
        ),
        ([b"rebase-apply/applying", b"ORIG_HEAD"], "git am", "git am --continue", "git am --abort"),
        (
            [b"BISECT_LOG", b"BISECT_START"],
            "a bisect",
            "git bisect good, or git bisect bad",
            "git bisect reset",
        ),
        ([b"MERGE_MODE"], "an operation", "git status", ""),
        (
            [b"BISECT_TERMS", b"rr-cache/" + b"a" * 40 + b"/preimage"],
            "an operation",
            "git status",
            "",
        ),
    ],
)
def test_what_is_in_progress_is_named_with_the_way_on(
    names: list[bytes], what: str, command: str, stop: str
) -> None:
    assert operation.kind_of(of(*names)) == Kind(what, command, stop)


@pytest.mark.parametrize(
    ("terms", "command"),
    [
        (b"slow\nfast\n", "git bisect fast, or git bisect slow"),
        (b"bad\ngood\n", "git bisect good, or git bisect bad"),
        (b"--exec\n\x1b[31m\n", "git bisect good, or git bisect bad"),
        (b"slow\n", "git bisect good, or git bisect bad"),
    ],
)
def test_a_bisect_goes_on_in_the_words_that_it_was_begun_with(terms: bytes, command: str) -> None:
    found = Operation(((b"BISECT_LOG", b""), (b"BISECT_TERMS", terms)))
    kind = operation.kind_of(found)
    assert kind is not None
    assert kind.command == command


@pytest.mark.parametrize(
    "names",
    [
        [],
        [b"ORIG_HEAD", b"AUTO_MERGE", b"MERGE_RR", b"REBASE_HEAD", b"MERGE_MSG"],
        [b"rr-cache/" + b"a" * 40 + b"/preimage"],
    ],
)
def test_what_git_leaves_behind_for_good_is_nothing_in_progress(names: list[bytes]) -> None:
    assert operation.kind_of(of(*names)) is None


def test_a_sequence_of_reverts_goes_on_as_one() -> None:
    files = ((PICKS, b"revert 1234 x\nrevert abcd y\n"),)
    assert operation.kind_of(Operation(files)) == Kind(
        "a sequence of reverts", "git revert --continue", "git revert --abort"
    )


@pytest.mark.parametrize(
    ("files", "branch"),
    [
        ({b"rebase-merge/head-name": b"refs/heads/feat/x\n"}, "feat/x"),
        ({b"rebase-apply/head-name": b"refs/heads/main\n"}, "main"),
        ({b"rebase-merge/head-name": b"detached HEAD\n"}, None),
        ({b"BISECT_START": b"feat/x\n"}, "feat/x"),
        ({b"BISECT_START": b"refs/heads/feat/x"}, "feat/x"),
        ({b"BISECT_START": b"caf\xe9\n"}, "caf\udce9"),
        ({b"BISECT_START": A.encode() + b"\n"}, None),
        ({b"BISECT_START": b""}, None),
        ({b"rebase-merge/head-name": b"detached HEAD\n", b"BISECT_START": b"main\n"}, "main"),
        ({}, None),
    ],
)
def test_the_branch_that_was_left_is_the_one_to_come_back_to(
    files: dict[bytes, bytes], branch: str | None
) -> None:
    assert operation.branch_of(files) == branch


# what may be written


GOOD = [
    *sorted(FILES),
    *(folder + b"/done" for folder in FOLDERS),
    b"rebase-merge/git-rebase-todo.backup",
    b"rebase-apply/0001",
    b"rebase-merge/rewritten/" + A.encode(),
    b"rr-cache/" + A.encode() + b"/preimage",
    b"rr-cache/" + A.encode() + b"/thisimage.12",
    b"tags/" + A.encode(),
]
BAD = [
    b"", b"HEAD", b"index", b"config", b"hooks/x", b"hooks/post-checkout", b"info/exclude",
    b"refs/heads/main", b"objects/info/alternates", b"../x", b"/etc/passwd", b"packed-refs",
    b"rebase-merge", b"rebase-merge/", b"/rebase-merge/x", b"rebase-merge//x",
    b"rebase-merge/../x", b"rebase-merge/./x", b"rebase-merge/a/..", b"rebase-merge/a/b/c",
    b"rebase-merge/.git-rebase-todo.swp", b"rebase-merge/a\0b", b"rebase-merge/a\nb",
    b"rebase-merge/..\\..\\config", b"rebase-merge/a:b", b"rebase-merge2/x", b"REBASE-MERGE/x",
    b"merge_head", b"MERGE_HEAD/x", b"MERGE_HEAD\n", b"./MERGE_HEAD", b"sequencer/" + b"x" * 101,
    b"rr-cache/x/preimage", b"rr-cache/" + A.encode() + b"/other",
    b"rr-cache/" + A.encode() + b"/preimage/x", b"rr-cache/" + A.encode() + b"/preimage\n",
    b"rr-cache/../preimage", b"tags/v1", b"tags/" + A.encode() + b"/x", b"tags/../config",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_file_of_an_operation_may_be_written(name: bytes) -> None:
    assert operation.may_be_written(name)


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_file_of_an_operation_may_not_be_written(name: bytes) -> None:
    assert not operation.may_be_written(name)


PARTS = st.sampled_from([
    b"", b".", b"..", b"hooks", b"config", b"HEAD", b"index", b"rebase-merge", b"sequencer", b"x",
    b"rebase-apply", b"rr-cache", b"tags", A.encode(), b"preimage", b"MERGE_HEAD", b"\0", b"a\\b",
]) | st.binary(max_size=4)  # fmt: skip


@given(st.lists(PARTS, max_size=5).map(b"/".join) | st.binary(max_size=30))
def test_nothing_outside_of_an_operation_may_ever_be_written(name: bytes) -> None:
    if not operation.may_be_written(name):
        return
    first, *rest = name.split(b"/")
    assert not {b"", b".", b".."} & {first, *rest}
    assert not {*b"\0\n\\:"} & {*name}
    assert len(rest) <= 2
    inside = first in (*FOLDERS, b"rr-cache", b"tags") if rest else first in FILES
    assert inside


@pytest.mark.parametrize(
    "name",
    [
        "refs/bisect/bad", f"refs/bisect/good-{A}", "refs/rewritten/onto", "refs/rewritten/a/b",
        "refs/rewritten/caf\udce9", "refs/rewritten/" + "x" * 250,
    ],
)  # fmt: skip
def test_a_ref_of_an_operation_may_be_set(name: str) -> None:
    assert operation.may_be_ref(name)


@pytest.mark.parametrize(
    "name",
    [
        "", "HEAD", "refs/heads/main", "refs/bisect", "refs/bisect/", "refs/bisect/../heads/x",
        "refs/bisect//x", "refs/bisect/.x", "refs/bisect/x/", "refs/bisect/x.", "refs/bisect/a b",
        "refs/bisect/a.lock", "refs/bisect/a.lock/b", "refs/bisect/a@{1}", "refs/bisect/a\nb",
        "refs/bisect/a\n", "refs/bisect/a*", "refs/bisect/a:b", "refs/bisect/a\\b",
        "refs/worktree/x", "refs/stash", "/refs/bisect/bad", "refs/rewritten/" + "x" * 251,
    ],
)  # fmt: skip
def test_any_other_ref_may_not_be_set(name: str) -> None:
    assert not operation.may_be_ref(name)


@given(st.text(st.sampled_from("abr./@{}~^:?*[\\ \n\x7f"), max_size=12))
def test_what_may_be_a_ref_is_one_for_git(name: str) -> None:
    if operation.may_be_ref("refs/bisect/" + name):
        assert not {*"~^:?*[\\ \n\x7f"} & {*name}
        assert ".." not in name
        assert "//" not in name
        assert "/." not in "/" + name
