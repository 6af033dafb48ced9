"""Notes: a chain for each machine, which nobody else writes, and which moves no record."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.chain import Draft, Word, compose
from handsoff.core.machines.admission import revoke
from handsoff.core.objects import EMPTY_TREE
from handsoff.core.works.notes import TEXT_LIMIT, Note, Notes, noted, refused, revoked_at
from handsoff.errors import DamagedError, RefusedError, TrustError
from tests.kit.signing import M1, M2, OUTSIDER, START, Machine, founded, pairs, roster

AT = int(START.timestamp())
SAW = "a" * 40


def chain(machine: Machine = M1) -> Notes:
    return Notes(roster=roster(), work="feat/x", machine=machine.id)


def note(read: Notes, text: str = "the fixture is wrong", by: Machine = M1, at: int = AT) -> Draft:
    return noted(read, text, saw=SAW, at=at, sign=by.sign)


def after(read: Notes, *drafts: Draft) -> Notes:
    return read.extend(pairs(*drafts))


def refusal(read: Notes) -> Draft:
    return refused(
        read, tried="Saved", leg=2, revision=1, reason="m2 was faster", winner=M2.id, saw=SAW,
        at=AT, sign=M1.sign,
    )  # fmt: skip


def test_notes_and_refusals_read_back_in_their_order() -> None:
    first = note(chain())
    read = after(chain(), first)
    read = after(read, refusal(read))
    assert [entry.word for entry in read.entries] == [Word.SIGNED, Word.SIGNED]
    told = Note(
        by=M1.id, at=AT, seq=2, saw=SAW, text="m2 was faster", tried="Saved", leg=2, revision=1,
        winner=M2.id,
    )  # fmt: skip
    assert [n.text for n in read.good] == ["the fixture is wrong", "m2 was faster"]
    assert read.good[1] == told
    assert (read.seq, read.tip, read.git_tip) == (2, read.entries[1].oid, read.entries[1].oid)


@given(st.text(min_size=1, max_size=50).filter(str.strip))
def test_any_text_can_be_noted(text: str) -> None:
    try:
        written = note(chain(), text)
    except (RefusedError, UnicodeEncodeError):
        return
    assert after(chain(), written).good[0].text == text


def test_an_empty_note_and_an_endless_one_are_refused() -> None:
    for text in ("", "  \n", "x" * (TEXT_LIMIT + 1)):
        with pytest.raises(RefusedError):
            note(chain(), text)


def test_a_stranger_cannot_note() -> None:
    with pytest.raises(TrustError, match="not in the roster"):
        note(chain(OUTSIDER), by=OUTSIDER)


def test_time_never_goes_back_even_if_the_clock_does() -> None:
    read = after(chain(), note(chain()))
    assert after(read, note(read, at=AT - 500)).good[1].at == AT


def written(read: Notes, by: Machine = M1, tree: str = EMPTY_TREE, **changes: Any) -> Draft:
    """Return a signed note with fields of its own."""
    body: dict[str, Any] = {
        "kind": "Noted", "repo": read.roster.founding, "roster": read.roster.tip,
        "work": "feat/x", "seq": read.seq + 1, "prev": read.tip, "saw": "", "text": "so", "at": AT,
    } | changes  # fmt: skip
    at = body.pop("at")
    dropped = {name: value for name, value in body.items() if value is not ...}
    oid, data = compose(
        "a note", dropped, parent=read.git_tip, tree=tree, name=by.name, machine=by.id, at=at,
        sign=by.sign,
    )  # fmt: skip
    return Draft(oid=oid, data=data)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"repo": "b" * 40}, "another repository"),
        ({"work": "feat/y"}, "another work"),
        ({"seq": 3}, "out of turn"),
        ({"prev": "b" * 40}, "out of turn"),
        ({"at": AT - 1}, "dated before"),
        ({"roster": "b" * 40}, "not known here"),
        ({"roster": founded(M1).trusted().tip}, "not admitted yet"),
        ({"by": M2}, "another machine"),
        ({"by": OUTSIDER}, "unknown signer"),
        ({"tree": "b" * 40}, "no files"),
        ({"kind": "Saved"}, "not a note"),
        ({"text": ...}, "fields that do not belong"),
        ({"more": 1}, "fields that do not belong"),
        ({"text": ""}, "does not read: text"),
        ({"saw": "b"}, "does not read: saw"),
    ],
)
def test_a_note_that_breaks_a_rule_is_void_and_stood_upon(
    changes: dict[str, Any], reason: str
) -> None:
    writer = M2 if "roster" in changes else M1
    start = chain(writer)
    good = note(start, by=writer)
    read = after(start, good)
    bad = written(read, **({"by": writer} | changes))
    read = after(read, bad)
    assert reason in read.entries[1].reason
    assert (read.tip, read.seq, read.git_tip) == (good.oid, 1, bad.oid)
    later = after(read, note(read, "still here", by=writer))
    assert [n.text for n in later.good] == ["the fixture is wrong", "still here"]


def test_notes_of_a_revoked_machine_are_shown_as_such() -> None:
    before = note(chain())
    read = founded()
    gone = revoke(read, M1.id, reason="lost", tips={}, by=M2.id, at=AT, sign=M2.sign)
    later = read.extend(pairs(gone)).trusted()
    judged = replace(chain(), roster=later).extend(pairs(before))
    assert judged.entries[0].word is Word.REVOKED
    assert not judged.good


def test_what_a_machine_noted_before_it_was_revoked_stays_good_and_nothing_after() -> None:
    before = note(chain())
    read = after(chain(), before)
    late = note(read, "late")
    roster_read = founded()
    gone = revoke(
        roster_read, M1.id, reason="lost", tips={revoked_at("feat/x"): before.oid}, by=M2.id,
        at=AT, sign=M2.sign,
    )  # fmt: skip
    later = roster_read.extend(pairs(gone)).trusted()
    judged = replace(chain(), roster=later).extend(pairs(before, late))
    assert [(e.word, e.good) for e in judged.entries] == [
        (Word.SIGNED, True), (Word.REVOKED, False)
    ]  # fmt: skip
    under_it = replace(chain(), roster=later)
    posing = written(under_it)
    named = revoke(
        roster_read, M1.id, reason="lost", tips={revoked_at("feat/x"): posing.oid}, by=M2.id,
        at=AT, sign=M2.sign,
    )  # fmt: skip
    twice = replace(chain(), roster=roster_read.extend(pairs(named)).trusted())
    assert not twice.extend(pairs(posing)).good


def test_a_chain_with_a_gap_is_no_chain() -> None:
    first = note(chain())
    second = note(after(chain(), first), "more")
    with pytest.raises(DamagedError):
        after(chain(), second)
    assert replace(chain(), git_tip=None).extend([]) == chain()
