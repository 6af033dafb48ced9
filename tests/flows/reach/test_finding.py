"""Machines find each other on a LAN of network namespaces, and nobody else gets anything."""

from contextlib import ExitStack

import pytest

from handsoff.core.reach.address import parse_address
from handsoff.core.reach.discovery import MACHINES
from handsoff.edge.lan import mdns
from handsoff.flows.reach import finding
from tests.kit.lan import Lan, found_at, lan_or_skip, two
from tests.kit.listening import Machine as Stranger
from tests.kit.listening import echo
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside, refused

__all__ = ["two"]


@pytest.fixture(autouse=True)
def _on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mdns.SWITCH, raising=False)
    monkeypatch.setattr(finding, "LOOK", 9.0)  # on a busy machine all takes longer


def test_a_work_is_handed_over_with_no_address_typed(monday: Monday, two: Lan) -> None:
    m1, m2 = two.machine("m1"), two.machine("m2")
    with found_at(m2, monday.m2) as there, m1.here():
        told = inside(monday.m1, "send", "m2", "--json").ok().json
    assert there.arrived == [f"{WORK} from m1"]
    port = parse_address(there.address)[1]
    assert told["route"] == {"name": "direct", "why": f"m2 is at {m2.ipv4}:{port}"}
    assert monday.m1.desk().home.address_of(monday.m2.member().id) == f"{m2.ipv4}:{port}"


def test_without_ipv4_and_without_the_remote_the_others_are_found_all_the_same(
    monday: Monday,
) -> None:
    with lan_or_skip("m1", "m2", ipv4=False) as net:
        with found_at(net.machine("m2"), monday.m2) as there, net.machine("m1").here():
            said = inside(monday.m1, "send", "m2", "--via", "direct").ok()
        assert there.arrived == [f"{WORK} from m1"]
        assert "m2 is at [f" in said.err


def test_a_stale_address_is_passed_over(monday: Monday, two: Lan) -> None:
    m2 = two.machine("m2")
    monday.m1.desk().home.remember_address(monday.m2.member().id, "10.68.0.77:4711")
    with found_at(m2, monday.m2) as there, two.machine("m1").here():
        inside(monday.m1, "send", "m2").ok()
    assert there.arrived == [f"{WORK} from m1"]


def test_whoever_answers_in_a_machine_s_name_gets_nothing_and_is_passed_by(monday: Monday) -> None:
    with lan_or_skip("m1", "m2", "m3") as net:
        m2 = monday.m2.member().id
        with ExitStack() as stack:
            with net.machine("m3").here():
                fake = Stranger(echo, bind="")
                stack.enter_context(fake.listener)
                claim = mdns.Announcement(MACHINES, m2, fake.port, tell=pytest.fail)
                assert stack.enter_context(claim).spoken.wait(20)
            with net.machine("m1").here():
                said = inside(monday.m1, "send", "m2", "--via", "direct")
                place = f"{net.machine('m3').ipv4}:{fake.port}"
                refused(said, 6, f"another machine answers in its place at {place}")
                with found_at(net.machine("m2"), monday.m2) as there:
                    inside(monday.m1, "send", "m2").ok()
        assert there.arrived == [f"{WORK} from m1"]
        assert (fake.served, fake.errors) == ([], [])


def test_where_nobody_is_found_the_remote_is_taken_and_the_reason_is_said(
    monday: Monday, two: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "LOOK", 0.5)
    with two.machine("m1").here():
        said = inside(monday.m1, "send", "m2", "--json").ok()
    assert said.json["route"] == {"name": "remote", "why": "mDNS finds no m2 here"}
