"""One checkout: where its parts are, and git run inside it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from handsoff.core.checkout.trees import Modes
from handsoff.core.remote.refs import HEADS
from handsoff.edge import files
from handsoff.edge.git import command, heads
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, UnfitError, UsageError

TRUE: Final = frozenset({"", "true", "yes", "on", "1"})
"""How git's switches are spelled that are on."""


@dataclass(frozen=True)
class Checkout:
    """A worktree with its git folders; all paths absolute.

    ``git_dir`` is this worktree's own (``.git/worktrees/x`` for a linked one), ``common_dir`` is
    shared by all worktrees of the clone.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    ancestry: set[tuple[str, str, Path]] = field(
        default_factory=set, init=False, compare=False, repr=False
    )
    """Commits, older and newer, of which git said that one leads to the other, and where it saw."""

    def environment(self) -> dict[str, str]:
        """Return the environment in which git acts on this checkout and its own index."""
        return command.environment({"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.top)})

    def start(self, *args: str | bytes) -> "subprocess.Popen[bytes]":
        """Start ``git args`` here."""
        return command.start(args, cwd=self.top, env=self.environment())

    def run(
        self, *args: str | bytes | Path, given: bytes | None = None, **env: str
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run ``git args`` here and return how it ended."""
        return command.run(args, cwd=self.top, env={**self.environment(), **env}, given=given)

    def git(self, *args: str | bytes | Path, given: bytes | None = None, **env: str) -> bytes:
        """Run ``git args`` here and return its output; UnfitError with git's words if it fails."""
        return command.checked(self.run(*args, given=given, **env), str(args[0]))

    def line(self, *args: str) -> str | None:
        """Return the one line that ``git args`` prints, or None where git says no."""
        done = self.run(*args)
        return None if done.returncode else decode(done.stdout).removesuffix("\n")

    @property
    def own_dir(self) -> Path:
        """The folder of this worktree's own state: the journal and what was last sent."""
        return files.ensure_folder(self.git_dir / "handsoff")

    @property
    def objects_dir(self) -> Path:
        """Where git keeps the objects of the clone."""
        return self.common_dir / "objects"

    @property
    def store_dir(self) -> Path:
        """The private store of the clone, beside its objects."""
        return files.ensure_folder(self.common_dir / "handsoff")

    @property
    def page(self) -> Path:
        """Where the page stands."""
        return self.top / ".wip" / "HANDOFF.md"

    @cached_property
    def scoped(self) -> list[tuple[str, str, str]]:
        """All configuration that counts here, in order: scope, key as git prints it, and value."""
        listed = split(self.git("config", "--list", "-z", "--includes", "--show-scope"))
        items = (decode(item).partition("\n") for item in listed[1::2])
        return [(decode(s), key, v) for s, (key, _, v) in zip(listed[::2], items, strict=True)]

    @cached_property
    def config(self) -> dict[str, list[str]]:
        """All configuration that counts here: keys as git prints them, values in order."""
        found: dict[str, list[str]] = {}
        for _, key, value in self.scoped:
            found.setdefault(key, []).append(value)
        return found

    def setting(self, key: str) -> str | None:
        """Return the last value of a configuration key (section and name in lower case)."""
        values = self.config.get(key)
        return values[-1] if values else None

    def switch(self, key: str) -> bool:
        """Return a configuration key as git reads a boolean; absent is false."""
        value = self.setting(key)
        return value is not None and value.lower() in TRUE

    @property
    def ignores_modes(self) -> bool:
        """Whether what the file system says of modes means nothing here."""
        return self.setting("core.filemode") is not None and not self.switch("core.filemode")

    @property
    def has_links(self) -> bool:
        """Whether links are links here, and not files that hold where they lead."""
        return self.setting("core.symlinks") is None or self.switch("core.symlinks")

    @property
    def modes(self) -> Modes:
        """What of a file's mode means something here."""
        return Modes(bits=not self.ignores_modes, links=self.has_links)

    def set_config(self, key: str, value: str) -> None:
        """Set ``key`` in the clone's own configuration."""
        self.git("config", "--local", "--replace-all", key, value)
        self.forget_config()

    def forget_config(self) -> None:
        """Read the configuration anew when it is asked for next: it was changed."""
        for name in ("scoped", "config"):
            self.__dict__.pop(name, None)

    def branch(self) -> str | None:
        """Return the branch that HEAD names (it may be unborn), or None if HEAD is detached."""
        name, _ = heads.head(self.git_dir, self.common_dir)
        if name == heads.UNCLEAR:
            name = self.line("symbolic-ref", "-q", "HEAD")
        return name.removeprefix(HEADS) if name and name.startswith(HEADS) else None

    def commit(self, name: str) -> str | None:
        """Return the id of the commit that ``name`` (a full ref or an id) leads to, or None."""
        if name == "HEAD":
            _, found = heads.head(self.git_dir, self.common_dir)
        else:
            found = heads.tip(self.common_dir, name)
        if found != heads.UNCLEAR:
            return found
        return self.line("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")

    def remotes(self) -> list[str]:
        """Return the names of the remotes."""
        keys = self.config
        names = [
            k[len("remote.") : -len(".url")]
            for k in keys
            if k.startswith("remote.") and k.endswith(".url")
        ]
        return sorted(set(names))

    @property
    def alone(self) -> bool:
        """Whether the clone has no other worktree than this one."""
        linked = (self.common_dir / "worktrees").glob("*")
        return self.git_dir == self.common_dir and not any(linked)

    @property
    def shallow(self) -> frozenset[str]:
        """The commits at which the history of this clone was cut; none in a whole one."""
        try:
            return frozenset((self.common_dir / "shallow").read_text("ascii").split())
        except FileNotFoundError:
            return frozenset()

    @cached_property
    def promisor(self) -> str | None:
        """The remote that has promised what a partial clone lacks; None in a whole one."""
        marked = [
            k.removeprefix("remote.").removesuffix(".promisor")
            for k in self.config
            if k.startswith("remote.") and k.endswith(".promisor") and self.switch(k)
        ]
        return self.setting("extensions.partialclone") or next(iter(sorted(marked)), None)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other handsoff commands out of this clone for a while, or say that one is in."""
        import fcntl  # noqa: PLC0415 - POSIX only, and said so in README

        with (self.store_dir / "lock").open("a+b") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UnfitError(
                    "another handsoff command is at work in this clone",
                    hint="wait until it ends, then try again",
                ) from error
            try:
                yield
            finally:
                files.unlock(handle)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Give an empty folder for a while. Those that killed runs left go before.

        Not all who need one have ``lock``, so its users keep each other from sweeping.
        """
        import fcntl  # noqa: PLC0415 - as above

        place = files.ensure_folder(self.store_dir / "scratch")
        with (place / "lock").open("a+b") as handle:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for left in filter(Path.is_dir, place.iterdir()):
                    shutil.rmtree(left, ignore_errors=True)
            fcntl.flock(handle, fcntl.LOCK_SH)
            with tempfile.TemporaryDirectory(dir=place) as folder:
                step("scratch.made.after")
                yield Path(folder)


def open_checkout(where: Path | None = None) -> Checkout:
    """Return the checkout around ``where`` (default: the current folder; GIT_DIR counts).

    UsageError where there is none, or only a bare repository.
    """
    env = command.environment()
    if where is None:
        env |= {k: os.environ[k] for k in ("GIT_DIR", "GIT_WORK_TREE") if k in os.environ}
    done = command.run(
        ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"),
        cwd=where,
        env=env,
    )
    # not splitlines: a folder's name may hold what Unicode calls the end of a line
    lines = os.fsdecode(done.stdout).split("\n")[:-1]
    if done.returncode or len(lines) != 3:  # noqa: PLR2004 - one line for each question
        raise _no_checkout(done.stderr)
    return Checkout(*(Path(line) for line in lines))


def _no_checkout(said: bytes) -> HandsoffError:
    """Return the error for a place where git finds no checkout, from what it ``said``.

    Who is told that there is none may run git init: that is said only where git says so.
    """
    if b"dubious ownership" in said:
        trust = said.decode("utf-8", "backslashreplace").strip().rpartition("\n")[2].strip()
        return UnfitError(
            "this checkout belongs to another user, so git does not trust it",
            hint=f"be that user; or, if you know whose it is: {trust}",
        )
    if b"must be run in a work tree" in said:
        return UsageError(
            "not in a git checkout: this repository has no files here",
            hint="cd into its checkout, or make one: git worktree add DIR BRANCH",
        )
    if b"not a git repository" in said or b"bare repository" in said:
        return UsageError("not in a git checkout", hint="cd into the checkout, or git init")
    return command.failed(said, "read this checkout")


def decode(data: bytes) -> str:
    """Return git's bytes as text in which undecodable bytes survive as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Undo ``decode``."""
    return text.encode("utf-8", "surrogateescape")


def lines(output: bytes) -> list[str]:
    """Return git's lines as text: a name may hold what Unicode calls the end of one."""
    return decode(output).split("\n")[:-1]


def split(output: bytes) -> list[bytes]:
    """Return the NUL-ended records of git's ``-z`` output."""
    return output.split(b"\0")[:-1]


def read_all(processes: Sequence["subprocess.Popen[bytes]"], what: str) -> list[bytes]:
    """Return what each of several running git processes prints; UnfitError if one fails."""
    outputs = []
    for process in processes:
        out, err = process.communicate()
        if process.returncode:
            raise command.failed(err, what)
        outputs.append(out)
    return outputs
