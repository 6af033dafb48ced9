"""Work beside one's own, in a thread that nobody waits for who only wants to end.

Python joins the threads of an executor before a program ends, and asyncio those of its loop: a
listener that is told to stop would wait for a git, a verb that failed for a resolver.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_T = TypeVar("_T")


def begin(work: Callable[[], _T], name: str) -> "Future[_T]":
    """Begin ``work``, and return what will say how it went; the thread is called ``name``."""
    from concurrent.futures import Future  # noqa: PLC0415 - 10 ms that hooks need not pay

    done: Future[_T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return done
