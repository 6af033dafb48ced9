"""What ssh says when handsoff does not: each reason with its exit code, and the line that helps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.plain import plain
from handsoff.core.reach.sshtalk import GREETING, NOISE, Preamble, explain, other_version
from handsoff.errors import DamagedError, RefusedError

CHANGED = ["@@@@@", "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @", "@@@@@",
           "Host key verification failed."]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "said", "exits", "text", "hint"),
    [
        (255, CHANGED, 7, "the host's key has changed", "ask whoever keeps it"),
        (255, ["No ED25519 host key is known for box and you have requested strict checking.",
               "Host key verification failed."], 7, "does not know the key of box", "ssh box"),
        (255, ["lin@box: Permission denied (publickey)."], 7, "does not let you in", "ssh box"),
        (255, ["Received disconnect from ::1: Too many authentication failures"], 7, "let you", ""),
        (255, ["ssh: connect to host box port 22: Connection refused"], 6, "tion refused", ""),
        (255, ["ssh: Could not resolve hostname box: Name or service not known"], 6, "resolve", ""),
        (255, [], 6, "it gives no reason", "--via remote"),
        (-9, ["Killed by signal 9."], 6, "ssh does not reach box", ""),
        (127, ["bash: line 1: handsoff: command not found"], 6, "box has no handsoff", "pip"),
        (126, ["sh: handsoff: Permission denied"], 6, "box has no handsoff", "pip install"),
        (1, ["handsoff: Command not found."], 6, "box has no handsoff", "pip install"),
        (2, ["handsoff: no such option: --stdio", "hint: x"], 3, "older than this", "pip install"),
        (2, ["handsoff: this machine has no name yet", "hint: handsoff init --name NAME"],
         2, "box says: this machine has no name yet", "handsoff init --name NAME"),
        (9, ["warning: x", "handsoff: the keys are damaged"], 9, "box says: the keys", ""),
        (1, ["Traceback (most recent call last):", "ImportError: x"], 6, "ended with 1", "--ver"),
        (0, [], 6, "ended with 0 before it said a word", "--version"),
    ],
)  # fmt: skip
def test_each_reason_has_its_words_its_code_and_its_hint(
    code: int, said: list[str], exits: int, text: str, hint: str
) -> None:
    error = explain("box", code, said, "handsoff")
    assert error.exit_code == exits
    assert text in str(error)
    assert hint in (error.hint or "")


def test_another_version_is_said_with_the_line_that_installs_it() -> None:
    error = other_version(RefusedError("the other machine speaks version 2"), "box")
    assert "speaks version 2" in str(error)
    assert "pip install" in (error.hint or "")


@given(st.lists(st.text(max_size=80), max_size=6), st.integers(-64, 255))
def test_whatever_comes_is_said_in_one_line_that_a_terminal_can_show(
    said: list[str], code: int
) -> None:
    error = explain("box", code, said, "handsoff")
    for text in (str(error), error.hint or ""):
        assert plain(text, limit=2000) == text


@given(st.binary(max_size=300), st.binary(max_size=50), st.integers(1, 40))
def test_noise_before_the_greeting_is_passed_over_and_nothing_behind_it(
    noise: bytes, rest: bytes, piece: int
) -> None:
    preamble, got = Preamble(), b""
    stream, found = noise + GREETING + rest, False
    if GREETING in noise + GREETING[:-1]:
        return
    for at in range(0, len(stream), piece):
        data = stream[at : at + piece]
        if found:
            got += data
        elif (behind := preamble.feed(data)) is not None:
            found, got = True, behind
    assert found
    assert got == rest


def test_the_wait_for_the_greeting_has_a_bound() -> None:
    preamble = Preamble()
    assert preamble.feed(b"x" * (NOISE - 1)) is None
    assert preamble.feed(GREETING) == b""
    with pytest.raises(DamagedError, match="KiB came before handsoff said a word"):
        Preamble().feed(b"x" * (NOISE + 1))


def test_a_greeting_that_stands_first_counts_and_noise_can_be_shown() -> None:
    preamble = Preamble()
    assert preamble.feed(GREETING.lstrip()) == b""
    preamble = Preamble()
    preamble.feed(b"This account\x1b[2J\n\nis closed\n")
    assert preamble.noise == ["This account[2J", "is closed"]
