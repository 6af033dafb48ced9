"""What is shown of a first prompt has no secret in it that the guard's own rules know."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.guard.masking import mask
from handsoff.core.transcripts.sessions import told_by_claude, told_by_codex

TOKEN = "ghp_" + "aB3dE5gH7jK9" * 3
CASES = (
    (f"use {TOKEN} for it", "use [redacted: GitHub token] for it"),
    ("password: kD93hsQ0zL", "password: [redacted: password or key]"),
    (f"{TOKEN} or {TOKEN}?", "[redacted: GitHub token] or [redacted: GitHub token]?"),
    ("curl https://me:hunter2Zq@h.dev/", "curl https://me:[redacted: password in a URL]@h.dev/"),
    ("fix the token parser in a.py", "fix the token parser in a.py"),
    ("修复 password 字段", "修复 password 字段"),
)


@pytest.mark.parametrize(("typed", "shown"), CASES)
def test_a_marker_stands_in_place_of_a_secret_and_all_else_stays(typed: str, shown: str) -> None:
    assert mask(typed) == shown
    assert mask(shown) == shown


@given(st.text(max_size=300), st.text(max_size=9))
def test_whatever_stands_around_a_token_it_is_not_shown(before: str, after: str) -> None:
    assert TOKEN not in mask(f"{before} {TOKEN} {after}")


@given(st.text(st.characters(max_codepoint=0x2FF, exclude_categories=()), max_size=200))
def test_a_text_without_a_secret_stays_as_it_is_lone_surrogates_too(text: str) -> None:
    assert mask(text + "\udc80") == text + "\udc80"


@pytest.mark.parametrize("before", ["x" * 180 + " ", ""])
def test_a_first_prompt_is_told_without_its_secret_also_where_it_is_cut(before: str) -> None:
    typed = f"{before}{TOKEN} is the token"
    claude = {"type": "user", "cwd": "/w", "message": {"role": "user", "content": typed}}
    codex = {"type": "event_msg", "payload": {"type": "user_message", "message": typed}}
    whole = [json.dumps(one).encode() + b"\n" for one in (claude, codex)]
    torn = json.dumps(claude, separators=(",", ":")).encode()[
        :-9
    ]  # a first prompt that goes on beyond what is read
    for told in (told_by_claude(whole[0]), told_by_codex(whole[1]), told_by_claude(torn)):
        assert told.prompt.startswith(before + "[redacted: GitHub")
        assert TOKEN[:8] not in told.prompt
