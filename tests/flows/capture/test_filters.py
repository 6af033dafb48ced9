"""Files that a program of the user's filters: what is on disk travels, and nothing is run on it."""

import os
import sys
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.conversions import commit, driver, objects_of, over, put, read, shown
from tests.kit.machines import Machine
from tests.kit.monday import STAYS, WORK, Monday
from tests.kit.parcels import take_apart
from tests.kit.running import inside, refused

LARGE = {"a.bin": b"\0large\r\n", "b.bin": b"other", "d\n/\udcff.bin": b"deep"}
CATCH = (sys.executable, "-m", "handsoff", "catch", WORK)
SECRET = b"the plaintext that never travels\n"


def test_what_a_lossy_filter_drops_is_not_lost(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    driver(m1, "lossy")
    text = b"a draft\r\nline\n"
    commit(m1, {".gitattributes": b"*.cfg filter=lossy\n", "a.cfg": text, "b.cfg": text})
    put(m1, {"b.cfg": text + b"draft too\n"})
    home, before, said = untouched(m1.top), look(m1.top), shown(m1)
    assert b"draft" not in m1.git("show", "HEAD:a.cfg").encode()
    over(m1, m2)
    assert untouched(m1.top) == home
    assert look(m2.top) == monday.travels
    put(m2, {"a.cfg": text + b"from m2\n"})
    there = look(m2.top)
    over(m2, m1)
    assert look(m1.top).without(*STAYS) == there
    inside(m1, "undo").ok()
    assert (look(m1.top), shown(m1)) == (before, said)


def test_what_a_filter_made_arrives_though_its_attribute_went_since(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.git("config", "filter.lossy.clean", "sed /draft/d")
    made = {"a.txt": b"text\ndraft\n", "b.csv": b"1\r\n2\r\n", "c.txt": b"plain\n"}
    commit(m1, {".gitattributes": b"*.txt filter=lossy\n*.csv text eol=crlf\n", **made})
    for name in made:  # so old that git need not look at them to be sure
        os.utime(m1.top / name, (1700000000, 1700000000))
    m1.git("status")
    m1.write(".gitattributes", "# none\n")
    assert not {"a.txt", "b.csv"} & set(m1.git("diff", "--name-only").split())
    over(m1, m2)
    assert read(m2, *made) == made
    assert {"a.txt", "b.csv"} <= set(m2.git("diff", "--name-only").split())  # as they are
    (m2.top / "a.txt").write_bytes(b"text\ndraft 2\n")
    over(m2, m1)
    assert read(m1, *made) == {**made, "a.txt": b"text\ndraft 2\n"}
    inside(m1, "undo").ok()
    assert read(m1, *made) == made


def test_large_files_arrive_and_not_the_pointers_to_them(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    for machine in (m1, m2):
        driver(machine, "lfs", required=True)
    commit(m1, {".gitattributes": b"*.bin filter=lfs -text\n", **LARGE})
    put(m1, {"b.bin": b"edited"})
    assert m1.git("show", "HEAD:a.bin").startswith("version ")
    assert not list((m2.top.parent / "lfs").iterdir())
    said, before = shown(m1), look(m2.top)
    over(m1, m2)
    assert read(m2, *LARGE) == {**LARGE, "b.bin": b"edited"}
    assert look(m2.top) == monday.travels
    assert shown(m2) == said
    there = look(m2.top)
    inside(m2, "undo").ok()
    assert look(m2.top) == before
    inside(m2, "undo").ok()
    assert look(m2.top) == there
    over(m2, m1)
    assert look(m1.top).without(*STAYS) == there
    assert shown(m1) == said


def test_a_filter_that_the_receiver_has_not_is_no_obstacle(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    driver(m1, "lfs")
    commit(m1, {".gitattributes": b"*.bin filter=lfs -text\n", **LARGE})
    said, home = shown(m1), look(m1.top)
    over(m1, m2)
    assert read(m2, *LARGE) == LARGE
    over(m2, m1)
    assert (look(m1.top), shown(m1)) == (home, said)


def test_a_filter_that_is_required_and_missing_is_an_obstacle_before_the_first_write(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    driver(m1, "lfs")
    commit(m1, {".gitattributes": b"*.bin filter=lfs -text\n", **LARGE})
    m2.git("config", "filter.lfs.required", "true")
    m2.git("fetch", "-q")  # else what the parcel builds on comes with it
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = monday.untouched()
    hint = "set filter.lfs.clean and .smudge"
    refused(inside(m2, "catch", WORK), 8, "git requires the filter lfs for a.bin", hint)
    assert monday.untouched() == before
    driver(m2, "lfs")
    inside(m2, "catch", WORK).ok()
    assert read(m2, *LARGE) == LARGE


def test_a_filter_of_the_receiver_alone_does_not_touch_what_arrives(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    driver(m2, "lossy")
    commit(m1, {".gitattributes": b"*.cfg filter=lossy\n", "a.cfg": b"draft\n"})
    over(m1, m2)
    assert read(m2, "a.cfg") == {"a.cfg": b"draft\n"}
    over(m2, m1)
    assert read(m1, "a.cfg") == {"a.cfg": b"draft\n"}
    assert m1.git("diff", "--", "a.cfg") == ""


# --- filters that encrypt -----------------------------------------------------------------------


def encrypting(machine: Machine) -> None:
    driver(machine, "git-crypt", required=True)
    attributes = b"*.vault filter=git-crypt diff=git-crypt\n"
    commit(machine, {".gitattributes": attributes, "a.vault": SECRET, "k\n/\udcff.vault": SECRET})


def test_a_plaintext_is_in_no_object_of_the_parcel(monday: Monday, tmp_path: Path) -> None:
    m1, m2 = monday.m1, monday.m2
    encrypting(m1)
    (m1.top / "a.vault").touch()  # git has to look at it again
    m2.git("fetch", "-q")
    m2.git("fetch", "-q", str(m1.top), WORK)  # all but the envelope's own comes in a thin pack
    file = tmp_path / "work.handsoff"
    home = untouched(m1.top)
    inside(m1, "send", "m2", "--to-file", file).ok()
    assert untouched(m1.top) == home
    pack, _ = take_apart(file, m2.member())
    found = objects_of(tmp_path / "pack.git", pack, beside=m2)
    assert len(found) > 10
    assert not [data for data in found if SECRET.strip() in data]
    inside(m2, "receive", file).ok()
    inside(m2, "catch", WORK).ok()
    assert SECRET not in read(m2, "a.vault").values()
    assert read(m2, "a.vault")["a.vault"].decode() == m1.git("show", "HEAD:a.vault") + "\n"


PLAINTEXTS = {
    "a.vault": {"a.vault": SECRET + b"more\n"},
    "k\\n/\\xff.vault": {"k\n/\udcff.vault": b"other\n"},
    "new.vault": {"new.vault": SECRET},
    ".wip/notes.vault": {".wip/notes.vault": SECRET, ".wip/carry": b".wip/*.vault\n"},
}


def test_a_plaintext_that_no_commit_has_encrypted_is_refused(monday: Monday) -> None:
    m1 = monday.m1
    encrypting(m1)
    for name, files in PLAINTEXTS.items():
        put(m1, files)
        before = monday.untouched()
        said = inside(m1, "send", "m2", "--via", "remote")
        refused(said, 3, f"a filter encrypts {name}", "its plaintext never travels", "commit it")
        assert monday.untouched() == before
        m1.git("checkout", "--", "a.vault", "k\n")
        for other in files.keys() - {"a.vault", "k\n/\udcff.vault"}:
            (m1.top / other).unlink()


def test_a_staged_change_of_an_encrypted_file_travels_as_git_has_it(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    encrypting(m1)
    put(m1, {"a.vault": SECRET * 2})
    m1.git("add", "a.vault")
    over(m1, m2)
    assert m2.git("diff", "--cached", "--name-only", "--", "a.vault") == "a.vault"
    assert SECRET not in read(m2, "a.vault")["a.vault"]


def test_a_receiver_with_the_key_is_told_how_to_decrypt(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    encrypting(m1)
    driver(m2, "git-crypt", required=True)
    said = over(m1, m2)
    assert "a.vault" in said
    assert "to decrypt it: git checkout -- a.vault" in said
    m2.git("checkout", "--", "a.vault", "k\n")
    assert read(m2, "a.vault", "k\n/\udcff.vault") == {
        "a.vault": SECRET,
        "k\n/\udcff.vault": SECRET,
    }
    assert shown(m2) == shown(m1)
    put(m2, {"more.txt": b"m2\n"})
    over(m2, m1)
    assert read(m1, "a.vault", "more.txt") == {"a.vault": SECRET, "more.txt": b"m2\n"}


def test_what_is_still_encrypted_can_be_undone_and_sent_on(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    encrypting(m1)
    over(m1, m2)
    there = look(m2.top)
    driver(m2, "git-crypt", required=True)  # the key comes later
    (m2.top / "a.vault").touch()
    inside(m2, "undo").ok()
    inside(m2, "undo").ok()
    assert look(m2.top) == there
    over(m2, m1)
    assert read(m1, "a.vault") == {"a.vault": SECRET}


def test_a_file_that_only_the_receiver_would_encrypt_arrives_and_can_be_undone(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    put(m1, {".gitattributes": b"*.vault filter=git-crypt\n", "new.vault": b"not encrypted\n"})
    driver(m2, "git-crypt", required=True)
    over(m1, m2)
    there = look(m2.top)
    inside(m2, "undo").ok()
    inside(m2, "undo").ok()
    assert look(m2.top) == there == monday.travels
    said = inside(m2, "send", "m1", "--via", "remote")
    refused(said, 3, "a filter encrypts new.vault", "its plaintext never travels")


def test_a_decrypted_file_that_was_only_touched_gives_way_to_the_next_version(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    encrypting(m1)
    driver(m2, "git-crypt", required=True)
    over(m1, m2)
    m2.git("checkout", "--", "a.vault", "k\n")
    over(m2, m1)
    commit(m1, {"a.vault": SECRET * 2})
    for name in ("a.vault", "k\n/\udcff.vault"):
        (m2.top / name).touch()
    over(m1, m2)
    assert read(m2, "k\n/\udcff.vault") == {"k\n/\udcff.vault": SECRET}
    m2.git("checkout", "--", "a.vault")
    assert read(m2, "a.vault") == {"a.vault": SECRET * 2}


# --- a parcel that wants something to run ---------------------------------------------------------

HOSTILE = {
    ".gitattributes": b"* filter=evil\n*.txt text eol=crlf\n", "a.txt": b"a\r\nb\n",
    "d/.gitattributes": b"*.c filter=evil ident\n", "d/b.c": b"$Id$\n", "same": b"x",
}  # fmt: skip


@pytest.mark.parametrize("committed", [True, False])
def test_what_arrives_runs_no_filter_of_the_receiver(monday: Monday, committed: bool) -> None:
    m1, m2 = monday.m1, monday.m2
    marker = driver(m2, "evil") / "ran"
    if committed:
        m2.git("config", "filter.evil.process", f"touch {marker}; cat")
    m2.git("config", "core.autocrlf", "true")
    m2.git("status")  # nothing of m2's own is converted later
    (commit if committed else put)(m1, HOSTILE)
    inside(m1, "send", "m2", "--via", "remote").ok()
    marker.unlink(missing_ok=True)
    inside(m2, "catch", WORK).ok()
    assert not marker.exists()
    assert read(m2, *HOSTILE) == HOSTILE


def test_a_catch_that_was_killed_runs_no_filter_when_it_is_taken_up(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    marker = driver(m2, "evil") / "ran"
    commit(m1, HOSTILE)
    inside(m1, "send", "m2", "--via", "remote").ok()
    for where in ("catch.apply.index.before", "catch.apply.branch.before"):
        m2.run("env", f"HANDSOFF_KILL_AT={where}", *CATCH)
        assert not marker.exists(), where
    inside(m2, "catch", WORK).ok()
    assert not marker.exists()
    assert read(m2, *HOSTILE) == HOSTILE
