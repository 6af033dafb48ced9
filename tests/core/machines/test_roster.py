"""The roster: who may let whom in, and what a revocation ends."""

from typing import Any

import pytest

from handsoff.core import canon
from handsoff.core.chain import LIMIT, Word, compose
from handsoff.core.machines.admission import RosterRead, admit, found, read_roster, rename, revoke
from handsoff.core.machines.roster import Roster
from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.sshwire import openssh_public
from handsoff.errors import DamagedError, RefusedError, TrustError, UsageError
from tests.kit.signing import M1, M2, M3, OUTSIDER, START, Machine, founded, machine, pairs

AT = int(START.timestamp())
M4 = machine("m4", "kim")
TIPS = {"feat/x": "a" * 40}


def let_in(read: RosterRead, card_of: Machine, by: Machine) -> RosterRead:
    """Return the roster after ``by`` admitted a machine."""
    draft = admit(read, card_of.card(), by=by.id, at=AT, sign=by.sign)
    return read.extend(pairs(draft))


def without(read: RosterRead, gone: Machine, by: Machine) -> RosterRead:
    """Return the roster after ``by`` revoked a machine."""
    draft = revoke(read, gone.id, reason="lost", tips=TIPS, by=by.id, at=AT, sign=by.sign)
    return read.extend(pairs(draft))


def forge(read: RosterRead, kind: str, by: Machine, **changes: Any) -> RosterRead:
    """Return the roster after an entry that nobody checked before it was pushed."""
    roster = read.roster
    body = {
        "kind": kind,
        "roster": roster.founding if roster else "",
        "seq": roster.seq + 1 if roster else 1,
        "prev": roster.tip if roster else "",
    }
    tree = changes.pop("tree", EMPTY_TREE)
    at = changes.pop("at", AT)
    commit = compose(
        "forged",
        {**body, **changes},
        parent=read.git_tip,
        tree=tree,
        name=by.name,
        machine=by.id,
        at=at,
        sign=by.sign,
    )
    return read.extend([commit])


def test_the_founder_lets_others_in() -> None:
    roster = founded(M1, M2, M3).trusted()
    assert [m.name for m in roster.members()] == ["m1", "m2", "m3"]
    assert (roster.seq, roster.at) == (3, AT)
    assert [m.admitted for m in roster.members()] == [1, 2, 3]
    assert roster.named("M2") == roster.member(M2.id)
    assert roster.named("m9") is None
    assert roster.member(OUTSIDER.id) is None
    assert [m.name for m in roster.of_person("LIN")] == ["m1", "m2"]
    assert (roster.person_of(M3.id), roster.person_of(OUTSIDER.id)) == ("kim", None)
    assert (roster.name_of(M3.id), roster.name_of("x")) == ("m3", "x")
    assert roster.named_text(f"{M1.id} holds, not {M3.id}") == "m1 holds, not m3"


def test_the_founding_id_is_that_of_the_first_good_entry() -> None:
    read = founded(M1, M2)
    assert read.trusted().founding == read.entries[0].oid
    assert all(entry.good and entry.word is Word.SIGNED for entry in read.entries)


def test_a_roster_reads_the_same_whole_or_in_pieces() -> None:
    first = found(RosterRead(), M1.card(), at=AT, sign=M1.sign)
    one = read_roster(pairs(first), first.oid)
    second = admit(one, M2.card(), by=M1.id, at=AT, sign=M1.sign)
    assert read_roster(pairs(first, second), first.oid) == one.extend(pairs(second))


def test_only_the_founding_that_was_pinned_is_trusted() -> None:
    draft = found(RosterRead(), OUTSIDER.card(), at=AT, sign=OUTSIDER.sign)
    read = read_roster(pairs(draft), "a" * 40)
    assert read.entries[0].reason == "not the founding entry that this machine trusts"
    with pytest.raises(TrustError, match="not the one that this machine trusts, aaaaaaaaaaaa"):
        read.trusted()
    with pytest.raises(TrustError, match="there is no roster yet"):
        read_roster([], None).trusted()


def test_rubbish_at_the_root_does_not_stop_a_founding() -> None:
    data = f"tree {EMPTY_TREE}\nauthor x\ncommitter x\n\nhello".encode()
    read = read_roster([(oid_of("commit", data), data)], None)
    assert (read.roster, read.entries[0].word) == (None, Word.UNSIGNED)
    read = read.extend(pairs(found(read, M1.card(), at=AT, sign=M1.sign)))
    assert read.trusted().named("m1")


def test_a_machine_admits_only_a_person_who_is_new_or_its_own() -> None:
    read = founded(M1, M3)
    with pytest.raises(RefusedError, match=r"only a machine of kim may admit another one .*: m3"):
        let_in(read, M4, by=M1)
    assert let_in(read, M4, by=M3).trusted().named("m4")
    kim = machine("m5", "KIM")
    with pytest.raises(RefusedError, match="only a machine of KIM"):
        let_in(read, kim, by=M1)


def test_names_are_unique_in_upper_and_lower_case() -> None:
    with pytest.raises(RefusedError, match="there is a machine named M1 already"):
        let_in(founded(M1), machine("M1"), by=M1)


def test_a_machine_is_admitted_once() -> None:
    with pytest.raises(RefusedError, match="already a member"):
        let_in(founded(M1, M2), M2, by=M1)


def test_a_stranger_cannot_admit_itself() -> None:
    read = forge(founded(M1), "Admitted", OUTSIDER, card=OUTSIDER.card().as_dict())
    assert (read.entries[-1].word, read.entries[-1].good) == (Word.UNKNOWN, False)
    assert read.trusted().member(OUTSIDER.id) is None
    assert let_in(read, M2, by=M1).trusted().member(M2.id), "a void entry is stood upon"


def test_a_revoked_key_signs_nothing_more_and_never_comes_back() -> None:
    read = without(founded(M1, M2, M3), M2, by=M1)
    roster = read.trusted()
    gone = roster.everyone[M2.id].revoked
    assert gone is not None
    assert (gone.seq, gone.by, gone.at, gone.reason, dict(gone.tips)) == (
        4,
        M1.id,
        AT,
        "lost",
        TIPS,
    )
    assert [m.name for m in roster.members()] == ["m1", "m3"]
    assert (roster.name_of(M2.id), roster.person_of(M2.id)) == ("m2", "lin")
    assert [m.name for m in roster.of_person("lin", revoked=True)] == ["m1", "m2"]
    after = forge(read, "Admitted", M2, card=M4.card().as_dict())
    assert (after.entries[-1].word, after.entries[-1].good) == (Word.REVOKED, False)
    with pytest.raises(RefusedError, match="m2 was revoked: it needs a new key"):
        let_in(read, M2, by=M1)


def test_the_name_of_a_revoked_machine_is_free_again() -> None:
    read = without(founded(M1, M2), M2, by=M1)
    assert let_in(read, machine("m2", "ann"), by=M1).trusted().named("m2")


def test_a_person_whose_machines_are_all_revoked_can_be_let_in_by_anyone() -> None:
    read = without(founded(M1, M2, M3), M3, by=M1)
    assert let_in(read, M4, by=M1).trusted().named("m4")


def test_the_last_machine_and_one_that_is_not_there_cannot_be_revoked() -> None:
    with pytest.raises(RefusedError, match="the last machine cannot be revoked"):
        without(founded(M1), M1, by=M1)
    with pytest.raises(RefusedError, match=f"no such machine: {OUTSIDER.id}"):
        without(founded(M1, M2), OUTSIDER, by=M1)
    with pytest.raises(RefusedError, match="no such machine"):
        without(without(founded(M1, M2, M3), M2, by=M1), M2, by=M1)


def test_a_revocation_may_name_the_tips_of_many_records_and_nothing_else_may_be_long() -> None:
    read, tips = founded(M1, M2), {f"work-{n}": "a" * 40 for n in range(500)}
    draft = revoke(read, M2.id, reason="lost", tips=tips, by=M1.id, at=AT, sign=M1.sign)
    assert len(draft.data) > LIMIT
    assert read.extend(pairs(draft)).trusted().member(M2.id) is None
    long = forge(read, "Renamed", M1, machine=M1.id, name="x" * LIMIT)
    assert f"over the limit of {LIMIT}" in long.entries[-1].reason


def test_a_machine_is_renamed_by_its_person_only() -> None:
    read = founded(M1, M2, M3)
    draft = rename(read, M2.id, "desk", by=M1.id, at=AT, sign=M1.sign)
    roster = read.extend(pairs(draft)).trusted()
    assert (roster.name_of(M2.id), roster.named("m2")) == ("desk", None)
    assert roster.everyone[M2.id].card == M2.card()
    with pytest.raises(RefusedError, match="only a machine of the same person"):
        rename(read, M2.id, "desk", by=M3.id, at=AT, sign=M3.sign)
    with pytest.raises(RefusedError, match="there is a machine named M3 already"):
        rename(read, M2.id, "M3", by=M1.id, at=AT, sign=M1.sign)
    with pytest.raises(UsageError, match="cannot name a machine"):
        rename(read, M2.id, "a b", by=M1.id, at=AT, sign=M1.sign)


def test_a_machine_may_change_the_case_of_its_own_name() -> None:
    read = founded(M1)
    draft = rename(read, M1.id, "M1", by=M1.id, at=AT, sign=M1.sign)
    assert read.extend(pairs(draft)).trusted().name_of(M1.id) == "M1"


CARD = M2.card().as_dict()
FORGED: dict[str, tuple[str, dict[str, Any]]] = {
    "not an entry of a roster: Saved": ("Saved", {}),
    "not an entry of a roster: Admitted": ("Admitted", {"card": CARD, "more": 1}),
    "an entry of a roster has no files": ("Admitted", {"card": CARD, "tree": "b" * 40}),
    "an entry of another roster": ("Admitted", {"card": CARD, "roster": "c" * 40}),
    "out of turn: it does not": ("Admitted", {"card": CARD, "prev": "d" * 40}),
    "out of turn": ("Admitted", {"card": CARD, "seq": 1}),
    "dated before the entry that it follows": ("Admitted", {"card": CARD, "at": AT - 1}),
    "not a card": ("Admitted", {"card": {}}),
    "the roster is founded already": ("Founded", {"card": M1.card().as_dict()}),
    "no such machine: ['x']": ("Renamed", {"machine": ["x"], "name": "x"}),
    "a name that is none": ("Renamed", {"machine": M1.id, "name": 7}),
    "'a b' cannot name a machine": ("Renamed", {"machine": M1.id, "name": "a b"}),
    "not a revocation": ("Revoked", {"machine": M3.id, "reason": 7, "tips": {}}),
    "not a revocation ": ("Revoked", {"machine": M3.id, "reason": "", "tips": []}),
    "names a tip which is none": ("Revoked", {"machine": M3.id, "reason": "", "tips": {"x": "y"}}),
}


@pytest.mark.parametrize("reason", FORGED)
def test_an_entry_that_breaks_a_rule_is_void_and_says_which(reason: str) -> None:
    kind, changes = FORGED[reason]
    before = founded(M1, M3)
    read = forge(before, kind, M1, **changes)
    assert reason.strip() in read.entries[-1].reason
    assert read.entries[-1].word is Word.SIGNED
    assert read.roster == before.roster


def test_a_roster_cannot_be_founded_with_the_card_of_another_or_without_one() -> None:
    read = forge(RosterRead(), "Founded", M1, card=CARD)
    assert read.entries[0].reason == "founded with the card of another machine"
    assert forge(RosterRead(), "Admitted", M1, card=CARD).entries[0].word is Word.UNKNOWN


def test_a_flawed_entry_says_whether_its_signer_is_known() -> None:
    for by, word in ((M1, Word.SIGNED), (OUTSIDER, Word.UNKNOWN)):
        read = forge(founded(M1), "Renamed", by, v=1, name="x\u2028", machine=by.id)
        assert read.entries[-1].word is word
        commit = compose(
            "two\nlines",
            {"kind": "Renamed", "seq": 2, "prev": ""},
            parent=founded(M1).git_tip,
            tree=EMPTY_TREE,
            name=by.name,
            machine=by.id,
            at=AT,
            sign=by.sign,
        )
        verdict = founded(M1).extend([commit]).entries[-1]
        assert (verdict.word, verdict.entry) == (word, None)
        assert "not a subject and one line" in verdict.reason


def test_the_time_of_an_entry_is_clamped_to_the_one_before() -> None:
    read = founded(M1)
    draft = admit(read, M2.card(), by=M1.id, at=1, sign=M1.sign)
    assert read.extend(pairs(draft)).trusted().at == AT


def test_commits_that_do_not_follow_are_damaged() -> None:
    with pytest.raises(DamagedError, match="stands on nothing"):
        founded(M1).extend(pairs(found(RosterRead(), M2.card(), at=AT, sign=M2.sign)))


def test_allowed_signers_has_a_line_for_each_machine_that_is_trusted() -> None:
    roster: Roster = without(founded(M1, M2), M2, by=M1).trusted()
    line = '{} namespaces="git,handsoff-*" {}\n'
    assert roster.allowed_signers() == line.format(M1.id, openssh_public(M1.key))
    assert roster.allowed_signers(revoked=True).splitlines(keepends=True) == [
        line.format(m.id, openssh_public(m.key)) for m in (M1, M2)
    ]


def test_the_lines_of_a_roster_read_well_in_a_log() -> None:
    read = founded(M1, M2)
    draft = rename(read, M2.id, "desk", by=M1.id, at=AT, sign=M1.sign)
    read = read.extend(pairs(draft))
    subjects = [entry.entry.subject for entry in read.entries if entry.entry]
    assert subjects == [
        "roster: founded m1 of lin",
        "roster: admitted m2 of lin",
        "roster: renamed m2",
    ]
    assert canon.decode(draft.data.split(b"\n")[-2])["name"] == "desk"
