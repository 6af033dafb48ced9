"""Git that talks to the remote, begun before its end is waited for: a connection takes long."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from handsoff.edge.git import command, limits
from handsoff.errors import UnreachableError

_SWITCHES: Final = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")

_LENIENT: Final = ("-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false")
"""What is wrong with an entry is our own judge's business: a void one must not jam a work."""
_ALONE: Final = ("-c", "core.alternateRefsCommand=true")
"""The private folder borrows from the clone whose refs git knows already: not listed once more."""
FETCH: Final = (
    "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
    "--no-recurse-submodules", "--no-prune", "--refmap=",
)  # fmt: skip
"""A fetch that brings objects and nothing else: no ref moves, no file is written."""


def fetching(known: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a fetch of records, up to what is fetched; tips ``known`` are here."""
    return (
        *_LENIENT,
        *_ALONE,
        *FETCH,
        "--no-filter",
        *(f"--negotiation-tip={oid}" for oid in known),
    )


class Begun:
    """A git that runs. ``end`` waits for it; ``drop`` ends one that nobody wants any more."""

    def __init__(
        self,
        name: str,
        words: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        given: bool = False,
        most: int | None = None,
    ) -> None:
        """Start ``git words`` for the remote ``name``; see ``Shared.run`` for ``most``."""
        self._name = name
        self._process = subprocess.Popen(
            command.words("git", *_SWITCHES, *words),
            cwd=cwd,
            env=command.spelled(env if most is None else limits.environment(env)),
            # two calls of the system's, and no lock
            preexec_fn=None if most is None else limits.of_files(most),  # noqa: PLW1509
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def end(self, given: bytes | None, seconds: int) -> "subprocess.CompletedProcess[bytes]":
        """Return how it ended; UnreachableError if that takes longer than ``seconds``."""
        try:
            out, err = self._process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            self.drop()
            raise UnreachableError(
                f"the remote {self._name} did not answer within {seconds} s", hint="try again"
            ) from error
        except BaseException:
            self.drop()
            raise
        return subprocess.CompletedProcess(self._process.args, self._process.returncode, out, err)

    def drop(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


class Questions:
    """Questions to the remote that are under way, each with one answer."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, ...], Begun] = {}

    def take(self, asked: tuple[str, ...]) -> Begun | None:
        """Return the question that asks for just this, if it is under way and was not taken."""
        return self._begun.pop(asked, None)

    @contextmanager
    def asking(self, begun: Mapping[tuple[str, ...], Begun]) -> Iterator[None]:
        """Have those of ``begun`` taken in the block, by what they ask for; end the others."""
        self._begun.update(begun)
        try:
            yield
        finally:
            self._begun.clear()
            for each in begun.values():
                each.drop()
