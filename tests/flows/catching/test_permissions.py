"""Permission bits that a checkout would not give: there and back, and only those of the work."""

import os
from pathlib import Path

import pytest

from tests.kit.compare import look
from tests.kit.conversions import over, put
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside

BITS = {
    "src/rounding.py": 0o600, "src/money.py": 0o444, "data/a.csv": 0o640, "tools/run": 0o700,
    ".wip/notes.md": 0o600, "d\n/\udcff": 0o400, "src/places.py": 0o666,
}  # fmt: skip


def bits(machine: Machine, *names: str) -> dict[str, int]:
    return {name: (machine.top / name).stat().st_mode & 0o7777 for name in names}


def change(machine: Machine, wanted: dict[str, int]) -> None:
    for name, mode in wanted.items():
        (machine.top / name).chmod(mode)


def test_permission_bits_go_there_and_back_and_to_the_usual_ones(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    put(m1, {"d\n/\udcff": b"x"})
    change(m1, BITS)
    before = {"data/a.csv": 0o644, "src/rounding.py": 0o644}
    over(m1, m2)
    assert bits(m2, *BITS) == BITS
    assert look(m2.top) == monday.travels
    inside(m2, "undo").ok()
    assert bits(m2, *before) == before
    inside(m2, "undo").ok()
    assert bits(m2, *BITS) == BITS
    there = {"src/money.py": 0o644, ".wip/notes.md": 0o644, "data/a.csv": 0o600}
    change(m2, there)
    over(m2, m1)
    assert bits(m1, *BITS) == {**BITS, **there}
    inside(m1, "undo").ok()
    assert bits(m1, *BITS) == BITS


def test_what_the_receiver_keeps_to_itself_keeps_its_permission_bits(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    own = {".env.local": 0o600, ".wip/mine.md": 0o600, "cache/mine": 0o400}
    put(m2, dict.fromkeys(own, b"mine\n"))
    change(m2, own)
    put(m1, {".wip/carry": b".wip/*.md\n.env*\n/cache/\n", "cache/theirs": b"x"})
    change(m1, {".env.local": 0o640})
    over(m1, m2)  # with the carry list that names them
    assert bits(m2, *own) == own
    inside(m2, "undo").ok()
    assert bits(m2, *own) == own
    inside(m2, "undo").ok()
    assert bits(m2, *own) == own


def test_bits_of_a_file_below_a_link_are_nobodys(monday: Monday, tmp_path: Path) -> None:
    m1, m2 = monday.m1, monday.m2
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.csv").write_text("mine\n")
    (outside / "a.csv").chmod(0o600)
    (m1.top / "data/a.csv").unlink()
    for path in (m1.top / "data").iterdir():
        path.unlink()
    (m1.top / "data").rmdir()
    (m1.top / "data").symlink_to(outside)
    over(m1, m2)
    assert look(m2.top) == monday.travels
    assert (outside / "a.csv").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_a_usual_mode_is_the_one_of_each_machine(monday: Monday, mask: int) -> None:
    m1, m2 = monday.m1, monday.m2
    inside(m1, "send", "m2", "--via", "remote").ok()
    before = os.umask(mask)
    try:
        inside(m2, "catch", WORK).ok()
    finally:
        os.umask(before)
    made = bits(m2, "src/money.py", "tools/run")
    assert made == {"src/money.py": 0o666 & ~mask, "tools/run": 0o777 & ~mask}


def test_a_clone_that_does_not_trust_modes_sends_and_takes_none(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    change(m1, {"src/money.py": 0o600})
    m1.git("config", "core.fileMode", "false")
    over(m1, m2)
    assert bits(m2, "src/money.py") == {"src/money.py": 0o644}


def test_a_file_that_this_machine_ignores_keeps_its_bits_on_the_way_back(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.write("run.out", "from m1\n").chmod(0o600)
    m2.write(".git/info/exclude", "/.wip/\n*.out\n")
    over(m1, m2)
    assert bits(m2, "run.out") == {"run.out": 0o600}
    over(m2, m1)
    assert bits(m1, "run.out") == {"run.out": 0o600}
