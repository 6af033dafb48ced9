"""Work beside one's own, in a thread that nobody waits for who only wants to end.

Python joins the threads of an executor before a program ends, and asyncio those of its loop: a
listener that is told to stop would wait for a git, a verb that failed for a resolver.
"""

import atexit
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from handsoff.errors import UnreachableError

if TYPE_CHECKING:
    from concurrent.futures import Future

_T = TypeVar("_T")

_starting = threading.Lock()
_ending = threading.Event()


def start(thread: threading.Thread) -> None:
    """Start a daemon thread; UnreachableError, which nobody hears, once the program ends.

    The trap: Python frees the state of a thread that another daemon begins in its last moment, and
    then lets it run: SIGSEGV in place of the exit code. So the end waits for a start under way.
    """
    with _starting:
        if _ending.is_set():
            raise UnreachableError("this program ends")
        thread.start()


@atexit.register
def _end() -> None:
    with _starting:
        _ending.set()


def begin(work: Callable[[], _T], name: str) -> "Future[_T]":
    """Begin ``work``, and return what will say how it went; the thread is called ``name``."""
    from concurrent.futures import Future  # noqa: PLC0415 - 10 ms that hooks need not pay

    done: Future[_T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            done.set_exception(error)

    start(threading.Thread(target=run, name=name, daemon=True))
    return done
