"""Messages: one spelling each, and nothing else is taken."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.talk import frames, messages
from handsoff.core.talk.messages import Have, Hello, Message, Refuse, Told
from handsoff.errors import DamagedError
from tests.vectors import messages as vectors


def test_every_message_still_has_the_bytes_it_had() -> None:
    assert vectors.text() == vectors.FILE.read_text(encoding="ascii")


@pytest.mark.parametrize("message", vectors.every_message(), ids=lambda m: type(m).__name__)
def test_every_message_comes_back_as_it_was(message: Message) -> None:
    assert messages.decode(messages.encode(message)) == message


def test_every_kind_has_a_vector() -> None:
    assert {type(message) for message in vectors.every_message()} == set(messages.Message.__args__)


OID = "1" * 40
HELLO = {"kind": "hello", "versions": [1], "machine": "m1", "software": "x"}
ASK = {"kind": "ask", "repository": OID, "work": "w", "roster": "", "record": ""}
WANT = {"kind": "want", "repository": OID, "work": "w", "parcel": "", "roster": "", "record": ""}
HAVE: dict[str, Any] = {"kind": "have", "commits": [OID], "clone": True, "roster": "", "record": ""}
OFFER = {"kind": "offer", "parcel": "a" * 32, "size": 1, "sha256": "b" * 64}
REFUSE = {"kind": "refuse", "code": "held", "message": "m", "hint": ""}
RECEIPT = {
    "kind": "receipt",
    "parcel": "a" * 32,
    "manifest": "b" * 64,
    "by": "a" * 26,
    "at": 0,
    "signature": "s",
}

BROKEN: list[dict[str, Any]] = [
    {},
    {"kind": None},
    {"kind": "goodbye"},
    {"kind": ["bye"]},
    {"kind": "bye", "more": 1},
    HELLO | {"versions": []},
    HELLO | {"versions": [True]},
    HELLO | {"versions": ["1"]},
    HELLO | {"versions": [-1]},
    HELLO | {"versions": [1] * 65},
    HELLO | {"versions": 1},
    HELLO | {"machine": "-m1"},
    HELLO | {"machine": 1},
    HELLO | {"machine": "all"},
    HELLO | {"software": "x\n"},
    HELLO | {"software": "x" * 101},
    ASK | {"repository": ""},
    ASK | {"repository": "A" * 40},
    ASK | {"repository": "1" * 39},
    ASK | {"repository": OID + "\n"},
    ASK | {"work": ""},
    ASK | {"work": "a\nb"},
    ASK | {"work": "a\0"},
    ASK | {"work": "w" * 1025},
    ASK | {"work": None},
    ASK | {"roster": "x"},
    ASK | {"record": "1" * 64},
    WANT | {"parcel": "a" * 31},
    WANT | {"parcel": "../" + "a" * 29},
    WANT | {"parcel": None},
    WANT | {"repository": ""},
    WANT | {"work": ""},
    WANT | {"roster": "x"},
    HAVE | {"commits": [OID] * 5001},
    HAVE | {"commits": ["x"]},
    HAVE | {"commits": {OID: 1}},
    HAVE | {"clone": 1},
    HAVE | {"clone": None},
    OFFER | {"parcel": "a" * 31},
    OFFER | {"parcel": "../" + "a" * 29},
    OFFER | {"size": 0},
    OFFER | {"size": True},
    OFFER | {"size": "1"},
    OFFER | {"size": (1 << 60) + 1},
    OFFER | {"sha256": "B" * 64},
    {"kind": "accept", "offset": -1},
    {"kind": "accept", "offset": False},
    REFUSE | {"code": "Held"},
    REFUSE | {"code": ""},
    REFUSE | {"message": "m" * 2001},
    REFUSE | {"hint": None},
    RECEIPT | {"manifest": "b" * 63},
    RECEIPT | {"by": "m2"},
    RECEIPT | {"at": -1},
    RECEIPT | {"signature": ""},
    RECEIPT | {"signature": "s" * 4097},
    {"kind": "told", "record": None},
    {"kind": "told"},
]


@pytest.mark.parametrize("fields", BROKEN, ids=lambda fields: json.dumps(fields)[:60])
def test_a_message_out_of_bounds_is_damaged(fields: dict[str, Any]) -> None:
    body = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(DamagedError):
        messages.decode(body)


@pytest.mark.parametrize("fields", [HELLO, ASK, WANT, HAVE, OFFER, REFUSE, RECEIPT])
def test_what_those_were_made_from_is_sound(fields: dict[str, Any]) -> None:
    messages.decode(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"bye"',
        b'{"kind": "bye"}',
        b'{"kind":"bye"}\n',
        b'{"kind":"bye","kind":"bye"}',
        b'{"kind":"accept","offset":1.0}',
        b'{"kind":"accept","offset":NaN}',
        b'{"kind":"accept","offset":1e3}',
        b'\xff{"kind":"bye"}',
        b"[" * 100_000,
        b'{"kind":"told","record":' + b"1" * 5000 + b"}",
    ],
)
def test_another_spelling_is_damaged(body: bytes) -> None:
    with pytest.raises(DamagedError):
        messages.decode(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_damaged(body: bytes) -> None:
    with suppress(DamagedError):
        messages.decode(body)


def test_the_longest_answer_fits_in_a_frame() -> None:
    longest = Have(commits=(OID,) * messages.COMMITS_LIMIT, clone=True, roster=OID, record=OID)
    assert len(frames.encode(messages.encode(longest))) < frames.LIMIT


@pytest.mark.parametrize(
    "message",
    [
        Hello(versions=(), machine="m1", software="x"),
        Hello(versions=[1], machine="m1", software="x"),  # type: ignore[arg-type]
        Told(record="tip"),
        Refuse(code="held", message="m" * 3000),
    ],
)
def test_our_own_message_out_of_bounds_is_a_bug(message: Message) -> None:
    with pytest.raises(AssertionError):
        messages.encode(message)


def test_a_receipt_holds_for_the_machine_it_names() -> None:
    assert messages.receipt_key(vectors.receipt()) == vectors.KEY.public_key().public_bytes_raw()


def test_a_changed_receipt_does_not_hold() -> None:
    good = vectors.receipt()
    changed = [
        replace(good, parcel="f" * 32),
        replace(good, manifest="f" * 64),
        replace(good, at=good.at + 1),
        replace(good, by="a" * 26),
    ]
    assert [messages.receipt_key(receipt) for receipt in changed] == [None] * 4


def test_a_receipt_is_for_one_manifest_and_of_one_machine() -> None:
    good, key = vectors.receipt(), vectors.KEY.public_key().public_bytes_raw()
    messages.check_receipt(good, manifest=good.manifest, key=key, name="m2")
    for manifest, other in (("f" * 64, key), (good.manifest, bytes(32))):
        with pytest.raises(DamagedError, match="receipt of m2 does not hold"):
            messages.check_receipt(good, manifest=manifest, key=other, name="m2")


def test_a_receipt_signed_by_nobody_is_damaged() -> None:
    with pytest.raises(DamagedError):
        messages.receipt_key(replace(vectors.receipt(), signature="s"))


def test_what_a_receipt_signs_is_spelled_out() -> None:
    payload = messages.receipt_payload(parcel="a" * 32, manifest="b" * 64, by="c" * 26, at=5)
    assert payload == (
        b'{"at":5,"by":"'
        + b"c" * 26
        + b'","kind":"receipt","manifest":"'
        + b"b" * 64
        + b'","parcel":"'
        + b"a" * 32
        + b'"}'
    )
