"""The index as data: git reads what we write, and we read what git says, to the last flag."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core.checkout import index
from handsoff.core.checkout.index import (
    NO_STAT,
    Entry,
    Flag,
    Stat,
    encode_entry,
    listing_of,
    read_index,
)
from handsoff.core.objects import EXECUTABLE, FILE, GITLINK, LINK
from handsoff.errors import DamagedError
from tests.kit.plumbing import raw, repository

A, B = "a" * 40, "b" * 40
NUMBER = st.integers(0, 0xFFFFFFFF)
NAME = st.binary(min_size=1, max_size=9).filter(
    lambda n: not {0, 47} & set(n) and n.strip(b".") and b"git" not in n.lower() and b"\\" not in n
)
PATH = st.lists(NAME, min_size=1, max_size=3).map(b"/".join)
TIME = st.tuples(NUMBER, NUMBER)
STAT = st.just(NO_STAT) | st.builds(Stat, TIME, TIME, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
FLAG = st.sampled_from([Flag.ASSUME_UNCHANGED, Flag.SKIP_WORKTREE, Flag.INTENT_TO_ADD])
FLAGS = st.sets(FLAG).map(lambda flags: sum(map(int, flags)))
MODE = st.sampled_from([FILE, EXECUTABLE, LINK, GITLINK])
OID = st.binary(min_size=20, max_size=20).map(bytes.hex)
PLAIN = st.builds(Entry, PATH, MODE, OID, st.just(0), FLAGS, STAT).map(lambda e: [e])
CONFLICT = st.builds(
    lambda path, mode, oid, stages, stat: [Entry(path, mode, oid, s, 0, stat) for s in stages],
    PATH, MODE, OID, st.sets(st.integers(1, 3), min_size=1), STAT,
)  # fmt: skip


def without_clashes(groups: list[list[Entry]]) -> list[Entry]:
    """Return the entries of ``groups`` but those of a path that is a folder of another."""
    taken = {group[0].path: group for group in groups}
    folders = {path[:at] for path in taken for at in range(len(path)) if path[at : at + 1] == b"/"}
    return [e for path, group in taken.items() if path not in folders for e in group]


ENTRIES = st.lists(PLAIN | CONFLICT, max_size=8).map(without_clashes)


def in_order(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: (e.path, e.stage))


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("index"))


def listed(repo: Path, data: bytes) -> list[Entry]:
    """Return what git says of an index file."""
    (repo / ".git" / "index").write_bytes(data)
    entries = index.parse_debug(raw(repo, "ls-files", "--stage", "--debug", "-z"))
    by_path = read_index(data)
    assert by_path is not None
    assert list(by_path.paths) == list(dict.fromkeys(e.path for e in entries))
    assert [e for path in by_path.paths for e in by_path[path]] == entries
    assert {*by_path.odd} == {e.path for e in entries if not e.plain}
    assert {*by_path.links} == {e.path for e in entries if e.mode == GITLINK}
    assert by_path.of(b"/") == []
    return entries


@settings(max_examples=60, deadline=None)
@given(ENTRIES)
def test_git_lists_every_entry_that_was_written(repo: Path, entries: list[Entry]) -> None:
    assert listed(repo, index.encode(map(index.encode_entry, entries))) == in_order(entries)


@pytest.mark.parametrize("length", [1, 2, 8, *range(61, 71), 255, 4094, 4095, 4096, 5000])
def test_names_of_every_length_are_padded_as_git_wants(repo: Path, length: int) -> None:
    path = (b"d" * 199 + b"/") * (length // 200) + b"n" * (length % 200 or 1)
    entries = [Entry(path, FILE, A), Entry(path + b"x", FILE, A, 0, int(Flag.SKIP_WORKTREE))]
    assert listed(repo, index.encode(map(index.encode_entry, entries))) == entries


def test_a_version_is_as_low_as_the_flags_allow() -> None:
    assert index.encode(map(index.encode_entry, [Entry(b"a", FILE, A)]))[4:8] == b"\0\0\0\2"
    assert (
        index.encode(
            map(index.encode_entry, [Entry(b"a", FILE, A, 0, int(Flag.ASSUME_UNCHANGED))])
        )[4:8]
        == b"\0\0\0\2"
    )
    for flag in (Flag.INTENT_TO_ADD, Flag.SKIP_WORKTREE):
        assert (
            index.encode(map(index.encode_entry, [Entry(b"a", FILE, A, 0, int(flag))]))[4:8]
            == b"\0\0\0\3"
        )


def test_the_flags_that_git_sets_are_those_that_we_read(repo: Path) -> None:
    (repo / ".git" / "index").unlink(missing_ok=True)
    for name in "abcde":
        (repo / name).write_text(name)
    raw(repo, "add", "a", "b", "c", "e")
    raw(repo, "add", "--intent-to-add", "d")
    raw(repo, "update-index", "--assume-unchanged", "a", "e")
    raw(repo, "update-index", "--skip-worktree", "b", "e")
    found = index.parse_debug(raw(repo, "ls-files", "--stage", "--debug", "-z"))
    assert {e.path: e.flags for e in found} == {
        b"a": Flag.ASSUME_UNCHANGED,
        b"b": Flag.SKIP_WORKTREE,
        b"c": Flag.NONE,
        b"d": Flag.INTENT_TO_ADD,
        b"e": Flag.ASSUME_UNCHANGED | Flag.SKIP_WORKTREE,
    }
    assert [e.path for e in found if e.plain] == [b"c"]
    before = raw(repo, "ls-files", "--stage", "--debug", "-v")
    (repo / ".git" / "index").write_bytes(index.encode(map(index.encode_entry, found)))
    assert raw(repo, "ls-files", "--stage", "--debug", "-v") == before
    assert raw(repo, "diff-files", "--name-only") == b"d\n"


def test_stat_data_that_hold_let_git_believe_a_file(repo: Path) -> None:
    (repo / ".git" / "index").unlink(missing_ok=True)
    (repo / "f").write_text("f")
    raw(repo, "add", "f")
    [entry] = index.parse_debug(raw(repo, "ls-files", "--stage", "--debug", "-z"))
    (repo / ".git" / "index").write_bytes(index.encode(map(index.encode_entry, [entry])))
    assert raw(repo, "diff-files") == b""
    (repo / ".git" / "index").write_bytes(
        index.encode(map(index.encode_entry, [entry._replace(stat=NO_STAT)]))
    )
    assert raw(repo, "diff-files", "--name-only") == b"f\n"


def test_all_versions_and_a_split_index_say_the_same(repo: Path) -> None:
    flags = [0, *map(int, (Flag.ASSUME_UNCHANGED, Flag.SKIP_WORKTREE, Flag.INTENT_TO_ADD))]
    wanted = [Entry(b"a%d" % n, FILE, A, 0, flag) for n, flag in enumerate(flags)]
    wanted += [Entry(b"b", FILE, B, stage) for stage in (1, 2, 3)]
    (repo / ".git" / "index").write_bytes(index.encode(map(index.encode_entry, wanted)))
    raw(repo, "update-index", "--force-write-index", "--index-version", "4")
    assert index.parse_debug(raw(repo, "ls-files", "--stage", "--debug", "-z")) == wanted
    raw(repo, "update-index", "--split-index")
    raw(repo, "update-index", "--no-assume-unchanged", "a1")
    wanted[1] = wanted[1]._replace(flags=0)
    assert list((repo / ".git").glob("sharedindex.*"))
    assert index.parse_debug(raw(repo, "ls-files", "--stage", "--debug", "-z")) == wanted


@given(st.binary(max_size=80))
def test_other_words_of_git_are_not_taken_for_entries(text: bytes) -> None:
    whole = b"100644 %s 0\tf\0  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n" % A.encode()
    whole += b"  uid: 7\tgid: 8\n  size: 9\tflags: 0\n"
    stat = Stat((1, 2), (3, 4), 5, 6, 7, 8, 9)
    assert index.parse_debug(whole) == [Entry(b"f", FILE, A, 0, 0, stat)]
    for damaged in (text, whole + text, text + whole, whole[:-1], whole[: len(text)]):
        if damaged not in (b"", whole):
            with pytest.raises(DamagedError, match="git ls-files --debug printed"):
                index.parse_debug(damaged)


@given(ENTRIES)
def test_the_entries_that_no_tree_can_say_travel_as_they_are(entries: list[Entry]) -> None:
    special = [e._replace(stat=NO_STAT) for e in in_order(entries)]
    assert index.decode_special(index.encode_special(entries)) == special


def special(*fields: str) -> bytes:
    return b"".join(f.encode("latin-1") + b"\0" for f in fields)


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"\0",
        special(f"100644 {A} 0 8000"),
        special(f"100644 {A} 0 8000\t"),
        special(f"100644 {A} 4 0\tf"),
        special(f"100645 {A} 0 8000\tf"),
        special(f"000000 {A} 0 8000\tf"),
        special(f"0100644 {A} 0 8000\tf"),
        special(f"100644 {A.upper()} 0 8000\tf"),
        special(f"100644 {A[1:]} 0 8000\tf"),
        special(f"100644 {A} 0 1\tf"),
        special(f"100644 {A} 0 4000\tf"),
        special(f"100644 {A} 0 80000000\tf"),
        special(f"100644 {A} 0 08000\tf"),
        special(f"100644 {A} 0 8000\tf")[:-1],
        special(f"100644 {A} 0 8000\tf") + b"x",
        special(f"100644 {A} 0 8000\tg", f"100644 {A} 0 8000\tf"),
        special(f"100644 {A} 2 0\tf", f"100644 {A} 1 0\tf"),
        special(f"040000 {A} 0 8000\tf"),
        special(f"100644 {A} 0 8000\tf", f"100644 {B} 0 8000\tf"),
        special(f"100644 {A} 2 0\tf", f"100644 {B} 2 0\tf"),
        special(f"100644 {A} 0 8000\tf", f"100644 {B} 2 0\tf"),
        special(f"100644 {A} 0 8000\tf") * 2,
    ],
)
def test_a_list_that_no_index_could_hold_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedError, match="index entr"):
        index.decode_special(data)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_list_of_entries_or_damaged(data: bytes) -> None:
    for body in (data, b"100644 " + A.encode() + b" 0 8000\t" + data + b"\0"):
        try:
            assert index.encode_special(index.decode_special(body)) == body
        except DamagedError as error:
            assert "index entr" in str(error)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_index_are_left_to_git(data: bytes) -> None:
    for body in (data, b"DIRC" + data, b"DIRC\0\0\0\2" + data, b"DIRC\0\0\0\4" + data):
        found = read_index(body)
        assert found is None or isinstance(len(found.paths), int)


@pytest.mark.parametrize(
    "settings_of",
    [
        ["update-index", "--index-version", "4"],
        ["update-index", "--split-index"],
        ["sparse-checkout", "set", "--cone", "--sparse-index", "src"],
    ],
)
def test_formats_that_only_git_reads_are_left_to_git(
    tmp_path: Path, settings_of: list[str]
) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "src").mkdir(exist_ok=True)
    (repo / "src" / "x").write_text("x")
    (repo / "other").mkdir(exist_ok=True)
    (repo / "other" / "y").write_text("y")
    raw(repo, "add", "-A")
    raw(repo, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
    assert read_index((repo / ".git" / "index").read_bytes()) is not None
    raw(repo, *settings_of)
    assert read_index((repo / ".git" / "index").read_bytes()) is None


def test_a_listing_of_values_gives_them_back_with_their_stat_data() -> None:
    stat = Stat((1, 2), (3, 4), 5, 6, 7, 8, 9)
    flags = int(Flag.SKIP_WORKTREE | Flag.ASSUME_UNCHANGED)
    entries = [
        Entry(b"a", FILE, A, 0, 0, stat),
        Entry(b"b", FILE, A, 2),
        Entry(b"c", FILE, A, 0, flags),
    ]
    found = listing_of(entries)
    assert [e for path in found.paths for e in found[path]] == entries
    assert (found.odd, found.links) == ([b"b", b"c"], [])
    assert found.encoded(b"a") == encode_entry(entries[0])


@given(ENTRIES, st.integers(1, 2000))
def test_an_index_that_is_cut_is_left_to_git(entries: list[Entry], end: int) -> None:
    data = index.encode(map(encode_entry, entries))
    assert read_index(data) is not None
    assert read_index(data[:-1]) is None
    assert read_index(data[: end % len(data)]) is None
