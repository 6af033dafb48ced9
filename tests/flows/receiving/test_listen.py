"""Listening: who is let in and when, one parcel or many, and a clean end."""

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handsoff.core.parcels.room import Limits
from handsoff.core.parcels.welcome import Welcome
from handsoff.edge.door import running
from handsoff.edge.ssh.ssh import dial
from handsoff.errors import HandsoffError
from handsoff.flows.receiving.listen import Rules
from handsoff.flows.roster.roster import admit
from tests.kit.compare import look
from tests.kit.machines import Machine, git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import Background, at_home, background, inside, refused, steps, wait_for


def address_in(file: Path, listener: Background) -> str:
    """Return the address that a listener wrote, once it is ready."""
    wait_for(lambda: file.exists() or listener.process.poll() is not None)
    return file.read_text().strip()


def stranger(monday: Monday, person: str = "lin") -> Machine:
    """Return m4, which trusts the roster and has a work to send, and is not in the roster."""
    m4 = monday.world.machine("m4")
    m4.card(person)
    m4.desk().set_pin(monday.m1.desk().need_pin())
    m4.git("switch", "-q", "-c", "feat/jpy")
    m4.write(".git/info/exclude", "/.wip/\n")
    m4.write(".wip/HANDOFF.md", PAGE.replace(WORK, "feat/jpy"))
    m4.commit()
    return m4


def test_a_listener_takes_one_parcel_and_ends(monday: Monday, tmp_path: Path) -> None:
    travels, file = monday.travels, tmp_path / "address"
    words = ("listen", "--bind", "127.0.0.1", "--once", "--address-file", file)
    with background(monday.m2, *words) as listener:
        address = address_in(file, listener)
        assert file.read_text().endswith("\n")
        inside(monday.m1, "send", "m2", "--at", address).ok()
        ended = listener.end().ok()
    assert f"m2 listens at {address} (stop with Ctrl-C)" in ended.err
    assert f"next: on another machine: handsoff send m2 --at {address}" in ended.err
    assert f"received {WORK} r1 from m1" in ended.err
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_listener_that_is_stopped_ends_cleanly(
    monday: Monday, tmp_path: Path, how: signal.Signals, code: int
) -> None:
    before, file = monday.untouched(), tmp_path / "address"
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    with background(monday.m2, *words) as listener:
        address = address_in(file, listener)
        ended = listener.interrupt(how)
    assert ended.code == code
    assert "Traceback" not in ended.err
    refused(inside(monday.m1, "send", "m2", "--at", address), 6, address)
    assert monday.untouched() == before


def test_a_parcel_under_way_still_arrives_when_the_listener_is_stopped(
    monday: Monday, tmp_path: Path
) -> None:
    travels, file, log = monday.travels, tmp_path / "address", tmp_path / "steps"
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    env = {"HANDSOFF_PAUSE_AT": "listen.bytes.after:1", "HANDSOFF_STEPS_LOG": str(log)}
    with background(monday.m2, *words, **env) as listener:
        address = address_in(file, listener)
        with background(monday.m1, "send", "m2", "--at", address) as sender:
            wait_for(lambda: "listen.bytes.after" in steps(log))
            assert listener.interrupt().code == 130
            sender.end().ok()
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels


def test_a_machine_that_is_let_in_while_the_listener_runs_may_send(monday: Monday) -> None:
    m4 = stranger(monday)
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(m4, "send", "m2", "--at", there.address)
        refused(said, 7, "not in the roster", "handsoff card")
        assert monday.untouched() == before
        admit(monday.m1.desk(), m4.card(), ask=lambda _: None)
        inside(m4, "send", "m2", "--at", there.address).ok()
    assert there.arrived == ["feat/jpy from m4"]
    inside(monday.m2, "catch", "feat/jpy").ok()


def test_one_listener_takes_works_of_several_machines(monday: Monday) -> None:
    m3 = monday.m3
    m3.git("switch", "-q", "-c", "feat/jpy")
    m3.write(".wip/HANDOFF.md", PAGE.replace(WORK, "feat/jpy"))
    m3.commit()
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address).ok()
        inside(m3, "send", "m2", "--at", there.address).ok()
        inside(m3, "send", "m2", "--at", there.address).ok()
    assert sorted(there.arrived) == [f"{WORK} from m1", "feat/jpy from m3"]
    told = inside(monday.m2, "inbox", "--json").ok().json
    assert {(p["work"], p["sender"]) for p in told["parcels"]} == {(WORK, "m1"), ("feat/jpy", "m3")}


def test_a_clone_that_cannot_take_the_work_says_so_before_anything_is_sent(
    monday: Monday,
) -> None:
    monday.m2.git("config", "filter.tidy.required", "true")
    monday.m2.write(".git/info/attributes", "*.py filter=tidy\n")
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
    refused(said, 8, "git requires the filter tidy for src/money.py", "set filter.tidy.clean")
    (failed,) = there.failed
    assert failed.startswith("git requires the filter tidy")
    assert monday.untouched() == before


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["--bind", "192.0.2.1"], 2, "cannot listen on 192.0.2.1"),
        (["--bind", "no.such.host.invalid"], 2, "cannot listen on"),
        (["--bind", "127.0.0.1", "--address-file", "/nowhere/x"], 8, "cannot write /nowhere/x"),
    ],
)
def test_a_place_that_cannot_be_listened_on_is_said_so(
    monday: Monday, words: list[str], code: int, part: str
) -> None:
    refused(inside(monday.m2, "listen", *words), code, part)


def test_a_port_that_is_taken_is_said_to_be(monday: Monday) -> None:
    with at_home(monday.m2) as there:
        port = there.address.split(":")[1]
        said = inside(monday.m3, "listen", "--bind", "127.0.0.1", "--port", port)
    refused(said, 2, f"cannot listen on 127.0.0.1:{port}", "--port")


def test_a_number_that_is_no_port_is_said_so(monday: Monday) -> None:
    said = inside(monday.m2, "listen", "--port", "70000")
    assert said.code == 2
    assert "65535" in said.err


def test_a_machine_without_a_clone_does_not_listen(monday: Monday) -> None:
    (monday.m2.home / "clones.json").unlink()
    refused(inside(monday.m2, "listen"), 2, "no clone on this machine takes part yet")


def test_one_listener_a_machine_and_a_second_says_who_runs_and_where(
    monday: Monday, tmp_path: Path
) -> None:
    file, home = tmp_path / "address", monday.m2.home
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    with background(monday.m2, *words) as listener:
        address = address_in(file, listener)
        found = running(home)
        assert found is not None
        assert (found.pid, found.address) == (listener.process.pid, address)
        assert (home / "listener.json").stat().st_mode & 0o777 == 0o600
        said = inside(monday.m2, "listen", "--bind", "127.0.0.1")
        refused(said, 3, f"process {found.pid} at {address}", f"kill {found.pid}")
        listener.interrupt(signal.SIGKILL)
    assert (home / "listener.json").exists()
    assert running(home) is None
    with background(monday.m2, *words) as listener:
        wait_for(lambda: running(home) is not None)
        assert listener.interrupt(signal.SIGHUP).code == 0
    assert not file.exists()
    assert not (home / "listener.json").exists()


def test_a_second_signal_cuts_what_is_under_way(monday: Monday, tmp_path: Path) -> None:
    file, log = tmp_path / "address", tmp_path / "steps"
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    env = {"HANDSOFF_PAUSE_AT": "send.offer.before:60", "HANDSOFF_STEPS_LOG": str(log)}
    with background(monday.m2, *words) as listener:
        sending = ("send", "m2", "--at", address_in(file, listener), "--retry", "0")
        with background(monday.m1, *sending, **env) as sender:
            wait_for(lambda: "send.offer.before" in steps(log))
            listener.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert listener.process.poll() is None
            begin = time.monotonic()
            assert listener.interrupt(signal.SIGTERM).code == 0
            assert time.monotonic() - begin < 5
            sender.interrupt()


def test_what_happens_is_told_to_programs_line_by_line(monday: Monday, tmp_path: Path) -> None:
    file = tmp_path / "address"
    words = ("listen", "--bind", "127.0.0.1", "--once", "--json", "--address-file", file)
    with background(monday.m2, *words) as listener:
        inside(monday.m1, "send", "m2", "--at", address_in(file, listener)).ok()
        ended = listener.end().ok()
    told = [json.loads(line) for line in ended.out.splitlines()]
    assert [one["event"] for one in told] == [
        "listening", "arriving", "arrived", "finished", "stopping", "stopped",
    ]  # fmt: skip
    assert told[2]["work"] == WORK
    assert (told[2]["machine"], told[2]["person"], told[2]["revision"]) == ("m1", "lin", 1)
    assert ended.err == ""


def test_my_persons_machines_only(monday: Monday, tmp_path: Path) -> None:
    m4 = stranger(monday, person="kim")
    admit(monday.m1.desk(), m4.card("kim"), ask=lambda _: None)
    with at_home(monday.m2, Rules(Welcome.MINE)) as there:
        said = inside(m4, "send", "m2", "--at", there.address)
        refused(said, 3, "m2 takes parcels of lin's machines only", "--via remote")
        inside(monday.m1, "send", "m2", "--at", there.address).ok()
    assert there.arrived == [f"{WORK} from m1"]
    assert not [*(monday.m2.home / "incoming").iterdir()]


def test_the_person_is_asked_before_the_first_byte(monday: Monday) -> None:
    asked: list[str] = []
    incoming = monday.m2.home / "incoming"

    def ask(question: str) -> bool:
        asked.append(question)
        assert not any(p.stat().st_size for p in incoming.iterdir())
        return len(asked) > 1

    before = monday.untouched()
    with at_home(monday.m2, Rules(Welcome.ASK, ask=ask)) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
        refused(said, 3, f"the person at m2 did not say yes to {WORK}")
        assert monday.untouched() == before
        assert not [*incoming.iterdir()]
        inside(monday.m1, "send", "m2", "--at", there.address).ok()
    assert len(asked) == 2
    for part in ("m1 (lin, SHA256:", WORK, " bytes"):
        assert part in asked[0]


def test_asking_needs_a_terminal(monday: Monday) -> None:
    refused(inside(monday.m2, "listen", "--accept", "ask"), 2, "needs a terminal", "--accept mine")


def test_what_is_too_much_is_refused_before_the_first_byte(monday: Monday) -> None:
    with at_home(monday.m2, Rules(limits=Limits(parcel=100))) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
    refused(said, 3, "m2 takes parcels of at most 100 bytes, and this has", "--max-parcel")
    with at_home(monday.m2, Rules(limits=Limits(count=0))) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address)
    refused(said, 8, "m2 has 0 parcels waiting", "handsoff inbox")
    assert not [*(monday.m2.home / "incoming").iterdir()]


def test_a_fork_with_the_same_commits_is_another_repository(monday: Monday, tmp_path: Path) -> None:
    m1, m2 = monday.m1, monday.m2
    git(tmp_path, "clone", "-q", "--bare", str(monday.remote.path), str(tmp_path / "fork.git"))
    for ref in monday.remote.refs("refs/wip"):
        git(tmp_path / "fork.git", "update-ref", "-d", ref)
    forks = []
    for machine in (m1, m2):
        top = tmp_path / f"{machine.name}-fork"
        git(tmp_path, "clone", "-q", str(tmp_path / "fork.git"), str(top))
        forks.append(Machine(machine.name, machine.home, top))
    inside(forks[0], "init").ok()
    admit(forks[0].desk(), m2.card(), ask=lambda _: None)
    inside(forks[1], "init", "--trust", forks[0].desk().need_pin()).ok()
    forks[0].git("switch", "-q", "-c", "feat/jpy")
    forks[0].write(".wip/HANDOFF.md", PAGE.replace(WORK, "feat/jpy"))
    forks[0].commit()
    clones = json.loads((m2.home / "clones.json").read_text())
    # a clone that was moved away, and a folder that is none any more, are passed by
    (tmp_path / "empty").mkdir()
    for tops in clones.values():
        tops[:0] = [str(tmp_path / "moved"), str(tmp_path / "empty")]
    (m2.home / "clones.json").write_text(json.dumps(clones))
    with at_home(m2) as there:
        inside(forks[0], "send", "m2", "--at", there.address).ok()
        inside(m1, "send", "m2", "--at", there.address).ok()
    assert there.arrived == ["feat/jpy from m1", f"{WORK} from m1"]
    inside(forks[1], "catch", "feat/jpy").ok()
    inside(m2, "catch", WORK).ok()


def test_strangers_keep_nobody_out_while_the_remote_is_silent(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handsoff.flows.receiving.listen._FRESH", 0.0)
    monkeypatch.setenv("GIT_SSH_COMMAND", "sleep 3;:")
    monday.m2.git("remote", "set-url", "origin", "ssh://nobody.invalid/x.git")
    with at_home(monday.m2) as there:
        host, _, port = there.address.rpartition(":")

        def knock(seed: bytes) -> None:
            with pytest.raises(HandsoffError):
                dial(host, int(port), private_key=seed, host_key=monday.m2.member().public_key,
                     timeout=9.0)  # fmt: skip

        with ThreadPoolExecutor(10) as strangers:
            for n in range(10):
                strangers.submit(knock, bytes([200 + n]) * 32)
            time.sleep(0.7)
            begun = time.monotonic()
            dial(host, int(port), private_key=monday.m1.member().seed,
                 host_key=monday.m2.member().public_key).close()  # fmt: skip
            assert time.monotonic() - begun < 2.0
