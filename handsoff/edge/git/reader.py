"""One git that says of objects what they are and what is in them, asked over a pipe.

It begins with the first question, answers all that are asked within ``open``, and sees what is
fetched meanwhile (git looks anew for what it misses). What an object is and how large comes before
its content is read, so that nothing too large ever is.

Source: git-cat-file(1), ``--batch-command``.
"""

import re
import select
import subprocess
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

from handsoff.edge.git import command
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError, UnreachableError

MISSING: Final = "missing"
"""The kind of an object that is not here."""

_SECONDS: Final = 120
"""A partial clone asks its remote for what it lacks."""
_AT_ONCE: Final = 32
"""Questions before the answers are read. Twice as many fit into the smallest pipe, so nobody waits
where those that come next are asked already."""
_OID: Final = re.compile(r"[0-9a-f]{40}")


class Info(NamedTuple):
    """What an object is, and how many bytes it has."""

    kind: str
    size: int


_NOTHING: Final = Info(MISSING, 0)


class Reader:
    """Reads objects with git. Any thread may ask, one at a time."""

    def __init__(self, cwd: Path, env: Mapping[str, str]) -> None:
        """Read as git does in ``cwd`` and ``env``."""
        self._cwd, self._env = cwd, env
        self._lock = threading.RLock()
        self._users = 0
        self._git: subprocess.Popen[bytes] | None = None
        self._said, self._at = b"", 0
        """What git said last, and how far that was taken."""

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep one git for all that is asked in the block; it ends with the outermost one."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._end()

    def infos(self, oids: Iterable[str]) -> dict[str, Info]:
        """Return what each of ``oids`` is; MISSING also for what is no id at all."""
        wanted = list(dict.fromkeys(oids))
        found = dict.fromkeys(wanted, _NOTHING)
        known = [oid for oid in wanted if _OID.fullmatch(oid)]
        with self._asking():
            for some in _batches(known):
                self._ask("info", some)
                found |= {oid: self._info(oid) for oid in some}
        return found

    def contents(self, oids: Iterable[str]) -> list[bytes]:
        """Return the content of objects that are here, and were found to be small enough."""
        return list(self.each(oids))

    def each(self, oids: Iterable[str]) -> Generator[bytes]:
        """Yield the same one by one: git reads the next ones while the caller does what it does.

        Nothing else can be asked before it ends, or is closed.
        """
        with self._asking():
            asked: Sequence[str] = ()
            for some in chain(_batches(oids), [()]):
                if some:
                    self._ask("contents", some)
                for oid in asked:
                    yield self._content(oid)
                asked = some

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with self.open(), self._lock:
            try:
                yield
            except BaseException:  # what it still has to say must be no answer to the next question
                self._end()
                raise

    def _ask(self, what: str, oids: Sequence[str]) -> None:
        if self._git is None:
            self._said, self._at = b"", 0
            self._git = subprocess.Popen(
                command.words(
                    "git", "-c", "core.hooksPath=/dev/null", "cat-file", "--batch-command"
                ),
                cwd=self._cwd,
                env=command.spelled(self._env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        assert self._git.stdin is not None
        try:
            self._git.stdin.write("".join(f"{what} {oid}\n" for oid in oids).encode())
        except BrokenPipeError:
            raise _broken() from None

    def _info(self, oid: str) -> Info:
        while (end := self._said.find(b"\n", self._at)) < 0:
            self._said, self._at = self._said[self._at :] + self._hear(), 0
        said, kind, *size = self._said[self._at : end].decode("ascii", "replace").split()
        self._at = end + 1
        if said != oid:
            raise _broken()
        return Info(kind, int(size[0])) if size else _NOTHING

    def _content(self, oid: str) -> bytes:
        info = self._info(oid)
        if info == _NOTHING:  # gone since it was found: git says so, and nothing after it
            raise _broken()
        content = self._take(info.size)
        self._take(1)  # the end of a line
        return content

    def _take(self, size: int) -> bytes:
        pieces = [self._said[self._at : self._at + size]]
        self._at += len(pieces[0])
        left = size - len(pieces[0])
        while left:
            self._said = self._hear()
            pieces.append(self._said[:left])
            self._at = len(pieces[-1])
            left -= self._at
        return b"".join(pieces)

    def _hear(self) -> bytes:
        assert self._git is not None
        assert self._git.stdout is not None
        poll = select.poll()
        poll.register(self._git.stdout, select.POLLIN)
        if not poll.poll(_SECONDS * 1000):
            raise UnreachableError(f"git reads an object for over {_SECONDS} s", hint="try again")
        more = self._git.stdout.read(1 << 16)
        if not more:
            raise _broken()
        return more

    def _end(self) -> None:
        """End git, which has nothing to lose. The next question begins another one."""
        if self._git is not None:
            self._git.kill()
            self._git.wait()
            for stream in (self._git.stdin, self._git.stdout):
                if stream is not None:
                    stream.close()
            self._git = None


def reader_of(checkout: Checkout, *folders: Path) -> Reader:
    """Return what reads the objects of a clone, and those in ``folders`` beside it."""
    beside = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": command.alternates(*folders)}
    return Reader(checkout.top, {**checkout.environment(), **beside})


def _batches(oids: Iterable[str]) -> Iterator[Sequence[str]]:
    left = iter(oids)
    while some := tuple(islice(left, _AT_ONCE)):
        yield some


def _broken() -> DamagedError:
    return DamagedError("git cannot read the objects of this clone", hint="run git fsck here")
