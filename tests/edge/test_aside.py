"""Work beside one's own: its end is told, and a program that ends does not wait for it."""

import subprocess
import sys

import pytest

from handsoff.edge import aside


def test_what_came_of_it_is_told() -> None:
    assert aside.begin(lambda: 7, "seven").result(5) == 7
    with pytest.raises(ZeroDivisionError):
        aside.begin(lambda: 1 // 0, "nothing").result(5)


def test_a_program_that_ends_does_not_wait_for_it() -> None:
    code = "import time; from handsoff.edge import aside; aside.begin(lambda: time.sleep(60), 'x')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)
