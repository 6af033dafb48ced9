"""The rules of an audit: what contradicts the past, what does not verify, what nobody minds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from handsoff.core.audit.audit import Chain, Remote, audit, founded_by, is_trust
from handsoff.core.audit.findings import Grade, Report, What
from handsoff.core.chain import Commits, Word, compose
from handsoff.core.ids import fingerprint, work_component
from handsoff.core.machines import admission
from handsoff.core.objects import EMPTY_TREE
from handsoff.core.remote import archive
from handsoff.core.remote.archive import Archive
from handsoff.core.remote.refs import read_ref
from handsoff.core.works import notes
from handsoff.core.works.lease import HOLD, OFFER, Recipient, Saved
from handsoff.core.works.pen import Pen
from tests.kit.hostile import Cast
from tests.kit.signing import (
    M1,
    M2,
    M3,
    OUTSIDER,
    START,
    Machine,
    empty,
    founded,
    machine,
    pairs,
    roster,
)

WORK, PARCEL, BLOB = "feat/x", "7" * 32, "b" * 40
PREFIX = "refs/wip"
NOW = int(START.timestamp())
LEASE = f"{PREFIX}/lease/feat%2Fx"
DAY = timedelta(days=1)
HELD = M1.pen(empty()).caught().saved(envelope=BLOB)
SENT = HELD.offered(Recipient(machine=M2.id), parcel=PARCEL, route="remote")
CAUGHT = M2.pen(SENT.record).caught()
WHOLE = pairs(*SENT.drafts, *CAUGHT.drafts)
CHAIN: Commits = [(e.oid, b"") for e in founded().entries]


def at(
    name: str, commits: Commits | None = (), *seen: Commits | str, what: str = "commit"
) -> Chain:
    """Return what lies at a ref, beside what was seen there: chains, or an id of one long gone."""
    before = tuple([(s, b"")] if isinstance(s, str) else s for s in seen)
    return Chain(ref=read_ref(name, PREFIX), commits=commits, seen=before, what=what)


def look(
    *chains: Chain, refs: Sequence[str] = (), now: datetime = START, known: Sequence[str] = ()
) -> Report:
    """Return the audit of these chains and further refs; all machines of the roster are heard."""
    there = [chain.ref for chain in chains if chain.commits != ()]
    heard = [at(f"{PREFIX}/notes/heard/{m.id}", note(m, "heard")) for m in (M1, M2, M3)]
    more = [read_ref(name, PREFIX) for name in refs]
    every = Remote(refs=[*there, *more], chains=[*heard, *chains])
    return audit(founded(), every, now=now, known=known)


def note(by: Machine, work: str = WORK, text: str = "hm") -> Commits:
    read = notes.Notes(roster=roster(), work=work, machine=by.id)
    draft = notes.noted(read, text, saw="", at=NOW, sign=by.sign)
    return [(draft.oid, draft.data)]


def only(report: Report, what: What, *said: str) -> None:
    """Check that one thing was found, and what is said of it."""
    assert [f.what for f in report.findings] == [what], report.findings
    finding = report.findings[0]
    assert finding.todo
    assert all(words in finding.said for words in said)


def test_what_is_as_it_should_be_is_clean_and_names_the_carrier() -> None:
    report = look(at(LEASE, WHOLE, WHOLE[:2]), refs=[f"{PREFIX}/snap/feat%2Fx/{PARCEL}"])
    assert (report.findings, report.exit_code, report.clean) == ((), 0, True)
    row = report.works[0]
    assert (row.work, row.carrier, row.lease.since, row.void) == (WORK, "m2", START, 0)
    assert [e.kind for e in row.entries] == ["Caught", "Saved", "Offered", "Caught"]
    assert {e.by for e in row.entries} == {"m1", "m2"}
    assert (report.members, report.founder) == (("m1", "m2", "m3"), "m1 of lin")
    assert [e.kind for e in report.roster] == ["Founded", "Admitted", "Admitted"]


@pytest.mark.parametrize(
    ("now", "seen", "what"),
    [
        (WHOLE[:2], WHOLE, What.REWOUND),
        (pairs(*M1.pen(empty()).caught(hold=HOLD * 2).drafts), WHOLE, What.FORKED),
        ((), WHOLE, What.DELETED),
        (WHOLE, [("f" * 40, b"")], What.FORKED),
    ],
)
def test_what_contradicts_the_past_weighs_most(now: Commits, seen: Commits, what: What) -> None:
    other = at(f"{PREFIX}/lease/other", [*pairs(*M1.pen(empty("other")).caught().drafts)])
    report = look(at(LEASE, now, seen), other)
    only(report, what, what.value, seen[-1][0][:12])
    assert report.exit_code == 7


def test_the_roster_and_notes_are_held_against_the_past_too() -> None:
    told = note(M1)
    report = look(
        at(f"{PREFIX}/roster", (), "e" * 40),
        at(f"{PREFIX}/notes/feat%2Fx/{M1.id}", told, "d" * 40),
    )
    assert {f.ref for f in report.findings} == {
        f"{PREFIX}/roster", f"{PREFIX}/notes/feat%2Fx/{M1.id}",
    }  # fmt: skip
    assert {f.grade for f in report.findings} == {Grade.TRUST}


def archived(chain: Commits) -> Chain:
    """Return the archive in which m1 says that it deletes the record and m1's notes."""
    read = Archive(roster=roster())
    refs = {"lease/feat%2Fx": [oid for oid, _ in chain], f"notes/feat%2Fx/{M1.id}": ["d" * 40]}
    draft = archive.archived(read, refs, by=M1.id, at=NOW, sign=M1.sign)
    return at(f"{PREFIX}/archive", pairs(draft))


def test_a_deletion_that_a_member_announced_is_no_attack() -> None:
    closed = pairs(*SENT.drafts, *M2.pen(SENT.record).caught().closed("merged").drafts)
    noted = at(f"{PREFIX}/notes/feat%2Fx/{M1.id}", (), "d" * 40)
    assert look(at(LEASE, (), closed), noted, archived(closed)).clean
    again = pairs(*M1.pen(empty()).caught(hold=HOLD * 2).drafts)
    assert look(at(LEASE, again, closed), archived(closed)).clean
    only(look(at(LEASE, (), WHOLE), archived(WHOLE)), What.DELETED)  # m2 carries it
    only(look(at(LEASE, (), closed), archived(WHOLE)), What.DELETED)
    only(look(at(LEASE, (), closed[-1][0]), archived(closed)), What.DELETED)


def test_a_new_record_is_not_judged_by_a_revocation_that_names_the_archived_one() -> None:
    closed = pairs(*SENT.drafts, *M2.pen(SENT.record).caught().closed("merged").drafts)
    tips, sign = {WORK: closed[-1][0]}, M1.sign
    draft = admission.revoke(founded(), M2.id, reason="x", tips=tips, by=M1.id, at=NOW, sign=sign)
    read = founded().extend(pairs(draft))
    anew = replace(empty(), roster=read.trusted())
    chains = [
        at(LEASE, pairs(*M1.pen(anew).caught(hold=HOLD * 2).drafts)),
        at(f"{PREFIX}/notes/heard/{M3.id}", note(M3, "heard")),
        archived(closed),
    ]
    report = audit(read, Remote(refs=[c.ref for c in chains], chains=chains), now=START)
    assert report.findings == ()
    chains.pop()
    report = audit(read, Remote(refs=[c.ref for c in chains], chains=chains), now=START)
    assert [f.what for f in report.findings] == [What.BEHIND]


def test_what_the_archive_says_void_excuses_nothing() -> None:
    closed = pairs(*HELD.closed("merged").drafts)
    by = founded(M1, M2, M3, OUTSIDER).trusted()
    draft = archive.archived(
        Archive(roster=by), {"lease/feat%2Fx": [oid for oid, _ in closed]},
        by=OUTSIDER.id, at=NOW, sign=OUTSIDER.sign,
    )  # fmt: skip
    report = look(at(LEASE, (), closed), at(f"{PREFIX}/archive", pairs(draft)))
    assert [f.what for f in report.findings] == [What.DELETED, What.VOID]
    assert report.archive[0].word is Word.UNKNOWN
    cut = look(at(f"{PREFIX}/archive", pairs(draft)[:1] * 2))
    only(cut, What.NO_CHAIN, "stands on")


def test_each_void_entry_is_found_unless_it_is_known() -> None:
    cast = Cast(CAUGHT.record, M2, M1, OUTSIDER)
    stranger = cast.entry(by=OUTSIDER)
    after = CAUGHT.record.extend([stranger])
    late = Cast(after, M2, M1, OUTSIDER).entry(
        Cast(after, M2, M1, OUTSIDER).event(Saved, by=M1), M1
    )
    chain = at(LEASE, [*WHOLE, stranger, late])
    report = look(chain)
    assert [(f.what, f.grade) for f in report.findings] == [(What.VOID, Grade.DAMAGED)] * 2
    assert "unknown signer" in report.findings[0].said
    assert "signed: m2 carries this work, not m1" in report.findings[1].said
    assert (report.exit_code, report.works[0].void, report.works[0].carrier) == (9, 2, "m2")
    looked = look(chain, known=[stranger[0], late[0]])
    assert (looked.exit_code, looked.known, looked.works[0].void) == (0, 2, 2)


def test_void_entries_of_roster_and_notes_are_found() -> None:
    wrong = at(f"{PREFIX}/notes/feat%2Fx/{M2.id}", note(M1))
    only(look(wrong), What.VOID, "in the chain of another machine")
    made: dict[str, Any] = {"parent": roster().tip, "tree": EMPTY_TREE, "name": "m9"}
    body = {"kind": "Renamed", "seq": 4, "prev": roster().tip}
    sign: dict[str, Any] = {"machine": OUTSIDER.id, "sign": OUTSIDER.sign}
    void = [compose("m9", body, **made, **sign, at=NOW)]
    chain = at(f"{PREFIX}/roster", [*CHAIN, *void])
    report = audit(founded().extend(void), Remote(refs=[chain.ref], chains=[chain]), now=START)
    assert report.findings[0].ref == chain.ref.name
    assert "unknown signer" in report.findings[0].said
    assert report.exit_code == 9


def test_what_a_revoked_machine_noted_is_a_note_and_what_it_saved_is_not() -> None:
    draft = admission.revoke(founded(), M2.id, reason="lost", tips={}, by=M1.id, at=1, sign=M1.sign)
    read = founded().extend(pairs(draft))
    chains = [
        at(f"{PREFIX}/notes/feat%2Fx/{M2.id}", note(M2)),
        at(LEASE, WHOLE),
        at(f"{PREFIX}/notes/y/{M3.id}", note(M3, "y")),
    ]
    report = audit(read, Remote(refs=[c.ref for c in chains], chains=chains), now=START)
    assert [(f.what, f.grade) for f in report.findings] == [
        (What.VOID, Grade.DAMAGED), (What.MISSING, Grade.WORK), (What.REVOKED, Grade.NOTE),
    ]  # fmt: skip


def test_what_is_no_chain_is_said_to_be_none() -> None:
    report = look(at(LEASE, None, WHOLE, what="blob"))
    only(report, What.NO_CHAIN, "no chain of commits but a blob")
    assert report.exit_code == 9


def test_a_record_that_is_ahead_of_the_roster_is_found() -> None:
    newer = founded(M1, M2, M3, machine("m4", "ann")).trusted()
    pen = Pen(record=type(HELD.record)(roster=newer, work=WORK), by=M1.id, sign=M1.sign, now=START)
    report = look(at(LEASE, pairs(*pen.caught().drafts)))
    assert {f.what for f in report.findings} == {What.VOID, What.BEHIND}


def after(pen: Pen, passed: timedelta) -> Report:
    return look(
        at(LEASE, pairs(*pen.drafts)), refs=[f"{PREFIX}/snap/feat%2Fx/{PARCEL}"], now=START + passed
    )


def test_a_work_that_nobody_looks_after_is_found_and_not_before_its_time() -> None:
    second = timedelta(seconds=1)
    parcel: dict[str, Any] = {"parcel": PARCEL}
    sent = M1.pen(empty()).caught().saved(envelope=BLOB, **parcel)
    lapsed, dropped = sent, sent.dropped("train")
    offered = sent.offered(Recipient(machine=M2.id))
    assert after(offered, OFFER - second).clean
    only(after(offered, OFFER), What.OVERDUE, "m1 offered it to m2; the deadline was 2030-01-08")
    assert after(offered, OFFER).exit_code == 3
    assert after(lapsed, HOLD + OFFER - second).clean
    only(after(lapsed, HOLD + OFFER), What.IDLE, "m1 let it lapse at 2030-01-07 16:30 UTC")
    assert after(dropped, OFFER - second).clean
    only(after(dropped, OFFER), What.IDLE, "m1 dropped it at 2030-01-07 16:00 UTC")
    only(after(sent.dropped("tests", blocked=True), second), What.BLOCKED, "blocked", "tests")
    assert after(sent.closed("merged"), 400 * DAY).clean


def test_entries_from_the_future_are_said_once_for_each_machine() -> None:
    years = M1.pen(empty(), START + 3650 * DAY).caught().saved(envelope=BLOB)
    report = look(at(LEASE, pairs(*years.drafts)))
    only(report, What.CLOCK, "m1 dated 2 entries after this clock", "3650 days ahead")
    assert report.exit_code == 3
    close = M1.pen(empty(), START + timedelta(minutes=5)).caught()
    assert look(at(LEASE, pairs(*close.drafts))).clean


def test_a_machine_that_never_signed_is_a_note() -> None:
    chain = at(LEASE, WHOLE)
    read = Remote(refs=[chain.ref], chains=[chain])
    report = audit(founded(), read, now=START)
    assert [f.what for f in report.findings if f.what is not What.MISSING] == [What.SILENT]
    assert "m3 of kim" in report.findings[-1].said
    assert report.exit_code == 0


def test_refs_that_belong_to_nothing_are_found() -> None:
    names = {
        f"{PREFIX}/lease/feat/x": What.STRAY,
        f"{PREFIX}/lease/feat%2fx": What.STRAY,
        f"{PREFIX}/other": What.STRAY,
        f"{PREFIX}/snap/feat%2Fy/{PARCEL}": What.STRAY,
        f"{PREFIX}/snap/feat%2Fx/x": What.STRAY,
        f"{PREFIX}/notes/feat%2Fx/m1": What.STRAY,
        f"{PREFIX}/snap/feat%2Fx/{'8' * 32}": What.LEFT_OVER,
        f"{PREFIX}/probe/x": What.LEFT_OVER,
    }
    report = look(at(LEASE, WHOLE), refs=list(names))
    assert {f.ref: f.what for f in report.findings} == names
    assert report.exit_code == 3


def test_an_offer_whose_parcel_is_gone_from_the_remote_is_found() -> None:
    chain = at(LEASE, pairs(*SENT.drafts))
    only(look(chain), What.MISSING, "m2")
    assert look(chain, refs=[f"{PREFIX}/snap/feat%2Fx/{PARCEL}"]).clean


def test_a_record_under_the_name_of_another_work_is_found() -> None:
    long, other = "x" * 300, "y" * 300
    chain = pairs(*M1.pen(empty(long)).caught().drafts)
    ref = f"{PREFIX}/lease/{work_component(long)}"
    report = look(at(ref, chain))
    assert (report.works[0].work, report.clean) == (long, True)
    wrong = look(at(f"{PREFIX}/lease/{work_component(other)}", chain))
    assert {f.what for f in wrong.findings} == {What.STRAY, What.VOID}


def test_a_roster_is_trusted_by_its_id_or_by_its_founder() -> None:
    read = founded()
    draft = admission.found(admission.RosterRead(), OUTSIDER.card(), at=1, sign=OUTSIDER.sign)
    commits = pairs(draft)
    assert founded_by(commits, fingerprint(OUTSIDER.key)) == draft.oid
    assert founded_by(commits, fingerprint(M1.key)) == ""
    assert founded_by((), read.trusted().founding) == read.trusted().founding
    assert is_trust(fingerprint(M1.key))
    assert is_trust(draft.oid)
    assert not is_trust(draft.oid[:12])
