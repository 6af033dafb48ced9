"""A machine's card: only its own key can make it, and it reads back as it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.chain import LATEST
from handsoff.core.ids import fingerprint
from handsoff.core.machines.cards import LIMIT, NAMESPACE, Card, encode_card, make_card, parse_card
from handsoff.errors import DamagedError, HandsoffError, TrustError, UsageError
from tests.kit.signing import AGE_KEY, M1, M2

CARD = M1.card()


def signed(**changes: Any) -> bytes:
    """Return m1's card with other fields, signed again by m1."""
    inner = {**CARD.as_dict()["card"], **changes}
    inner = {name: value for name, value in inner.items() if value is not None}
    signature = M1.sign(canon.encode(inner), NAMESPACE)
    return canon.encode({"card": inner, "signature": signature})


def test_a_card_reads_as_it_was_written() -> None:
    assert parse_card(encode_card(CARD)) == CARD
    assert parse_card(encode_card(CARD) + b"\n") == CARD
    assert (CARD.id, CARD.fingerprint) == (M1.id, fingerprint(M1.key))


@given(st.data())
def test_a_changed_byte_of_a_card_is_noticed(data: st.DataObject) -> None:
    sound = encode_card(CARD)
    at = data.draw(st.integers(min_value=0, max_value=len(sound) - 1))
    bent = sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :]
    with pytest.raises((DamagedError, TrustError)):
        parse_card(bent)


def test_a_card_signed_by_another_key_or_for_another_use_is_not_trusted() -> None:
    inner = CARD.as_dict()["card"]
    for signature in (
        M2.sign(canon.encode(inner), NAMESPACE),
        M1.sign(canon.encode(inner), "git"),
    ):
        with pytest.raises(TrustError, match="the card of m1 is not signed by its own key"):
            parse_card(canon.encode({"card": inner, "signature": signature}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"v": 2}, "not a card of format 1"),
        ({"v": True}, "not a card of format 1"),
        ({"more": 1}, "not a card of format 1"),
        ({"person": None}, "not a card of format 1"),
        ({"at": "now"}, "not a card of format 1"),
        ({"at": 0}, "no time that we can read"),
        ({"at": LATEST + 1}, "no time that we can read"),
        ({"name": "a b"}, "a name that will not do"),
        ({"name": 7}, "a name that will not do"),
        ({"person": "anyone"}, "a name that will not do"),
        ({"age_key": "AGE-SECRET-KEY-1"}, "has no age key"),
        ({"age_key": 7}, "has no age key"),
        ({"sign_key": "ssh-ed25519 ?"}, "without a signing key"),
        ({"sign_key": "ssh-ed25519 AAAA"}, "without an Ed25519 signing key"),
        ({"sign_key": ["ssh-ed25519"]}, "without a"),
        ({"sign_key": CARD.as_dict()["card"]["sign_key"] + " m1"}, "without an? "),
    ],
)
def test_a_card_with_a_field_that_will_not_do_is_damaged(
    changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DamagedError, match=reason):
        parse_card(signed(**changes))


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"null", b'{"card":1,"signature":"x"}', b"x" * (LIMIT + 1)],
)
def test_what_is_no_card_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedError):
        parse_card(data)


def test_a_card_with_a_field_outside_the_signature_is_damaged() -> None:
    with pytest.raises(DamagedError, match="not a card"):
        parse_card(canon.encode({**CARD.as_dict(), "trust": "me"}))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_card_or_one_of_our_errors(data: bytes) -> None:
    with pytest.raises(HandsoffError):
        parse_card(data)


def test_a_card_is_not_made_for_a_name_that_will_not_do() -> None:
    fields: dict[str, Any] = {"sign_key": M1.key, "age_key": AGE_KEY, "at": 1, "sign": M1.sign}
    assert isinstance(make_card(name="m1", person="lin", **fields), Card)
    with pytest.raises(UsageError, match="cannot name a machine"):
        make_card(name="anyone", person="lin", **fields)
    with pytest.raises(UsageError, match="cannot name a person"):
        make_card(name="m1", person="", **fields)
