"""Running the program: in this process where a process of its own would show nothing more.

inside(m1, "send", "m2")           the command line from words to exit code, without a start-up
with at_home(m2) as there: ...     m2 listens on loopback, over real SSH; there.address
background(m1, "listen", ...)      a process of its own, to be interrupted or killed
"""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from handsoff.cli.app import main
from handsoff.core.reach.address import format_address
from handsoff.edge.home import Home
from handsoff.flows.receiving.happening import Happening
from handsoff.flows.receiving.listen import House, Rules
from tests.kit import schemas
from tests.kit.machines import Machine, Ran

_SECONDS = 60.0


def inside(
    machine: Machine, *words: str | Path, cwd: Path | None = None, given: str = "", **env: str
) -> Ran:
    """Run handsoff as ``machine`` in this process; an error that is not ours fails the test."""
    # bytes of names that are no text reach a real process as surrogates, and leave it escaped
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "ab")
    before, stdin = dict(os.environ), sys.stdin
    os.environ.update({"HANDSOFF_HOME": str(machine.home), **machine.env, **env})
    code: object = 0
    try:
        with chdir(cwd or machine.top), redirect_stdout(out), redirect_stderr(err):
            sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
            main([str(word) for word in words])
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdin = stdin
        os.environ.clear()
        os.environ.update(before)
    assert isinstance(code, int), code
    ran = Ran(code, *(_text(stream) for stream in (out, err)))
    schemas.check(words, ran.out, ran.code)
    return ran


def refused(ran: Ran, code: int, *parts: str) -> None:
    """Fail unless a command ended with ``code``, and said ``parts`` in one error with a hint."""
    assert ran.code == code, f"exit {ran.code}\n{ran.out}\n{ran.err}"
    assert ran.out == ""
    starts = [line.partition(" ")[0] for line in ran.err.splitlines()]
    assert [starts.count(word) for word in ("handsoff:", "hint:", "Traceback")] == [1, 1, 0], (
        ran.err
    )
    for part in parts:
        assert part in ran.err, ran.err


def _text(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@dataclass
class AtHome:
    """A machine that listens in this process: where, what arrived, and what went wrong."""

    address: str
    arrived: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)
    happened: list[Happening] = field(default_factory=list)


@contextmanager
def at_home(
    machine: Machine, rules: Rules | None = None, *, bind: str = "127.0.0.1"
) -> Iterator[AtHome]:
    """Let ``machine`` listen, on loopback if nothing else is said, on a port that is free."""
    there = AtHome("")

    def tell(what: Happening) -> None:
        there.happened.append(what)
        if what.event == "arrived":
            there.arrived.append(f"{what.work} from {what.machine}")
        elif what.event in ("refused", "failed"):
            there.failed.append(what.text)
        elif what.event == "doubt":
            there.doubted.append(what.text)

    house = House(Home(machine.home), machine.member(), tell, rules=rules or Rules())
    with house.listener(bind, 0) as listener:
        host, port = listener.start()
        there.address = format_address(host, port)
        yield there
        listener.stop(grace=5.0)


@contextmanager
def away(*machines: Machine) -> Iterator[None]:
    """Let the remote be out of reach of these machines for a while."""
    urls = [machine.git("remote", "get-url", "origin") for machine in machines]
    for machine in machines:
        machine.git("remote", "set-url", "origin", "/nowhere/at/all.git")
    yield
    for machine, url in zip(machines, urls, strict=True):
        machine.git("remote", "set-url", "origin", url)


@dataclass
class Background:
    """A handsoff process that runs beside the test."""

    process: "subprocess.Popen[bytes]"
    words: Sequence[str | Path] = ()

    def interrupt(self, how: signal.Signals = signal.SIGINT) -> Ran:
        """Press Ctrl-C, and return how it ended."""
        self.process.send_signal(how)
        return self.end()

    def end(self) -> Ran:
        """Wait for the end, and return how it was."""
        out, err = self.process.communicate(timeout=_SECONDS)
        schemas.check(self.words, out.decode(), self.process.returncode)
        return Ran(self.process.returncode, out.decode(), err.decode())


@contextmanager
def background(machine: Machine, *words: str | Path, **env: str) -> Iterator[Background]:
    """Start handsoff as ``machine``; whatever happens, it has ended after the block."""
    process = subprocess.Popen(
        [*machine.prefix, sys.executable, "-m", "handsoff", *words],
        cwd=machine.top,
        env={**os.environ, "HANDSOFF_HOME": str(machine.home), **machine.env, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield Background(process, words)
        finally:
            if process.poll() is None:
                process.kill()


def wait_for(ready: Callable[[], bool]) -> None:
    """Wait until ``ready`` says so; fail the test if it never does."""
    until = time.monotonic() + _SECONDS
    while not ready():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


def steps(log: Path) -> list[str]:
    """Return the steps that a process has reached; see handsoff/edge/steps.py."""
    return log.read_text().splitlines() if log.exists() else []
