"""Hooks in the text of settings: what goes in comes out, and nothing else moves by a byte."""

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.settings import adapters, settings_text
from handsoff.core.settings.settings_text import install, installed, uninstall
from handsoff.errors import UnfitError
from tests.kit.json_texts import settings

OURS = adapters.is_ours
WANTED = adapters.groups("claude", "/home/li/my tools/handsoff-hook")
THEIRS = st.sampled_from(
    ['{"type":"command","command":"lint"}', '{ "type" : "prompt" }', '"handsoff-hook"', "7", "{}"]
)
OLDER = st.sampled_from(
    [
        '{"type":"command","command":"handsoff-hook","args":["claude"]}',
        '{"type":"command","command":"/opt/old/handsoff-hook claude","timeout":3}',
        json.dumps(WANTED["Stop"]["hooks"][0]),
    ]
)


def put(text: str | None) -> str:
    return install(text, "f", WANTED, OURS)


def out(text: str | None) -> str | None:
    return uninstall(text, "f", OURS)


def theirs(text: str) -> dict[str, Any]:
    """Return what the settings mean but for ours; what is empty then is as if it were not there."""
    document: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
    hooks = document.pop("hooks", None) or {}
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        left = []
        for group in groups:
            handlers = group.get("hooks", []) if isinstance(group, dict) else []
            rest = [h for h in handlers if not OURS(h)]
            if not handlers or rest:
                left.append({**group, "hooks": rest} if rest else group)
        kept |= {event: left} if left else {}
    return {**document, "hooks": kept}


@given(settings(THEIRS))
@example('{"hooks": {}}')
@example('{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n')
@example("{}")
@example("{\n}\n")
def test_what_was_put_in_comes_out_to_the_byte(text: str) -> None:
    after = put(text)
    assert out(after) == text
    assert put(after) == after
    assert theirs(after) == theirs(text)
    hooks = json.loads(after.removeprefix("\ufeff"))["hooks"]
    assert {event: groups[-1] for event, groups in hooks.items() if event in WANTED} == WANTED


OLD = '{"command": "handsoff-hook x"}'
TWICE = f'{{"hooks": {{"Stop": [{{"hooks": [{OLD}]}}, {{"hooks": [{OLD}, {OLD}]}}]}}}}'
MIXED = f'{{"hooks": {{"Stop": [{{"hooks": [{OLD}, "theirs"]}}, {{"hooks": [7, {OLD}]}}]}}}}'


DOUBLED = f'{{"hooks": {{"Stop": [{{"hooks": [7]}}], "Stop": [ {{"hooks": [{OLD}]}}]}}}}'


@given(settings(st.one_of(THEIRS, OLDER)))
@hypothesis.settings(max_examples=50)
@example(DOUBLED)
@example(TWICE)
@example(MIXED)
def test_older_forms_are_replaced_and_none_is_left_behind(text: str) -> None:
    after = put(text)
    assert put(after) == after
    assert theirs(after) == theirs(text)
    found = installed(after, "f", OURS)
    assert {item.event: item.value for item in found} == WANTED
    assert len(found) == len(WANTED)
    left = out(after)
    assert left is None or (not installed(left, "f", OURS) and theirs(left) == theirs(text))


def test_a_file_that_was_not_there_goes_again() -> None:
    text = put(None)
    assert json.loads(text) == {"hooks": {event: [group] for event, group in WANTED.items()}}
    assert out(text) is None
    assert out(None) is None
    assert installed(None, "f", OURS) == []


TABS = '{\n\t"model": "x",\n\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n'


def test_the_layout_is_that_of_the_file() -> None:
    after = put(TABS)
    assert '\n\t\t\t{"hooks": []},\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n' in after
    assert '\n\t\t],\n\t\t"SessionStart": [\n\t\t\t{\n\t\t\t\t"matcher": "startup|' in after
    assert after.replace("\t", "").count("  ") == 0
    windows = put(TABS.replace("\n", "\r\n"))
    assert windows == after.replace("\n", "\r\n")
    inner = put('{\n  "hooks": {"Stop": [{"hooks": []}]}\n}\n')
    assert '"Stop": [{"hooks": []}, { "hooks": [ { "type"' in inner
    assert inner.count("\n") == 3
    assert "\n" not in put('{"a":1}')
    assert '{"a":1,"hooks":{ "SessionStart":[ { "matcher":' in put('{"a":1}')
    assert put('{"a": 1}').startswith('{"a": 1, "hooks": { "SessionStart": [ {')


def test_a_group_of_ours_that_is_in_the_middle_is_mended_where_it_stands() -> None:
    before, ours, after = '{"hooks": ["a"]}', '{"hooks": [{"command": "handsoff-hook x"}]}', "null"
    text = put(f'{{"hooks": {{"Stop": [{before}, {ours}, {after}]}}}}')
    groups = json.loads(text)["hooks"]["Stop"]
    assert groups == [{"hooks": ["a"]}, WANTED["Stop"], None]


def test_of_two_keys_of_one_name_the_last_counts() -> None:
    text = '{"hooks": {"Stop": 7}, "hooks": {"Stop": {}, "Stop": []}}'
    after = put(text)
    assert after.startswith('{"hooks": {"Stop": 7}, "hooks": {"Stop": {}, "Stop": [{ "hooks"')
    assert out(after) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "f: line 1: the whole is not an object"),
        ('{"a": 1,\n"hooks": []}', 'f: line 2: "hooks" is not an object'),
        ('{"hooks": {\n\n"Stop": {}}}', 'f: line 3: "Stop" is not a list'),
        ("\n", "f is empty"),
        ("{,}", "f is no JSON: line 1"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnfitError, match=said):
        put(text)


def test_what_others_keep_in_places_of_ours_is_no_reason_to_stop() -> None:
    for text in ('{"hooks": {"Other": {"x": 1}}}', '{"hooks": {"Other": [{"hooks": 7}, 3]}}'):
        assert out(put(text)) == text
    assert settings_text.installed('{"hooks": {"Stop": 7}}', "f", OURS) == []
