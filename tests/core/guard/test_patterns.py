"""Our own rules for content: what they find, what they let pass, and their coarse twins."""

import random
import re
import time
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.guard import patterns, views
from tests.kit.planted import LOOK_ALIKES, PLANTED

MIXED = "aB3dE6gH9j" * 3
GATES = [re.compile(gate.encode()) for gate in patterns.GATES]
VIEWED = [name for name in PLANTED if "utf-" in name or "escape" in name or "base64" in name]


def gated(data: bytes) -> bool:
    return any(gate.search(data) for gate in GATES)


@pytest.mark.parametrize("name", [name for name in PLANTED if name not in VIEWED])
def test_a_planted_secret_is_found_as_it_stands(name: str) -> None:
    for seed in range(20):
        data = PLANTED[name](random.Random(seed))
        assert patterns.find(data), data
        assert gated(data), data


@pytest.mark.parametrize("name", [name for name in PLANTED if name not in VIEWED])
@pytest.mark.parametrize("end", [b"", b" "])
def test_a_planted_secret_is_found_where_no_line_end_follows(name: str, end: bytes) -> None:
    data = PLANTED[name](random.Random(1)).rstrip() + end
    assert patterns.find(data), data


@pytest.mark.parametrize("name", VIEWED)
def test_a_hidden_secret_is_found_in_another_reading(name: str) -> None:
    for seed in range(20):
        data = PLANTED[name](random.Random(seed))
        readings = [*views.views(data), *views.decoded(data)]
        assert any(patterns.find(reading) for reading in readings), data


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_let_pass_in_every_reading(name: str) -> None:
    for seed in range(20):
        data = LOOK_ALIKES[name](random.Random(seed))
        for reading in (data, *views.views(data), *views.decoded(data)):
            assert patterns.find(reading) == []


def test_a_place_is_found_once_and_its_bytes_are_told() -> None:
    token = "gh" + "p_" + "Zq7" * 12
    data = f"password = '{token}'\n".encode()
    assert patterns.find(data) == [patterns.Hit("GitHub token", token.encode(), 12)]


@pytest.mark.parametrize("before", ["try-", "export_"])
def test_a_token_begins_behind_a_dash_unless_it_may_be_a_word(before: str) -> None:
    token = "ghp" + "_" + "aB3dE6gH9j" * 3 + "kLm4Op"
    assert [hit.secret for hit in patterns.find(f"{before}{token}".encode())] == [token.encode()]
    for word in ("key-" + "0a" * 16, "sk-" + "aB3dE6gH9j" * 3, "npm_" + "config" * 6):
        assert patterns.find(f"{before}{word}".encode()) == []


def a_login(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "hooks.slack." + f"com/workflows/T0AB/A1/{MIXED[:16]}", "gl" + f"sa_{MIXED}_0a1b2c3d",
        "gl" + f"c_{MIXED}aB3", f"bot=12345678:AA{MIXED}xYz", f"bearer {MIXED}", "sk-" + "ab" * 16,
        f"Basic {a_login('lin:' + MIXED[:10])}", f'"auth": "{a_login("lin:" + MIXED[:10])}"',
        *[f"{before}gh" + f"p_{MIXED}" for before in ("\\u0022", "\x1b[1;31m", "\\n", "%3D", "-")],
    ],
)  # fmt: skip
def test_a_token_is_found(text: str) -> None:
    assert len(patterns.find(text.encode())) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"map:AA{MIXED}xYz", f"1234567:AA{MIXED}xYz", f"12345678901:AA{MIXED}xYz",
        "bearer authentication-of-requests", "Bearer your-token-of-16-letters2",
        "Basic authenticationScheme", f"Basic {a_login(':' + MIXED[:14])}",
        f"Basic {a_login('lin:changeme12')}", f"Basic {a_login('lin' + MIXED[:14])}",
        f"Basic {a_login('密码:' + MIXED[:14])}", "gh" + f"p_{MIXED}xxxx", "gh" + f"p_{'A' * 36}",
        f"export_hf_{MIXED}", f"disk-eyJ{MIXED}.eyJ{MIXED}.{MIXED}", "agh" + f"p_{MIXED}",
        f"1sk-{MIXED}", "sk-" + "gh" * 16, "sk-circle-fade-dot-animation",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_token_is_not_found(text: str) -> None:
    assert patterns.find(text.encode()) == []


@pytest.mark.parametrize(
    "header", ["Proc-Type", "DEK-Info", "Version", "Comment", "Charset", "Hash"]
)
def test_a_private_key_is_found_behind_its_headers_whatever_it_says(header: str) -> None:
    dashes = "-" * 5
    body = f"{header}: 4,ENCRYPTED of an example\n\nMIIExxxx{MIXED}"
    (hit,) = patterns.find(f"{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{body}\n".encode())
    assert hit.secret.decode().endswith(MIXED)


def test_two_keys_that_begin_alike_are_two_secrets() -> None:
    dashes = "-" * 5
    head = f"{dashes}BEGIN OPENSSH PRIVATE KEY{dashes}\n" + "b3Bl" * 16 + "\n"
    one, two = (patterns.find((head + tail * 16 + "\n").encode())[0] for tail in ("AAAA", "BBBB"))
    assert one.secret != two.secret


@given(st.lists(st.sampled_from([*PLANTED]), min_size=1, max_size=3), st.binary(max_size=40))
def test_where_no_gate_matches_nothing_is_found(names: list[str], noise: bytes) -> None:
    rng = random.Random(len(noise))
    data = noise.join(PLANTED[name](rng) for name in names)
    for reading in (data, *views.views(data), *views.decoded(data)):
        assert gated(reading) or not patterns.find(reading)


@given(st.text(alphabet="=:\"'`\\ \n[]{}().,$password_TOKEN-keyapi0123", max_size=60))
def test_no_assignment_gets_past_the_gates(text: str) -> None:
    data = b"password" + text.encode()
    assert gated(data) or not patterns.find(data)


@pytest.mark.parametrize(
    "unit",
    [
        b"a", b"A1", b"password", b"password=", b"://", b"://a:b", b"eyJ", b"eyJaaaaaaaa.",
        b"-----BEGIN ", b"\\n", b'"kty"', b"-----BEGIN PRIVATE KEY-----\n", b"machine a login b ",
        b"A" * 64 + b"\n", b"secret\\\\\\", b"sk-", b"token: 'a", b"\\u0061",
    ],
)  # fmt: skip
def test_no_input_makes_a_rule_slow(unit: bytes) -> None:
    data = unit * (200_000 // len(unit))
    start = time.thread_time()  # not the clock: others may be at work on this machine
    for reading in (data, *views.views(data), *views.decoded(data)):
        patterns.find(reading)
    assert time.thread_time() - start < 3
