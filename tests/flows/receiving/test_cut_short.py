"""Runs that were killed while files were written that git converts here: typed again, they end."""

import sys

import pytest

from tests.kit.compare import look
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday, send
from tests.kit.running import inside, refused

STEPS = ("catch.apply.file.before#2", "catch.apply.files.after", "catch.apply.index.write.before")


@pytest.fixture
def dos(monday: Monday) -> Monday:
    """Return Monday, sent, where the work has attributes that give files CRLF."""
    m1 = monday.m1
    m1.write(".gitattributes", "*.bat text eol=crlf\nREADME text eol=crlf\n")
    m1.write("new.bat", "one\r\ntwo\r\n")
    m1.git("add", ".gitattributes", "new.bat")
    (m1.top / "README").unlink()
    m1.git("checkout", "-q", "--", "README")
    assert b"\r\n" in (m1.top / "README").read_bytes()
    send(monday)
    return monday


def cut(machine: Machine, step: str, *words: str) -> None:
    """Let a command be killed at a step, with the attributes on disk and out of the index."""
    kill = f"HANDSOFF_KILL_AT={step}"
    machine.run("env", kill, sys.executable, "-m", "handsoff", *words)
    assert (machine.top / ".gitattributes").exists()
    assert machine.git("ls-files", "new.bat") == ""


@pytest.mark.parametrize("step", STEPS)
def test_a_catch_of_files_that_git_converts_goes_on(dos: Monday, step: str) -> None:
    cut(dos.m2, step, "catch", WORK)
    inside(dos.m2, "catch", WORK).ok()
    assert look(dos.m2.top) == dos.travels


@pytest.mark.parametrize("step", STEPS)
def test_the_undo_of_an_undo_goes_on_where_git_converts(dos: Monday, step: str) -> None:
    inside(dos.m2, "catch", WORK).ok()
    inside(dos.m2, "undo").ok()
    cut(dos.m2, step, "undo")
    inside(dos.m2, "undo").ok()
    assert look(dos.m2.top) == dos.travels


def test_a_converted_file_that_somebody_changed_meanwhile_is_not_overwritten(dos: Monday) -> None:
    cut(dos.m2, "catch.apply.files.after", "catch", WORK)
    dos.m2.write("new.bat", "mine\r\n")
    refused(inside(dos.m2, "catch", WORK), 8, "files were changed here", "new.bat")
    assert (dos.m2.top / "new.bat").read_bytes() == b"mine\r\n"
