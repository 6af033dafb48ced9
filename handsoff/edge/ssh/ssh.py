"""SSH as handsoff uses it: dial a machine, or listen for machines. Blocking on both ends.

asyncssh does the protocol, under one profile: public keys only (Ed25519, pinned by the caller,
no known_hosts, no agent, no configuration file of the user's), AES-GCM, no compression, one
subsystem. It takes half a second to import, so it is imported when first needed; ``preload``
does that in a thread while something else is slow.
"""

import ctypes.util
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, Self

from handsoff.core.reach.address import format_address
from handsoff.edge.lan import sockets
from handsoff.edge.ssh.ssh_channel import Channel
from handsoff.edge.ssh.ssh_loop import Loop
from handsoff.errors import HandsoffError, UsageError, reason

if TYPE_CHECKING:
    from handsoff.edge.ssh.ssh_server import House, ServerSession

__all__ = ["Channel", "Listener", "dial", "preload", "prove"]

_LOADING: Final = threading.Lock()
_NOT_WANTED: Final = frozenset({"oqs", "liboqs", "nettle", "libnettle", "libnettle-6", "c"})


def preload() -> None:
    """Import asyncssh and what uses it. Safe in any thread, any number of times."""
    with _LOADING:
        wanted = ctypes.util.find_library
        # asyncssh looks for two libraries that the profile has no use for, and for C's, which is
        # in this process (None); each look runs ldconfig, gcc and ld. Other threads: as ever
        ctypes.util.find_library = lambda name: None if name in _NOT_WANTED else wanted(name)
        try:
            import_module("asyncssh")
        finally:
            ctypes.util.find_library = wanted
        import_module("handsoff.edge.ssh.ssh_client")
        import_module("handsoff.edge.ssh.ssh_server")


def dial(
    host: str, port: int, *, private_key: bytes, host_key: bytes, timeout: float = 10.0
) -> Channel:
    """Connect to the machine that owns the raw ``host_key``, as the one with ``private_key``.

    TrustError where another machine answers, or this one is not let in; UnreachableError where
    nobody answers in ``timeout`` seconds, or somebody who does not speak as handsoff does.
    """
    preload()
    from handsoff.edge.ssh import ssh_client  # noqa: PLC0415 -- half a second

    return ssh_client.dial(host, port, private_key=private_key, host_key=host_key, timeout=timeout)


def prove(places: Sequence[tuple[str, int, str]], *, timeout: float) -> list[HandsoffError | None]:
    """Ask whoever is at each host and port to prove that it is the machine of that id.

    All at once, in ``timeout`` seconds; nothing is shown of this machine. None where it is, else
    what ``dial`` would raise.
    """
    preload()
    from handsoff.edge.ssh import ssh_client  # noqa: PLC0415 -- half a second

    return ssh_client.prove(places, timeout=timeout)


class Listener:
    """Lets machines in, and runs ``serve(machine id, peer address, channel)`` for each.

    ``authorize`` gets a raw public key and returns the machine's id, or None for a stranger; it
    runs in a thread and may take its time, and if it fails the connection is closed. ``serve``
    runs in a thread of its own and may block; a HandsoffError that leaves it cuts that channel
    and nothing else.
    """

    def __init__(
        self,
        bind: str,
        port: int,
        *,
        private_key: bytes,
        authorize: Callable[[bytes], str | None],
        serve: Callable[[str, str, Channel], None],
        login_timeout: float = 10.0,
    ) -> None:
        self._bind = bind
        self._port = port
        self._private_key = private_key
        self._authorize = authorize
        self._serve = serve
        self._login_timeout = login_timeout
        self._workers: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._started = False

    def start(self) -> tuple[str, int]:
        """Listen; return the address. UsageError where that cannot be listened on."""
        sock = _socket(self._bind, self._port)
        try:
            preload()
            from handsoff.edge.ssh import ssh_server  # noqa: PLC0415 -- half a second

            self._loop = Loop()
            self._house: House = ssh_server.House(
                self._loop, self._authorize, self._begin, self._login_timeout
            )
            self._acceptor = self._loop.call(
                ssh_server.open_door(self._house, sock, self._private_key)
            )
        except BaseException:
            sock.close()
            raise
        self._started = True
        host, port = sock.getsockname()[:2]
        return host, port

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until ``stop`` was called, by another thread; return whether it was."""
        return self._stopped.wait(timeout)

    def stop(self, *, grace: float = 0.0, hurry: threading.Event | None = None) -> None:
        """Give what runs ``grace`` seconds to end, or until ``hurry`` is set; then cut it.

        Not to be called by ``serve``.
        """
        if not self._started:
            return
        from handsoff.edge.ssh import ssh_server  # noqa: PLC0415 -- loaded by now

        self._started = False
        try:
            # once round the loop: whoever was let in before this has a worker after it
            self._loop.call(ssh_server.shut_door(self._acceptor))
            self._join(grace, hurry or threading.Event())
            self._loop.call(ssh_server.clear_house(self._house, self._acceptor))
            self._join(10.0, threading.Event())
        finally:
            self._loop.stop()
            self._stopped.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _begin(self, machine: str, peer: str, session: "ServerSession") -> None:
        worker = threading.Thread(
            target=self._work, args=(machine, peer, session), name="handsoff-serve", daemon=True
        )
        worker.start()
        self._workers = [w for w in self._workers if w.is_alive()] + [worker]

    def _work(self, machine: str, peer: str, session: "ServerSession") -> None:
        channel = Channel(
            session, hang_up_first=False, finish=lambda: self._loop.call(session.hang_up())
        )
        with suppress(HandsoffError), channel:
            self._serve(machine, peer, channel)

    def _join(self, seconds: float, hurry: threading.Event) -> None:
        until = time.monotonic() + seconds
        for worker in self._workers:
            while worker.is_alive() and time.monotonic() < until and not hurry.is_set():
                worker.join(min(0.1, max(0.0, until - time.monotonic())))


def _socket(bind: str, port: int) -> socket.socket:
    try:
        return sockets.listening(bind, port)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {format_address(bind, port)}: {reason(error)}",
            hint="choose another --port, or --port 0 for any that is free",
        ) from error
