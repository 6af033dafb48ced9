"""Running a listener: start, say where, and stop cleanly."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from handsoff.core.reach.address import format_address
from handsoff.core.talk.patience import USUAL
from handsoff.edge import clock, door, files, keys
from handsoff.edge.home import Home
from handsoff.edge.system import reachable
from handsoff.errors import UsageError
from handsoff.flows.reach import finding
from handsoff.flows.receiving.happening import Happening, Moving, Told
from handsoff.flows.receiving.listen import House, Rules

_CONTACT: Final = 60.0
"""Seconds between two looks whether something waits for the remote."""

_GRACE: Final = 10.0
"""Seconds for what is under way to end by itself, once the listener is to stop."""

_RETURN: Final = USUAL + 5.0
"""Seconds for the sender of the one parcel to come back, if it does not say that all is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where to listen, for how long, and by which rules."""

    port: int = 0
    bind: str = ""
    once: bool = False
    address_file: Path | None = None
    announce: bool = True
    """Whether to tell the network by mDNS."""
    rules: Rules = field(default_factory=Rules)


@dataclass
class Stopping:
    """Whether the listener is to stop, and whether at once: after a second signal."""

    wanted: threading.Event = field(default_factory=threading.Event)
    hurry: threading.Event = field(default_factory=threading.Event)
    interrupted: bool = False
    until: float | None = None
    """When to stop by itself, on the monotonic clock."""

    def heard(self, number: int, _: FrameType | None) -> None:
        """Hear a signal."""
        self.interrupted = self.interrupted or number == signal.SIGINT
        if self.wanted.is_set():
            self.hurry.set()
        self.wanted.set()


def run(plan: Plan, stop: Stopping, tell: Told, watch: Callable[[Moving], None]) -> None:
    """Listen until a signal comes, or with ``once`` until one parcel was taken."""
    folder = keys.home_folder()
    machine, home = keys.need(folder), Home(folder)
    if not home.clones():
        raise UsageError(
            "no clone on this machine takes part yet", hint="in a clone, type: handsoff init"
        )

    def happened(what: Happening) -> None:
        tell(what)
        if plan.once and what.event == "finished":
            stop.wanted.set()
        elif plan.once and what.event == "arrived":
            # the receipt may be lost on its way, and the sender comes back for another
            stop.until = clock.monotonic() + _RETURN

    house = House(home, machine, happened, watch, plan.rules)
    with _signals(stop), door.only_listener(folder) as note:
        home.sweep()
        with house.listener(plan.bind, plan.port) as listener:
            host, real_port = listener.start()
            where = format_address(reachable(host), real_port)
            note(where)
            with _told_in(plan.address_file, where):
                tell(
                    Happening(
                        event="listening", machine=machine.name, address=where, pid=os.getpid()
                    )
                )
                announced = finding.announced(
                    machine.id, host, real_port, wanted=plan.announce,
                    tell=lambda text: tell(Happening(event="news", text=text)),
                )  # fmt: skip
                with announced:
                    _until(stop, house, tell)
                tell(Happening(event="stopping"))
                listener.stop(grace=_GRACE, hurry=stop.hurry)
        tell(Happening(event="stopped"))
    if stop.interrupted:
        raise KeyboardInterrupt


@contextmanager
def _signals(stop: Stopping) -> Iterator[None]:
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    # nohup, and a shell that started us in the background, have some ignored: they stay so
    wanted = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop.heard) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _told_in(file: Path | None, where: str) -> Iterator[None]:
    """Keep the address in ``file``, for as long as somebody answers there."""
    if file is None:
        yield
        return
    path = file.absolute()
    files.write(path, where.encode() + b"\n", 0o644)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _until(stop: Stopping, house: House, tell: Told) -> None:
    """Wait for ``stop``, and meanwhile send what waits for the remote."""

    def look_after() -> None:
        for news in house.look_after():
            tell(Happening(event="news", text=news))

    # a remote that does not answer must not keep the listener from stopping
    visit, contact = threading.Thread(), clock.monotonic()
    while not stop.wanted.wait(0.2):
        if stop.until is not None and clock.monotonic() > stop.until:
            return
        if clock.monotonic() >= contact and not visit.is_alive():
            visit = threading.Thread(target=look_after, name="look-after", daemon=True)
            visit.start()
            contact = clock.monotonic() + _CONTACT
