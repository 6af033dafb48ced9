"""The end of the program: everything is done, nothing is taken apart, and the code is right."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import atexit, sys, threading, time
from handsoff.edge import ending

class Module:
    def __del__(self):
        print("taken apart", file=sys.__stderr__)

kept = Module()
kept.itself = kept

def work():
    time.sleep(0.1)
    print("waited for")

with ending.last():
    atexit.register(print, "done at exit")
    threading.Thread(target=work).start()
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    print("said", end=" ")
    END
"""


def ended(end: str) -> tuple[int, str, str]:
    """Return the code of a program that ends by ``end``, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("END", end)],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("end", "code"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("pass", 0), ("sys.exit('no')", 1)]
)
def test_a_program_ends_with_its_code_when_all_is_done_and_nothing_is_taken_apart(
    end: str, code: int
) -> None:
    said = "no\n" if "no" in end else ""
    assert ended(end) == (code, "said waited for\ndone at exit\n", said)


def test_what_nobody_has_foreseen_is_shown() -> None:
    code, out, err = ended("1 // 0")
    assert (code, out) == (1, "said waited for\ndone at exit\n")
    assert "ZeroDivisionError" in err


def test_where_nobody_reads_python_says_so_itself() -> None:
    program = "import sys; from handsoff.edge import ending\nwith ending.last(): print('x' * 9)"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 120
    assert b"No space left" in done.stderr
