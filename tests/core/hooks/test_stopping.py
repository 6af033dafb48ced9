"""Who is asked to end after a hand-over, and who never is."""

from itertools import product

from handsoff.core.hooks.stopping import Around, Fate, fates

EVERY = [Around(known=k, here=h, above=a) for k, h, a in product((True, False), repeat=3)]


def test_nobody_is_asked_unless_the_person_wants_it_and_the_record_has_the_hand_over() -> None:
    assert set(fates(EVERY, asked=False, stands=True)) == {Fate.NAMED}
    waiting = fates(EVERY, asked=True, stands=False)
    assert waiting == [Fate.WAITS if agent.known else Fate.UNKNOWN for agent in EVERY]


def test_only_a_known_process_that_works_nowhere_else_is_asked_and_the_one_above_last() -> None:
    told = dict(zip(EVERY, fates(EVERY, asked=True, stands=True), strict=True))
    for agent, fate in told.items():
        may = agent.known and agent.here
        assert (fate is Fate.NOW) == (may and not agent.above)
        assert (fate is Fate.LAST) == (may and agent.above)
        assert (fate is Fate.ELSEWHERE) == (agent.known and not agent.here)
        assert (fate is Fate.UNKNOWN) == (not agent.known)
