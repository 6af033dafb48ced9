"""New keys for a machine: three entries that any reader judges rightly."""

from dataclasses import replace

import pytest

from handsoff.core.chain import Word
from handsoff.core.machines import admission, rotation
from handsoff.errors import RefusedError
from tests.kit.signing import M1, M2, M3, START, Machine, empty, founded, machine, pairs

AT = int(START.timestamp())
NEXT = replace(machine("m2 anew"), name="m2")
TIPS = {"feat/x": "a" * 40}


def rotated(read: admission.RosterRead, by: Machine, anew: Machine) -> admission.RosterRead:
    drafts = rotation.rotate(read, anew.card(), tips=TIPS, by=by.id, at=AT, sign=by.sign)
    return read.extend(pairs(*drafts))


def test_new_keys_take_the_name_and_the_old_ones_say_that_they_were() -> None:
    read = rotated(founded(M1, M2, M3), M2, NEXT)
    roster = read.trusted()
    assert [(m.name, m.id) for m in roster.members()] == [
        ("m1", M1.id),
        ("m3", M3.id),
        ("m2", NEXT.id),
    ]
    old = roster.everyone[M2.id]
    assert old.name == "m2.old"
    assert old.revoked is not None
    assert (old.revoked.by, dict(old.revoked.tips)) == (M2.id, TIPS)
    assert all(entry.word is Word.SIGNED for entry in read.entries)
    assert rotation.is_rotated(roster, M2.id, NEXT.id)


def test_the_last_machine_may_have_new_keys_and_the_founder_too() -> None:
    anew = replace(machine("m1 anew"), name="m1")
    read = rotated(founded(M1), M1, anew)
    assert [m.id for m in read.trusted().members()] == [anew.id]
    assert read.trusted().founding == founded(M1).trusted().founding


def test_no_reader_sees_two_members_of_one_name_on_the_way() -> None:
    read = founded(M1, M2)
    drafts = rotation.rotate(read, NEXT.card(), tips={}, by=M2.id, at=AT, sign=M2.sign)
    for count in range(len(drafts) + 1):
        names = [m.name for m in read.extend(pairs(*drafts[:count])).trusted().members()]
        assert len(set(names)) == len(names)
        assert "m2" in names or "m2.old" in names


def test_a_name_of_old_keys_is_never_used_twice() -> None:
    read = founded(M1, M2)
    for number, name in enumerate(("m2.old", "m2.old2", "m2.old3")):
        anew = replace(machine(f"m2 number {number}"), name="m2")
        by = M2 if not number else replace(machine(f"m2 number {number - 1}"), name="m2")
        read = rotated(read, by, anew)
        assert read.trusted().name_of(by.id) == name
    long = founded(machine("x" * 63)).trusted()
    assert rotation.former_name(long, "x" * 63) == "x" * 50 + ".old"


@pytest.mark.parametrize("card", [machine("m9"), replace(machine("k"), name="m2", person="kim")])
def test_new_keys_keep_the_name_and_the_person(card: Machine) -> None:
    with pytest.raises(RefusedError, match="keep the name and the person"):
        rotated(founded(M1, M2, M3), M2, card)


def test_a_machine_that_is_not_in_rotates_nothing() -> None:
    with pytest.raises(RefusedError):
        rotated(founded(M1), M2, NEXT)


def test_what_was_not_rotated_is_not_taken_for_it() -> None:
    read = founded(M1, M2)
    assert not rotation.is_rotated(read.trusted(), M2.id, NEXT.id)
    gone = admission.revoke(read, M2.id, reason="lost", tips={}, by=M1.id, at=AT, sign=M1.sign)
    let_in = read.extend(pairs(gone))
    let_in = let_in.extend(
        pairs(admission.admit(let_in, NEXT.card(), by=M1.id, at=AT, sign=M1.sign))
    )
    assert not rotation.is_rotated(let_in.trusted(), M2.id, NEXT.id), "m1 threw the old keys out"


def test_what_the_old_keys_signed_stays_good_and_no_more_is() -> None:
    held = M2.pen(empty()).caught()
    read = founded()
    drafts = rotation.rotate(
        read, NEXT.card(), tips={"feat/x": held.drafts[-1].oid}, by=M2.id, at=AT, sign=M2.sign
    )
    after = replace(empty(), roster=read.extend(pairs(*drafts)).trusted())
    more = held.dropped("backdated").drafts
    record = after.extend(pairs(*more))
    assert [entry.word for entry in record.entries] == [Word.SIGNED, Word.REVOKED]
