"""The rules at the door of a remote of one's own."""

from dataclasses import replace

import pytest

from handsoff.core.ids import work_component
from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit
from handsoff.core.remote import gate
from handsoff.core.remote.archive import Archive, archived
from handsoff.core.remote.gate import Chapter, Update
from handsoff.core.remote.pushcert import Certificate
from handsoff.core.remote.pushing import NOTHING_THERE
from handsoff.core.remote.refs import Kind
from handsoff.core.works.lease import Recipient, Saved
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record, read_record
from handsoff.errors import HeldError, RefusedError
from tests.kit.signing import M1, M2, M3, OUTSIDER, START, empty, forged, pairs, roster

A, B, C, D = "a" * 40, "b" * 40, "c" * 40, "d" * 40
PARCEL = "1" * 32
REF = "refs/heads/feat/x"


def test_a_chain_is_deleted_only_by_the_archive_or_the_owner() -> None:
    update = Update("refs/wip/lease/a", A, "")
    for kind in (Kind.RECORD, Kind.NOTES):
        gate.check_deleted(update, kind, archived=True, allowed=False)
        gate.check_deleted(update, kind, archived=False, allowed=True)
        with pytest.raises(RefusedError, match="may not be deleted"):
            gate.check_deleted(update, kind, archived=False, allowed=False)
    for kind in (Kind.ROSTER, Kind.ARCHIVE, Kind.STRAY):
        with pytest.raises(RefusedError, match="may not be deleted"):
            gate.check_deleted(update, kind, archived=True, allowed=True)
    for kind in (Kind.PARCEL, Kind.PROBE):
        gate.check_deleted(update, kind, archived=False, allowed=False)


def test_a_chain_goes_on_or_is_refused_by_name() -> None:
    update = Update("refs/wip/lease/a", B, C)
    assert gate.check_goes_on(update, [], [A, B]) == 2
    assert gate.check_goes_on(update, [A, B], [A, B, C, D]) == 2
    assert gate.check_goes_on(update, [A], [A]) == 0
    many = [f"{number:040x}" for number in range(gate.ENTRIES + 1)]
    assert gate.check_goes_on(update, many[:1], many) == gate.ENTRIES
    with pytest.raises(RefusedError, match="over the limit"):
        gate.check_goes_on(update, [], many)
    for after, word in (([A], "rewound"), ([A, C], "forked"), ([C, D], "forked")):
        with pytest.raises(RefusedError, match=f"would be {word}"):
            gate.check_goes_on(update, [A, B], after)


def test_a_void_entry_is_refused_if_it_is_new_and_stood_upon_if_not() -> None:
    pen = M1.pen(empty()).caught()
    theirs = Saved(by=M2.id, at=START, leg=1, revision=0)
    void = forged(pen.record, theirs, M2)
    record = read_record([*pairs(*pen.drafts), void], roster(), "feat/x")
    update = Update("refs/wip/lease/feat%2Fx", "", void[0])
    with pytest.raises(RefusedError, match="m1 carries this work, not m2"):
        gate.check_fresh(update, record.entries, 1)
    gate.check_fresh(update, record.entries, 0)
    gate.check_fresh(update, M1.pen(record).saved().record.entries, 1)


def archive_of(name: str, *oids: str) -> Archive:
    empty_archive = Archive(roster=roster())
    at = int(START.timestamp())
    draft = archived(empty_archive, {name: oids}, by=M1.id, at=at, sign=M1.sign)
    return empty_archive.extend(pairs(draft))


def test_a_record_is_deleted_once_it_is_closed_and_archived() -> None:
    held = M1.pen(empty()).caught()
    closed = held.closed("merged").record
    name, ids = "lease/feat%2Fx", [e.oid for e in closed.entries]
    update = Update("refs/wip/lease/feat%2Fx", ids[-1], "")
    kept, none = archive_of(name, *ids), Archive(roster=roster())
    assert gate.may_delete(kept, name, update, closed)
    assert gate.may_delete(kept, name, update, None)
    assert not gate.may_delete(none, name, update, closed)
    assert not gate.may_delete(kept, "lease/y", update, closed)
    assert not gate.may_delete(kept, name, update, replace(closed, behind="x"))
    carried = Update(update.ref, ids[0], "")
    assert not gate.may_delete(archive_of(name, ids[0]), name, carried, held.record)
    assert not gate.may_delete(kept, name, carried, closed)


def test_an_archived_record_is_not_put_back() -> None:
    update = Update("refs/wip/lease/x", "", B)
    kept = archive_of("lease/x", A, B)
    gate.check_new(update, kept, "lease/x", [C, D])
    gate.check_new(update, kept, "lease/y", [A, B])
    gate.check_new(Update(update.ref, A, B), kept, "lease/x", [A, B])
    with pytest.raises(RefusedError, match="put back"):
        gate.check_new(update, kept, "lease/x", [A])


def test_a_parcel_never_changes_and_brings_no_history() -> None:
    who = "x <x@x.invalid> 0 +0000"
    gate.check_parcel(Update("p", "", A), Commit(A, (), who, who, "x"))
    with pytest.raises(RefusedError, match="never changes"):
        gate.check_parcel(Update("p", B, A), Commit(A, (), who, who, "x"))
    with pytest.raises(RefusedError, match="has a history"):
        gate.check_parcel(Update("p", "", A), Commit(A, (B,), who, who, "x"))


def test_a_try_of_the_remote_is_a_few_empty_commits() -> None:
    who = "x <x@x.invalid> 0 +0000"
    update = Update("refs/wip/probe/x", "", A)
    empty_commit = encode_commit(Commit(EMPTY_TREE, (), who, who, "x"))
    full = encode_commit(Commit(A, (), who, who, "x"))
    gate.check_probe(update, [(A, empty_commit)] * gate.PROBES)
    for commits in ([(A, empty_commit)] * (gate.PROBES + 1), [(A, empty_commit), (B, full)]):
        with pytest.raises(RefusedError, match="is no try of this remote"):
            gate.check_probe(update, commits)


def test_the_name_of_a_work_is_that_of_its_ref() -> None:
    assert gate.work_named("feat%2Fx", []) == "feat/x"
    long = "o" * 230
    entries = pairs(*M1.pen(empty(long)).caught().drafts)
    component = work_component(long)
    assert gate.work_named(component, entries) == long
    for wrong in ("feat%2fx", component.replace("o", "p", 1)):
        with pytest.raises(RefusedError, match="is not how the name of a work is spelled"):
            gate.work_named(wrong, entries)


def chapter(pen: Pen, fresh: int) -> Chapter:
    return Chapter(pen.record, fresh)


def test_an_entry_is_true_of_the_branch_or_refused() -> None:
    pen = M1.pen(empty()).caught().pushed("feat/x", old=A, new=B).pushed("feat/x", old=B, new=C)
    gate.check_claims(chapter(pen, 3), {"feat/x": C})
    gate.check_claims(chapter(pen, 0), {"feat/x": D})
    gate.check_claims(chapter(pen.pushed("y", old=A, new=NOTHING_THERE), 1), {"y": ""})
    for stands in (A, B, ""):
        with pytest.raises(RefusedError, match="and it is not"):
            gate.check_claims(chapter(pen, 2), {"feat/x": stands})


def who(
    update: Update, own: Record, *chapters: Chapter, cert: Certificate | None = None
) -> set[str]:
    return gate.vouchers(update, own, chapters, cert)


def test_an_entry_vouches_for_its_own_move() -> None:
    held = M1.pen(empty()).caught()
    pen = held.pushed("feat/x", old=A, new=B)
    assert who(Update(REF, A, B), pen.record, chapter(pen, 1)) == {M1.id}
    for other in (Update(REF, A, C), Update(REF, C, B), Update(REF, "", B), Update(REF, A, "")):
        assert who(other, pen.record, chapter(pen, 1)) == set()
    # an old entry counts only as the last word of the branch's own record, on this leg
    assert who(Update(REF, A, B), pen.record, chapter(pen, 0)) == {M1.id}
    assert who(Update(REF, A, B), pen.pushed("feat/x", old=B, new=A).record) == set()
    assert who(Update(REF, A, B), pen.dropped("").caught().record) == set()
    assert who(Update(REF, A, B), held.record, chapter(pen, 0)) == set()
    # several in one push are one move, if they follow and one machine made them
    two = pen.pushed("feat/x", old=B, new=C)
    assert who(Update(REF, A, C), two.record, chapter(two, 2)) == {M1.id}
    apart = pen.pushed("feat/x", old=D, new=C)
    assert who(Update(REF, A, C), apart.record, chapter(apart, 2)) == set()
    both = M2.pen(pen.dropped("").record).caught().pushed("feat/x", old=B, new=C)
    assert who(Update(REF, A, C), both.record, chapter(both, 4)) == set()


def test_a_certificate_vouches_for_what_it_lists_if_its_key_is_in() -> None:
    own = M1.pen(empty()).caught().record
    cert = Certificate(M2.key, frozenset({(REF, A, B), ("refs/heads/y", NOTHING_THERE, B)}))
    assert who(Update(REF, A, B), own, cert=cert) == {M2.id}
    assert who(Update("refs/heads/y", "", B), own, cert=cert) == {M2.id}
    assert who(Update(REF, A, C), own, cert=cert) == set()
    assert who(Update(REF, A, B), own, cert=replace(cert, key=OUTSIDER.key)) == set()


def test_a_branch_moves_by_its_carrier_and_by_anyone_where_nobody_carries_it() -> None:
    held = M1.pen(empty()).caught().saved(envelope=A)
    gate.check_branch(empty(), (), START)
    gate.check_branch(held.closed("merged").record, (), START)
    gate.check_branch(held.record, {M1.id}, START)
    gate.check_branch(held.dropped("train").record, {M1.id}, START)
    offered = held.offered(Recipient(machine=M2.id)).record
    for record, by in ((held.record, ()), (held.record, {M2.id, M3.id}), (offered, {M1.id, M2.id})):
        with pytest.raises(HeldError, match="feat/x: m1 "):
            gate.check_branch(record, by, START)
    with pytest.raises(HeldError, match=r"this push is m2's \(its certificate does not count: BAD"):
        gate.check_branch(held.record, {M2.id}, START, unsigned="BAD")


def test_a_record_that_names_what_is_not_here_judges_nothing() -> None:
    record = M1.pen(empty()).caught().record
    gate.check_behind(record)
    with pytest.raises(RefusedError, match="cannot be verified: a roster"):
        gate.check_behind(replace(record, behind="a roster"))
