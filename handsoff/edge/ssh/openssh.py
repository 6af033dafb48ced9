"""The user's own ssh as a child: the one door to OpenSSH.

The program is run as the user would run it, so that known_hosts, agent, ProxyJump and every line of
~/.ssh/config count; what would change the talk (a terminal, forwardings, a command or a master of
the configuration) is switched off. It never waits for a person where there is none (BatchMode).
Sources: ssh(1), ssh_config(5).

Where there is a terminal, ssh stays in our process group: a group in the background may not ask for
a passphrase. Elsewhere it has a session of its own, which ends whole with us.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Final

from handsoff.core.reach import sshtalk
from handsoff.core.reach.destination import NOBODY, Destination, is_known, remote_words
from handsoff.edge import clock
from handsoff.edge.ssh.pipes import Pipes
from handsoff.errors import CutError, HandsoffError, UnreachableError, UsageError, reason

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"

PATIENCE: Final = 60.0
"""Seconds for the first line of the other end: a machine may be slow, a login script slower."""

_LINGER: Final = 2.0
_KEPT: Final = 64 << 10
_QUESTION: Final = 10.0
_OPTIONS: Final = (
    "ConnectTimeout=15", "ServerAliveInterval=15", "ServerAliveCountMax=4", "RemoteCommand=none",
    "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "Tunnel=no", "ControlMaster=no",
    "PermitLocalCommand=no", "ForkAfterAuthentication=no", "StdinNull=no", "EscapeChar=none",
    "Compression=no", "LogLevel=INFO",
)  # fmt: skip


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a setting that names the ssh to run, such as ``ssh -F FILE``."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"cannot read the ssh command {text!r}: {error}") from error
    if not words:
        raise UsageError("the ssh command is empty", hint="git config handsoff.ssh ssh")
    return words


@cache
def knows(ssh: tuple[str, ...], name: str) -> bool:
    """Say whether the user's configuration of ssh says anything of the host ``name``."""
    shown = []
    for host in (name, NOBODY):
        done = _run([*ssh, "-G", "--", host])
        if done is None or done.returncode:
            return False
        shown.append(done.stdout.decode("utf-8", "replace").splitlines())
    return is_known(name, *shown)


def version(ssh: Sequence[str]) -> str | None:
    """Return what the ssh program calls itself, or None if there is none."""
    done = _run([*ssh, "-V"])
    return None if done is None else done.stderr.decode("utf-8", "replace").strip()


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[bytes] | None":
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_QUESTION
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


class Session(Pipes):
    """``handsoff receive --stdio`` on another machine, through a child that is ssh."""

    def __init__(self, ssh: Sequence[str], to: Destination, command: str) -> None:
        self.where = to.text
        self._command = command
        self._said = bytearray()
        self._before = b""
        self._asks = sys.stdin.isatty()
        batch = "no" if self._asks else "yes"
        options = [word for option in (*_OPTIONS, f"BatchMode={batch}") for word in ("-o", option)]
        words = [*ssh, "-T", *options, *to.words, remote_words(command)]
        try:
            self._child = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=not self._asks,
            )  # fmt: skip
        except OSError as error:
            raise UnreachableError(
                f"cannot run {ssh[0]}: {reason(error)}",
                hint="install an OpenSSH client, or name yours: git config handsoff.ssh PATH",
            ) from error
        assert self._child.stdin
        assert self._child.stdout
        super().__init__(os.dup(self._child.stdout.fileno()), os.dup(self._child.stdin.fileno()))
        self._child.stdin.close()
        self._child.stdout.close()
        self._listener = threading.Thread(target=self._overhear, name="ssh's words", daemon=True)
        self._listener.start()

    def greeted(self) -> "Session":
        """Return this once handsoff answers there; raise what stands against it."""
        try:
            self._before = self._greeting()
        except BaseException:
            self.close()
            raise
        return self

    def _greeting(self) -> bytes:
        """Wait for the greeting; return what came behind it."""
        preamble, until = sshtalk.Preamble(), clock.monotonic() + PATIENCE
        rest = None
        while rest is None:
            # a person may take their time to type a passphrase; nobody else may
            if not self._asks and not self.waits(max(0.0, until - clock.monotonic())):
                raise UnreachableError(
                    f"handsoff on {self.where} said nothing in {PATIENCE:g} s",
                    hint=f"see what keeps it: ssh {self.where} {self._command} --version",
                )
            data = super().recv()
            if not data:
                raise self._explained(preamble.noise)
            rest = preamble.feed(data)
        return rest

    def recv(self, limit: int = 1 << 20) -> bytes:
        """Return from 1 to ``limit`` bytes as soon as they come; b"" when there are no more."""
        data, self._before = self._before[:limit], self._before[limit:]
        return data or super().recv(limit)

    def cut(self) -> HandsoffError:
        """Return the failure that says why the other end is gone."""
        code = self._ended(_LINGER)
        lines = [line for line in self._lines() if line]
        why = lines[-1] if lines else f"ssh ended with {code}"
        return CutError(
            f"the connection to {self.where} was cut: {why}",
            hint="run the same command again; what has arrived is kept",
        )

    def stop(self) -> None:
        """Let ssh end now, from whatever thread."""
        self._signal(signal.SIGTERM)

    def abort(self) -> None:
        """Hang up at once."""
        self.stop()
        self.close()

    def close(self) -> None:
        """End our side, wait a little for the other, and leave no process behind."""
        super().close()
        if self._ended(_LINGER) is None:
            self._signal(signal.SIGTERM)
            if self._ended(_LINGER) is None:
                self._signal(signal.SIGKILL)
                self._child.wait()
        self._listener.join(0.2)

    def _explained(self, noise: Sequence[str]) -> HandsoffError:
        code = self._ended(_LINGER)
        if code is None:
            return UnreachableError(f"handsoff on {self.where} hung up before it said a word")
        said = self._lines()
        # some shells and ForceCommands say on standard output why they let nothing run
        return sshtalk.explain(self.where, code, said or noise, self._command)

    def _lines(self) -> list[str]:
        """Return what came on standard error, safe to show."""
        self._listener.join(0.5)  # a master that stays behind may hold it open for ever
        lines = bytes(self._said).decode("utf-8", "replace").splitlines()
        return [sshtalk.shown(line) for line in lines]

    def _overhear(self) -> None:
        assert self._child.stderr
        with self._child.stderr as stream, suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 4096):
                self._said += data
                del self._said[:-_KEPT]

    def _ended(self, seconds: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self._child.wait(seconds)
        return None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._asks:
                self._child.send_signal(number)  # ssh ends its own ProxyCommand
            else:
                os.killpg(self._child.pid, number)
