"""Faults that were found by attack, each with the state that showed it."""

import os
import stat
from pathlib import Path

import pytest

from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, inside, refused


def send(giver: Machine, taker: Machine) -> None:
    with at_home(taker) as there:
        inside(giver, "send", taker.name, "--at", there.address).ok()


def test_an_empty_folder_inside_an_ignored_one_is_not_taken_along(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    for machine in (m1, m2):
        with (machine.top / ".git" / "info" / "exclude").open("a") as file:
            file.write("/modules\n")
    (m1.top / "modules" / "inner").mkdir(parents=True)
    (m2.top / "modules").symlink_to("elsewhere")
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert (m2.top / "modules").is_symlink()


def test_a_file_in_the_place_of_an_empty_folder_is_found_before_anything_is_written(
    forked: Monday,
) -> None:
    m1, m2 = forked.m1, forked.m2
    (m1.top / "out").mkdir()
    with (m2.top / ".git" / "info" / "exclude").open("a") as file:
        file.write("/out\n")
    m2.write("out", "mine\n")
    send(m1, m2)
    before = forked.untouched()
    refused(inside(m2, "catch", WORK), 8, "out: a file or link stands where a folder must be")
    assert forked.untouched() == before


def test_permissions_of_what_a_link_leads_to_are_nobodys_business(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    for machine, mode in ((m1, 0o600), (m2, 0o640)):
        outside = machine.top.parent / "conf"
        outside.mkdir()
        (outside / "c.py").write_text("theirs\n")
        (outside / "c.py").chmod(mode)
    m1.write("conf/c.py", "ours\n")
    m1.git("add", "conf")
    m1.git("commit", "-q", "-m", "conf", "--", "conf")
    (m1.top / "conf" / "c.py").unlink()
    (m1.top / "conf").rmdir()
    (m1.top / "conf").symlink_to("../conf")
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    outside = m2.top.parent / "conf" / "c.py"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o640
    assert (m2.top / "conf").readlink() == Path("../conf")


def test_attributes_that_nobody_tracks_count_on_every_leg(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    m1.write("a.txt", "one\n")
    m1.git("add", "a.txt")
    m1.git("commit", "-q", "-m", "a", "--", "a.txt")
    m1.write(".gitattributes", "*.txt text eol=crlf\n")
    (m1.top / "a.txt").write_bytes(b"one\r\n")
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert (m2.top / "a.txt").read_bytes() == b"one\r\n"
    (m2.top / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    send(m2, m1)
    inside(m1, "catch", WORK).ok()
    assert (m1.top / "a.txt").read_bytes() == b"one\r\ntwo\r\n"


def test_a_user_who_wants_sparse_indexes_can_catch_a_sparse_work(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    m1.git("sparse-checkout", "set", "--cone", "src")
    with (m2.top / ".git" / "mine").open("w") as file:
        file.write("[index]\n\tsparse = true\n")
    m2.env["GIT_CONFIG_GLOBAL"] = str(m2.top / ".git" / "mine")
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert m2.git("sparse-checkout", "list") == "src"


def test_bits_that_mean_nothing_here_do_not_stop_a_restore(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    m2.git("config", "core.fileMode", "false")
    (m2.top / "README").chmod(0o777)
    os.utime(m2.top / "README", (1, 1))  # git has to look: it compares times by the second
    m1.write("README", "hello again\n")
    (m1.top / "README").chmod(0o755)
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert (m2.top / "README").read_text() == "hello again\n"


def test_git_looks_again_at_a_file_that_arrived_raw(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    for machine in (m1, m2):
        machine.git("config", "core.autocrlf", "input")
    m1.write("mixed", "one\ntwo\n")
    m1.git("add", "mixed")
    m1.git("commit", "-q", "-m", "mixed", "--", "mixed")
    m2.git("fetch", "-q", str(m1.top), WORK)
    m2.git("switch", "-q", "-c", WORK, "FETCH_HEAD")
    (m1.top / "mixed").write_bytes(b"one\r\ntwo\n")
    m1.git("add", "mixed")
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert (m2.top / "mixed").read_bytes() == b"one\r\ntwo\n"
    assert m2.git("status", "--porcelain", "mixed") == m1.git("status", "--porcelain", "mixed")


def test_a_sticky_bit_is_told(forked: Monday) -> None:
    (forked.m1.top / "README").chmod(0o1644)
    with at_home(forked.m2) as there:
        told = inside(forked.m1, "send", "m2", "--at", there.address, "--json").ok().json
    assert {
        "path": "README",
        "reason": "its setuid, setgid or sticky bit: the file itself travels",
    } in told["left_behind"]


def test_a_submodule_is_not_filled_with_the_files_that_replace_it(forked: Monday) -> None:
    m1, m2 = forked.m1, forked.m2
    inner = m2.top / "sub"
    inner.mkdir()
    m2.git("init", "-q", str(inner))
    m2.git("-C", str(inner), "commit", "-q", "--allow-empty", "-m", "inner")
    oid = m2.git("-C", str(inner), "rev-parse", "HEAD")
    m1.git("update-index", "--add", "--cacheinfo", f"160000,{oid},sub")
    m1.git("commit", "-q", "-m", "sub")
    m2.git("fetch", "-q", str(m1.top), WORK)
    m2.git("switch", "-q", "-c", WORK, "FETCH_HEAD")
    m1.git("rm", "-q", "--cached", "sub")
    m1.write("sub/x", "a file now\n")
    send(m1, m2)
    before = forked.untouched()
    refused(inside(m2, "catch", WORK), 8, "the submodule sub goes")
    assert forked.untouched() == before


@pytest.mark.parametrize("value", ["TRUE", "yes", "2"])
def test_settings_are_spelled_as_git_lets_them_be_spelled(forked: Monday, value: str) -> None:
    m1, m2 = forked.m1, forked.m2
    m1.git("sparse-checkout", "set", "--cone", "src")
    m1.git("config", "--worktree", "core.sparseCheckoutCone", value)
    send(m1, m2)
    inside(m2, "catch", WORK).ok()
    assert m2.git("config", "core.sparseCheckoutCone") == value


def test_an_empty_folder_that_no_receiver_makes_stays_and_is_told(forked: Monday) -> None:
    (forked.m1.top / "git~1").mkdir()
    with at_home(forked.m2) as there:
        told = inside(forked.m1, "send", "m2", "--at", there.address, "--json").ok().json
    assert "git~1" in {item["path"] for item in told["left_behind"]}
    inside(forked.m2, "catch", WORK).ok()


def test_a_tracked_file_that_its_owner_may_not_read_is_named(forked: Monday) -> None:
    (forked.m1.top / "README").chmod(0o200)
    with at_home(forked.m2) as there:
        ran = inside(forked.m1, "send", "m2", "--at", there.address)
    refused(ran, 8, "README cannot be read by its owner", "chmod u+r README")
