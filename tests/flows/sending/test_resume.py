"""A transfer that is cut, stalled or killed goes on where it stopped, and few bytes go twice."""

import os
import signal
import time
from pathlib import Path

import pytest

from handsoff.edge.ssh import ssh_profile
from tests.flows.receiving.test_listen import address_in
from tests.kit.compare import look
from tests.kit.monday import WORK, Monday
from tests.kit.proxy import Line, Proxy
from tests.kit.running import at_home, background, inside, refused, steps, wait_for

SIZE = 3_000_000
SSH = 0.005
"""What SSH adds to the bytes of a parcel."""

TWICE = 0.05
"""What a cut may cost, another handshake and all."""


def grow(monday: Monday) -> None:
    """Make the work of m1 larger by bytes that nothing makes smaller."""
    (monday.m1.top / "big.bin").write_bytes(os.urandom(SIZE))


def parts(monday: Monday) -> list[Path]:
    return [*(monday.m2.home / "incoming").glob("*.part")]


def test_a_transfer_that_is_cut_in_many_places_goes_on_by_itself(monday: Monday) -> None:
    grow(monday)
    travels = monday.travels
    # the first two lines end in the talk before the parcel, the last in the receipt
    lines = [Line(up=up) for up in (3_700, 300_000, 1_400_000)] + [Line(down=3_800)]
    with at_home(monday.m2) as there, Proxy(there.address, *lines, Line()) as line:
        told = inside(monday.m1, "send", "m2", "--at", line.address, "--json").ok().json
        assert told["lost"] >= 3
        assert line.up <= (1 + SSH + 3 * TWICE) * told["size"]
    assert there.arrived == [f"{WORK} from m1"]
    assert parts(monday) == []
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels


def test_without_patience_a_cut_is_told_and_the_same_command_goes_on(monday: Monday) -> None:
    grow(monday)
    with at_home(monday.m2) as there, Proxy(there.address, Line(up=2_000_000), Line()) as line:
        words = ("send", "m2", "--at", line.address)
        refused(inside(monday.m1, *words, "--retry", "0"), 6, "the connection was cut")
        assert monday.carrier == ("free", "", 0)
        (part,) = parts(monday)
        here = part.stat().st_size
        assert here > 2_000_000 - TWICE * SIZE
        told = inside(monday.m1, *words, "--json").ok().json
        assert (told["resumed"], told["lost"]) == (here, 0)
        assert told["warnings"][1:] == []
        assert line.up <= (1 + SSH + TWICE) * told["size"]
    inside(monday.m2, "catch", WORK).ok()


def test_a_tree_that_changed_meanwhile_is_sent_anew_and_says_so(monday: Monday) -> None:
    grow(monday)
    with at_home(monday.m2) as there, Proxy(there.address, Line(up=2_000_000), Line()) as line:
        words = ("send", "m2", "--at", line.address)
        assert inside(monday.m1, *words, "--retry", "0").code == 6
        monday.m1.write("src/money.py", "MONEY = 2\n")
        told = inside(monday.m1, *words, "--json").ok().json
    assert "the work changed since it was sent in part: sent anew" in told["warnings"]
    assert told["resumed"] == 0
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "src/money.py").read_text() == "MONEY = 2\n"


def test_a_listener_that_is_killed_and_started_elsewhere_has_what_had_come(
    monday: Monday, tmp_path: Path
) -> None:
    grow(monday)
    file, log = tmp_path / "address", tmp_path / "steps"
    words = ("listen", "--bind", "127.0.0.1", "--address-file", file)
    env = {"HANDSOFF_PAUSE_AT": "listen.bytes.after:60", "HANDSOFF_STEPS_LOG": str(log)}
    with (
        background(monday.m2, *words, **env) as listener,
        Proxy(address_in(file, listener), Line()) as line,
        background(monday.m1, "send", "m2", "--at", line.address, "--json") as sender,
    ):
        wait_for(lambda: "listen.bytes.after" in steps(log))
        listener.interrupt(signal.SIGKILL)
        with at_home(monday.m2) as there:
            line.target = there.address
            line.cut()
            told = sender.end().ok().json
        assert told["lost"] >= 1
        # all had come: it is not sent again
        assert line.up <= 1.05 * told["size"] + 20_000
    inside(monday.m2, "catch", WORK).ok()


def test_whoever_dials_again_goes_on_though_the_old_line_looks_alive(monday: Monday) -> None:
    grow(monday)
    with at_home(monday.m2) as there, Proxy(there.address, Line(up=1_500_000, stalls=True)) as line:
        with background(monday.m1, "send", "m2", "--at", line.address) as sender:
            wait_for(lambda: any(one.stalled for one in line.passed))
            sender.interrupt(signal.SIGKILL)
        begin = time.monotonic()
        told = inside(monday.m1, "send", "m2", "--at", there.address, "--json").ok().json
        assert time.monotonic() - begin < ssh_profile.SILENCE / 2
        assert told["resumed"] > 0
    assert there.arrived == [f"{WORK} from m1"]
    assert parts(monday) == []


def test_a_line_that_is_silent_is_left_and_another_is_dialled(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(monday)
    monkeypatch.setattr(ssh_profile, "SILENCE", 1.5)
    lines = [Line(up=1_000_000, stalls=True), Line()]
    with at_home(monday.m2) as there, Proxy(there.address, *lines) as line:
        told = inside(monday.m1, "send", "m2", "--at", line.address, "--json").ok().json
    assert told["lost"] == 1
    assert there.arrived == [f"{WORK} from m1"]


def test_a_slow_line_that_moves_is_not_taken_for_a_dead_one(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    (monday.m1.top / "big.bin").write_bytes(os.urandom(1_000_000))
    monkeypatch.setattr(ssh_profile, "SILENCE", 1.5)
    monkeypatch.setattr("handsoff.edge.ssh.ssh_session.SIGN", 0.2)
    with at_home(monday.m2) as there, Proxy(there.address, Line(rate=400_000)) as line:
        told = inside(monday.m1, "send", "m2", "--at", line.address, "--json").ok().json
    assert told["lost"] == 0
    assert len(line.passed) == 1


def test_a_no_is_an_answer_and_not_asked_for_again(monday: Monday) -> None:
    monday.m2.git("config", "filter.tidy.required", "true")
    monday.m2.write(".git/info/attributes", "*.py filter=tidy\n")
    with at_home(monday.m2) as there:
        said = inside(monday.m1, "send", "m2", "--at", there.address, "--retry", "1h")
    refused(said, 8, "git requires the filter tidy")
    assert len(there.failed) == 1


def test_with_a_wish_to_wait_a_machine_that_is_not_up_yet_is_dialled_until_it_is(
    monday: Monday,
) -> None:
    with Proxy("127.0.0.1:9") as line:  # nobody is there
        words = ("send", "m2", "--at", line.address)
        assert inside(monday.m1, *words).code == 6
        with background(monday.m1, *words, "--retry", "1m") as sender:
            wait_for(lambda: len(line.passed) > 3)
            with at_home(monday.m2) as there:
                line.target = there.address
                sender.end().ok()
    assert there.arrived == [f"{WORK} from m1"]


def test_a_length_that_is_none_is_said_so(monday: Monday) -> None:
    for text in ("soon", "-1", "0s"):
        refused(inside(monday.m1, "send", "m2", "--retry", text), 2, "no length of time")
