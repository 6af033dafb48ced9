"""What is kept of what strangers announce: shape, number and place, and never more than that."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.reach import discovery
from handsoff.core.reach.discovery import (
    ADDRESSES,
    CHECK,
    MACHINES,
    PAIRING,
    PORTS,
    RESULTS,
    Found,
    Sightings,
    hint,
    host_of,
    instance_of,
    look,
)
from tests.core.reach.test_interfaces import HERE

M2, M3 = "b" * 26, "c" * 26
KINDS = st.sampled_from([MACHINES, PAIRING])
INSTANCES = st.from_regex(r"[a-z2-7]{26}|[0-9]{1,6}", fullmatch=True)


def id_of(number: int) -> str:
    return "".join("abcdefghij"[int(n)] for n in f"{number:026}")


def heard(sightings: Sightings, instance: str, port: int, *addresses: str) -> list[Found]:
    host = host_of(sightings.kind, instance)
    sightings.service(instance, host, port)
    for address in addresses:
        sightings.address(host, address)
    return sightings.news()


@given(KINDS, INSTANCES | st.text(max_size=40))
def test_a_host_is_named_after_its_instance_and_nothing_else(kind: str, instance: str) -> None:
    good = discovery.is_instance(kind, instance)
    assert instance_of(kind, host_of(kind, instance)) == (instance if good else None)


@pytest.mark.parametrize(
    "host",
    ["", M2, "m2.local.", f"{M2}.local", f"{M2}.local.local.", f"x.{M2}.local.", f"{M2}.lan."],
)
def test_other_hosts_are_nobody_s(host: str) -> None:
    assert instance_of(MACHINES, host) is None


def test_a_machine_is_told_once_it_has_an_address_and_again_for_each_more() -> None:
    sightings = Sightings(MACHINES)
    assert heard(sightings, M2, 4711) == []
    assert sightings.without_address() == [M2]
    assert heard(sightings, M2, 4711, "10.1.0.9") == [Found(M2, 4711, ("10.1.0.9",))]
    assert heard(sightings, M2, 4711, "10.1.0.9") == []
    assert heard(sightings, M2, 4711, "10.1.0.8") == [Found(M2, 4711, ("10.1.0.9", "10.1.0.8"))]
    assert heard(sightings, M2, 4712) == [Found(M2, 4712, ("10.1.0.9", "10.1.0.8"))]


@pytest.mark.parametrize(("port", "kept"), [(0, 0), (1, 1), (65535, 1), (65536, 0), (-1, 0)])
def test_a_port_is_one(port: int, kept: int) -> None:
    assert len(heard(Sightings(MACHINES), M2, port, "10.1.0.9")) == kept


def test_a_service_on_a_host_of_another_name_is_not_kept() -> None:
    sightings = Sightings(MACHINES)
    sightings.service(M2, host_of(MACHINES, M3), 4711)
    sightings.address(host_of(MACHINES, M2), "10.1.0.9")
    sightings.address("printer.local.", "10.1.0.8")
    assert sightings.news() == []


def test_of_ten_thousand_some_are_kept_and_those_we_know_in_any_case() -> None:
    sightings = Sightings(MACHINES, known={M2})
    told = [f for n in range(10_000) for f in heard(sightings, id_of(n), 4711, "10.1.0.9")]
    assert len(told) == RESULTS
    assert heard(sightings, M2, 4711, "10.1.0.9") == [Found(M2, 4711, ("10.1.0.9",))]


def test_who_looks_for_one_hears_of_no_other() -> None:
    sightings = Sightings(MACHINES, wanted=M2)
    assert heard(sightings, M3, 4711, "10.1.0.9") == []
    assert heard(sightings, M2, 4711, "10.1.0.9") != []


def test_one_machine_has_few_addresses_and_ports() -> None:
    sightings = Sightings(MACHINES, wanted=M2)
    for number in range(50):
        heard(sightings, M2, 4711 + number, f"10.1.0.{number + 10}")
    assert heard(sightings, M2, 1, "10.1.0.99") == []
    assert len(sightings._addresses[M2]) == ADDRESSES
    assert len(sightings._ports[M2]) == PORTS


SAID: dict[str, Any] = {"instance": M2, "port": 4711, "addresses": ["10.1.0.9", "8.8.8.8"]}


def test_a_hint_has_the_addresses_that_may_be_dialled() -> None:
    assert hint(MACHINES, SAID, HERE) == Found(M2, 4711, ("10.1.0.9",))


@pytest.mark.parametrize(
    "wrong",
    [{"instance": "m2"}, {"port": 0}, {"port": 65536}, {"addresses": []}, {"addresses": ["::1"]},
     {"addresses": ["8.8.8.8"] * ADDRESSES + ["10.1.0.9"]}],
)  # fmt: skip
def test_what_the_child_says_is_judged_once_more(wrong: dict[str, Any]) -> None:
    assert hint(MACHINES, SAID | wrong, HERE) is None


def test_a_check_up_tells_its_own_voice_from_machines_and_from_other_devices() -> None:
    own = f"abc.{CHECK}"
    seen = look(HERE, [own.upper(), f"{M2}.{MACHINES}", f"printer.{MACHINES}", MACHINES], own=own)
    assert (seen.own, seen.machines, seen.others) == (True, frozenset([M2]), False)
    seen = look(HERE, ["x.ipp._tcp.local."], own=own)
    assert (seen.own, seen.machines, seen.others) == (False, frozenset(), True)
