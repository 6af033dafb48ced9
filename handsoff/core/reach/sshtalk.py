"""What an ssh says before handsoff does, and what it means when handsoff never does.

Before the first byte of the exchange the other end prints one line that nothing else prints,
``GREETING``; what the scripts of a login shell print before it is passed over. Where the line does
not come, the exit code and the words on standard error say why: 255 is ssh's own failure
(ssh(1), EXIT STATUS), 127 and 126 are the shell's (POSIX, 2.8.2), the others are those of the
program. These words decide only what a person is told: whoever answers wrote some of them.
"""

from collections.abc import Sequence
from typing import Final

from handsoff import errors
from handsoff.core.plain import plain
from handsoff.errors import (
    DamagedError,
    HandsoffError,
    RefusedError,
    TrustError,
    UnreachableError,
)

GREETING: Final = b"\nhandsoff receive --stdio 1\n"
"""The first line of the other end; the line end before it closes whatever stood there already."""

NOISE: Final = 64 << 10
"""Bytes that login scripts may print before it."""

SSH_FAILED: Final = 255
_NO_PROGRAM: Final = (126, 127)
_USAGE: Final = errors.UsageError.exit_code
_INSTALL: Final = (
    "there, in a clone of handsoff: python3 -m venv ~/handsoff && ~/handsoff/bin/pip install . ; "
    "then: --remote-command '~/handsoff/bin/handsoff'"
)
_CHANGED: Final = "REMOTE HOST IDENTIFICATION HAS CHANGED"
_UNKNOWN: Final = "host key"
_DENIED: Final = ("Permission denied (", "Too many authentication failures")
_DULL: Final = ("Warning: Permanently added", "debug1:", "Pseudo-terminal", "Killed by signal")


class Preamble:
    """The wait for the greeting: feed it what comes, until it gives what stood behind."""

    def __init__(self) -> None:
        self._seen = b"\n"

    def feed(self, data: bytes) -> bytes | None:
        """Return what came after the greeting; None while it is still to come."""
        self._seen += data
        noise, found, rest = self._seen.partition(GREETING)
        if found:
            return rest
        if len(noise) > NOISE:
            raise DamagedError(
                f"{NOISE >> 10} KiB came before handsoff said a word",
                hint="let no script there print that much: ~/.bashrc, ~/.profile, ForceCommand",
            )
        return None

    @property
    def noise(self) -> list[str]:
        """What came so far, as lines that a terminal can show."""
        lines = self._seen[:NOISE].decode("utf-8", "replace").splitlines()
        return [line for line in map(shown, lines) if line]


def shown(line: str) -> str:
    """Return a line of another machine as a terminal can show it."""
    return plain(line, limit=300).strip()


def explain(where: str, code: int, said: Sequence[str], command: str) -> HandsoffError:
    """Return the error for an ssh to ``where`` that ended before ``command`` there answered.

    ``said`` is what came on standard error, line by line, as it came.
    """
    lines = [line for line in map(shown, said) if line and not line.startswith(_DULL)]
    last = lines[-1] if lines else "it gives no reason"
    if code == SSH_FAILED or code < 0:
        return _of_ssh(where, lines, last)
    if code in _NO_PROGRAM or last.lower().rstrip(".").endswith("command not found"):
        return UnreachableError(f"{where} has no {command}: {last}", hint=_INSTALL)
    return _of_handsoff(where, code, lines) or UnreachableError(
        f"{command} on {where} ended with {code} before it said a word: {last}",
        hint=f"see what this says: ssh {where} {command} --version",
    )


def other_version(error: RefusedError, where: str) -> RefusedError:
    """Return ``error``, which says that two versions do not fit, with the line that helps."""
    return RefusedError(f"{error} ({where})", hint=_INSTALL)


def _of_ssh(where: str, lines: Sequence[str], last: str) -> HandsoffError:
    text = "\n".join(lines)
    if _CHANGED in text:
        return TrustError(
            f"ssh does not trust {where}: the host's key has changed; {last}",
            hint=f"ask whoever keeps it why, before anything else; ssh {where} says more",
        )
    if _UNKNOWN in text and ("verification failed" in text or "is known for" in text):
        return TrustError(
            f"ssh does not know the key of {where}: {last}",
            hint=f"connect once by hand, and compare what it shows: ssh {where}",
        )
    if any(word in text for word in _DENIED):
        return TrustError(
            f"{where} does not let you in by ssh: {last}",
            hint=f"handsoff uses your keys and your agent: this must work first: ssh {where}",
        )
    return UnreachableError(
        f"ssh does not reach {where}: {last}",
        hint=f"try: ssh {where}; or another route: --via remote",
    )


def _of_handsoff(where: str, code: int, lines: Sequence[str]) -> HandsoffError | None:
    """Return the error that handsoff there ended with, if it was handsoff."""
    marks = [at for at, line in enumerate(lines) if line.startswith("handsoff: ")]
    if not marks:
        return None
    said = lines[marks[-1]].removeprefix("handsoff: ")
    hints = [line.removeprefix("hint: ") for line in lines[marks[-1] :] if line[:6] == "hint: "]
    if code == _USAGE and "stdio" in said:
        return RefusedError(
            f"handsoff on {where} is older than this one: it says {said}", hint=_INSTALL
        )
    kind = _BY_CODE.get(code, UnreachableError)
    return kind(f"{where} says: {said}", hint=hints[0] if hints else None)


_BY_CODE: Final = {kind.exit_code: kind for kind in HandsoffError.__subclasses__()}
