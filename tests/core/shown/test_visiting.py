"""Who may see the page on loopback: each header that says no, and a key that works once."""

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.shown.visiting import POLICY, SIGN_IN, VALID, Door, No, Visit

HOST: Final = "127.0.0.1:7000"
DOOR: Final = Door(host=HOST, key="k" * 43, until=VALID)
IN: Final = replace(DOOR, sessions=("s" * 43,))
GOOD: Final = Visit(method="GET", path="/", hosts=[HOST], cookies=["s" * 43])


def test_who_has_the_session_may_read() -> None:
    assert IN.judge(GOOD) is None
    assert IN.judge(replace(GOOD, method="HEAD", sites=["same-origin"])) is None
    assert IN.judge(replace(GOOD, origins=[f"http://{HOST}"], sites=["none"])) is None


@pytest.mark.parametrize(
    ("visit", "why"),
    [
        (replace(GOOD, hosts=["localhost:7000"]), No.HOST),
        (replace(GOOD, hosts=["evil.example:7000"]), No.HOST),
        (replace(GOOD, hosts=["127.0.0.1"]), No.HOST),
        (replace(GOOD, hosts=["127.0.0.1:7001"]), No.HOST),
        (replace(GOOD, hosts=[]), No.HOST),
        (replace(GOOD, hosts=[HOST, "evil.example"]), No.HOST),
        (replace(GOOD, origins=["http://evil.example"]), No.ORIGIN),
        (replace(GOOD, origins=["http://127.0.0.1:7001"]), No.ORIGIN),
        (replace(GOOD, origins=["null"]), No.ORIGIN),
        (replace(GOOD, sites=["cross-site"]), No.ORIGIN),
        (replace(GOOD, sites=["same-site"]), No.ORIGIN),
        (replace(GOOD, sites=["none", "cross-site"]), No.ORIGIN),
        (replace(GOOD, method="POST"), No.METHOD),
        (replace(GOOD, method="OPTIONS"), No.METHOD),
        (replace(GOOD, method="POST", path=SIGN_IN), No.ORIGIN),
        (replace(GOOD, method="POST", path=SIGN_IN, sites=["cross-site"]), No.ORIGIN),
        (replace(GOOD, path=SIGN_IN, sites=["cross-site"]), No.ORIGIN),
        (replace(GOOD, method="POST", path=SIGN_IN, origins=["null"]), No.ORIGIN),
        (replace(GOOD, method="POST", path=SIGN_IN, origins=["null"], sites=["none"]), No.ORIGIN),
        (replace(GOOD, origins=["null"], sites=["same-origin"]), No.ORIGIN),
        (replace(GOOD, cookies=[]), No.KEY),
        (replace(GOOD, cookies=["", "k" * 43, "s" * 42, "ß" * 43]), No.KEY),
    ],
)
def test_everybody_else_is_turned_away(visit: Visit, why: No) -> None:
    assert IN.judge(visit) is why


def test_without_a_session_only_the_sign_in_and_what_it_looks_like_are_there() -> None:
    asked = replace(GOOD, cookies=[])
    assert DOOR.judge(replace(asked, path=SIGN_IN)) is None
    assert DOOR.judge(replace(asked, path=SIGN_IN, method="POST", sites=["same-origin"])) is None
    form = replace(asked, path=SIGN_IN, method="POST", sites=["same-origin"], origins=["null"])
    assert DOOR.judge(form) is None  # as Chromium sends it: the page tells no referrer
    assert DOOR.judge(replace(asked, path="/static/style.css")) is None
    assert DOOR.judge(replace(asked, path="/events")) is No.KEY


def test_who_only_looks_has_not_come() -> None:
    assert not GOOD.only_looks
    assert replace(GOOD, method="HEAD").only_looks
    assert replace(GOOD, purposes=["prefetch;prerender"]).only_looks


def test_a_key_opens_once_and_for_a_while() -> None:
    assert DOOR.enter("k" * 42, 0.0, "s") is None
    assert DOOR.enter("k" * 43, VALID, "s") is None
    after = DOOR.enter("k" * 43, VALID - 1, "s")
    assert after is not None
    assert after.knows(["s"])
    assert after.enter("k" * 43, 0.0, "t") is None
    assert after.enter("", 0.0, "t") is None
    again = after.with_key("n", 100.0)
    assert again.knows(["s"])
    assert (again.enter("k" * 43, 100.0, "t"), again.until) == (None, 100.0 + VALID)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
def test_nothing_else_is_the_key_or_a_session(text: str, cookies: list[str]) -> None:
    assert DOOR.enter(text, 0.0, "s") is None or text == DOOR.key
    assert not IN.knows(cookies) or IN.sessions[0] in cookies
    assert not DOOR.knows(cookies)


def test_the_key_is_in_no_representation_and_the_policy_allows_nothing_inline() -> None:
    assert "kkk" not in repr(IN)
    assert "sss" not in repr(IN)
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'; ")
