"""Legs and stretches come from the record alone, and stand on a line in order."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.audit.legs import Kind, catches, legs, stretches
from handsoff.core.shown.differences import LINES, differences
from handsoff.core.shown.timescale import scale, ticks
from handsoff.core.works.entry import time_of
from handsoff.core.works.lease import Event, Recipient
from handsoff.core.works.pen import Pen
from handsoff.errors import HandsoffError
from tests.kit.signing import M1, M2, empty

START: Final = time_of(1_800_000_000)
MINUTE: Final = timedelta(minutes=1)


def later(pen: Pen, minutes: int) -> Pen:
    return replace(pen, now=START + minutes * MINUTE)


def begun() -> Pen:
    return later(M1.pen(empty("feat/x")), 0).caught()


def events(pen: Pen) -> list[Event]:
    return [entry.event for entry in pen.record.good]


def told(pen: Pen, until: int) -> list[tuple[str, int, int, int]]:
    now = START + until * MINUTE
    found = stretches(events(pen), pen.record.roster.person_of, now)
    return [(s.kind.value, s.leg, _at(s.begin), _at(s.end)) for s in found]


def _at(time: datetime) -> int:
    return int((time - START) / MINUTE)


def test_a_work_is_held_offered_and_lapses_by_itself() -> None:
    pen = later(begun(), 20).saved(envelope="1" * 40)
    assert told(pen, 30) == [("held", 1, 0, 30)]
    assert told(pen, 90) == [("held", 1, 0, 50), ("lapsed", 1, 50, 90)]
    offered = later(pen, 40).offered(Recipient(machine=M2.id), within=60 * MINUTE)
    assert told(offered, 120) == [
        ("held", 1, 0, 40), ("offered", 1, 40, 100), ("lapsed", 1, 100, 120),
    ]  # fmt: skip


def test_legs_say_who_caught_what_and_how_it_stands() -> None:
    pen = later(begun(), 20).saved(envelope="1" * 40)
    pen = later(pen, 25).offered(Recipient(machine=M2.id))
    pen = later(M2.pen(pen.record), 30).caught()
    pen = later(later(pen, 31).saved(envelope="1" * 40), 32).saved(envelope="1" * 40)
    pen = later(pen, 35).dropped(reason="no time", blocked=True)
    all_of = events(pen)
    parts = stretches(all_of, pen.record.roster.person_of, START + 60 * MINUTE)
    first, second = legs(all_of, parts)
    assert (first.carrier, first.saves, first.to, first.last) == (M1.id, 1, M2.id, Kind.OFFERED)
    assert (second.carrier, second.to, second.last) == (M2.id, "", Kind.BLOCKED)
    assert second.saves == 2
    assert (_at(first.end), _at(second.end)) == (30, 60)
    assert catches(all_of)[2].found.by == M1.id
    assert told(later(pen, 36), 36)[-1] == ("blocked", 2, 35, 36)


def test_of_nothing_there_is_no_line() -> None:
    assert stretches([], lambda _: None, START) == ()
    assert scale([]).place(START) == 0.0


def test_a_night_of_waiting_is_cut_and_said() -> None:
    pen = later(begun(), 20).saved(envelope="1" * 40)
    pen = later(M2.pen(later(pen, 25).offered(Recipient()).record), 25 + 900).caught()
    parts = stretches(events(pen), pen.record.roster.person_of, START + 950 * MINUTE)
    line = scale(parts)
    (cut,) = line.breaks
    assert cut.length == 900 * MINUTE
    assert line.place(START + 25 * MINUTE) > 0.3
    assert [at for _, at in ticks(line, [START, START + MINUTE, parts[-1].begin])] == [
        START, parts[-1].begin,
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("csodpwC"), st.integers(0, 200)), max_size=12))
def test_stretches_leave_no_gap_and_the_line_only_goes_forward(
    steps: list[tuple[str, int]],
) -> None:
    pen, minute = begun(), 0
    for verb, wait in steps:
        minute += wait
        pen = later(pen, minute)
        try:
            pen = {
                "c": lambda p: p.caught(), "s": lambda p: p.saved(envelope="1" * 40),
                "o": lambda p: p.offered(Recipient()), "d": lambda p: p.dropped(reason=""),
                "p": lambda p: p.pushed("b", old="1" * 40, new="2" * 40),
                "w": lambda p: p.withdrawn(), "C": lambda p: p.closed(outcome="merged"),
            }[verb](pen)  # fmt: skip
        except HandsoffError:
            continue
    now = START + (minute + 10) * MINUTE
    parts = stretches(events(pen), pen.record.roster.person_of, now)
    assert parts[0].begin == START
    assert parts[-1].end == now
    assert all(a.end == b.begin for a, b in pairwise(parts))
    assert [leg.number for leg in legs(events(pen), parts)] == sorted({p.leg for p in parts})
    line = scale(parts)
    places = [line.place(at) for part in parts for at in (part.begin, part.end)]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 1.0)
    assert all(0.0 <= place <= 1.0 for place in places)


def test_differences_show_lines_with_what_is_around_them() -> None:
    old = "\n".join("abcdefghij")
    found = differences(old, old.replace("i", "I"))
    assert found is not None
    assert [(c.kind, c.text) for c in found] == [
        ("gap", ""), ("same", "f"), ("same", "g"), ("same", "h"), ("removed", "i"),
        ("added", "I"), ("same", "j"),
    ]  # fmt: skip
    assert differences(old, old) == ()
    assert differences("a\n" * (LINES + 1), "b") is None
