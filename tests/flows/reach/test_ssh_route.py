"""The ssh route: the user's own ssh, a real sshd, and handsoff there for one exchange."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handsoff.edge import keys
from handsoff.edge.home import Home
from tests.kit.compare import look
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.proxy import Line, Proxy
from tests.kit.running import inside, refused
from tests.kit.sshd import Sshd, missing, sshd

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

_SERVED = ("HANDSOFF_", "GIT_", "XDG_", "COVERAGE_", "PYTHON", "LC_", "HOME")
HANDSOFF = '{python} -m handsoff "$@"'


def install(folder: Path, body: str = HANDSOFF) -> Path:
    """Write a program called handsoff to ``folder``, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "handsoff"
    path.write_text(f"#!/bin/sh\n{body.format(python=sys.executable)}\n")
    path.chmod(0o755)
    return path


@contextmanager
def at_sshd(machine: Machine, folder: Path, bashrc: str = "", **settings: str) -> Iterator[Sshd]:
    """Let accounts at a machine's sshd have its keys, and the programs in ``folder/bin``."""
    home = folder / "home"
    home.mkdir(parents=True)
    (home / ".bashrc").write_text(bashrc)
    env = {name: value for name, value in os.environ.items() if name.startswith(_SERVED)}
    env |= {"HOME": str(home), "HANDSOFF_HOME": str(machine.home)}
    env["PATH"] = f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    with sshd(folder, env, **settings) as there:
        yield there


def know(machine: Machine, *parts: str) -> Path:
    """Give a machine's user this configuration of ssh."""
    path = machine.home / "ssh_config"
    path.write_text("".join(parts))
    machine.env["HANDSOFF_SSH"] = f"ssh -F {path}"
    return path


@pytest.fixture
def there(monday: Monday, tmp_path: Path) -> Iterator[Sshd]:
    """Return the sshd of m2, which m1 knows as the alias ``box``."""
    install(tmp_path / "sshd" / "bin")
    with at_sshd(monday.m2, tmp_path / "sshd") as there:
        know(monday.m1, there.alias("box"))
        yield there


def test_a_work_goes_to_an_alias_and_from_then_on_to_the_machine(
    monday: Monday, there: Sshd
) -> None:
    travels = monday.travels
    before = monday.untouched()
    planned = inside(monday.m1, "send", "box", "--dry-run", "--json").ok().json
    assert planned["route"] == {"name": "ssh", "why": "box is for ssh"}
    assert planned["to"] == "whoever is at box"
    tried = inside(monday.m1, "send", "box", "--dry-run", "--transcript", "raw")
    refused(tried, 3, "no session of an agent")  # whose machine box is, it is not asked yet
    assert monday.untouched() == before
    assert "Accepted" not in (there.folder / "log").read_text()
    sent = inside(monday.m1, "send", "box", "--json").ok().json
    assert (sent["to"], sent["route"]["name"]) == ("m2", "ssh")
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
    assert "by ssh" in inside(monday.m2, "history", WORK).ok().out
    monday.m2.git("config", "remote.origin.url", monday.m1.git("config", "remote.origin.url"))
    again = inside(monday.m1, "send", "m2", "--dry-run", "--json")
    refused_to = again.json["error"]["message"]
    assert "m2 carries" in refused_to
    home = Home(monday.m1.home)
    assert home.ssh_of(monday.m2.member().id) == "box"
    assert home.by_ssh("box") == monday.m2.member().id


def test_who_only_claims_to_be_a_machine_and_signs_nothing_is_not_remembered_as_its_place(
    monday: Monday, there: Sshd
) -> None:
    home, m2 = Home(monday.m1.home), monday.m2.member().id
    home.remember_ssh(m2, "real.invalid", None)
    install(there.folder / "bin", f"HANDSOFF_KILL_AT=listen.receipt.before {HANDSOFF}")
    refused(inside(monday.m1, "send", "box", "--retry", "0"), 6)
    assert home.ssh_of(m2) == "real.invalid"


def test_a_machine_is_reached_through_a_jump_and_must_be_the_one(
    monday: Monday, there: Sshd, tmp_path: Path
) -> None:
    with sshd(tmp_path / "jump") as jump:
        far = there.alias("far", "ProxyJump hop")
        know(monday.m1, jump.alias("hop"), far)
        words = ("send", "m3", "--via", "ssh", "--at", "far")
        refused(inside(monday.m1, *words), 7, "far is m2, not m3")
        assert monday.carrier[0] == "free"
        inside(monday.m1, "send", "m2", "--via", "ssh", "--at", "far").ok()
        assert "Accepted publickey" in (jump.folder / "log").read_text()
    assert monday.carrier == ("offered", "m1", 1)


def test_a_noisy_shell_and_a_program_at_a_path_of_its_own_do_no_harm(
    monday: Monday, tmp_path: Path
) -> None:
    noise = "echo Welcome to $HOSTNAME; printf 'no line end'; echo careful >&2; read -t 0.01 eaten"
    install(tmp_path / "sshd" / "home" / "my venv", HANDSOFF)
    (tmp_path / "sshd" / "home").rename(tmp_path / "kept")
    with at_sshd(monday.m2, tmp_path / "sshd", f"{noise}\n") as there:
        (tmp_path / "kept" / "my venv").rename(tmp_path / "sshd" / "home" / "my venv")
        user = there.alias("box").split("User ")[1].split()[0]
        know(monday.m1, there.alias("127.0.0.1"))
        to = f"ssh://{user}@127.0.0.1:{there.port}"
        refused(inside(monday.m1, "send", to), 6, "has no handsoff", "pip install")
        inside(monday.m1, "send", to, "--remote-command", "~/my venv/handsoff").ok()
    kept = Home(monday.m1.home)
    assert kept.program_at(to) == "~/my venv/handsoff"


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("unknown", 7, "ssh does not know the key of box"),
        ("refused", 7, "does not let you in by ssh"),
        ("newer", 3, "this one version 9"),
        ("stranger", 7, "not in the roster"),
        ("liar", 9, "the receipt of m2 does not hold"),
    ],
)
def test_what_stands_against_it_is_said_and_nothing_is_handed_over(
    monday: Monday, tmp_path: Path, what: str, code: int, said: str
) -> None:
    m9 = monday.world.machine("m9")
    own, bins = keys.create(m9.home, "m9", "eve"), tmp_path / "sshd" / "bin"
    claim = monday.m2.member().id if what == "liar" else own.id
    install(bins, f"exec {{python}} -m tests.kit.odd_ends {what} {claim}")
    before = monday.untouched()
    with at_sshd(m9, tmp_path / "sshd") as there:
        know(monday.m1, there.alias("box"))
        if what == "unknown":
            (there.folder / "known_hosts").write_text("")
        elif what == "refused":
            (there.folder / "client.pub").write_text((there.folder / "host.pub").read_text())
        refused(inside(monday.m1, "send", "box"), code, said)
    assert monday.untouched() == before
    assert monday.carrier == ("free", "", 0)


def test_a_transfer_that_is_cut_goes_on_by_itself_where_it_stopped(
    monday: Monday, there: Sshd
) -> None:
    big = os.urandom(3 << 20)
    (monday.m1.top / "data" / "big.bin").write_bytes(big)
    lines = [Line(up=up) for up in (1_000_000, 1_500_000)] + [Line()]
    with Proxy(f"127.0.0.1:{there.port}", *lines) as line:
        port = line.address.rpartition(":")[2]
        know(monday.m1, there.alias("box").replace(str(there.port), port))
        told = inside(monday.m1, "send", "box", "--json").ok().json
    assert told["lost"] == 2
    assert (there.folder / "log").read_text().count("Accepted publickey") == 3
    # a window of ssh is 2 MiB, and all of it could go twice
    assert line.up <= 1.105 * told["size"]
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "data" / "big.bin").read_bytes() == big


def test_where_ssh_is_only_remembered_the_remote_stands_in(monday: Monday, tmp_path: Path) -> None:
    Home(monday.m1.home).remember_ssh(monday.m2.member().id, "box", None)
    know(monday.m1, "Host box\n  HostName 127.0.0.1\n  Port 9\n")
    refused(inside(monday.m1, "send", "m2", "--via", "ssh"), 6, "ssh does not reach box")
    sent = inside(monday.m1, "send", "m2", "--json").ok().json
    assert sent["route"]["name"] == "remote"
    assert "ssh does not reach box" in sent["route"]["why"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nobody-here",), 2, "ssh knows no host of that name"),
        (("--via", "ssh", "--", "-oProxyCommand=touch x"), 2, "is no destination of ssh"),
        (("m9", "--via", "ssh", "--at", "lin@box"), 2, "no machine called m9 in the roster"),
        (("lin@box", "--via", "remote"), 2, "goes by no other route"),
        (("lin@box", "--remote-command", "-x"), 2, "starts with a dash"),
    ],
)
def test_words_that_ssh_must_not_get_are_refused(
    monday: Monday, words: tuple[str, ...], code: int, said: str
) -> None:
    before = monday.untouched()
    know(monday.m1, "Host *\n  ProxyCommand false\n")
    refused(inside(monday.m1, "send", *words), code, said)
    assert monday.untouched() == before
    assert not (monday.m1.top / "x").exists()
