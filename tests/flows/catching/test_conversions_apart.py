"""Where two machines convert in different ways: each has what a checkout of its own would have."""

import sys

import pytest

from tests.kit.compare import look, untouched
from tests.kit.conversions import commit, over, put, read, shown
from tests.kit.machines import Machine
from tests.kit.monday import STAYS, WORK, Monday
from tests.kit.running import inside

LF, CRLF, MIXED = b"one\ntwo\n", b"one\r\ntwo\r\n", b"one\r\ntwo\n"
TRACKED = ("kept.txt", "edited.txt", "staged.txt", "d\n/\udcff.txt")
LOOSE = {"loose.txt": CRLF, "mixed loose.txt": MIXED, ".wip/notes.md": CRLF}
CATCH = (sys.executable, "-m", "handsoff", "catch", WORK)


def _autocrlf(machine: Machine) -> None:
    machine.git("config", "core.autocrlf", "true")


def _own_attributes(machine: Machine) -> None:
    machine.write(".git/info/attributes", "*.txt text eol=crlf\n")


def _users_attributes(machine: Machine) -> None:
    machine.git(
        "config", "core.attributesFile", str(machine.write("../attributes", "*.txt eol=crlf\n"))
    )


def _eol(machine: Machine) -> None:
    machine.git("config", "core.eol", "crlf")
    machine.write(".git/info/attributes", "*.txt text=auto\n")


SENDERS, RECEIVERS = (_autocrlf, _users_attributes), (_autocrlf, _own_attributes, _eol)


def busy(machine: Machine, data: bytes) -> None:
    """Commit files, change two of them, and leave others untracked; each ends as ``data`` does."""
    commit(machine, dict.fromkeys(TRACKED, data))
    more = {"edited.txt": data * 2, "staged.txt": data * 2}
    put(machine, {**more, **LOOSE})
    machine.git("add", "staged.txt")


def on_disk(machine: Machine) -> list[bytes]:
    return list(read(machine, *TRACKED).values())


@pytest.mark.parametrize("way", SENDERS, ids=lambda way: way.__name__.strip("_"))
def test_crlf_goes_to_a_plain_clone_as_git_has_it_and_comes_back_as_crlf(
    monday: Monday, way: object
) -> None:
    m1, m2 = monday.m1, monday.m2
    assert callable(way)
    way(m1)
    busy(m1, CRLF)
    home, said, there = untouched(m1.top), shown(m1), look(m1.top)
    over(m1, m2)
    assert untouched(m1.top) == home
    assert on_disk(m2) == [LF, LF * 2, LF * 2, LF]
    assert read(m2, *LOOSE) == LOOSE
    assert shown(m2) == said
    put(m2, {"edited.txt": LF * 3, "kept.txt": LF * 2})
    said = shown(m2)
    over(m2, m1)
    assert on_disk(m1) == [CRLF * 2, CRLF * 3, CRLF * 2, CRLF]
    assert read(m1, *LOOSE) == LOOSE
    assert shown(m1) == said
    inside(m1, "undo").ok()
    assert look(m1.top) == there
    inside(m1, "undo").ok()
    assert on_disk(m1) == [CRLF * 2, CRLF * 3, CRLF * 2, CRLF]


@pytest.mark.parametrize("way", RECEIVERS, ids=lambda way: way.__name__.strip("_"))
def test_lf_goes_to_a_clone_that_converts_and_is_crlf_there(monday: Monday, way: object) -> None:
    m1, m2 = monday.m1, monday.m2
    assert callable(way)
    way(m2)
    busy(m1, LF)
    said, before, there = shown(m1), look(m2.top), look(m1.top)
    over(m1, m2)
    assert on_disk(m2) == [CRLF, CRLF * 2, CRLF * 2, CRLF]
    assert read(m2, *LOOSE) == LOOSE
    assert shown(m2) == said
    assert m2.git("status", "--porcelain") == m1.git("status", "--porcelain")
    after = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    inside(m2, "undo").ok()
    assert look(m2.top) == after
    assert after.without(*STAYS).index == there.index
    put(m2, {"edited.txt": CRLF * 3})
    said = shown(m2)
    over(m2, m1)
    assert on_disk(m1) == [LF, LF * 3, LF * 2, LF]
    assert shown(m1) == said


def test_mixed_endings_arrive_as_they_are_and_what_git_gives_back_does_not(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _autocrlf(m1)
    commit(m1, {"mixed.txt": CRLF, "lf.txt": CRLF})
    put(m1, {"mixed.txt": MIXED, "lf.txt": LF})
    over(m1, m2)
    assert read(m2, "mixed.txt", "lf.txt") == {"mixed.txt": MIXED, "lf.txt": LF}
    assert m2.git("diff", "--numstat", "--", "lf.txt") == ""
    put(m2, {"mixed.txt": LF})
    over(m2, m1)
    assert read(m1, "mixed.txt", "lf.txt") == {"mixed.txt": CRLF, "lf.txt": CRLF}


def test_crlf_that_was_committed_stays_crlf_where_git_would_not_commit_it(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    commit(m1, {"old.txt": CRLF, "older.txt": CRLF})
    put(m1, {"old.txt": CRLF * 2})
    _autocrlf(m2)
    over(m1, m2)
    assert read(m2, "old.txt", "older.txt") == {"old.txt": CRLF * 2, "older.txt": CRLF}
    assert shown(m2) == shown(m1)
    over(m2, m1)
    assert read(m1, "old.txt", "older.txt") == {"old.txt": CRLF * 2, "older.txt": CRLF}


def test_a_file_that_was_added_and_reset_converts_without_a_loss(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _autocrlf(m1)
    commit(m1, {"a.txt": CRLF})
    put(m1, {"a.txt": CRLF * 2})
    m1.git("add", "a.txt")
    m1.git("reset", "-q", "--", "a.txt")
    over(m1, m2)
    assert read(m2, "a.txt") == {"a.txt": LF * 2}


@pytest.mark.parametrize("gone", ["removed", "sparse"])
def test_attributes_that_only_the_index_has_count_as_they_do_for_git(
    monday: Monday, gone: str
) -> None:
    m1, m2 = monday.m1, monday.m2
    commit(m1, {".gitattributes": b"*.txt eol=crlf\n", "a.txt": CRLF, "b.txt": CRLF})
    put(m1, {"b.txt": CRLF * 2})
    if gone == "sparse":
        m1.git("sparse-checkout", "set", "--no-cone", "/*", "!/.gitattributes")
    else:
        (m1.top / ".gitattributes").unlink()
    said = shown(m1)
    over(m1, m2)
    assert not (m2.top / ".gitattributes").exists()
    assert look(m2.top) == monday.travels
    assert shown(m2) == said
    over(m2, m1)
    assert read(m1, "a.txt", "b.txt") == {"a.txt": CRLF, "b.txt": CRLF * 2}


def test_attributes_that_were_committed_here_and_removed_there_no_longer_count(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    commit(m1, {".gitattributes": b"*.txt eol=crlf\n", "a.txt": CRLF})
    commit(m1, {"d/.gitattributes": b"*.md eol=crlf\n"})
    over(m1, m2)
    m2.git("rm", "-q", ".gitattributes")
    put(m2, {"a.txt": LF * 2})
    over(m2, m1)
    assert read(m1, "a.txt") == {"a.txt": LF * 2}
    assert shown(m1) == shown(m2)


def test_a_killed_catch_that_converts_is_finished_by_the_next(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    _autocrlf(m2)
    busy(m1, LF)
    inside(m1, "send", "m2", "--via", "remote").ok()
    for where in ("catch.apply.file.before#9", "catch.apply.branch.before"):
        kill = f"HANDSOFF_KILL_AT={where}"
        assert m2.run("env", kill, *CATCH).code == -9
    inside(m2, *CATCH[3:]).ok()
    assert on_disk(m2) == [CRLF, CRLF * 2, CRLF * 2, CRLF]
    assert shown(m2) == shown(m1)
