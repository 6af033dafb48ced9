"""The history of a work: what is told of each entry, and where the notes come."""

from datetime import UTC, datetime

import pytest

from handsoff.core.works.history import Line, no_chain, tell
from handsoff.core.works.lease import HOLD, Recipient
from handsoff.core.works.notes import Notes, noted, refused
from handsoff.core.works.pen import Pen
from tests.kit.signing import M1, M2, OUTSIDER, START, Machine, empty, forged, pairs, roster

AT = int(START.timestamp())
PARCEL, BLOB = "7" * 32, "b" * 40


def notes(by: Machine, *said: tuple[str, str, int]) -> Notes:
    """Return the chain of a machine that noted texts, each after a tip and at a time."""
    read = Notes(roster=roster(), work="feat/x", machine=by.id)
    for text, saw, at in said:
        read = read.extend(pairs(noted(read, text, saw=saw, at=at, sign=by.sign)))
    return read


def lines(pen: Pen, *chains: Notes, landed: int = 99) -> tuple[Line, ...]:
    there = [draft.oid for draft in pen.drafts[:landed]]
    told = [entry for chain in chains for entry in chain.entries]
    return tell(pen.record.entries, told, roster(), landed=there)


WHOLE = (
    M1.pen(empty())
    .caught()
    .saved(envelope=BLOB)
    .pushed("feat/x", old="0" * 40, new=BLOB)
    .saved(envelope=BLOB, parcel=PARCEL)
    .offered(Recipient(machine=M2.id), parcel=PARCEL, route="remote")
    .withdrawn()
    .dropped("no access", blocked=True)
)
OVER = M2.pen(WHOLE.record).caught(lapsed=False).closed("merged")


def test_each_entry_is_told_with_leg_and_revision_as_they_are_after_it() -> None:
    told = tell(OVER.record.entries, [], roster(), landed=())
    assert [(line.what, line.leg, line.revision, line.by, line.detail) for line in told] == [
        ("Caught", 1, 0, "m1", ""),
        ("Saved", 1, 1, "m1", "the page alone"),
        ("Pushed", 1, 1, "m1", "feat/x to bbbbbbbbbb"),
        ("Saved", 1, 2, "m1", ""),
        ("Offered", 1, 2, "m1", f"to m2 by remote, until {spelled(AT + 86400)}"),
        ("Withdrawn", 1, 2, "m1", ""),
        ("Dropped", 1, 2, "m1", "blocked: no access"),
        ("Caught", 2, 2, "m2", "from m1 (drop)"),
        ("Closed", 2, 2, "m2", "merged"),
    ]


def spelled(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def test_a_note_stands_after_what_was_seen_and_not_where_its_clock_says() -> None:
    pen = M1.pen(empty()).caught().saved(envelope=BLOB)
    first, second = (draft.oid for draft in pen.drafts)
    mine = notes(M1, ("late", first, AT + 999))
    theirs = notes(M2, ("never seen", "c" * 40, AT), ("early", first, AT), ("last", second, AT))
    told = [line.detail for line in lines(pen, mine, theirs) if line.what == "Noted"]
    whole = [line.detail or line.what for line in lines(pen, mine, theirs)]
    assert told == ["never seen", "early", "late", "last"]
    assert whole == ["never seen", "Caught", "early", "late", "the page alone", "last"]


def test_a_refusal_says_what_was_tried_and_names_machines() -> None:
    read = refused(
        notes(M1), tried="Saved", leg=2, revision=1, reason=f"{M2.id} was faster", winner=M2.id,
        saw="", at=AT, sign=M1.sign,
    )  # fmt: skip
    (line,) = lines(M1.pen(empty()), notes(M1).extend(pairs(read)))
    assert (line.what, line.leg, line.revision) == ("Refused", 2, 1)
    assert line.detail == "Saved: m2 was faster"


@pytest.mark.parametrize("landed", [0, 1, 2])
def test_what_the_remote_has_not_got_is_told_to_wait(landed: int) -> None:
    pen = M1.pen(empty()).caught().saved(envelope=BLOB)
    assert [line.pending for line in lines(pen, landed=landed)] == [n >= landed for n in range(2)]


def test_what_does_not_count_is_told_with_the_reason() -> None:
    event = M1.pen(empty()).caught(hold=HOLD).record.good[0].event
    record = empty().extend([forged(empty(), event, OUTSIDER)])
    (line,) = tell(record.entries, [], roster(), landed=())
    assert (line.what, line.word, line.by) == ("void", "unknown signer", "")
    assert line.void
    spoiled = no_chain("m2", BLOB, "no commit")
    assert (spoiled.what, spoiled.by, spoiled.void) == ("void", "m2", "no commit")
