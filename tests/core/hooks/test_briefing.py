"""What hooks of agents are told: of a work's record, of offers that wait, and what a user set."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handsoff.core.hooks import briefing
from handsoff.core.hooks.briefing import settings_of
from handsoff.core.works.lease import HOLD, OFFER, Recipient
from handsoff.core.works.record import Record
from tests.kit.signing import M1, M2, M3, START, Machine, empty

HELD = M1.pen(empty()).caught().saved(page="a" * 40, envelope="b" * 40)
OFFERED = HELD.offered(Recipient(person="KIM")).record
DROPPED = HELD.dropped("the disk\nis \x1b[31mfull" + "!" * 300, blocked=True).record
CLOSED = HELD.closed("merged").record
LATER = START + timedelta(minutes=5)
LAPSED = START + HOLD
NOW = int(START.timestamp())


def told(machine: Machine, *records: Record) -> dict[str, Any]:
    more = {"next": "go on"}
    return briefing.entry_of(records or (HELD.record,), machine=machine.id, now=LATER, told=more)


@pytest.mark.parametrize(
    ("machine", "record", "fields", "pushes"),
    [
        (M1, HELD.record, {"state": "held", "here": True, "last_here": True, "leg": 1,
                           "revision": 1, "to": "", "drop": None, "until": NOW + 1800},
         (True, True)),
        (M2, HELD.record, {"state": "held", "here": False, "last_here": False}, (False, False)),
        # what holds once the offer has run out is told beside what holds until then
        (M1, OFFERED, {"state": "offered", "here": False, "last_here": True, "to": "KIM",
                       "offered_to_me": False, "until": NOW + int(OFFER.total_seconds())},
         (False, True)),
        (M2, OFFERED, {"offered_to_me": False, "last_here": False}, (False, False)),
        (M3, OFFERED, {"offered_to_me": True}, (False, False)),
        (M1, HELD.offered(Recipient(machine=M2.id)).record,
         {"to": "m2", "offered_to_me": False}, (False, True)),
        (M1, HELD.offered(Recipient()).record,
         {"to": "anyone", "offered_to_me": False}, (False, True)),
        (M2, DROPPED, {"state": "dropped", "until": 0, "last_here": False}, (False, False)),
        (M1, DROPPED, {"here": False, "last_here": True}, (True, True)),
        (M2, CLOSED, {"state": "closed", "drop": None}, (True, True)),
        (M1, replace(HELD.record, behind="x"), {"here": True}, (False, False)),
        (M1, empty(), {"state": "free", "since": 0, "until": 0, "last_here": False}, (True, True)),
    ],
)  # fmt: skip
def test_a_hook_is_told_where_a_work_stands_and_what_holds_from_then_on(
    machine: Machine, record: Record, fields: dict[str, Any], pushes: tuple[bool, bool]
) -> None:
    entry = told(machine, record)
    assert {name: entry[name] for name in fields} == fields
    assert (entry["may_push"], entry["may_push_then"]) == pushes
    assert (entry["next"], entry["traps"]) == ("go on", [])


def test_of_several_records_the_one_that_denies_is_told() -> None:
    assert told(M2, CLOSED, HELD.record)["state"] == "held"
    assert not told(M2, CLOSED, HELD.record)["may_push"]
    assert told(M1, CLOSED, HELD.record)["state"] == "closed"
    assert told(M2)["carrier"] == {"id": M1.id, "name": "m1"}


def test_a_drop_is_told_on_one_short_line() -> None:
    drop = told(M2, DROPPED)["drop"]
    assert (drop["by"], drop["since"], drop["blocked"]) == ("m1", NOW, True)
    assert drop["reason"].startswith("the disk")
    assert drop["reason"].isprintable()
    assert len(drop["reason"]) <= 200
    lapsed = replace(HELD.record, lease=HELD.record.lease.as_of(LAPSED))
    assert (told(M2, lapsed)["state"], told(M2, lapsed)["drop"]) == ("dropped", None)


def test_who_let_go_is_told_until_the_new_carrier_has_saved() -> None:
    taken = M2.pen(DROPPED, LATER).caught()
    assert briefing.taken_of(taken.record) == {"by": "m1", "how": "drop", "since": NOW}
    assert briefing.taken_of(taken.saved(page="d" * 40, envelope="e" * 40).record) is None
    late = M2.pen(HELD.record, LAPSED).caught(lapsed=True).record
    assert briefing.taken_of(late) == {"by": "m1", "how": "lapse", "since": NOW + 1800}
    again = M1.pen(DROPPED, LATER).caught().record  # one's own is no loss
    by_offer = M3.pen(OFFERED, LATER).caught().record  # and what was handed over neither
    assert [briefing.taken_of(r) for r in (again, by_offer, HELD.record, empty())] == [None] * 4


def test_offers_that_wait_are_of_the_record_or_of_the_inbox() -> None:
    works = {"a": told(M3, OFFERED), "b": told(M3), "c": told(M3)}
    arrived = [("a", "m2", 9), ("b", "m1", 1), ("c", "m1", 2), ("d", "m\n2", 1)]
    assert briefing.waits(works, arrived) == [
        {"work": "a", "from": "m1", "revision": 1, "until": works["a"]["until"]},
        {"work": "c", "from": "m1", "revision": 2, "until": 0},  # b is on the record already
        {"work": "d", "from": briefing.waits({}, [("d", "m\n2", 1)])[0]["from"], "revision": 1,
         "until": 0},
    ]  # fmt: skip
    assert briefing.waits({}, [("d", "m\n2" * 99, 1)])[0]["from"].isprintable()
    assert len(briefing.waits({}, [(f"w{n}", "m1", 1) for n in range(1001)])) == briefing.MOST


def test_of_too_many_works_those_here_are_kept_and_those_that_moved_last() -> None:
    works = {f"w{n}": {"here": n == 0, "since": n} for n in range(briefing.MOST + 2)}
    assert works.keys() - briefing.kept(works).keys() == {"w1", "w2"}


@pytest.mark.parametrize(
    ("edits", "every", "told"),
    [
        ("warn", "5m", ("warn", 300)), ("OFF", "off", ("off", 0)), ("Warn", "NO", ("warn", 0)),
        ("", "", ("deny", 600)), ("maybe", "never", ("deny", 600)), ("deny", "0", ("deny", 0)),
    ],
)  # fmt: skip
def test_what_a_user_set_is_told_and_what_is_none_is_as_if_not_set(
    edits: str, every: str, told: tuple[str, int]
) -> None:
    assert settings_of(edits, every) == {"edits": told[0], "save_every": told[1]}
