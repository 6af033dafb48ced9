"""Where the values of a JSON text stand: what Python reads there, we find there."""

import json

import pytest
from hypothesis import given

from handsoff.core.settings import jsonspans
from handsoff.errors import UnfitError
from tests.kit.json_texts import Doc, docs


@given(docs())
def test_what_stands_at_the_spans_is_what_the_text_means(doc: Doc) -> None:
    root = jsonspans.read(doc.text, "f")
    assert jsonspans.value(doc.text, root) == json.loads(doc.text)
    for child in root.children or ():
        assert doc.text[child.begin] == '"'
        assert jsonspans.value(doc.text, child) in doc.values(child.key)
        last = root.get(str(child.key))
        assert last is not None
        assert jsonspans.value(doc.text, last) == json.loads(doc.text)[child.key]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{\n  // mine\n  "a": 1\n}', 2, "a comment"),
        ('{"a": 1,\r\n /* b */ "b": 2}', 2, "a comment"),
        ('{"a": 1,\r\r}', 3, "a comma before }"),
        ("[1,\n2,]", 2, "a comma before ]"),
        ('{"a" 1}', 1, "no : where one must be"),
        ("{'a': 1}", 1, "no key in double quotes"),
        ('{"a": [1 2]}', 1, "no , where one must be"),
        ('{"a": tru}', 1, "no value"),
        ('{"a": 01}', 1, "no , where"),
        ('{"a": NaN}', 1, "no value"),
        ('{"a": "\n"}', 1, "no value"),
        ('{"a": "\\x"}', 1, "no value"),
        ('{"a": 1}\n}', 2, "something after the end"),
        ('{"a":\n', 2, "the end before its time"),
        ("[" * 102, 1, "within each other"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(UnfitError, match=rf"^f is no JSON: line {line}: .*{said}") as caught:
        jsonspans.read(text, "f")
    assert "nothing was changed" in str(caught.value.hint)


def test_a_number_of_any_length_can_be_looked_at() -> None:
    text = "[" + "9" * 5000 + "]"
    assert jsonspans.value(text, jsonspans.read(text, "f")) == [float("inf")]
    assert jsonspans.value("[12]", jsonspans.read("[12]", "f")) == [12]
