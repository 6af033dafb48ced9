"""Tips: what a rewritten chain calls for, and what a claim of another machine is worth."""

from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.chain import Tips, compare_tips
from handsoff.core.works import tips
from handsoff.core.works.tips import Claim, Mend, Told
from tests.kit.signing import M1, M2, M3

A, B, C, D = (letter * 40 for letter in "abcd")
ROSTER = "roster"


def test_each_way_of_rewriting_is_told_with_what_to_do() -> None:
    found = {
        judged: tips.rewritten("the roster", "refs/wip/roster", judged, A, B)
        for judged in (Tips.REWOUND, Tips.FORKED, Tips.DELETED)
    }
    for judged, (said, hint) in found.items():
        assert f"was {judged.value} on the remote" in said
        assert "ask who" in hint
        assert ("--repair" in hint) == (judged is not Tips.FORKED)
    assert "it now has nothing" in tips.rewritten("x", "r", Tips.DELETED, A, "")[0]


def test_only_what_loses_nothing_is_pushed_back() -> None:
    assert tips.mend(Tips.REWOUND) is Mend.PUSH_BACK
    assert tips.mend(Tips.DELETED) is Mend.PUSH_BACK
    assert tips.mend(None) is Mend.PUSH_BACK
    assert tips.mend(Tips.FORKED) is Mend.PEOPLE
    assert tips.mend(Tips.SAME) is Mend.NOTHING
    assert tips.mend(Tips.AHEAD) is Mend.NOTHING


@given(st.lists(st.integers(0, 5), max_size=6, unique=True), st.data())
def test_a_chain_is_pushed_back_only_over_a_part_of_itself(
    numbers: list[int], data: st.DataObject
) -> None:
    seen = [str(number) for number in numbers]
    found = data.draw(st.lists(st.sampled_from("0123456"), max_size=6, unique=True))
    if tips.mend(compare_tips(seen, found)) is Mend.PUSH_BACK:
        assert not found or found[-1] in seen


def test_a_tip_that_ours_has_is_no_news() -> None:
    assert tips.hold_against([A, B], B) is Told.SAME
    assert tips.hold_against([A, B], A) is Told.BEHIND
    assert tips.hold_against([A, B], "") is Told.BEHIND
    assert tips.hold_against([A, B], C) is Told.UNKNOWN
    assert tips.hold_against([], C) is Told.UNKNOWN
    assert tips.hold_against([], "") is Told.SAME


def test_a_claim_stands_until_the_remote_shows_the_tip() -> None:
    claims = tips.hear((), Claim(ROSTER, C, M1.id))
    assert [c.asked for c in claims] == [False]
    claims = tips.settle(claims, "lease/x", [C])
    assert [c.asked for c in claims] == [False]
    claims = tips.settle(claims, ROSTER, [A, B])
    assert [c.asked for c in claims] == [True]
    assert "m1 saw the roster at cccccccccccc" in tips.doubt(
        claims[0], "the roster", "m1", "origin"
    )
    assert tips.settle(claims, ROSTER, [A, B, C, D]) == ()


def test_a_machine_has_one_word_on_each_chain() -> None:
    claims = tips.hear((), Claim(ROSTER, C, M1.id))
    claims = tips.hear(claims, Claim(ROSTER, D, M1.id))
    claims = tips.hear(claims, Claim(ROSTER, C, M2.id))
    assert [(c.tip, c.by) for c in claims] == [(D, M1.id), (C, M2.id)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 14)), max_size=300))
def test_a_liar_fills_its_own_place_only(said: list[tuple[int, int]]) -> None:
    claims: tips.Claims = (Claim(ROSTER, A, M3.id),)
    for work, _ in said:
        claims = tips.hear(claims, Claim(f"lease/{work}", B, M1.id))
    assert Claim(ROSTER, A, M3.id) in claims
    assert len([c for c in claims if c.by == M1.id]) <= tips.MOST_OF_ONE
    for work, machine in said:
        claims = tips.hear(claims, Claim(f"lease/{work}", B, f"machine {machine}"))
    assert len(claims) <= tips.MOST
    assert tips.decode(tips.encode((Claim(ROSTER, A, M3.id),))) == (Claim(ROSTER, A, M3.id),)


def test_at_most_so_many_are_kept() -> None:
    claims: tips.Claims = ()
    for number in range(tips.MOST + 20):
        claims = tips.hear(claims, Claim(ROSTER, A, f"machine {number}"))
    assert len(claims) == tips.MOST


def test_claims_that_do_not_read_are_left_out() -> None:
    good = [ROSTER, A, M1.id, True]
    odd: list[object] = [None, [], [ROSTER, "x", M1.id, True], [ROSTER, A, "me", True],
                         [ROSTER, A, M1.id, 1], [*good, 1]]  # fmt: skip
    assert tips.decode([good, *odd]) == (Claim(ROSTER, A, M1.id, asked=True),)
    assert tips.decode({"a": 1}) == ()
