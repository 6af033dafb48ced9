"""What is found on a machine: what makes a verb fail is a problem with its fix, else a note."""

import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from handsoff.core.checkup import checkups
from handsoff.core.checkup.checkups import OLD_LOCK, WANTED, Listening, Lock, Mode
from handsoff.core.checkup.health import Finding, Level
from tests.kit.machines import ROOT

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FRESH = dict.fromkeys(WANTED, "999.0")
A, ZERO = "10.0.0.7:7022", timedelta(0)


def levels(found: list[Finding]) -> list[str]:
    assert all(f.do for f in found if f.level is Level.PROBLEM)
    return [f.level.value for f in found]


def test_the_lowest_releases_are_those_of_the_package() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert dict(line.split(",")[0].split(">=") for line in asked) == WANTED


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("2.23.9", "asyncssh 2.23.9 is too old"),
        ("2.9", "asyncssh 2.9 is too old"),
        (None, "asyncssh is missing"),
        ("2.24", ""),
        ("2.24.0rc1", ""),
        ("3", ""),
    ],
)
def test_a_package_that_is_too_old_or_missing_is_a_problem(version: str | None, said: str) -> None:
    (found,) = checkups.of_packages({**FRESH, "asyncssh": version})
    assert found.level is (Level.PROBLEM if said else Level.OK)
    assert said in found.said
    if said:
        assert found.do == "in handsoff's environment: pip install --upgrade 'asyncssh>=2.24'"


def test_python_too_old_is_a_problem() -> None:
    assert checkups.of_python((3, 10, 9), "1").level is Level.PROBLEM
    assert checkups.of_python((3, 11, 0), "1").said == "handsoff 1, python 3.11.0"


def test_what_handsoff_can_do_without_is_a_note() -> None:
    assert checkups.of_ssh(None, "ssh").level is Level.NOTE
    assert checkups.of_ssh("OpenSSH_9.2\x1b[2J", "ssh").said.startswith("OpenSSH_9.2[2J for")
    notes = [(False, False), (False, True), (True, False)]
    for complete, compiled in notes:
        found = checkups.of_scanner("x", complete=complete, compiled=compiled)
        assert found.level is Level.NOTE
    assert checkups.of_scanner("x", complete=True, compiled=True).level is Level.OK


@pytest.mark.parametrize(
    ("item", "do"),
    [
        (Mode("/h/signing.key", 0o640, folder=False), "chmod 600 /h/signing.key; if it may"),
        (Mode("/h/signing.key", 0o601, folder=False), "chmod 600"),
        (Mode("/h/in box", 0o710, folder=True), "chmod 700 '/h/in box'"),
        (Mode("/h", 0o700, folder=True, own=False), "chown"),
    ],
)
def test_what_others_can_read_or_own_is_a_problem(item: Mode, do: str) -> None:
    (found,) = checkups.of_modes([item])
    assert levels([found]) == ["problem"]
    assert do in found.do


def test_what_is_private_is_no_finding() -> None:
    assert checkups.of_modes([Mode("k", 0o600, folder=False), Mode("h", 0o700, folder=True)]) == []


@pytest.mark.parametrize(
    ("age", "holders", "level"),
    [
        (OLD_LOCK + 1, (), "problem"),
        (OLD_LOCK + 1, None, "problem"),
        (OLD_LOCK, (), "ok"),
        (OLD_LOCK * 9, (7,), "note"),
        (1, (7, 8), "note"),
    ],
)
def test_a_lock_is_in_the_way_when_it_is_old_and_nobody_has_it(
    age: float, holders: tuple[int, ...] | None, level: str
) -> None:
    found = checkups.of_locks([Lock("/r/index.lock", age, holders)])
    assert levels(found) == [level]
    if level == "problem":
        assert "rm /r/index.lock" in found[0].do
        assert ("cannot be told" in found[0].said) == (holders is None)


def test_many_locks_are_counted() -> None:
    found = checkups.of_locks([Lock(f"/r/{n}.lock", 9e9, ()) for n in range(9)])
    assert levels(found) == ["problem"] * 5 + ["note"]
    assert "4 more" in found[-1].said


@pytest.mark.parametrize(
    ("free", "level"), [(0, "problem"), (99 << 20, "problem"), (1 << 29, "note"), (1 << 40, "ok")]
)
def test_a_disk_that_is_nearly_full_is_said(free: int, level: str) -> None:
    assert levels([checkups.of_room("/h", free)]) == [level]


def test_transfers_that_were_cut_are_counted() -> None:
    assert checkups.of_parts([], 0) == []
    (found,) = checkups.of_parts([3_000_000, 100_000], 3 * 86400)
    assert "2 transfers that were cut rest in incoming/, 3.1 MB, for 3 days" in found.said


@pytest.mark.parametrize(
    ("now", "wall", "level"),
    [
        (NOW, ZERO, "ok"),
        (NOW, timedelta(seconds=4), "ok"),
        (NOW, timedelta(hours=1), "note"),
        (NOW, -timedelta(hours=1), "note"),
        (NOW.replace(year=1970), ZERO, "problem"),
        (NOW.replace(year=2100), ZERO, "problem"),
    ],
)
def test_a_clock_that_cannot_be_right_is_said(now: datetime, wall: timedelta, level: str) -> None:
    assert levels([checkups.of_time(now, wall, ZERO)]) == [level]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, ["note"]),
        (Listening(address=A, pid=7, alive=False), ["note"]),
        (Listening(address=A, pid=7, alive=True), ["ok"]),
        (Listening(address=A, pid=7, alive=True, trouble="another key"), ["problem"]),
        (Listening(address="127.0.0.1:7022", pid=7, alive=True), ["ok", "note"]),
        (Listening(address="[::1]:7022", pid=7, alive=True, firewalls=("ufw",)), ["ok", "note"]),
        (Listening(address=A, pid=7, alive=True, refused=("10.0.0.7",)), ["ok", "problem"]),
        (Listening(address=A, pid=7, alive=True, firewalls=("nft",)), ["ok", "note"]),
    ],
)
def test_a_listener_is_well_only_if_it_answers_with_our_key(
    found: Listening | None, said: list[str]
) -> None:
    assert levels(checkups.of_listener(found)) == said


@pytest.mark.parametrize(
    ("firewalls", "do"),
    [
        (("ufw", "nft"), "ufw allow 7022/tcp"),
        (("firewalld", "nft"), "firewall-cmd --permanent --add-port=7022/tcp"),
        (("nft",), "tcp dport 7022 accept"),
        ((), "without --bind"),
    ],
)
def test_the_line_that_opens_the_port_is_that_of_the_firewall_here(
    firewalls: tuple[str, ...], do: str
) -> None:
    it = Listening(address=A, pid=7, alive=True, refused=("10.0.0.7",), firewalls=firewalls)
    assert do in checkups.of_listener(it)[-1].do
