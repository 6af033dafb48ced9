"""``handsoff web``: a server on loopback, from its start to Ctrl-C."""

import errno
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Final
from urllib.parse import quote

import uvicorn

from handsoff.core.shown.visiting import SIGN_IN, VALID, Door
from handsoff.edge.lan.sockets import listening
from handsoff.errors import UnfitError, reason
from handsoff.flows.desk import open_desk
from handsoff.flows.shown.overview import Window
from handsoff.flows.shown.watching import Watcher
from handsoff.web.app import House, application
from handsoff.web.manners import CROWD, Guest
from handsoff.web.pages import pages_of_reader

_LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the page is, and the link that opens it once."""

    url: str
    sign_in: str
    valid: int
    """Seconds that the link can be used."""
    again: bool
    """Whether it is another link than the first."""


class _Server(uvicorn.Server):
    """A server that ends at the first signal, with all pages that are open."""

    def __init__(self, config: uvicorn.Config, house: House) -> None:
        super().__init__(config)
        self._house = house
        self.interrupted = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:  # type: ignore[explicit-override]  # 3.12 has it
        """Hear the signals ourselves: uvicorn would send them on to us once more at the end."""
        wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        wanted = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._heard) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, _: FrameType | None) -> None:
        self.interrupted = self.interrupted or number == signal.SIGINT
        self._house.closing = True
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(port: int, tell: Callable[[Serving], None]) -> None:
    """Serve the pages of this checkout until a signal comes; ``tell`` hears where they are."""
    desk = open_desk()
    window = Window(desk)
    with _bound(port) as listener:
        host = f"{_LOOPBACK}:{listener.getsockname()[1]}"
        watcher = Watcher(window)
        house = House(window, watcher, pages_of_reader(), Door(host=host, key="", until=0.0))
        config = uvicorn.Config(
            application(house), log_config=None, log_level="error", access_log=False,
            server_header=False, lifespan="off", ws="none", http=Guest, loop="asyncio",
            limit_concurrency=CROWD + 1,
            timeout_keep_alive=5, timeout_graceful_shutdown=2, proxy_headers=False,
        )  # fmt: skip
        server = _Server(config, house)
        house.show("works", here="works")  # so that the first visitor need not wait for it
        watcher.start()
        tell(_invitation(house))
        _on_enter(lambda: tell(_invitation(house, again=True)))
        try:
            server.run(sockets=[listener])
        finally:
            watcher.stop()
    if server.interrupted:
        raise KeyboardInterrupt


def _invitation(house: House, *, again: bool = False) -> Serving:
    origin = house.door.origin
    link = f"{origin}{SIGN_IN}?key={quote(house.new_key(), safe='')}"
    return Serving(f"{origin}/", link, int(VALID), again)


@contextmanager
def _bound(port: int) -> Iterator[socket.socket]:
    try:
        listener = listening(_LOOPBACK, port)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        said = f"port {port} is in use" if taken else f"port {port}: {reason(error)}"
        raise UnfitError(said, hint="handsoff web --port 0 takes one that is free") from error
    with listener:
        yield listener


def _on_enter(work: Callable[[], None]) -> None:
    """Do ``work`` whenever somebody presses Enter where the server runs."""

    def listen() -> None:
        with suppress(OSError, ValueError):
            for _ in sys.stdin:
                work()

    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=listen, name="enter", daemon=True).start()
