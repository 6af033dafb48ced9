"""A listener that asks its person: each question has an answer of its own."""

import os
import pty
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from handsoff.cli.listening import Board, asker
from handsoff.flows.receiving.listening import Stopping


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return where to type what the program reads from its terminal."""
    typed, terminal = pty.openpty()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield typed
    os.close(typed)


def test_what_was_typed_before_a_question_is_no_answer_to_it(
    keyboard: int, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = Stopping()
    ask = asker(Board(json=False, quiet=False), stop)
    os.write(keyboard, b"y\ny\n")
    time.sleep(0.1)
    with ThreadPoolExecutor(2) as aside:
        first = aside.submit(ask, "m1 sends feat/cny: take it?")
        time.sleep(0.5)
        assert not first.done()
        second = aside.submit(ask, "m3 sends feat/jpy: take it?")
        os.write(keyboard, b"yes\n")
        assert first.result(5)
        time.sleep(0.3)
        assert not second.done()
        stop.wanted.set()
        assert not second.result(5)
    assert capsys.readouterr().err.count("take it? [y/N]") == 2
