"""Running a listener: start, say where, and stop cleanly."""

import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from handsoff.core.address import format_address
from handsoff.core.plain import plain
from handsoff.edge import clock, files, keys
from handsoff.edge.home import Home, Parcel
from handsoff.errors import HandsoffError, UsageError
from handsoff.flows import finding
from handsoff.flows.listen import House

_CONTACT: Final = 60.0
"""Seconds between two looks whether something waits for the remote."""


def run(
    port: int,
    bind: str,
    *,
    once: bool,
    address_file: Path | None,
    tell: Callable[[str], None],
    announce: bool = True,
) -> None:
    """Listen until a signal comes, or with ``once`` until one parcel was taken."""
    folder = keys.home_folder()
    machine, home = keys.need(folder), Home(folder)
    if not home.clones():
        raise UsageError(
            "no clone on this machine takes part yet", hint="in a clone, type: handsoff init"
        )
    home.sweep()
    stop = threading.Event()

    def arrived(parcel: Parcel, sender: str) -> None:
        work = plain(parcel.manifest.work)
        tell(f"received {work} r{parcel.manifest.revision} from {plain(sender)}")
        tell(f"next: in a clone of it, once the sender has finished: handsoff catch {work}")
        if once:
            stop.set()

    def failed(error: HandsoffError, peer: str) -> None:
        tell(f"handsoff: {plain(peer)}: {plain(str(error))}")

    def doubted(text: str) -> None:
        tell(f"warning: {plain(text)}")

    house = House(home, machine, arrived, failed, doubted)
    listener = house.listener(bind, port)
    with listener:
        host, real_port = listener.start()
        where = format_address(_reachable(host), real_port)
        if address_file is not None:
            files.write(address_file.absolute(), where.encode() + b"\n", 0o644)
        tell(f"{machine.name} listens at {where} (stop with Ctrl-C)")
        tell(f"next: on another machine: handsoff send {machine.name} --at {where}")
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        try:
            with finding.announced(machine.id, host, real_port, tell=tell, wanted=announce):
                _until(stop, house, tell)
        except KeyboardInterrupt:
            tell("stopping; what is under way may end")
            raise
        finally:
            listener.stop(grace=5.0)


def _until(stop: threading.Event, house: House, tell: Callable[[str], None]) -> None:
    """Wait for ``stop``, and meanwhile send what waits for the remote."""
    contact = clock.monotonic()
    while not stop.wait(0.2):
        if clock.monotonic() >= contact:
            for news in house.send_what_waits():
                tell(plain(news))
            contact = clock.monotonic() + _CONTACT


def _reachable(host: str) -> str:
    """Return a name by which others may reach a listener that is bound to every address."""
    return socket.gethostname() if host in ("::", "0.0.0.0", "") else host  # noqa: S104
