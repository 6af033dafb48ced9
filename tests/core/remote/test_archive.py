"""The archive: what it takes for a deletion to be no attack."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handsoff.core.chain import Word, compose
from handsoff.core.machines.admission import RosterRead, admit, revoke
from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.remote import archive
from handsoff.core.remote.archive import REVOKED_AT, Archive, archived, lets_go
from handsoff.core.works.lease import Recipient
from handsoff.core.works.pen import Pen
from handsoff.errors import RefusedError, TrustError
from tests.kit.signing import (
    M1,
    M2,
    M3,
    OUTSIDER,
    START,
    Machine,
    empty,
    founded,
    pairs,
    roster,
)

AT = int(START.timestamp())
REF, TIP, NEWER = "lease/feat%2Fx", "a" * 40, "b" * 40
NOBODY = Archive(roster=roster())


def grown(read: Archive, by: Machine = M1, at: int = AT, **refs: str) -> Archive:
    named = {REF: [TIP]} if not refs else {f"lease/{name}": [tip] for name, tip in refs.items()}
    return read.extend(pairs(archived(read, named, by=by.id, at=at, sign=by.sign)))


def forged(read: Archive, by: Machine = M1, **changes: Any) -> Archive:
    """Return the archive after an entry that nobody checked."""
    tree, at = changes.pop("tree", EMPTY_TREE), changes.pop("at", AT)
    body = {
        "kind": "Archived",
        "repo": read.roster.founding,
        "roster": read.roster.tip,
        "seq": read.seq + 1,
        "prev": read.tip,
        "refs": {REF: [TIP]},
        **changes,
    }
    link = compose(
        "forged", body, parent=read.git_tip, tree=tree, name=by.name, machine=by.id, at=at,
        sign=by.sign,
    )  # fmt: skip
    return read.extend([link])


def under(read: Archive, changed: RosterRead) -> Archive:
    return replace(read, roster=changed.trusted())


def test_an_archive_has_each_ref_at_each_tip_that_was_named() -> None:
    read = grown(grown(NOBODY, M1), M2, feat=NEWER)
    read = read.extend(pairs(archived(read, {REF: [NEWER]}, by=M3.id, at=AT, sign=M3.sign)))
    assert [entry.word for entry in read.entries] == [Word.SIGNED] * 3
    assert read.names(REF, TIP)
    assert read.names(REF, NEWER)
    assert read.names("lease/feat", NEWER)
    assert not read.names("lease/feat", TIP)
    assert not read.names("lease/other", TIP)
    assert "archived 1 ref" in (read.entries[0].entry.subject if read.entries[0].entry else "")


def test_an_archive_reads_the_same_whole_or_in_pieces() -> None:
    first = archived(NOBODY, {REF: [TIP]}, by=M1.id, at=AT, sign=M1.sign)
    one = NOBODY.extend(pairs(first))
    second = archived(one, {REF: [NEWER]}, by=M2.id, at=AT, sign=M2.sign)
    assert NOBODY.extend(pairs(first, second)) == one.extend(pairs(second))


FORGED: dict[str, dict[str, Any]] = {
    "not an entry of the archive": {"kind": "Closed"},
    "not an entry of the archive: Archived": {"more": 1},
    "an entry of another repository": {"repo": "c" * 40},
    "out of turn": {"prev": "d" * 40},
    "out of turn ": {"seq": 7},
    "dated before": {"at": AT - 1},
    "a roster that is not known": {"roster": "e" * 40},
    "an older roster": {"roster": roster().founding},
    "it names no refs": {"refs": {}},
    "it names no refs ": {"refs": [REF]},
    "no record and no notes": {"refs": {"roster": [TIP]}},
    "a chain that is none": {"refs": {REF: TIP}},
    "a chain that is none ": {"refs": {REF: []}},
    "a chain that is none  ": {"refs": {REF: [TIP, "HEAD"]}},
    "has no files": {"tree": oid_of("tree", b"x")},
}


@pytest.mark.parametrize("reason", FORGED)
def test_an_entry_that_breaks_a_rule_is_void_and_stood_upon(reason: str) -> None:
    before = grown(NOBODY, feat=NEWER)
    read = forged(before, **FORGED[reason])
    assert reason.strip() in read.entries[-1].reason
    assert read.entries[-1].word is Word.SIGNED
    assert read.refs == before.refs
    assert grown(read).names(REF, TIP)


def test_strangers_and_late_comers_name_nothing() -> None:
    read = forged(NOBODY, OUTSIDER)
    assert (read.entries[-1].word, dict(read.refs)) == (Word.UNKNOWN, {})
    with pytest.raises(TrustError):
        grown(NOBODY, OUTSIDER)
    chain = founded(M1)
    late = chain.extend(pairs(admit(chain, M2.card(), by=M1.id, at=AT, sign=M1.sign))).trusted()
    read = forged(Archive(roster=late), M2, roster=late.founding)
    assert "not admitted yet" in read.entries[-1].reason


def test_a_flaw_says_what_can_be_said_of_its_signature() -> None:
    for by, word in ((M1, Word.SIGNED), (OUTSIDER, Word.UNKNOWN)):
        read = forged(NOBODY, by, kind=7)
        assert (read.entries[-1].word, dict(read.refs)) == (word, {})
    data = f"tree {EMPTY_TREE}\nauthor x\ncommitter x\n\nhello".encode()
    read = NOBODY.extend([(oid_of("commit", data), data)])
    assert read.entries[-1].word is Word.UNSIGNED


def test_what_would_be_void_is_not_signed() -> None:
    with pytest.raises(RefusedError):
        archived(NOBODY, {}, by=M1.id, at=AT, sign=M1.sign)


def test_a_clock_that_is_behind_is_no_reason_to_be_void() -> None:
    assert grown(grown(NOBODY), at=AT - 100, feat=TIP).names("lease/feat", TIP)


def revoked(tips: dict[str, str]) -> RosterRead:
    chain = founded()
    draft = revoke(chain, M2.id, reason="lost", tips=tips, by=M1.id, at=AT, sign=M1.sign)
    return chain.extend(pairs(draft))


def test_what_a_revoked_machine_named_counts_up_to_the_tip_of_its_revocation() -> None:
    first = archived(NOBODY, {REF: [TIP]}, by=M2.id, at=AT, sign=M2.sign)
    one = NOBODY.extend(pairs(first))
    late = archived(one, {REF: [NEWER]}, by=M2.id, at=AT, sign=M2.sign)
    for tips, words in (
        ({REVOKED_AT: first.oid}, [Word.SIGNED, Word.REVOKED]),
        ({REVOKED_AT: late.oid}, [Word.SIGNED, Word.SIGNED]),
        ({}, [Word.REVOKED, Word.REVOKED]),
    ):
        read = under(NOBODY, revoked(tips)).extend(pairs(first, late))
        assert [entry.word for entry in read.entries] == words
    after = under(NOBODY, revoked({REVOKED_AT: TIP}))
    assert forged(after, M2).entries[-1].word is Word.REVOKED, "under the roster that revoked it"


def test_an_entry_may_name_very_many_refs() -> None:
    many = {f"lease/{n:04}" + "x" * 196: [TIP] for n in range(archive.AT_ONCE // 7)}
    long = {REF: [TIP] * (archive.AT_ONCE - 6)}
    for refs in (many, long):
        draft = archived(NOBODY, refs, by=M1.id, at=AT, sign=M1.sign)
        assert len(NOBODY.extend(pairs(draft)).refs) == len(refs)


CAUGHT = M1.pen(empty()).caught()


def named(last: Pen) -> Archive:
    """Return the archive that names the record up to what ``last`` wrote."""
    ids = [draft.oid for draft in last.drafts]
    return NOBODY.extend(pairs(archived(NOBODY, {REF: ids}, by=M1.id, at=AT, sign=M1.sign)))


def test_a_record_is_let_go_only_where_it_was_closed_at_the_tip_that_is_named() -> None:
    closed = CAUGHT.closed("merged")
    long_after = START + timedelta(days=40)
    for pen, allowed in ((closed, True), (CAUGHT, False), (CAUGHT.dropped("x"), False)):
        read = named(pen)
        assert lets_go(read, REF, pen.record, long_after) is allowed
        assert not lets_go(read, "lease/other", pen.record, long_after)
        assert not lets_go(NOBODY, REF, pen.record, long_after)
        behind = replace(pen.record, behind="a newer roster")
        assert not lets_go(read, REF, behind, long_after)
    further = closed.caught().closed("merged")
    assert not lets_go(named(closed), REF, further.record, long_after), "it went on after that"


def test_who_saw_an_earlier_state_lets_go_what_nobody_carries_by_that() -> None:
    offered = CAUGHT.saved(envelope=TIP).offered(Recipient())
    read = named(offered.withdrawn().closed("merged"))
    hour = timedelta(hours=1)
    for pen, end in ((CAUGHT, hour / 2), (offered, 24 * hour)):
        assert not lets_go(read, REF, pen.record, START + end - hour / 60)
        assert lets_go(read, REF, pen.record, START + end)
    dropped = CAUGHT.dropped("x")
    assert lets_go(named(dropped.caught()), REF, dropped.record, START)
