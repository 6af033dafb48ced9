"""Ids in the files of an operation: found where git reads them, spelled out where unclear."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout import operation
from handsoff.core.checkout.operation import NOTHING, Operation

A, B, C = "a" * 40, "b" * 40, "0123456789" * 4
TODO = b"rebase-merge/git-rebase-todo"
PICKS = b"sequencer/todo"
COMMANDS = ("pick", "p", "revert", "reword", "edit", "squash", "fixup", "drop")
IDS = st.text("0123456789abcdef", min_size=4, max_size=40)
WORDS = st.text("ghijklmnopq", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        (b"pick 1234567 a subject", ["1234567"]),
        (b"pick " + A.encode() + b" abcd", [A]),
        (b"  p\t1234\tabcd", ["1234"]),
        (b"pick 1234", ["1234"]),
        (b"fixup -C 1234567 # x", ["1234567"]),
        (b"fixup -c abcd y", ["abcd"]),
        (b"squash 123 too short", []),
        (b"pick " + b"a" * 41 + b" too long", []),
        (b"pick 1234G no id", []),
        (b"merge -C abcdef1 label # Merge branch 'x'", ["abcdef1"]),
        (b"merge -C abcdef1 7da859b # f 1", ["abcdef1", "7da859b"]),
        (b"merge -c abcdef1 one 7da859b two # octopus 1234", ["abcdef1", "7da859b"]),
        (b"m 7da859b", ["7da859b"]),
        (b"reset 894d099 # f 1", ["894d099"]),
        (b"reset onto", []),
        (b"label deadbeef", []),
        (b"l cafe", []),
        (b"exec abcd 1234", []),
        (b"x git show 1234567", []),
        (b"update-ref refs/heads/abcd", []),
        (b"break", []),
        (b"noop", []),
        (b"# pick 1234567 x", []),
        (b" # Rebase 1234..abcd onto 1234", []),
        (b"#1234 5678", []),
        (b"", []),
        (b"   ", []),
    ],
)
def test_ids_stand_in_a_list_of_steps_where_git_reads_them(line: bytes, ids: list[str]) -> None:
    for name in (TODO, PICKS, TODO + b".backup", b"rebase-merge/done"):
        assert operation.ids_in(name, line) == ids
        assert operation.ids_in(name, b"break\n" + line + b"\n") == ids


@given(st.lists(st.tuples(st.sampled_from(COMMANDS), IDS, WORDS | IDS), max_size=4))
def test_every_step_has_its_id_and_no_subject_has_one(steps: list[tuple[str, str, str]]) -> None:
    data = "".join(" ".join(words) + "\n" for words in steps).encode()
    assert operation.ids_in(PICKS, data) == [oid for _, oid, _ in steps]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (b"MERGE_HEAD", True),
        (b"BISECT_LOG", True),
        (b"rebase-merge/onto", True),
        (b"rebase-merge/rewritten-list", True),
        (b"rebase-apply/orig-head", True),
        (b"sequencer/head", True),
        (b"MERGE_MSG", False),
        (b"SQUASH_MSG", False),
        (b"MERGE_RR", False),
        (b"BISECT_NAMES", False),
        (b"rebase-merge/message", False),
        (b"rebase-merge/message-squash", False),
        (b"rebase-merge/patch", False),
        (b"rebase-merge/author-script", False),
        (b"rebase-apply/0001", False),
        (b"rebase-apply/final-commit", False),
        (b"sequencer/opts", False),
        (b"rr-cache/" + A.encode() + b"/preimage", False),
        (b"tags/" + A.encode(), False),
    ],
)
def test_ids_count_where_git_reads_them_and_not_where_they_are_talked_about(
    name: bytes, counts: bool
) -> None:
    data = f"good {C} {A}\n1234567 {B}f {A[1:]}\n".encode()
    assert operation.ids_in(name, data) == ([C, A] if counts else [])


def test_labels_are_told_from_ids() -> None:
    files = {
        b"rebase-merge/done": b"label cafe\nreset cafe\n",
        TODO: b"l 2024\n  label branch-point # x\nreset 2024\nmerge -C 1234 cafe\nlabel\n",
        PICKS: b"",
        b"rebase-merge/message": b"label none\n",
    }
    assert operation.labels_in(files) == {"cafe", "2024", "branch-point"}
    assert operation.labels_in({}) == set()


def test_an_id_that_is_not_clear_is_spelled_out_in_the_steps_alone() -> None:
    steps = b"pick 1234 1234 b\nmerge -C aaaa 1234 # 1234\r\nexec 1234\n# pick 1234\nfixup -C 1234"
    text = b"pick 1234 x\n"
    before = Operation(
        ((b"MERGE_MSG", text), (PICKS, steps)), commits=(A, C), short=(("1234", C), ("aaaa", A))
    )
    full = C.encode()
    after = operation.expanded(before, {"1234"})
    assert dict(after.files) == {
        b"MERGE_MSG": text,
        PICKS: b"pick %s 1234 b\nmerge -C aaaa %s # 1234\r\nexec 1234\n# pick 1234\nfixup -C %s"
        % (full, full, full),
    }
    assert (after.commits, after.short) == (before.commits, before.short)
    assert operation.expanded(before, set()) == before
    assert operation.expanded(before, {"ffff"}) == before
    assert operation.expanded(NOTHING, {"1234"}) == NOTHING


@given(
    st.lists(st.tuples(st.sampled_from([*COMMANDS, "exec", "label", "merge -C", "#"]), IDS, WORDS)),
    st.data(),
)
def test_spelling_out_changes_the_unclear_ids_and_nothing_else(
    steps: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    text = "\n".join(" ".join(words) for words in steps).encode()
    short = sorted({oid for oid in operation.ids_in(TODO, text) if len(oid) < 40})
    whole = {oid: oid.ljust(40, "0") for oid in short}
    unclear = data.draw(st.sets(st.sampled_from(short))) if short else set()
    before = Operation(((TODO, text),), short=tuple(whole.items()))
    ((_, after),) = operation.expanded(before, unclear).files
    assert operation.ids_in(TODO, after) == [
        whole[oid] if oid in unclear else oid for oid in operation.ids_in(TODO, text)
    ]
    assert [line.split(b" ")[0] for line in after.split(b"\n")] == [
        line.split(b" ")[0] for line in text.split(b"\n")
    ]
    again = operation.expanded(Operation(((TODO, after),), short=before.short), unclear)
    assert again.files == ((TODO, after),)


def test_the_commits_that_must_travel_are_named_once_and_in_order() -> None:
    found = Operation(refs=(("refs/bisect/bad", B), ("refs/bisect/x", A)), commits=(B, C))
    assert found.anchors == [C, A, B]
    assert NOTHING.anchors == []


# commands


def test_the_commands_that_a_rebase_would_run_are_told_and_those_it_ran_are_not() -> None:
    todo = b"pick 1234 x\nexec make test\n x  rm -rf \xff /\nexec\nlabel exec\n# exec no\nxx y\n"
    files = ((b"rebase-merge/done", b"exec before\n"), (TODO, todo), (PICKS, b"exec no\n"))
    assert operation.commands_in(Operation(files)) == ["make test", "rm -rf \\xff /"]
    assert operation.commands_in(NOTHING) == []


def test_the_branches_that_a_rebase_moves_along_are_named() -> None:
    listed = f"refs/heads/mid\n{A}\n{'0' * 40}\nrefs/heads/a/b\n{B}\n{C}\n".encode()
    found = Operation(((b"rebase-merge/update-refs", listed),))
    assert operation.moved_in(found) == ["mid", "a/b"]
    assert operation.moved_in(NOTHING) == []
