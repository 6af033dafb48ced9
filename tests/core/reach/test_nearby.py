"""Who is near by: proved before it is called by name; and what silence may mean."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkup import earshot
from handsoff.core.checkup.health import Finding, Level
from handsoff.core.reach.discovery import Look
from handsoff.core.reach.nearby import Answer, Peer, Place, Presence, judge
from tests.core.reach.test_interfaces import DOCKER, ETH, LO, VPN, link

KNOWN = {"m2": ("m2", "lin"), "m3": ("M3", "kim")}
Heard = list[tuple[Place, Answer]]


def rows(answers: Heard) -> dict[str, Peer]:
    return {p.machine: p for p in judge(KNOWN, answers, {"m2": 7, "m3": 8}, 9).peers}


def test_a_machine_is_here_where_it_proved_it_and_others_claim_its_name_elsewhere() -> None:
    answers: Heard = [
        (("m2", "a"), Answer.ANOTHER), (("m2", "b"), Answer.PROVED), (("m3", "c"), Answer.SILENT)
    ]  # fmt: skip
    found = rows(answers)
    assert (found["m2"].presence, found["m2"].address) == (Presence.HERE, "b")
    assert (found["m2"].claimed, found["m2"].seen) == (("a",), 9)
    assert (found["m3"].presence, found["m3"].address) == (Presence.SILENT, "c")
    assert found["m3"].seen == 8


def test_one_that_only_another_answers_for_is_not_who_it_says() -> None:
    found = rows([(("m2", "a"), Answer.SILENT), (("m2", "b"), Answer.ANOTHER)])
    assert (found["m2"].presence, found["m3"].presence) == (Presence.ANOTHER, Presence.UNHEARD)
    assert (found["m2"].seen, found["m3"].address) == (7, "")


def test_strangers_are_shown_when_they_prove_it_and_counted_when_not() -> None:
    answers: Heard = [
        (("x", "a"), Answer.PROVED), (("y", "b"), Answer.ANOTHER), (("z", "c"), Answer.SILENT)
    ]  # fmt: skip
    found = judge({}, answers, {}, 9)
    assert ([p.machine for p in found.peers], found.unproved) == (["x"], 2)
    assert found.peers[0].name == ""


def test_names_come_in_order_and_strangers_last() -> None:
    found = judge(KNOWN, [(("x", "a"), Answer.PROVED)], {}, 9)
    assert [p.machine for p in found.peers] == ["m2", "m3", "x"]


@given(
    st.lists(
        st.tuples(
            st.tuples(st.sampled_from(["m2", "m3", "x", "y"]), st.sampled_from("abc")),
            st.sampled_from(Answer),
        )
    )
)
def test_nobody_is_here_who_did_not_prove_it(answers: Heard) -> None:
    proved = {place for place, answer in answers if answer is Answer.PROVED}
    found = judge(KNOWN, answers, {}, 9)
    here = {p.machine: p.address for p in found.peers if p.presence is Presence.HERE}
    assert here.keys() == {machine for machine, _ in proved}
    assert set(here.items()) <= proved
    assert len(found.peers) + found.unproved == len({*KNOWN, *(m for (m, _), _ in answers)})


# --- what a check-up says -----------------------------------------------------------------------

OTHERS = {"m2": "m2", "m3": "m3"}
GOOD = Look(interfaces=(LO, ETH), own=True)


def told(look: Look, others: dict[str, str] = OTHERS) -> list[Finding]:
    found = earshot.of_look(look, others)
    assert all(f.topic == "mdns" for f in found)
    assert all(f.do for f in found if f.level is not Level.OK)
    return found


@pytest.mark.parametrize(
    ("look", "level", "said"),
    [
        (Look(off="switched off here"), Level.NOTE, "switched off here"),
        (Look(), Level.NOTE, "no network interface is up"),
        (Look(interfaces=(LO, DOCKER)), Level.NOTE, "no network interface is up"),
        (Look(interfaces=(LO, VPN)), Level.NOTE, "only a tunnel or VPN leads out of here (wg0)"),
        (
            Look(interfaces=(link("eth0", "10.1.0.5/24", multicast=False),)),
            Level.NOTE,
            "eth0 has no multicast",
        ),
        (Look(interfaces=(ETH,), trouble="port taken"), Level.PROBLEM, "port taken"),
        (Look(interfaces=(ETH,)), Level.PROBLEM, "is not heard here itself"),
    ],
)
def test_what_keeps_mdns_from_working_is_said_and_nothing_else(
    look: Look, level: Level, said: str
) -> None:
    (found,) = told(look)
    assert found.level is level
    assert said in found.said


def test_that_nobody_is_heard_is_a_note_with_what_it_may_be() -> None:
    for look, reason in [
        (GOOD, "no handsoff listen runs there, or an access point keeps its clients apart"),
        (replace(GOOD, others=True), "other devices were"),
        (Look(interfaces=(ETH, VPN), own=True), "the VPN that is up (wg0)"),
    ]:
        fine, note = told(look)
        assert (fine.level, note.level) == (Level.OK, Level.NOTE)
        assert "of m2, m3 nobody was heard" in note.said
        assert reason in note.said


def test_who_is_heard_is_named_and_who_is_alone_has_nobody_to_hear() -> None:
    works, heard = told(replace(GOOD, machines=frozenset(["m3", "x"])))
    assert (works.said, heard.said) == ("mDNS works on eth0", "heard here: m3")
    assert len(told(GOOD, {})) == 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "mDNS finds no m2 here"),
        ({"looked": False}, "no address of m2 is known"),
        ({"trouble": "it is off"}, "no address of m2 is known; it is off"),
        ({"silent": ["a:1"]}, "m2 did not answer at a:1, and mDNS knows no other place"),
        ({"silent": ["a:1"], "looked": False}, "m2 did not answer at a:1"),
        (
            {"silent": ["a:1"], "others": ["b:2", "c:3", "d:4", "e:5"]},
            "m2 was not found; another machine answers in its place at b:2, c:3, d:4 and 1 more",
        ),
    ],
)
def test_where_a_machine_was_looked_for_is_said_as_it_was(
    how: dict[str, object], said: str
) -> None:
    facts: dict[str, object] = {"others": [], "silent": [], "looked": True, "trouble": ""}
    told = earshot.not_found("m2", **facts | how)  # type: ignore[arg-type]
    assert told[0] == said
    assert "handsoff send m2 --at HOST:PORT" in told[1]
