"""Objects as bytes: the same names as git's, and broken ones are damaged and nothing worse."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    parse_commit,
    parse_tree,
)
from handsoff.errors import DamagedError
from tests.kit.plumbing import line, raw, repository

OIDS = st.binary(min_size=20, max_size=20).map(bytes.hex)
NAMES = st.binary(min_size=1, max_size=12).filter(lambda n: not {0, 47} & set(n))
MODES = st.sampled_from([FILE, EXECUTABLE, LINK, TREE, GITLINK])
ENTRIES = st.lists(st.builds(TreeEntry, NAMES, MODES, OIDS), unique_by=lambda e: e.name, max_size=8)

# what stands in one line of a header
VALUE = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), st.just("\udcff")),
    max_size=20,
)
FOLDED = st.lists(VALUE, min_size=1, max_size=3).map("\n".join)
WHO = VALUE.map(lambda name: f"{name} <x@example.invalid> 1700000000 +0100")
OTHER = st.tuples(st.sampled_from(["encoding", "mergetag", "HG:extra", "x"]), FOLDED)
COMMITS = st.builds(
    Commit,
    tree=OIDS,
    parents=st.lists(OIDS, max_size=3).map(tuple),
    author=WHO,
    committer=WHO,
    message=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    signatures=st.lists(FOLDED, max_size=2).map(tuple),
    others=st.lists(OTHER, max_size=2).map(tuple),
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("objects"))


@given(ENTRIES)
def test_a_tree_reads_back_as_it_was_written(entries: list[TreeEntry]) -> None:
    read = parse_tree(encode_tree(entries))
    assert sorted(read) == sorted(entries)
    assert encode_tree(read) == encode_tree(list(reversed(entries)))


def test_a_tree_is_sorted_as_git_sorts_it(repo: Path) -> None:
    blob = line(repo, "hash-object", "-w", "--stdin", given=b"x")
    names = [b"a", b"a-", b"a.b", b"a0", b"A", b"ab", b"\xff", b"\xc3\xa9", b"a b", b"\n", b"\t"]
    for chosen in names:
        entries = [TreeEntry(name, TREE if name == chosen else FILE, blob) for name in names]
        entries = [e._replace(oid=EMPTY_TREE) if e.mode == TREE else e for e in entries]
        listed = b"".join(
            b"%06o %s %s\t%s\0" % (e.mode, b"tree" if e.mode == TREE else b"blob",
                                    e.oid.encode(), e.name) for e in entries
        )  # fmt: skip
        oid = line(repo, "mktree", "--missing", "-z", given=listed)
        assert oid_of("tree", encode_tree(entries)) == oid
        assert encode_tree(parse_tree(raw(repo, "cat-file", "tree", oid))) == encode_tree(entries)


def test_the_empty_tree_is_gits() -> None:
    assert oid_of("tree", encode_tree([])) == EMPTY_TREE
    assert parse_tree(b"") == []


@given(ENTRIES, st.data())
def test_a_tree_that_is_cut_is_damaged(entries: list[TreeEntry], data: st.DataObject) -> None:
    body = encode_tree(entries)
    end = data.draw(st.integers(0, len(body)))
    whole = {0}
    at = 0
    for entry in parse_tree(body):
        at += len(b"%o %s\0" % (entry.mode, entry.name)) + 20
        whole.add(at)
    if end in whole:
        assert len(parse_tree(body[:end])) <= len(entries)
    else:
        with pytest.raises(DamagedError):
            parse_tree(body[:end])


@given(st.binary(max_size=80))
def test_any_bytes_are_a_tree_or_damaged(body: bytes) -> None:
    for data in (body, b"100644 a\0" + body, body + b"\0" + b"x" * 20):
        with suppress(DamagedError):
            assert all(e.name and e.mode >= 0 and len(e.oid) == 40 for e in parse_tree(data))


@pytest.mark.parametrize(
    "head",
    [b"-1 a", b"+100644 a", b"0o17 a", b"1_0 a", b" 100644 a", b"100644\t a", b"9 a", b" a",
     b"100644 ", b"\xff a", b"10064400000 a", b"a", b"\xd9\xa1 a"],
)  # fmt: skip
def test_an_entry_with_a_mode_that_is_no_number_or_without_a_name_is_damaged(head: bytes) -> None:
    with pytest.raises(DamagedError, match="a tree object"):
        parse_tree(head + b"\0" + b"x" * 20)


def test_a_mode_padded_with_zeros_is_read_as_git_reads_it() -> None:
    assert parse_tree(b"040000 a\0" + b"\0" * 20) == [TreeEntry(b"a", TREE, "0" * 40)]


@given(COMMITS)
def test_a_commit_reads_back_as_it_was_written(commit: Commit) -> None:
    body = encode_commit(commit)
    assert parse_commit(body) == commit
    assert encode_commit(parse_commit(body)) == body


@given(COMMITS)
def test_what_is_signed_is_the_commit_without_its_signatures(commit: Commit) -> None:
    unsigned = encode_commit(commit, signed=False)
    assert parse_commit(unsigned).signatures == ()
    assert unsigned == encode_commit(parse_commit(unsigned))


@given(COMMITS, st.integers(0, 400))
def test_a_commit_that_is_cut_is_damaged_or_ends_within_its_message(
    commit: Commit, end: int
) -> None:
    body = encode_commit(commit)
    head = body.index(b"\n\n") + 2
    if end < head:
        with pytest.raises(DamagedError, match="a commit object is malformed"):
            parse_commit(body[: min(end, head - 1)])
    else:
        assert parse_commit(body[:end]).tree == commit.tree


@given(st.binary(max_size=120))
def test_any_bytes_are_a_commit_or_damaged(body: bytes) -> None:
    for data in (body, b"tree " + body, body + b"\n\n", b"tree a\nauthor b\ncommitter c\n" + body):
        with suppress(DamagedError):
            parse_commit(data)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"tree a\nauthor b\n\nx",
        b"tree a\ncommitter b\n\nx",
        b"author a\ncommitter b\n\nx",
        b"tree a\nauthor b\ncommitter c\n",
        b" tree a\nauthor b\ncommitter c\n\nx",
    ],
)
def test_a_commit_that_lacks_a_header_is_damaged(body: bytes) -> None:
    with pytest.raises(DamagedError, match="a commit object is malformed"):
        parse_commit(body)


def test_a_second_tree_or_committer_does_not_count_and_is_not_lost() -> None:
    body = b"tree a\ntree b\nauthor c\ncommitter d\ncommitter e\n\nx"
    commit = parse_commit(body)
    assert (commit.tree, commit.committer) == ("a", "d")
    assert commit.others == (("tree", "b"), ("committer", "e"))


def test_git_gives_a_commit_of_ours_the_name_that_we_give(repo: Path) -> None:
    tree = line(repo, "hash-object", "-w", "-t", "tree", "--stdin")
    who = "Lin <lin@example.invalid> 1700000000 +0000"
    commit = Commit(tree, (), who, who, "subject\n\nbody \udcff\n", others=(("encoding", "x"),))
    body = encode_commit(commit)
    assert line(repo, "hash-object", "-t", "commit", "-w", "--stdin", given=body) == oid_of(
        "commit", body
    )
    made = line(repo, "commit-tree", "-m", "by git", tree, GIT_AUTHOR_DATE="@1 +0000",
                GIT_COMMITTER_DATE="@1 +0000")  # fmt: skip
    data = raw(repo, "cat-file", "commit", made)
    assert encode_commit(parse_commit(data)) == data
    assert oid_of("commit", data) == made
