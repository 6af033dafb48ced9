"""What a line of a transcript tells the guard: all that a reader could take a secret from."""

import json

import pytest

from handsoff.core.guard import patterns
from handsoff.flows.sending.proofreading import told

KEY = "sk-ant-" + "api03-" + "Zq7Xw2Lk9vBn4Tm6Rp1Ys8Ud3Fg5Hj0Kc" * 3
WORD = "hunter2" + "Hunter2x9"
SIGNATURE = "ErcBCkgIARABGAIiQL3zvZ9x8wN+dGkqk0Jf2Pl" * 30


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ({"type": "api-request-blob", "headers": {"x-api-key": KEY}}, KEY),
        ({"type": "thinking", "thinking": KEY, "signature": SIGNATURE}, KEY),
        ({"type": "thinking", "thinking": "", "signature": KEY}, KEY),
        ({"source": {"type": "base64", "data": KEY}}, KEY),
        ({"encrypted_content": KEY}, KEY),
        ({"input": {"password": WORD}}, WORD),
        ({"arguments": json.dumps({"DB_PASSWORD": WORD + "!#@"})}, WORD),
    ],
)
def test_a_key_is_seen_also_where_only_a_signature_or_a_name_would_be(
    line: dict[str, object], secret: str
) -> None:
    found = patterns.find(told(json.dumps(line).encode()))
    assert any(secret.encode() in hit.secret for hit in found)


def test_what_is_signed_or_encrypted_is_not_taken_for_a_key() -> None:
    line = {"thinking": "hm", "signature": SIGNATURE, "encrypted_content": "gAAAAA" + "x-_9" * 99}
    assert SIGNATURE.encode() not in told(json.dumps(line).encode())
    assert patterns.find(told(json.dumps(line).encode())) == []
