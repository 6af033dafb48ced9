"""Paths that arrive: none leaves the tree, none is .git on any file system, no two are one."""

import os
import re
import subprocess
import unicodedata
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.checkout import paths
from handsoff.core.objects import (
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    GITLINK,
    LINK,
    MODES,
    TREE,
    TreeEntry,
    encode_tree,
    oid_of,
    parse_tree,
)
from handsoff.errors import RefusedError
from tests.kit.plumbing import ENVIRONMENT, raw, repository

SPANS = (range(0x200C, 0x2010), range(0x202A, 0x202F), range(0x206A, 0x2070), [0xFEFF])
IGNORABLE = [chr(number) for span in SPANS for number in span]
DOT_GIT = [
    ".git", ".GIT", ".Git", ".giT", "git~1", "GIT~1", "git~2", "git~10", ".git.", ".git..", ".git ",
    ".git . .", ".git::$INDEX_ALLOCATION", ".GIT:x", ".git:", "git~1:x", "git~1 .", ".git.:x",
    ".git\\config", "git~1\\x", ".git \\x", "a\\.git", "a\\.GIT\\b", "\\.git",
    *(f".g{c}it" for c in IGNORABLE), *(f"{c}.GIT{c}" for c in IGNORABLE),
]  # fmt: skip
HARMLESS = [
    ".gitignore", ".gitattributes", ".gitmodules", ".github", "git", "git~", "git~a", "..git",
    ".git-x", ".git_", "x.git", " .git", "agit~1", ".gi", ".g it", "a b", "~", "-", "...", ".. ",
    ".wip", "\udcff", "a\nb", "中文", ":", "a:b", "\\", "a\\b", "con", "x" * 255,
]  # fmt: skip
# pieces out of which spellings of .git come about by chance
PIECES = [*"gitGIT~ /:\\a\0\udcff\u0131\u0130", ".", "..", "git", ".git", "~1", *IGNORABLE[:3]]
PATH = st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join).map(os.fsencode)


@given(PATH)
@example(b"a/../../b")
@example(b"/etc/passwd")
@example(b"a//b")
def test_no_path_that_passes_leaves_the_tree_or_enters_git(path: bytes) -> None:
    if paths.path_problem(path) is not None:
        with pytest.raises(RefusedError, match="the path "):
            paths.check_path(path)
        return
    paths.check_path(path)
    assert os.path.normpath(b"/top/" + path) == b"/top/" + path
    text = os.fsdecode(path).translate({ord(c): None for c in IGNORABLE})
    for part in text.replace("\\", "/").split("/"):
        assert part.partition(":")[0].rstrip(" .").lower() not in (".git", "git~1", "git~2")


@given(PATH)
@example(b"")
@example(b"a/")
@example(b"/a")
@example(b"a/./b")
@example(b"a/..")
@example(b"a/.GIT")
@example(b"git~1/a")
@example(b"a\\.git/b")
@example(b"x" * 255 + b"/" + b"x" * 256)
@example(b"x" * 3997)
@example(b"a/" * 2047 + b"a")
def test_a_path_passes_at_one_look_where_it_passes_part_by_part(path: bytes) -> None:
    by_parts = paths.path_problem(path + "/é".encode())  # at which one look cannot tell
    assert (paths.path_problem(path) is None) == (by_parts is None)


NAME = st.one_of(PATH, st.sampled_from([*DOT_GIT, *HARMLESS]).map(os.fsencode), st.binary())


@given(st.lists(NAME.filter(lambda name: b"\0" not in name), max_size=4))
@example([b"README", b".git"])
@example([b"a", b"..", b"b"])
@example([b"a", b"a\\.git"])
@example([b"x" * 256])
def test_the_names_of_a_folder_pass_together_where_each_passes_alone(names: list[bytes]) -> None:
    problems = [problem for name in names if (problem := paths.path_problem(name))]
    if problems:
        with pytest.raises(RefusedError, match=re.escape(problems[0])):
            paths.check_names(names)
    else:
        paths.check_names(names)


MODE = st.sampled_from([*sorted(MODES), 0o100664, 0o120777])


@given(st.lists(st.tuples(NAME.filter(lambda name: not {0, ord("/")} & {*name}), MODE), max_size=4))
@example([(b"README", FILE), (b".git", FILE)])
@example([(b"a", EXECUTABLE), (b"..", LINK), (b"b", GITLINK)])
@example([(b"a\\.git", FILE)])
@example([(b"a", FILE), (b"x" * 256, FILE)])
@example([(b"a", FILE), (b"b", TREE)])
@example([(b"a", 0o100664)])
def test_of_a_tree_that_passes_at_one_look_each_entry_is_a_file_and_passes_alone(
    held: list[tuple[bytes, int]],
) -> None:
    tree = encode_tree([TreeEntry(name or b"a", mode, "20" * 20) for name, mode in held])
    names = paths.harmless_files(tree)
    if names is not None:
        entries = parse_tree(tree)
        assert names == [entry.name for entry in entries]
        assert {entry.mode for entry in entries} <= MODES - {TREE}
        assert not any(map(paths.path_problem, names))
    assert paths.harmless_files(tree + b"100644 cut\0") is None


def test_most_trees_pass_at_one_look() -> None:
    modes = {b"a.b": FILE, b"b c": EXECUTABLE, b"c": LINK, b"x" * 255: GITLINK}
    tree = encode_tree([TreeEntry(name, mode, "00" * 20) for name, mode in modes.items()])
    assert paths.harmless_files(tree) == [*modes]
    assert paths.harmless_files(b"") == []


@pytest.mark.parametrize("name", DOT_GIT)
@pytest.mark.parametrize("around", ["{}", "{}/config", "a/{}", "a/b/{}/hooks/x"])
def test_no_spelling_of_dot_git_passes(name: str, around: str) -> None:
    with pytest.raises(RefusedError, match=r"reaches into \.git"):
        paths.check_path(os.fsencode(around.format(name)))


@pytest.mark.parametrize("name", HARMLESS)
def test_a_name_that_only_looks_like_dot_git_passes(name: str) -> None:
    paths.check_path(os.fsencode(name))
    paths.check_path(b"a/" + os.fsencode(name) + b"/b")


@pytest.mark.parametrize("path", [b"", b"/", b"/a", b"//", b"a\0b", b"\0"])
def test_no_path_is_empty_absolute_or_has_a_nul(path: bytes) -> None:
    assert paths.path_problem(path) == "is empty, absolute or has a NUL"


@pytest.mark.parametrize("path", [b".", b"..", b"../a", b"a/..", b"a/../b", b"a/.", b"./a", b"a/",
                                  b"a//b", b"a/./b"])  # fmt: skip
def test_a_path_that_is_not_clean_is_refused_and_never_repaired(path: bytes) -> None:
    assert paths.path_problem(path) == "is not a clean relative path"


@pytest.mark.parametrize("letter", [b"x", b"\xff"])  # one look does for the first alone
def test_limits_hold_to_the_byte(letter: bytes) -> None:
    paths.check_path(letter * 255)
    with pytest.raises(RefusedError, match="has a name of 256 bytes"):
        paths.check_path(b"a/" + letter * 256)
    paths.check_path(b"/".join([letter] * 128))
    with pytest.raises(RefusedError, match="is more than 128 levels deep"):
        paths.check_path(b"/".join([letter] * 129))
    longest = b"/".join([letter * 199] * 19 + [letter * 200])
    paths.check_path(longest)
    assert len(longest) == 4000
    with pytest.raises(RefusedError, match="is longer than 4000 bytes"):
        paths.check_path(longest + letter)


def test_whatever_git_calls_dot_git_is_refused(tmp_path: Path) -> None:
    # one fsck over trees of one entry each, with every piece of a spelling at every place
    repo = repository(tmp_path)
    blob = oid_of("blob", b"")
    raw(repo, "hash-object", "-w", "--stdin")
    names = {os.fsencode(name) for name in (*DOT_GIT, *HARMLESS) if "/" not in name}
    for base in (b".git", b"git~1", b".GIT", b"GIT~1", b"git~2", b".gitx", b"git"):
        for extra in (b" ", b".", b":", b"\\", b"x", *map(os.fsencode, IGNORABLE)):
            names |= {base[:at] + extra + base[at:] for at in range(len(base) + 1)}
            names |= {base + extra + b"x", b"x" + extra + base, base + extra * 2, extra * 2 + base}
    trees = {}
    pack = []
    for name in sorted(names):
        data = encode_tree([TreeEntry(name, FILE, blob)])
        trees[oid_of("tree", data)] = name
        pack.append(data)
    write_loose(repo, pack)
    done = subprocess.run(
        ["git", "fsck"], cwd=repo, env=ENVIRONMENT, capture_output=True, check=False
    )
    said = (done.stdout + done.stderr).decode()
    refused = {trees[oid] for oid in re.findall(r"in tree ([0-9a-f]{40}): hasDotgit", said)}
    assert len(refused) > 40
    assert [name for name in refused if paths.path_problem(name) is None] == []


def write_loose(repo: Path, trees: list[bytes]) -> None:
    """Store trees that git's own commands would not write."""
    for data in trees:
        oid = oid_of("tree", data)
        place = repo / ".git" / "objects" / oid[:2] / oid[2:]
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(zlib.compress(b"tree %d\0" % len(data) + data))
    assert EMPTY_TREE not in {oid_of("tree", data) for data in trees}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "A"),
        ("é", "e\u0301"),
        ("É", "e\u0301"),
        ("ß", "SS"),
        ("\u017f", "s"),
        ("K", "k"),
        ("ǰ", "J\u030c"),
        ("a\u200cb", "ab"),
        ("\ufeffa", "a"),
        ("Å", "å"),
    ],
)
def test_names_that_some_file_system_takes_for_one_fold_into_one(one: str, other: str) -> None:
    a, b = one.encode(), other.encode()
    assert paths.fold(a) == paths.fold(b)
    assert paths.collisions([a, b]) == [(a, b)]
    assert paths.collisions([a + b"/x", b + b"/y"]) == [(a, b)]
    assert paths.collisions([a, b + b"/y"]) == [(a, b)]


@given(st.text(max_size=8))
def test_folding_twice_is_folding_once_and_case_never_tells_two_names_apart(text: str) -> None:
    name = text.encode("utf-8", "surrogatepass" if not text.isprintable() else "strict")
    folded = paths.fold(name)
    again = paths.fold(folded.encode("utf-8", "surrogateescape"))
    assert again == folded
    for other in (unicodedata.normalize("NFD", text), unicodedata.normalize("NFC", text)):
        if text.isprintable():
            assert paths.fold(other.encode()) == folded


def test_names_that_differ_do_not_collide() -> None:
    assert paths.collisions([b"a", b"b", b"a/b", b"ab", b"\xff", b"\xfe", b"a/c", b"a/c"]) == []
    assert paths.collisions([b"x/A/1", b"x/a/1", b"x/a/2"]) == [
        (b"x/A", b"x/a"),
        (b"x/A/1", b"x/a/1"),
    ]


def test_the_folders_above_a_path_come_outermost_first() -> None:
    assert paths.parents(b"a/b/c") == [b"a", b"a/b"]
    assert paths.parents(b"a") == []
    assert paths.folders_above([b"f", b"a/b/c/d", b"a/b/e", b"x/y"]) == [
        b"a",
        b"a/b",
        b"a/b/c",
        b"x",
    ]


@given(st.binary(max_size=30))
def test_what_is_shown_is_one_printable_line(path: bytes) -> None:
    assert paths.shown(path).isprintable()


def test_controls_and_turned_writing_are_shown_as_escapes() -> None:
    assert paths.shown(b"a\x1b[31m\n\xff") == r"a\x1b[31m\n\xff"
    assert paths.shown("\u202egnp.exe 中".encode()) == r"\u202egnp.exe 中"


def test_a_carry_list_is_patterns_without_comments_and_line_ends() -> None:
    lines = b"# notes\n\nnotes.txt\r\n*.log  \n!keep.log\n/data/\r# x\n\\#odd\n"
    assert paths.check_carry(lines, b"/home/m/co") == [
        b"notes.txt",
        b"*.log",
        b"!keep.log",
        b"/data/",
        b"\\#odd",
    ]
    assert paths.check_carry(b"", b"/home/m/co") == []


def test_a_blank_at_the_end_stays_if_it_is_quoted() -> None:
    lines = b"a\\ \nb\\\\ \nc\\  \r\nd\\\n \te \n"
    assert paths.check_carry(lines, b"/co") == [b"a\\ ", b"b\\\\", b"c\\ ", b"d\\", b"e"]


def test_an_absolute_path_inside_the_checkout_is_taken_from_its_top() -> None:
    lines = b"/home/m/co/notes.txt\n!/home/m/co/notes/secret.txt\n/home/m/cow\n"
    assert paths.check_carry(lines, b"/home/m/co") == [
        b"/notes.txt",
        b"!/notes/secret.txt",
        b"/home/m/cow",
    ]


def test_a_carry_list_begins_at_the_top_as_people_write_it() -> None:
    lines = b"\xef\xbb\xbf./notes/a b.md\n!./x\n.//y\n.z/\n"
    assert paths.check_carry(lines, b"/co") == [b"/notes/a b.md", b"!/x", b"//y", b".z/"]


@pytest.mark.parametrize(
    "line",
    [b"..", b"../x", b"a/../../x", b"!../x", b"a/..", b"..\\x", b"a\\..\\..\\x", b"C:/x", b"c:\\x",
     b"~/x", b"!~/x", b"!!../x", b"  ../x"],
)  # fmt: skip
def test_a_pattern_that_leaves_the_checkout_is_refused_by_its_line(line: bytes) -> None:
    with pytest.raises(RefusedError, match=r"line 2 of \.wip/carry leaves the checkout") as caught:
        paths.check_carry(b"fine\n" + line + b"\n", b"/home/m/co")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("patterns", "places"),
    [
        ([b".wip/notes.md", b"/data/", b"!*.tmp"], [b".wip/notes.md", b"data"]),
        ([b"runs/2026/*.log", b"a b/**/c", b"runs/2026/*.txt"], [b"a b", b"runs/2026"]),
        ([b"web/.cache/x[1]", b"web/.cach\\e/y", b"web/?"], [b"web", b"web/.cache"]),
        ([b".wip/notes.md", b"*.log"], []),
        ([b".wip/notes.md", b"data/"], []),
        ([b"*/notes.md"], []),
        ([b"/*.log"], []),
        ([b"/"], []),
        ([b"//"], []),
        ([b"!notes/x"], []),
    ],
)
def test_a_carry_list_is_looked_for_only_where_it_can_lie(
    patterns: list[bytes], places: list[bytes]
) -> None:
    assert paths.carry_places(patterns) == places


def test_a_plain_name_on_a_carry_list_that_is_not_there_is_told() -> None:
    patterns = [b"/notes/plan.md", b"cache/", b"one.log", b"gone/*.md", b"!never", b"./x", b"Deep/"]
    carried = [b"notes/plan.md", b"a/deep/b"]
    assert paths.absent(patterns, carried, lambda _: False) == [b"cache", b"one.log"]
    assert paths.absent(patterns, carried, b"cache".__eq__) == [b"one.log"]


def test_a_blank_at_the_end_of_a_name_stays_on_a_carry_list() -> None:
    assert paths.check_carry(b"z\\  \nplain \n", b"/co") == [b"z\\ ", b"plain"]
