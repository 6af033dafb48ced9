"""Pairing, end to end on loopback: a code is shown, typed, and one machine lets the other in."""

import os
import pty
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from handsoff.core.reach.discovery import PAIRING
from handsoff.core.talk import frames
from handsoff.edge.lan.mdns import Announcement
from tests.kit.lan import lan_or_skip
from tests.kit.machines import Machine, Ran, World
from tests.kit.running import Background, away, background, inside, refused


@dataclass
class Shown:
    """A machine that shows a code and waits."""

    machine: Machine
    running: Background
    code: str
    address: str

    def typed(self, machine: Machine, *words: str, code: str | None = None) -> Ran:
        """Type the code on ``machine``."""
        return inside(machine, "pair", code or self.code, "--at", self.address, *words)

    def wrong(self) -> str:
        number, *words = self.code.split("-")
        return f"{number}-{'-'.join(reversed(words))}" if words[0] != words[1] else "1-acid-acorn"


@contextmanager
def shows(machine: Machine, *words: str, bind: str = "127.0.0.1", **env: str) -> Iterator[Shown]:
    """Let ``machine`` show a code."""
    where = ("--bind", bind) if bind else ()
    with background(machine, "pair", *where, *words, **env) as running:
        out, err = running.process.stdout, running.process.stderr
        assert out is not None
        assert err is not None
        code, said = "", ""
        if "--json" not in words:
            code = out.readline().decode().strip()
        while "--at" not in said:
            said = err.readline().decode()
            assert said, running.end()
            code = code or said.strip()
        yield Shown(machine, running, code, said.split()[-1])


def members(machine: Machine) -> list[str]:
    return [m.name for m in machine.desk().live_roster().trusted().members()]


def words(ran: Ran) -> str:
    found = re.search(r"both screens must show: (.*)", ran.err)
    assert found, ran.err
    return found[1]


def untouched(machine: Machine) -> bool:
    made = (machine.home / "machine.json", machine.top / ".git" / "handsoff" / "roster.json")
    return not any(path.exists() for path in made)


def test_from_nothing_to_two_machines_in_a_roster_by_a_wrong_code_and_a_right_one(
    world: World,
) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    with shows(m2, "--name", "m2", "--person", "lin") as there:
        said = there.typed(m1, "--name", "m1", "--person", "lin", "--yes", code=there.wrong())
        refused(said, 7, "typed wrong")
        ended = there.running.end()
        assert ended.code == 7
        assert "it is used up" in ended.err
    assert (untouched(m1), untouched(m2), world.remote.refs("refs/wip")) == (True, True, {})

    with shows(m2, "--name", "m2", "--person", "lin") as there:
        typed = there.typed(m1, "--name", "m1", "--person", "lin", "--yes").ok()
        shown = there.running.end().ok()
    assert words(typed) == words(shown)
    assert members(m1) == members(m2) == ["m1", "m2"]
    assert m1.desk().pin == m2.desk().pin
    assert f"roster {m1.desk().pin}" in typed.out
    for machine in (m1, m2):
        assert machine.member().fingerprint in typed.err
        assert machine.member().fingerprint in shown.err
        assert (machine.top / ".git" / "hooks" / "pre-push").exists()
        assert machine.git("status", "--porcelain", "--ignored") == ""
        assert "nothing to do" in inside(machine, "init").ok().err
    assert "next: handsoff listen" in shown.err


def test_a_member_that_shows_the_code_lets_in_the_one_that_typed_it(world: World) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    with shows(m1, "--yes", "--json") as there:
        typed = there.typed(m2, "--name", "m2", "--person", "bo", "--json").ok().json
        shown = there.running.end().ok().json
    assert (typed["let_in"], shown["let_in"], typed["waits"]) == ("m2", "m2", False)
    assert typed["words"] == shown["words"]
    assert (typed["machine"], typed["other"]) == (shown["other"], shown["machine"])
    assert typed["founding"] == m1.desk().pin == m2.desk().pin
    assert members(m2) == ["m1", "m2"]
    before = world.remote.refs()
    with shows(m1, "--yes") as there:
        assert "are in the roster already" in there.typed(m2, "--yes").ok().err
        assert "are in the roster already" in there.running.end().ok().err
    assert world.remote.refs() == before


@pytest.mark.parametrize("types", ["m1", "m2"])
def test_a_revoked_machine_that_has_not_heard_of_it_is_not_taken_for_a_member(
    world: World, types: str
) -> None:
    m1, m2 = world.members("m1", "m2")
    inside(m1, "roster", "revoke", "m2", "--reason", "lost", "--yes").ok()
    one, other = (m1, m2) if types == "m1" else (m2, m1)
    with away(m2), shows(other, "--yes") as there:
        typed, shown = there.typed(one, "--yes"), _ended(there)
    knows = typed if types == "m1" else shown
    assert (knows.code, "m2 was revoked" in knows.err) == (7, True), knows.err
    assert "are in the roster already" not in knows.err


def _ended(there: Shown) -> Ran:
    return there.running.end()


def test_names_that_clash_are_said_on_both_sides_before_anything_is_written(world: World) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    with shows(m2, "--name", "M1") as there:
        refused(there.typed(m1, "--name", "m1", "--yes"), 3, "both machines are called m1")
        refused(Ran(*_last(there.running.end())), 3, "both machines are called m1")
    assert (untouched(m1), untouched(m2), world.remote.refs("refs/wip")) == (True, True, {})


def _last(ran: Ran) -> tuple[int, str, str]:
    return ran.code, "", "\n".join(ran.err.splitlines()[-2:])


def test_a_machine_of_another_person_is_theirs_to_let_in(world: World) -> None:
    (m1,), m4 = world.members("m1"), world.machine("m4")
    m1.handsoff("admit", "-", "--yes", given=world.machine("m3").card("bo").decode()).ok()
    with shows(m4, "--name", "m4", "--person", "bo") as there:
        refused(there.typed(m1, "--yes"), 3, "only a machine of bo")
        ended = there.running.end()
        assert ended.code == 3
        assert "m1 says: m4 of bo is not let in: only a machine of bo" in ended.err
    assert untouched(m4)


def test_where_both_remotes_are_empty_the_roster_is_looked_for_before_anybody_is_let_in(
    world: World, tmp_path: Path
) -> None:
    m1 = world.machine("m1")
    (tmp_path / "other").mkdir()
    m2 = World.make(tmp_path / "other").machine("m2")
    with shows(m2, "--name", "m2") as there:
        said = there.typed(m1, "--name", "m1", "--yes")
        assert (said.code, "m2 says:" in said.err) == (7, True)
        ended = there.running.end()
        assert (ended.code, "shows none" in ended.err) == (7, True)
    assert untouched(m2)
    assert members(m1) == ["m1"]


def test_without_the_remote_letting_in_waits_and_the_guest_is_told_what_is_to_do(
    world: World,
) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    with away(m1, m2), shows(m2, "--name", "m2", "--person", "lin") as there:
        typed = there.typed(m1, "--yes")
        assert (typed.code, "waits here" in typed.err) == (6, True)
        ended = there.running.end()
        todo = f"handsoff init --trust {m1.desk().pin}"
        assert (ended.code, f"next: {todo}" in ended.err) == (6, True)
    assert members(m1) == ["m1"]
    inside(m1, "pending", "--send").ok()
    assert inside(m2, *todo.split()[1:], "--json").ok().json["member"]


@pytest.mark.parametrize(
    ("killed", "typist"),
    [
        ("pair.ready.before", False),
        ("pair.admit.after", True),
    ],
)
def test_a_pairing_that_was_killed_is_finished_by_the_next_one(
    world: World, killed: str, typist: bool
) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    kill = {"HANDSOFF_KILL_AT": killed}
    with shows(m2, "--name", "m2", "--person", "lin", **({} if typist else kill)) as there:
        words = ("pair", there.code, "--at", there.address, "--name", "m1", "--person", "lin")
        with background(m1, *words, "--yes", **(kill if typist else {})) as typing:
            codes = {typing.end().code, there.running.end().code}
    assert -9 in codes
    with shows(m2, "--name", "m2", "--person", "lin") as there:
        there.typed(m1, "--name", "m1", "--person", "lin", "--yes").ok()
        there.running.end().ok()
    assert members(m1) == members(m2) == ["m1", "m2"]


def test_ctrl_c_while_waiting_leaves_nothing(world: World) -> None:
    m2 = world.machine("m2")
    with shows(m2, "--name", "m2") as there:
        assert there.running.interrupt().code == 130
    assert untouched(m2)


def test_only_the_one_who_proves_the_code_uses_it_up_and_nobody_is_let_in_unasked(
    world: World,
) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    with shows(m2, "--name", "m2", "--person", "lin") as there:
        host, port = there.address.split(":")
        hello = b'{"kind":"hi","pake":"%s","v":1}'
        odd = [
            b"", b"G", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 8, (64 << 10).to_bytes(4, "big"),
            frames.encode(b"{}"), frames.encode(hello % (b"41" + b"00" * 32)),
            frames.encode(hello % (b"42" + b"01" + b"00" * 31)), b"\0\0\0\1",
        ]  # fmt: skip
        strangers = [socket.create_connection((host, int(port))) for _ in range(30)]
        for stranger, said in zip(strangers, odd * 4, strict=False):
            stranger.sendall(said)
        refused(there.typed(m1, "--name", "m1"), 7, "nobody is here to agree")
        words = ("pair", "-", "--at", there.address, "--name", "m1", "--person", "lin", "--yes")
        m1.handsoff(*words, given=f"{there.code.replace('-', ' ').upper()}\n").ok()
        ended = there.running.end().ok()
        for stranger in strangers:
            stranger.close()
    assert 0 < ended.err.count("the code still stands") <= 5
    assert members(m1) == ["m1", "m2"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("7-orbit",), 2, "not a code"),
        (("7-orbti-lamp",), 2, "orbti"),
        (("--at", "127.0.0.1:1"), 2, "no code was typed"),
        (("7-orbit-lamp", "--at", "127.0.0.1:1", "--yes"), 6, "waits with the number 7"),
        (("7-orbit-lamp", "--at", "nowhere", "--yes"), 2, "names no port"),
        (("--bind", "203.0.113.1", "--port", "9"), 2, "cannot wait at 203.0.113.1:9"),
    ],
)
def test_what_cannot_work_is_said_and_changes_nothing(
    world: World, words: tuple[str, ...], code: int, said: str
) -> None:
    m1 = world.machine("m1")
    refused(inside(m1, "pair", *words, "--name", "m1"), code, said)
    assert untouched(m1)


def test_found_by_mdns_and_typed_at_a_terminal_while_another_machine_says_it_is_the_one(
    world: World,
) -> None:
    with (
        lan_or_skip("m1", "m2", "m3") as net,
        shows(net.join(world.machine("m2")), "--name", "m2", bind="", HANDSOFF_MDNS="on") as there,
    ):
        with net.machine("m3").here():
            stranger = socket.create_server(("", 0))
            number, port = there.code.split("-")[0], stranger.getsockname()[1]
            false = Announcement(PAIRING, number, port, tell=print)
        answers = threading.Thread(target=_garbage, args=(stranger,), daemon=True)
        answers.start()
        ours, theirs = pty.openpty()
        os.write(ours, f"{there.code.upper()}\ny\n".encode())
        script = f"exec {sys.executable} -m handsoff pair --name m1 <{os.ttyname(theirs)}"
        m1 = net.join(world.machine("m1"))
        with net.machine("m3").here(), false:
            typed = m1.run("sh", "-c", f"HANDSOFF_MDNS=on {script}").ok()
        shown = there.running.end().ok()
        for end in (ours, theirs):
            os.close(end)
        stranger.close()
    assert f"the code {number}-... is shown" in typed.err
    assert "must show the same four words" in typed.err
    assert words(typed) == words(shown)
    assert members(there.machine) == ["m1", "m2"]


def _garbage(door: socket.socket) -> None:
    """Answer whoever calls with bytes that mean nothing."""
    with suppress(OSError):
        while True:
            sock, _ = door.accept()
            with sock:
                sock.sendall(frames.encode(b"{}"))
