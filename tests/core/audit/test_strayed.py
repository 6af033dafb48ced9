"""Branches beside their records: what is worth a word, what is all right, and the way back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.audit.audit import with_branches
from handsoff.core.audit.findings import Report, What
from handsoff.core.audit.strayed import (
    LOST,
    Claim,
    Here,
    How,
    Place,
    claims_of,
    is_worth_a_word,
    judge,
    last_words,
    said,
    todo,
    way_back,
)
from handsoff.core.remote.pushing import NOTHING_THERE
from handsoff.core.works.lease import HOLD, Recipient, State
from handsoff.core.works.pen import Pen
from tests.kit.signing import M1, M2, START, empty

A, B, C = "a" * 40, "b" * 40, "c" * 40
CLAIM = Claim(
    work="feat/x", state=State.HELD, carrier="m2", branch="feat/x", old=A, new=B, by="m1", at=START
)
CLAIMS = st.builds(
    Claim, work=st.just("feat/x"), state=st.sampled_from(State), carrier=st.just("m2"),
    branch=st.just("feat/x"), old=st.sampled_from(["", A, B]), new=st.sampled_from([A, B]),
    by=st.just("m1"), at=st.just(START),
)  # fmt: skip
PLACES = st.builds(
    Place, tip=st.sampled_from(["", A, B, C]), has=st.sampled_from([True, False, None])
)
HERE = st.builds(
    Here, remote=st.just("origin"), mine=st.booleans(), has_named=st.booleans(),
    has_tip=st.booleans(), kept=st.booleans(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("tip", "has", "held", "dropped"),
    [
        (B, True, None, None),
        (B, None, None, None),
        (C, False, How.REWRITTEN, How.REWRITTEN),
        (A, False, How.SET_BACK, How.SET_BACK),
        ("", False, How.DELETED, How.DELETED),
        ("", True, None, None),  # merged, and then deleted
        (C, True, How.AHEAD, None),
        (C, None, How.UNKNOWN, How.UNKNOWN),
        ("", None, How.UNKNOWN, How.UNKNOWN),
    ],
)
def test_how_a_branch_stands_beside_its_record(
    tip: str, has: bool | None, held: How | None, dropped: How | None
) -> None:
    place = Place(tip=tip, has=has)
    for state, expected in {
        State.HELD: held, State.OFFERED: held, State.DROPPED: dropped,
        State.CLOSED: None, State.FREE: None,
    }.items():  # fmt: skip
        assert judge(replace(CLAIM, state=state), place) is expected


@given(CLAIMS, PLACES)
def test_nothing_is_said_lost_but_what_the_branch_of_an_open_work_lacks(
    claim: Claim, place: Place
) -> None:
    how = judge(claim, place)
    if how in LOST:
        assert place.has is False
        assert place.tip != claim.new
        assert claim.state not in (State.FREE, State.CLOSED)
        assert (how is How.DELETED) == (not place.tip)
        assert (how is How.SET_BACK) == (bool(place.tip) and place.tip == claim.old)
    elif place.has is False and claim.differs(place.tip):
        pytest.fail("it lacks what the record names, and nothing is said")
    if how is not None:
        assert "git does not tell" in said(claim, place.tip, how) or how not in LOST
        assert claim.new[:12] in said(claim, place.tip, how)
        assert todo(claim, how)


def words(write: Callable[[Pen], Pen]) -> dict[str, tuple[str, str, str]]:
    pen = write(M1.pen(empty()).caught())
    claims = claims_of(pen.record, START)
    assert len({claim.branch for claim in claims}) == len(claims)
    return {claim.branch: (claim.old, claim.new, claim.by) for claim in claims}


def test_the_last_word_about_each_branch_counts_until_the_work_is_closed() -> None:
    assert words(lambda pen: pen.saved()) == {}
    pushed = words(
        lambda pen: (
            pen.pushed("feat/x", old=NOTHING_THERE, new=A)
            .pushed("y", old=A, new=C)
            .pushed("feat/x", old=A, new=B)
            .saved()
        )
    )
    assert pushed == {"y": (A, C, "m1"), "feat/x": (A, B, "m1")}
    assert words(lambda pen: pen.pushed("x", old=A, new=B).dropped("")) == {"x": (A, B, "m1")}
    again = words(lambda pen: pen.pushed("x", old=A, new=B).closed("merged").caught())
    assert again == {}
    gone = words(lambda pen: pen.pushed("refs/heads/x", old=A, new=NOTHING_THERE))
    assert gone == {"x": (A, "", "m1")}


def test_a_claim_has_the_work_as_it_stands_now_and_no_word_of_what_is_not_verified() -> None:
    pen = M1.pen(empty()).caught().pushed("x", old=A, new=B).saved()
    offered = pen.offered(Recipient(machine=M2.id)).record
    (claim,) = claims_of(offered, START)
    assert (claim.state, claim.carrier, claim.ref) == (State.OFFERED, "m1", "refs/heads/x")
    (late,) = claims_of(pen.record, START + 2 * HOLD)
    assert late.state is State.DROPPED
    assert claims_of(replace(pen.record, behind="a roster that is not here"), START) == ()


def test_of_two_works_on_one_branch_the_later_word_counts() -> None:
    later = replace(CLAIM, work="y", at=START + timedelta(seconds=1), new=C)
    next_one = replace(CLAIM, work="y", old=B, new=C)
    for pair in ((CLAIM, later), (later, CLAIM)):
        assert last_words(pair) == {"feat/x": later}
    assert last_words((CLAIM, next_one)) == {"feat/x": next_one}
    assert last_words((next_one, CLAIM)) == {"feat/x": next_one}
    other = replace(CLAIM, branch="y")
    assert last_words((CLAIM, other)) == {"feat/x": CLAIM, "y": other}


def test_an_audit_finds_what_is_lost_and_notes_what_may_be_all_right() -> None:
    report = Report(
        founding="", founder="", members=(), roster=(), archive=(), works=(), notes=(),
        findings=(), claims=(CLAIM,),
    )  # fmt: skip
    assert with_branches(report, {}) == report
    assert with_branches(report, {"feat/x": Place(tip=B, has=True)}) == report
    for tip, has, what, code in (
        (C, False, What.BRANCH_REWRITTEN, 3), (A, False, What.BRANCH_SET_BACK, 3),
        ("", False, What.BRANCH_DELETED, 3), (C, True, What.BRANCH_AHEAD, 0),
        (C, None, What.BRANCH_UNKNOWN, 3), ("", None, What.BRANCH_UNKNOWN, 0),
    ):  # fmt: skip
        found = with_branches(report, {"feat/x": Place(tip=tip, has=has)})
        (finding,) = found.findings
        assert (finding.what, found.exit_code, finding.work) == (what, code, "feat/x")
        assert finding.ref == "refs/heads/feat/x"


@pytest.mark.parametrize(
    ("how", "here", "command"),
    [
        (How.REWRITTEN, Here(remote="o", mine=True, has_named=True), "handsoff push --force"),
        (
            How.REWRITTEN, Here(remote="o", mine=True, has_named=True, has_tip=True),
            "handsoff push puts it back",
        ),
        (How.REWRITTEN, Here(remote="o", mine=True, has_tip=True), "handsoff push puts on the rec"),
        (How.SET_BACK, Here(remote="o", mine=True, has_named=True, has_tip=True), "handsoff push "),
        (How.DELETED, Here(remote="o", mine=True, has_named=True), "handsoff push puts it back"),
        (
            How.REWRITTEN, Here(remote="o", mine=True, kept=True),
            f"git push --force-with-lease=feat/x:{C} o {B}:refs/heads/feat/x",
        ),
        (How.REWRITTEN, Here(remote="o", mine=True), "ask m1"),
        (How.REWRITTEN, Here(remote="o", mine=False, has_named=True), "on m2: handsoff status"),
        (How.AHEAD, Here(remote="o", mine=True), "git pull o refs/heads/feat/x"),
    ],
)  # fmt: skip
def test_the_next_command_fits_what_the_checkout_has(how: How, here: Here, command: str) -> None:
    assert way_back(CLAIM, C, how, here).startswith(command)


def test_while_a_work_is_offered_nobody_is_told_to_push_it() -> None:
    told = way_back(
        replace(CLAIM, state=State.OFFERED), C, How.SET_BACK, Here(remote="o", mine=False)
    )
    assert told == "once it was caught or withdrawn, on its carrier: handsoff push"


def test_what_the_carrier_pushed_with_plain_git_is_no_news_to_it() -> None:
    for mine, has_tip in ((True, False), (True, True), (False, False)):
        here = Here(remote="o", mine=mine, has_tip=has_tip)
        assert is_worth_a_word(How.AHEAD, here) == (mine and not has_tip)
        assert is_worth_a_word(How.REWRITTEN, here)
        assert not is_worth_a_word(How.UNKNOWN, here)


@given(CLAIMS, PLACES, HERE)
def test_whatever_a_status_says_of_a_branch_it_says_what_to_type(
    claim: Claim, place: Place, here: Here
) -> None:
    how = judge(claim, place)
    if how is None:
        return
    if is_worth_a_word(how, here):
        assert way_back(claim, place.tip, how, here)
