"""The shared remote: our refs there, read, fetched and moved by compare-and-swap.

Everything goes through the git command in the user's own profile (credentials, proxies, ssh), and
all that is fetched or about to be pushed lives in the clone's private object folder: no ref of
the user's names it, so ``push --mirror`` publishes nothing and ``gc`` loses nothing.

Rule of the room: ``moves.push_command`` builds every push.
"""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from handsoff.core.remote.places import PREFIX, Ours, are_branches, check_prefix
from handsoff.edge import files
from handsoff.edge.git import command, limits
from handsoff.edge.git.answers import judge, unreachable
from handsoff.edge.git.begun import FETCH, Begun, Questions, fetching
from handsoff.edge.git.chains import Chains
from handsoff.edge.git.moves import Move, Outcome, push_command
from handsoff.edge.git.reader import MISSING, Reader
from handsoff.edge.git.repo import Checkout, decode, lines
from handsoff.errors import DamagedError, HandsoffError, UnreachableError, UsageError

_SECONDS: Final = 120
_TRANSFER: Final = 6 * 3600
"""Seconds that a fetch or push of parcels may take: a slow link is no failure."""


@dataclass(frozen=True)
class Shared(Ours):
    """The shared remote as seen from one clone."""

    checkout: Checkout
    name: str
    prefix: str = PREFIX
    _questions: Questions = field(default_factory=Questions, compare=False, repr=False)

    @property
    def objects(self) -> Path:
        """The private object folder of the clone."""
        folder = self.checkout.store_dir / "objects"
        files.ensure_folder(folder / "pack")
        return folder

    @cached_property
    def url(self) -> str:
        """What to name to git: the remote, or its push URL where that is another place."""
        pushed = self.checkout.setting(f"remote.{self.name}.pushurl")
        return self.name if pushed is None else pushed

    def environment(self) -> dict[str, str]:
        """Return the environment in which new objects go to the private folder."""
        return {
            **self.checkout.environment(),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": command.alternates(self.checkout.objects_dir),
        }

    @cached_property
    def reader(self) -> Reader:
        """Reads what is in the clone and in the private folder."""
        return Reader(self.checkout.top, self.environment())

    @cached_property
    def chains(self) -> Chains:
        """Reads the chains that were fetched or made here."""
        return Chains(self.reader, self.run)

    def run(
        self,
        *args: str,
        given: bytes | None = None,
        seconds: int = _SECONDS,
        most: int | None = None,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run git with the private object folder; UnreachableError if it takes too long.

        With ``most`` it may write no larger file (see ``limits``).
        """
        return self._begin(*args, given=given is not None, most=most).end(given, seconds)

    def _begin(self, *args: str, given: bool = False, most: int | None = None) -> Begun:
        cwd, env = self.checkout.top, self.environment()
        return Begun(self.name, args, cwd=cwd, env=env, given=given, most=most)

    def tips(self, *patterns: str) -> dict[str, str]:
        """Return the refs of the remote that match ``patterns``, each with its object id."""
        asked = self._questions.take(patterns) or self._ask(patterns)
        done = asked.end(None, _SECONDS)
        if done.returncode:
            raise unreachable(self.name, done.stderr)
        found = (line.split("\t", 1) for line in lines(done.stdout))
        return {ref: oid for oid, ref in found}

    def asking(
        self, questions: Iterable[tuple[str, ...]], news: Mapping[str, str]
    ) -> AbstractContextManager[None]:
        """Begin to ask for ``tips`` of patterns, and to fetch ``news``: tips seen, by ref.

        The first call for just these in the block waits for that answer. To be used in the clone's
        lock, or it might be older than what was seen.
        """
        begun = {patterns: self._ask(patterns) for patterns in questions}
        if news:
            words = (*fetching(filter(None, news.values())), "--", self.url, *news)
            begun[FETCH[0], *news] = self._begin(*words, most=limits.RECORDS)
        return self._questions.asking(begun)

    def _ask(self, patterns: Sequence[str]) -> Begun:
        return self._begin("ls-remote", "--refs", "--", self.url, *patterns)

    def fetch(
        self, refs: Sequence[str], known: Sequence[str] = (), *, most: int | None = limits.RECORDS
    ) -> None:
        """Bring what ``refs`` of the remote name into the private folder; no ref is written.

        DamagedError if it is more than ``most`` bytes.
        """
        given, begun = None, self._questions.take((FETCH[0], *refs))
        if begun is None:
            given = "".join(f"{ref}\n" for ref in refs).encode("utf-8", "surrogateescape")
            words = (*fetching(known), "--stdin", "--", self.url)
            begun = self._begin(*words, given=True, most=most)
        done = begun.end(given, _TRANSFER)
        if done.returncode:
            if most is not None:
                limits.check(done.stderr, self.objects / "pack", most)
            raise unreachable(self.name, done.stderr)

    def has(self, oid: str) -> bool:
        """Say whether an object is here, in the clone or in the private folder."""
        return not self.absent([oid])

    def absent(self, oids: Iterable[str]) -> set[str]:
        """Return those of ``oids`` that are not here, in one question."""
        return {oid for oid, kind in self.kinds(oids).items() if kind == MISSING}

    def kinds(self, oids: Iterable[str]) -> dict[str, str]:
        """Return what each of ``oids`` is here: a commit, tree, blob or tag, or MISSING."""
        return {oid: info.kind for oid, info in self.reader.infos(oids).items()}

    def bring(self, tips: Mapping[str, str], known: Iterable[str] = ()) -> None:
        """Fetch those of ``tips``, ids by the name of their ref, that are not here yet."""
        have = [oid for oid in known if oid]
        absent = self.absent([*filter(None, tips.values()), *have])
        wanted = [ref for ref, oid in tips.items() if oid in absent]
        known = [oid for oid in have if oid not in absent]
        try:
            if wanted:
                self.fetch(wanted, known)
        except DamagedError:
            if len(wanted) == 1:
                raise
            for ref in wanted:  # one that is too large must not keep the others away
                with suppress(DamagedError):
                    self.fetch([ref], known)

    def gather(
        self,
        patterns: Sequence[str],
        picked: Callable[[Mapping[str, str]], Iterable[str]],
        known: Iterable[str],
    ) -> dict[str, str]:
        """Return the refs that match ``patterns``; what those ``picked`` name is here then.

        One question and at most one fetch; both once more if that fails, perhaps for a ref that
        was deleted since it was named.
        """
        tips = self.tips(*patterns)
        try:
            self.bring({ref: tips[ref] for ref in picked(tips)}, known)
        except UnreachableError:
            tips = self.tips(*patterns)
            self.bring({ref: tips[ref] for ref in picked(tips)}, known)
        return tips

    def push(self, *moves: Move) -> Outcome:
        """Make ``moves`` on the remote, all or none; raise what a person must act on.

        A push whose end nobody saw is settled by reading the refs again.
        """
        try:
            done = self.run(*push_command(self._target(), moves), seconds=_TRANSFER)
        except UnreachableError:
            return self._settle(moves)
        if done.returncode == 0:
            return Outcome.MOVED
        judged = judge(self.name, self.prefix, decode(done.stdout + done.stderr))
        if isinstance(judged, HandsoffError):
            raise judged
        return self._settle(moves)

    def _target(self) -> str:
        """Return what to name to ``git push``, so that it notes nothing in the user's clone.

        Trap: of refs that are branches git would move its tracking refs, to objects which only the
        private folder has; then ``git log --all`` and ``git gc`` fail until the next fetch.
        """
        if not are_branches(self.prefix):
            return self.url
        return self.checkout.line("remote", "get-url", "--push", self.name) or self.url

    def _settle(self, moves: Sequence[Move]) -> Outcome:
        now = self.tips(*(move.ref for move in moves))
        landed = all(self._stands_on(now.get(m.ref, ""), m) for m in moves)
        return Outcome.MOVED if landed else Outcome.LOST

    def _stands_on(self, tip: str, move: Move) -> bool:
        """Say whether ``move`` was made, even if somebody has built on it since."""
        if tip == move.new or not tip or not move.new:
            return tip == move.new
        self.fetch([move.ref], most=None)
        onto = self.run("merge-base", "--is-ancestor", move.new, tip)
        return onto.returncode == 0


def open_shared(checkout: Checkout, wanted: str | None = None) -> Shared:
    """Return the shared remote of ``checkout``: named, configured, ``origin``, or the only one."""
    names = checkout.remotes()
    chosen = wanted or checkout.setting("handsoff.remote")
    if chosen is None:
        chosen = "origin" if "origin" in names else names[0] if len(names) == 1 else None
    if chosen is None and not names:
        raise UsageError(
            "this checkout has no remote", hint="add the one you share: git remote add origin URL"
        )
    if wanted and wanted not in names:
        raise UsageError(
            f"this checkout has no remote called {wanted}", hint="git remote lists those it has"
        )
    if chosen is None or chosen not in names:
        raise UsageError(
            f"which remote is the shared one? there are {', '.join(names)}",
            hint="git config handsoff.remote NAME",
        )
    return Shared(checkout, chosen, check_prefix(checkout.setting("handsoff.refs") or PREFIX))
