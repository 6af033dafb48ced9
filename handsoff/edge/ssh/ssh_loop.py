"""A loop: asyncio in a thread of its own, for callers that block."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from handsoff.errors import UnreachableError

_TICK: Final = 0.1

T = TypeVar("T")


class Loop:
    """An asyncio loop in a daemon thread, for callers that block."""

    def __init__(self) -> None:
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="handsoff-ssh", daemon=True)
        self._thread.start()
        self._started.result()

    def call(self, work: Coroutine[Any, Any, T], tick: Callable[[], None] | None = None) -> T:
        """Return what ``work`` returns; meanwhile call ``tick`` now and then, in this thread."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:
            work.close()
            raise _closed() from None
        try:
            while True:
                try:
                    return future.result(None if tick is None else _TICK)
                except TimeoutError:
                    if tick is None or future.done():
                        raise
                    tick()
        except CancelledError:
            raise _closed() from None
        finally:
            # reached with the work undone only by Ctrl-C or a tick that failed
            future.cancel()

    def soon(self, work: Callable[[], object]) -> None:
        """Have ``work`` called in the loop, if it still runs."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(work)

    def stop(self) -> None:
        """End the loop, cancel what runs in it, and wait for its thread."""
        self.soon(self._stopped.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._started.set_result(None)
        await self._stopped.wait()


def _closed() -> UnreachableError:
    return UnreachableError("the connection was closed on this side")
