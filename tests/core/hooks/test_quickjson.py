"""JSON of hooks: what the json module makes of it, without the json module."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.hooks import quickjson

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)
PIECES = st.sampled_from(
    [*'{}[]:,"\\ \n-+.eE019\ufeff\x00', "true", "null", "NaN", "-Infinity", '"a"', "\\ud800", "é"]
)


@given(ANY)
def test_what_is_written_is_what_json_writes(value: object) -> None:
    assert quickjson.dumps(value) == json.dumps(value)
    assert quickjson.loads(json.dumps(value).encode()) == value


@given(st.lists(PIECES, max_size=12).map("".join))
@example(" \n\t[1]\r\n ")
@example("[1] 2")
@example("[NaN, -Infinity, 1e5, -0, 1.5]")
@example("")
@example("[" * 50)
def test_what_is_read_is_what_json_reads(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        expected = json.loads(text.removeprefix("\ufeff"), strict=False)
    except ValueError:
        with pytest.raises(ValueError):
            quickjson.loads(data)
    else:
        assert repr(quickjson.loads(data)) == repr(expected)


def test_an_interpreter_without_the_parts_in_c_takes_json(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "_json", None)
    assert quickjson.loads(b'\xef\xbb\xbf{"a": [1]}') == {"a": [1]}
    assert quickjson.dumps({"a": "é"}) == '{"a": "\\u00e9"}'
