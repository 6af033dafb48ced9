"""Who is near by, on a LAN of network namespaces: verified, not believed."""

import time
from contextlib import ExitStack

import pytest

from handsoff.core.ids import machine_id
from handsoff.core.reach.discovery import MACHINES
from handsoff.edge.lan import mdns
from tests.kit.lan import Lan, found_at, lan_or_skip, two
from tests.kit.listening import M2, echo, public
from tests.kit.listening import Machine as Stranger
from tests.kit.monday import Monday
from tests.kit.running import inside

__all__ = ["two"]


@pytest.fixture(autouse=True)
def _on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mdns.SWITCH, raising=False)


def test_peers_names_whom_a_key_proves_and_whoever_only_says_so(monday: Monday) -> None:
    with lan_or_skip("m1", "m2", "m3") as net, ExitStack() as stack:
        stack.enter_context(found_at(net.machine("m2"), monday.m2))
        with net.machine("m3").here():
            fake = Stranger(echo, bind="")
            stack.enter_context(fake.listener)
            for instance in (monday.m3.member().id, machine_id(public(M2)), "a" * 26):
                claim = mdns.Announcement(MACHINES, instance, fake.port, tell=pytest.fail)
                assert stack.enter_context(claim).spoken.wait(20)
        with net.machine("m1").here():
            began = time.monotonic()
            said = inside(monday.m1, "peers").ok()
            assert time.monotonic() - began < 3
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    stranger, there = machine_id(public(M2)), f"{net.machine('m3').ipv4}:{fake.port}"
    assert lines[0].startswith(f"m2 {net.machine('m2').ipv4}:")
    assert " here last seen 20" in lines[0]
    assert lines[1].startswith("m3 ")
    assert lines[1].endswith(" not who it says")
    assert lines[2].startswith("unknown ")
    assert lines[2].endswith(f" here {stranger}")
    assert lines[3].startswith(f"warning: at {there}")
    assert lines[3].endswith(" another machine answers in the name of m3")
    assert lines[4] == "announced and not proved to be there: 1 more"
    assert fake.served == []


def test_where_nobody_is_here_it_says_what_may_be_the_reason(monday: Monday, two: Lan) -> None:
    with two.machine("m1").here():
        said = inside(monday.m1, "peers", "--json").ok()
    states = {peer["name"]: (peer["state"], peer["verified"]) for peer in said.json["peers"]}
    assert states == {"m2": ("not heard", False), "m3": ("not heard", False)}
    assert "nobody is here: nobody listens, an access point" in said.err
    assert "--at HOST:PORT" in said.err
