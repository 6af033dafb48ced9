"""Reading a record: fields, words, rosters and clocks. Hostile entries: test_hostile_chains."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handsoff.core.chain import Word
from handsoff.core.machines.admission import revoke
from handsoff.core.machines.roster import Roster
from handsoff.core.objects import oid_of
from handsoff.core.works.lease import (
    Caught,
    Dropped,
    Event,
    Found,
    How,
    Offered,
    Pushed,
    Recipient,
    Saved,
    State,
)
from handsoff.core.works.record import Record, RecordEntry, read_record
from tests.kit.signing import (
    M1,
    M2,
    M3,
    OUTSIDER,
    START,
    Machine,
    empty,
    forged,
    founded,
    machine,
    pairs,
    roster,
)

PAGE, ENVELOPE, OTHER = "a" * 40, "b" * 40, "c" * 40
MINUTE = timedelta(minutes=1)
HELD = M1.pen(empty()).caught().saved(page=PAGE, envelope=ENVELOPE).record


def event(kind: type[Event], record: Record = HELD, by: Machine = M1, **more: Any) -> Any:
    """Return an event that fits ``record``, unless ``more`` says otherwise."""
    lease = record.lease
    here: dict[str, Any] = {"by": by.id, "at": START, "leg": lease.leg, "revision": lease.revision}
    return kind(**{**here, **more})


def verdict(commit: tuple[str, bytes], record: Record = HELD) -> RecordEntry:
    """Return what is said of a void entry, after checking that it changes and jams nothing."""
    after = record.extend([commit])
    assert not after.entries[-1].good
    assert (after.lease, after.tip, after.seq) == (record.lease, record.tip, record.seq)
    assert after.git_tip == commit[0]
    assert M1.pen(after).saved(envelope=OTHER).record.lease.revision == record.lease.revision + 1
    return after.entries[-1]


SAVED = event(Saved, page=PAGE, envelope=OTHER)
BODIES: list[tuple[type[Event], dict[str, Any], str]] = [
    (Saved, {"hold": 10**9}, "a field that does not read: hold"),
    (Saved, {"page": "x"}, "a field that does not read: page"),
    (Saved, {"envelope": 7}, "a field that does not read: envelope"),
    (Saved, {"parcel": "x"}, "a field that does not read: parcel"),
    (Saved, {"leg": -1}, "a leg or revision that is no number"),
    (Saved, {"revision": True}, "a leg or revision that is no number"),
    (Pushed, {"branch": ""}, "a field that does not read: branch"),
    (Pushed, {"branch": 7}, "a field that does not read: branch"),
    (Pushed, {"old": ""}, "a field that does not read: old"),
    (Offered, {"to": {}}, "a field that does not read: to"),
    (Offered, {"to": {"machine": "m2"}}, "a field that does not read: to"),
    (Offered, {"to": {"anyone": False}}, "a field that does not read: to"),
    (Offered, {"to": {"person": "lin", "machine": M2.id}}, "a field that does not read: to"),
    (Offered, {"deadline": "soon"}, "a field that does not read: deadline"),
    (Offered, {"route": "pigeon"}, "a field that does not read: route"),
    (Offered, {"route": []}, "a field that does not read: route"),
    (Dropped, {"reason": None}, "a field that does not read: reason"),
    (Dropped, {"blocked": 0}, "a field that does not read: blocked"),
    (Caught, {"found": {}}, "a field that does not read: found"),
    (Caught, {"found": {"how": "luck", "by": "", "since": None}}, "does not read: found"),
    (Caught, {"found": {"how": "free", "by": "", "since": False}}, "does not read: found"),
]
SOUND: dict[type[Event], dict[str, Any]] = {
    Saved: {},
    Pushed: {"branch": "x", "old": OTHER, "new": PAGE},
    Offered: {"to": Recipient(), "deadline": START + MINUTE, "envelope": ENVELOPE},
    Dropped: {"reason": ""},
    Caught: {"found": Found(how=How.FREE)},
}


@pytest.mark.parametrize(("kind", "changes", "reason"), BODIES)
def test_a_field_that_will_not_do_is_named(
    kind: type[Event], changes: dict[str, Any], reason: str
) -> None:
    assert reason in verdict(forged(HELD, event(kind, **SOUND[kind]), M1, **changes)).reason


def test_the_five_words_for_a_signature() -> None:
    stranger = replace(SAVED, by=OUTSIDER.id)
    assert verdict(forged(HELD, stranger, OUTSIDER)).word is Word.UNKNOWN
    assert verdict(forged(HELD, SAVED, OUTSIDER)).word is Word.UNKNOWN, "in the name of m1"
    assert verdict(forged(HELD, SAVED, M2)).word is Word.SIGNED, "by m2, in the name of m1"
    sound = forged(HELD, SAVED, M1)[1]
    bad = sound.replace(b"forged\n", b"forgot\n")
    assert verdict((oid_of("commit", bad), bad)).word is Word.BAD
    head, _, rest = sound.partition(b"gpgsig ")
    bare = head.rstrip(b"\n") + b"\n\n" + rest.partition(b"\n\n")[2]
    assert verdict((oid_of("commit", bare), bare)).word is Word.UNSIGNED
    assert [w.value for w in Word] == ["signed", "unknown signer", "bad", "unsigned", "revoked"]


def gone(tips: dict[str, str], record: Record) -> Roster:
    """Return the roster after m1 revoked m2."""
    draft = revoke(founded(), M2.id, reason="lost", tips=tips, by=M1.id, at=1, sign=M1.sign)
    assert record.roster == roster()
    return founded().extend(pairs(draft)).trusted()


def test_what_a_key_signed_up_to_the_tip_of_its_revocation_stays_good() -> None:
    pen = M1.pen(empty()).caught().saved(page=PAGE).offered(Recipient(machine=M2.id))
    pen2 = M2.pen(pen.record).caught().saved(envelope=OTHER)
    chain = pairs(*pen.drafts, *pen2.drafts)
    after = gone({"feat/x": chain[3][0]}, pen2.record)
    read = read_record(chain, after, "feat/x")
    assert [e.word for e in read.entries] == [Word.SIGNED] * 4 + [Word.REVOKED]
    assert (read.lease.revision, read.tip, read.behind) == (1, chain[3][0], "")
    assert read.entries[-1].reason == f"{M2.id}: revoked"
    late = read.extend([forged(read, event(Saved, read, M2, revision=1), M2)])
    assert late.entries[-1].word is Word.REVOKED


def test_a_revoked_key_signs_nothing_where_its_revocation_names_no_tip() -> None:
    pen = M2.pen(empty()).caught()
    read = read_record(pairs(*pen.drafts), gone({}, pen.record), "feat/x")
    assert (read.entries[0].word, read.lease.state) == (Word.REVOKED, State.FREE)
    assert M1.pen(read).caught().record.lease.carrier == M1.id


def test_a_backdated_entry_by_a_revoked_key_is_void() -> None:
    first = M1.pen(empty()).caught().dropped("train")
    chain = pairs(*first.drafts)
    after = gone({"feat/x": chain[-1][0]}, first.record)
    read = read_record(chain, after, "feat/x")
    found = read.lease.found()
    caught = event(Caught, read, M2, found=found)
    old = forged(read, caught, M2, roster=roster().tip)
    assert read.extend([old]).entries[-1].word is Word.REVOKED
    ahead = replace(read, passed=frozenset())
    assert ahead.extend([forged(read, caught, M2)]).entries[-1].word is Word.REVOKED, "new roster"


def test_a_revocation_whose_tip_is_not_here_asks_for_another_fetch() -> None:
    pen = M1.pen(empty()).caught()
    after = gone({"feat/x": OTHER}, pen.record)
    read = read_record(pairs(*pen.drafts), after, "feat/x")
    assert read.behind == f"the revocation of m2 names a tip that is not here: {OTHER}"


def test_a_flawed_entry_of_a_revoked_key_is_said_to_be_revoked() -> None:
    pen = M1.pen(empty()).caught()
    after = gone({}, pen.record)
    read = read_record(pairs(*pen.drafts), after, "feat/x")
    flawed = forged(read, event(Saved, read, by=M1), M2)
    assert read.extend([flawed]).entries[-1].word is Word.REVOKED


def test_letting_a_machine_in_makes_nothing_good_that_was_void() -> None:
    m4 = machine("m4", "ann")
    pen = M1.pen(empty()).caught().dropped("train")
    early = pen.record
    caught = event(Caught, early, m4, found=early.lease.found())
    void = forged(early, caught, m4)
    chain = [*pairs(*pen.drafts), void]
    with_m4 = founded(M1, M2, M3, m4).trusted()
    read = read_record(chain, with_m4, "feat/x")
    assert read.entries[-1].reason == "signed by a machine that was not admitted yet"
    now = m4.pen(read).caught().record
    assert now.lease.carrier == m4.id
    older = forged(now, event(Saved, now, m4), m4, roster=roster().tip)
    assert "under an older roster" in now.extend([older]).entries[-1].reason


def test_an_entry_under_a_roster_that_is_not_here_asks_for_another_fetch() -> None:
    newer = founded(M1, M2, M3, machine("m4", "ann")).trusted()
    made = M1.pen(replace(HELD, roster=newer)).saved(page=PAGE)
    read = HELD.extend(pairs(*made.drafts))
    assert read.behind == f"an entry names a roster that is not here: {newer.tip}"


def test_times_ahead_of_the_reader_are_a_finding_and_void_nothing() -> None:
    year = timedelta(days=365)
    ahead = M1.pen(empty(), START + year).caught().record
    assert ahead.ahead(START) == year
    assert ahead.ahead(START + 2 * year) == empty().ahead(START) == timedelta(0)
    assert not ahead.has_lapsed(START)
    assert ahead.has_lapsed(START, waited=30 * MINUTE)
    caught = M2.pen(ahead, START).caught(lapsed=True).record
    assert (caught.lease.carrier, caught.lease.leg) == (M2.id, 2)
    assert not empty().has_lapsed(START)
