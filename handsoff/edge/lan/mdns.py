"""Multicast DNS as handsoff uses it: announce one thing, or look for some. Starts mdns_child.py.

What comes back is a hint about addresses and nothing else; core/reach/discovery.py judges it, here,
whatever the child says. A child that dies is started again a few times, and then everything
goes on without it. ``HANDSOFF_MDNS=off`` in the environment switches all of it off.
"""

import json
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from handsoff.core.reach import discovery, interfaces
from handsoff.core.reach.discovery import Found, Look
from handsoff.core.reach.interfaces import Interface
from handsoff.edge import clock
from handsoff.errors import reason

SWITCH: Final = "HANDSOFF_MDNS"
_OFF: Final = frozenset({"off", "0", "no", "false"})
_STARTS: Final = 4
_PAUSE: Final = 2.0
_LONG: Final = 60.0
"""A child is started so often, with a pause that grows; one that lived so long was a good one."""
_GOODBYE: Final = 1.5
_LINES: Final = 100_000
_WRONG: Final = (ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""What may come of reading what the child says, if it is not what it should be."""
_TICK: Final = 0.1
_LINE: Final = 64 << 10
_ENV: Final = ("PATH", "PYTHON", "LANG", "LC_", "LD_LIBRARY_PATH", "TMPDIR", "COVERAGE")
"""What the child sees of the environment: nothing that could be a secret."""
_ROOT: Final = Path(__file__).resolve().parents[2]

Tell = Callable[[str], None]


def is_off() -> bool:
    """Say whether the user switched mDNS off."""
    return os.environ.get(SWITCH, "").strip().lower() in _OFF


class _Child:
    """A child at its one job; what it says comes line by line."""

    def __init__(self, job: dict[str, Any]) -> None:
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        env = {name: value for name, value in os.environ.items() if name.startswith(_ENV)}
        self._process = subprocess.Popen(
            # -P: the checkout that we stand in may have a file of any name
            [sys.executable, "-P", "-m", "handsoff.edge.lan.mdns_child"],
            env={**env, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.here: list[Interface] = []
        self.trouble = ""
        self._buffer = b""
        with suppress(BrokenPipeError):
            self._stdin.write(json.dumps(job).encode() + b"\n")
            self._stdin.flush()

    def lines(
        self, seconds: float | None, enough: Callable[[], bool] = lambda: False
    ) -> Iterator[dict[str, Any]]:
        """Yield what it says, for so long at most; ends early if the child does."""
        until = None if seconds is None else clock.monotonic() + seconds
        lines = 0
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdout, selectors.EVENT_READ)
            while True:
                if enough() or (until is not None and until <= clock.monotonic()):
                    return
                if not ready.select(None if until is None else _TICK):
                    continue
                data = os.read(self._stdout.fileno(), _LINE)
                if not data:
                    return
                *whole, self._buffer = (self._buffer + data).split(b"\n")
                lines += len(whole)
                if len(self._buffer) > _LINE or lines > _LINES:
                    return  # it is no longer itself
                yield from filter(None, map(self._read, whole))

    def _read(self, line: bytes) -> dict[str, Any] | None:
        # the child reads what strangers send: what it says is taken for no more than a claim
        try:
            said = json.loads(line)
            if "here" in said:
                self.here = [interfaces.interface_of(item) for item in said["here"]]
            if "trouble" in said:
                self.trouble = str(said["trouble"])[:200]
        except (*_WRONG, RecursionError):
            return None
        return said if isinstance(said, dict) else None

    def part(self) -> None:
        """Let it say goodbye, and end by itself."""
        with suppress(BrokenPipeError):
            self._stdin.close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """End it, and tidy up. For the thread that reads what it says."""
        self.part()
        self.kill()
        self._process.wait()
        self._stdout.close()


def browse(
    kind: str,
    *,
    seconds: float,
    wanted: str | None = None,
    known: Collection[str] = (),
    trouble: Tell = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
) -> Iterator[Found]:
    """Look for instances of ``kind``, for so long or until the caller has ``enough``.

    An instance comes again when more is known of it. With ``wanted`` no other comes; those of
    ``known`` are kept however many others there are. ``trouble`` hears why nothing can be found.
    """
    if is_off():
        trouble(f"mDNS is switched off here ({SWITCH})")
        return
    try:
        child = _Child({"do": "browse", "kind": kind, "wanted": wanted, "known": sorted(known)})
    except OSError as error:
        trouble(_not_started(error))
        return
    counted = 0
    try:
        for said in child.lines(seconds, enough):
            if "found" not in said:
                continue
            with suppress(*_WRONG):
                found = discovery.hint(kind, said["found"], child.here)
                if found is not None and wanted in (None, found.instance):
                    counted += 1
                    yield found
            if counted > discovery.MOST:
                return
        if why := _why(child):
            trouble(why)
    finally:
        child.end()


def _why(child: _Child) -> str:
    if child.trouble:
        return f"mDNS does not work here: {child.trouble}"
    if child.here and not interfaces.fit(child.here):
        return "no network interface here is one that mDNS can use"
    return "" if child.here else "mDNS did not start here"


def _not_started(error: OSError) -> str:
    return f"mDNS did not start here: {reason(error)}"


class Announcement:
    """Announces one instance while the block runs, and says goodbye at its end."""

    def __init__(self, kind: str, instance: str, port: int, *, bind: str = "", tell: Tell) -> None:
        self._job = {
            "do": "announce", "kind": kind, "instance": instance, "port": port, "bind": bind,
        }  # fmt: skip
        self._tell = tell
        self._said = ""
        self.spoken = threading.Event()
        """Set once the first announcement is out, or cannot be."""
        self._over = threading.Event()
        self._child: _Child | None = None
        self._changing = threading.Lock()
        self._worker = threading.Thread(target=self._work, name="handsoff-mdns", daemon=True)

    def __enter__(self) -> Self:
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changing:
            self._over.set()
            child = self._child
        if child is not None:
            child.part()
        self._worker.join(_GOODBYE)
        if child is not None and self._worker.is_alive():
            child.kill()
            self._worker.join()

    def _work(self) -> None:
        start, began = 0, clock.monotonic()
        while start < _STARTS:
            if self._over.wait(_PAUSE * start):
                return
            # networks break it now and then; one that breaks at once is broken
            start = 1 if clock.monotonic() - began > _LONG else start + 1
            began = clock.monotonic()
            with self._changing:
                if self._over.is_set():
                    return
                try:
                    self._child = child = _Child(self._job)
                except OSError:
                    continue
            try:
                self._follow(child)
            finally:
                child.end()
            if self._over.is_set():
                return
        self._say("mDNS stopped working here, and was not started again")

    def _follow(self, child: _Child) -> None:
        for said in child.lines(None):
            if "trouble" in said or "on" in said:
                self.spoken.set()
            if "trouble" in said:
                self._say(f"mDNS does not work here: {child.trouble}")
            elif said.get("on") == []:
                self._say("no network interface here is one that mDNS can use")
            elif "on" in said:
                self._said = ""

    def _say(self, text: str) -> None:
        if text != self._said and not self._over.is_set():
            self._said = text
            self._tell(f"{text}; others find this machine with --at only")


def check(instance: str, *, seconds: float = 4.0) -> Look:
    """Announce ``instance``, which nobody else has, to ourselves, and return what is heard."""
    if is_off():
        return Look(off=f"switched off here ({SWITCH})")
    try:
        child = _Child({"do": "check", "instance": instance})
    except OSError as error:
        return Look(trouble=_not_started(error))
    try:
        for said in child.lines(seconds):
            if "heard" in said:
                heard = [str(name) for name in said["heard"][: discovery.RESULTS]]
                return discovery.look(child.here, heard, own=str(said.get("own")))
        return Look(interfaces=tuple(child.here), trouble=child.trouble)
    finally:
        child.end()
