"""Which branch a push goes to, and what is left to move after one that was cut off."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.remote.pushing import (
    NOTHING_THERE,
    Deed,
    Meant,
    Target,
    decide,
    last_pushed,
    meant_by,
    target,
    tracking_ref,
    unsaid,
    way_on,
)
from handsoff.core.works.lease import Pushed, Recipient
from handsoff.errors import RefusedError
from tests.kit.signing import M1, M2, M3, START, empty

A, B, C = "a" * 40, "b" * 40, "c" * 40
OIDS = st.sampled_from([A, B, C])
TIPS = st.sampled_from(["", A, B, C])
MEANT = st.builds(Meant, st.just("x"), TIPS, OIDS)


def entry(meant: Meant) -> Pushed:
    old = meant.old or NOTHING_THERE
    return Pushed(by="m1", at=START, leg=1, revision=0, branch=meant.branch, old=old, new=meant.new)


@pytest.mark.parametrize(
    ("said", "meant", "tip", "want", "deed"),
    [
        (None, None, "", A, Deed.BOTH),
        (None, None, A, B, Deed.BOTH),
        (None, None, A, A, Deed.NOTHING),
        (("", A), None, A, A, Deed.NOTHING),
        (("", A), ("", A), A, A, Deed.NOTHING),
        (("", A), None, "", A, Deed.BRANCH),
        ((A, B), (A, B), A, B, Deed.BRANCH),
        ((A, B), None, A, C, Deed.BOTH),
        ((A, B), None, C, B, Deed.BOTH),
        (None, (A, B), B, B, Deed.RECORD),
        (("", A), (A, B), B, B, Deed.RECORD),
        (None, (A, B), A, B, Deed.BOTH),
        (None, (A, B), C, C, Deed.NOTHING),
        (None, (A, B), B, C, Deed.BOTH),
    ],
)
def test_what_is_left_to_do_follows_from_what_was_said_and_where_the_branch_is(
    said: tuple[str, str] | None, meant: tuple[str, str] | None, tip: str, want: str, deed: Deed
) -> None:
    entry_said = entry(Meant("x", *said)) if said else None
    noted = Meant("x", *meant) if meant else None
    assert decide(entry_said, noted, tip=tip, want=want) is deed


@given(st.none() | MEANT, st.none() | MEANT, TIPS, OIDS)
def test_after_the_deed_was_done_nothing_is_left(
    said: Meant | None, meant: Meant | None, tip: str, want: str
) -> None:
    before = entry(said) if said else None
    deed = decide(before, meant, tip=tip, want=want)
    now = {
        Deed.BOTH: Meant("x", tip, want), Deed.BRANCH: said, Deed.RECORD: meant, Deed.NOTHING: said,
    }[deed]  # fmt: skip
    after = entry(now) if now else None
    noted = Meant("x", tip, want) if deed in (Deed.BOTH, Deed.BRANCH) else meant
    assert decide(after, noted, tip=want, want=want) is Deed.NOTHING
    if deed in (Deed.BOTH, Deed.BRANCH):  # the record arrived, and the branch did not
        assert decide(after, noted, tip=tip, want=want) is Deed.BRANCH
    if deed is Deed.BOTH:  # the branch arrived, and the record did not
        again = decide(before, noted, tip=want, want=want)
        assert again is (Deed.NOTHING if noted == said else Deed.RECORD)


@given(st.none() | MEANT, st.none() | MEANT, OIDS, st.none() | MEANT)
def test_what_went_past_the_record_is_put_on_it_once(
    said: Meant | None, meant: Meant | None, tip: str, last: Meant | None
) -> None:
    words = [entry(move) if move else None for move in (said, last)]
    gap = unsaid(words[0], meant, tip=tip, last=words[1])
    deed = decide(words[0], meant, tip=tip, want=tip, last=words[1])
    assert (deed is Deed.RECORD) == (gap is not None)
    if last is not None and last.new != tip:
        assert gap is not None
    if gap is not None:
        told = entry(gap)
        assert told.new == tip
        assert decide(told, gap, tip=tip, want=tip, last=told) is Deed.NOTHING


@given(MEANT)
def test_a_move_is_told_from_its_entry(meant: Meant) -> None:
    assert meant_by(entry(meant)) == meant
    assert meant.is_said_by(entry(meant))
    assert not meant.is_said_by(replace(entry(meant), branch="y"))
    assert not meant.is_said_by(None)


def test_what_was_said_last_is_of_this_branch_and_of_this_leg() -> None:
    pen = M1.pen(empty()).caught()
    assert last_pushed(pen.record, "x") is None
    pen = pen.pushed("x", old=A, new=B).pushed("y", old=A, new=C).pushed("x", old=B, new=C)
    said = last_pushed(pen.record, "x")
    assert said is not None
    assert (said.old, said.new) == (B, C)
    assert last_pushed(pen.dropped("").caught().record, "x") is None


@pytest.mark.parametrize(
    ("upstream", "default", "expected"),
    [
        (None, None, Target("feat/x", sets_upstream=True)),
        (("origin", "refs/heads/feat/x"), None, Target("feat/x")),
        (("fork", "refs/heads/other"), None, Target("feat/x")),
        (("origin", "refs/heads/other"), "upstream", Target("other")),
        (("origin", "refs/heads/other"), "tracking", Target("other")),
        (("origin", "refs/heads/other"), "current", Target("feat/x")),
        (("origin", "refs/changes/1"), "upstream", Target("feat/x")),
    ],
)
def test_a_branch_is_pushed_where_git_would_push_it(
    upstream: tuple[str, str] | None, default: str | None, expected: Target
) -> None:
    assert target("feat/x", "origin", upstream=upstream, default=default) == expected


@pytest.mark.parametrize("default", [None, "simple", "matching", "nothing"])
def test_an_upstream_of_another_name_is_no_accident_or_refused(default: str | None) -> None:
    with pytest.raises(RefusedError, match="feat/x follows main on origin"):
        target("feat/x", "origin", upstream=("origin", "refs/heads/main"), default=default)


@pytest.mark.parametrize(
    ("specs", "kept"),
    [
        (["+refs/heads/*:refs/remotes/origin/*"], "refs/remotes/origin/feat/x"),
        (["refs/heads/main:refs/m", "refs/heads/feat/x:refs/f"], "refs/f"),
        (["refs/heads/feat/*:refs/remotes/o/*/y"], "refs/remotes/o/x/y"),
        (["^refs/heads/feat/x", "refs/heads/f*x:refs/r/*"], "refs/r/eat/"),
        (["refs/heads/*"], None),
        (["refs/heads/feat/x*:refs/r/*"], None),
        ([], None),
    ],
)
def test_the_tracking_ref_is_that_of_the_fetch(specs: list[str], kept: str | None) -> None:
    assert tracking_ref(specs, "refs/heads/feat/x") == kept


def test_who_may_not_push_is_told_what_leads_on() -> None:
    held = M1.pen(empty()).caught().saved(envelope=A)
    named = held.offered(Recipient(machine=M2.id)).record
    open_to_all = held.offered(Recipient()).record

    def way(record: object, machine: object = M2, days: int = 0) -> str:
        return way_on(record, machine.id, machine.name, START + timedelta(days=days))  # type: ignore[arg-type, attr-defined]

    assert way(held.record) == "on m1: handsoff send m2; then here: handsoff catch feat/x"
    assert way(held.record, days=1) == "catch it first: handsoff catch feat/x"
    assert way(named) == way(open_to_all) == "catch it first: handsoff catch feat/x"
    assert way(named, M3) == "it is for m2 to catch; ask m1"
    assert way(named, M1).startswith("m2 may catch it until 2030-01-08 16:00 UTC; from then on")
