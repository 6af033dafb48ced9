"""Canonical JSON: what is read back is what was written, and it has no second spelling."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.errors import DamagedError

# bytes of a path that are no text travel as U+DC80..DCFF; other surrogates mean nothing
TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\udc80\udcff")))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(TEXT, VALUES, max_size=5)


@given(DOCUMENTS)
def test_what_was_encoded_decodes_to_the_same_value(value: dict[str, Any]) -> None:
    body = canon.encode(value)
    assert body.isascii()
    assert canon.decode(body) == value
    assert canon.encode(canon.decode(body)) == body


@given(DOCUMENTS, st.data())
def test_a_changed_document_is_refused_or_is_itself_canonical(
    value: dict[str, Any], data: st.DataObject
) -> None:
    body = canon.encode(value)
    at = data.draw(st.integers(0, len(body)))
    cut = data.draw(st.integers(0, 2))
    put = data.draw(
        st.sampled_from([b"", b" ", b"\n", b"0", b".0", b"e1", b",", b'"', b"\0", b"-"])
    )
    changed = body[:at] + put + body[at + cut :]
    try:
        read = canon.decode(changed)
    except DamagedError:
        return
    assert canon.encode(read) == changed


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_damaged(body: bytes) -> None:
    with suppress(DamagedError):
        assert canon.encode(canon.decode(body)) == body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"a"',
        b"1",
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1.0}',
        b'{"a":1e3}',
        b'{"a":-0}',
        b'{"a":01}',
        b'{"a": 1}',
        b' {"a":1}',
        b'{"a":1}\n',
        b'{"a":1}\0',
        b'{"a":1}{"a":1}',
        b"{'a':1}",
        b'{"a":"\\u0041"}',
        b'{"a":"\\/"}',
        b'{"a":"\\u00E9"}',
        '{"a":"é"}'.encode(),
        b'{"a":"\xff"}',
        b'\xef\xbb\xbf{"a":1}',
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-32-be"),
        b'{"a":"\t"}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a":' + b"[" * 990 + b"]" * 990 + b"}x",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_every_other_spelling_is_damaged(body: bytes) -> None:
    with pytest.raises(DamagedError, match="not canonical JSON"):
        canon.decode(body)


def test_nothing_over_the_limit_is_parsed() -> None:
    body = canon.encode({"a": "x" * 20})
    assert canon.decode(body, limit=len(body)) == {"a": "x" * 20}
    with pytest.raises(DamagedError, match=f"{len(body)} bytes is over the limit of 10"):
        canon.decode(body, limit=10)
    with pytest.raises(DamagedError, match="over the limit"):
        canon.decode(b"x" * (canon.LIMIT + 1))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_json_cannot_say_is_not_encoded(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canon.encode({"a": value})


def test_a_document_of_nothing_but_lists_is_refused_before_it_fills_the_memory() -> None:
    body = canon.encode({"x": [[]] * canon.MOST_NESTED})
    with pytest.raises(DamagedError, match="lists and objects"):
        canon.decode(body, limit=len(body))
