"""A folder with machines to play with: each has a home, keys and a clone.

Whatever ends this process, the folder and the children go: see edge/janitor.py.

Nothing of the user's is read or written: no home, no git configuration, no agent, no keys; but
the rules of the scanner are copied if they rest compiled in the user's cache.
"""

import hashlib
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import handsoff
from handsoff.core.tour.tour import Look
from handsoff.edge import clock, files
from handsoff.edge.home import cache_folder
from handsoff.edge.janitor import Janitor
from handsoff.errors import HandsoffError, UnfitError, UsageError

SECONDS: Final = 120.0
"""How long one command may take."""

_TICK: Final = timedelta(milliseconds=10)
_PREFIX: Final = "handsoff-tour."
_KEPT: Final = (
    "TZ", "TERM", "LANG", "LANGUAGE", "LC_", "HANDSOFF_LANG", "LD_LIBRARY_PATH", "COVERAGE",
)  # fmt: skip
"""What machines see of the user's environment: the language above all."""

_SHIM: Final = """#!/bin/sh
exec {python} -P -m handsoff "$@"
"""
_GITCONFIG: Final = """[user]
\tname = Lin
\temail = lin@{name}.example
[init]
\tdefaultBranch = main
\ttemplateDir =
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tstatusHints = false
"""
_AS: Final = """#!/bin/sh
# {name} COMMAND...  runs a command as {name} of the tour; without one, a shell.
{exports}
cd {top} || exit
[ $# -gt 0 ] && exec "$@"
PS1='{name}$ ' exec /bin/sh -i
"""
_ASKED: Final = {
    "git: commits": ("rev-parse", "HEAD"),
    "git: branch": ("symbolic-ref", "HEAD"),
    "git: index": ("ls-files", "--stage", "-z"),
    "git: status": ("status", "--porcelain=v2", "-z", "-uall"),
    "git: stash": ("stash", "list", "--format=%H %gs"),
}


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and all that it said."""

    code: int
    output: str


@dataclass
class Running:
    """A command that goes on; what it said is read up to ``read``."""

    process: "subprocess.Popen[bytes]"
    log: Path
    read: int = 0

    def rest(self) -> str:
        """Return what it said since the last time."""
        data = self.log.read_bytes()[self.read :]
        self.read += len(data)
        return data.decode("utf-8", "backslashreplace")


@dataclass
class Playground:
    """The folder, and who runs in it."""

    folder: Path
    janitor: Janitor
    machines: tuple[str, ...]
    running: dict[str, Running] = field(default_factory=dict)
    children: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def home(self, machine: str) -> Path:
        """The home of a machine."""
        return self.folder / machine

    def top(self, machine: str) -> Path:
        """The checkout of a machine; its home as long as there is none."""
        top = self.home(machine) / "toy"
        return top if top.is_dir() else self.home(machine)

    @property
    def remote(self) -> str:
        """The bare repository that they share, as a shell spells it."""
        return shlex.quote(str(self.folder / "remote.git"))

    @property
    def cache(self) -> Path:
        """The folder of compiled rules, which the machines share."""
        return self.folder / "cache" / "handsoff"

    def env(self, machine: str) -> dict[str, str]:
        """Return the whole environment of a machine."""
        home = self.home(machine)
        kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        path = os.pathsep.join((str(self.folder / "bin"), os.environ.get("PATH", os.defpath)))
        return {
            **kept,
            "PATH": path,
            "PYTHONPATH": str(Path(handsoff.__file__).resolve().parents[1]),
            "HOME": str(home),
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
            "HANDSOFF_HOME": str(home / "handsoff"),
            "HANDSOFF_MDNS": "off",
        }

    def run(self, machine: str, line: str) -> Said:
        """Run a line of shell as a machine, and return how it ended."""
        process = self._start(machine, line, subprocess.PIPE)
        try:
            out, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise HandsoffError(f"on {machine}, {line!r} takes over {SECONDS:.0f} s") from error
        finally:
            self._ended(process)
        return Said(process.returncode, out.decode("utf-8", "backslashreplace"))

    def start(self, machine: str, line: str, until: str) -> tuple[str, dict[str, str]]:
        """Start a line of shell that goes on; return what it said, and the groups of ``until``."""
        log = self.folder / "tmp" / f"{machine}.log"
        with log.open("wb") as file:
            process = self._start(machine, f"exec {line}", file.fileno())
        running = self.running[machine] = Running(process, log)
        by = clock.monotonic() + SECONDS
        while not (found := re.search(until, log.read_text("utf-8", "backslashreplace"))):
            if process.poll() is not None or clock.monotonic() > by:
                raise HandsoffError(f"on {machine}, {line!r} did not start: {running.rest()}")
            clock.sleep(_TICK)
        return running.rest(), found.groupdict()

    def end(self, machine: str) -> Said:
        """Wait until what goes on there has ended by itself."""
        running = self.running.pop(machine)
        try:
            code = running.process.wait(SECONDS)
        except subprocess.TimeoutExpired as error:
            raise HandsoffError(f"what was started on {machine} does not end") from error
        finally:
            self._ended(running.process)
        return Said(code, running.rest())

    def write(self, machine: str, path: str, text: str) -> None:
        """Write a file of a machine's checkout."""
        place = self.top(machine) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    def look(self, machine: str) -> Look:
        """Return what a machine's checkout holds; nothing of handsoff's is used for that."""
        git = {what: self._digest(machine, shlex.join(("git", *w))) for what, w in _ASKED.items()}
        return Look(dict(_walk(self.top(machine))), git)

    def _digest(self, machine: str, line: str) -> str:
        said = self.run(machine, line)
        return hashlib.sha256(f"{said.code} {said.output}".encode()).hexdigest()

    def _start(self, machine: str, line: str, out: int) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=self.top(machine),
            env=self.env(machine),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.children.append(process)
        self.janitor.knows(child.pid for child in self.children)
        return process

    def _ended(self, process: "subprocess.Popen[bytes]") -> None:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.children.remove(process)
        self.janitor.knows(child.pid for child in self.children)

    def close(self) -> None:
        """End the children, and let the janitor remove the folder unless it is kept."""
        for child in list(self.children):
            self._ended(child)
        self.janitor.close()


@contextmanager
def playground(keep: Path | None, *machines: str) -> Iterator[Playground]:
    """Make a folder with these machines; it goes at the end, unless it is ``keep``."""
    if shutil.which("git") is None:
        raise UnfitError("git is not installed", hint="install git 2.39 or later")
    with files.saying("cannot make a folder to play in"):
        # in the folder that others share: nothing is in there but the toy
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=None)) if keep is None else _own(keep)
        folder = folder.resolve()
    ground = Playground(folder, Janitor(folder if keep is None else None), machines)
    try:
        with files.saying(f"cannot write below {folder}"):
            _furnish(ground)
        yield ground
    finally:
        ground.close()


def _own(keep: Path) -> Path:
    folder = keep.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there, and not an empty folder", hint="name a new one")
    return files.ensure_folder(folder).resolve()


def _furnish(ground: Playground) -> None:
    for name in ("bin", "cache", "tmp", *ground.machines):
        (ground.folder / name).mkdir(mode=0o700)
    ground.cache.mkdir(mode=0o700)
    for compiled in cache_folder().glob("*"):
        if compiled.is_file():
            shutil.copy(compiled, ground.cache)
    shim = ground.folder / "bin" / "handsoff"
    _script(shim, _SHIM.format(python=shlex.quote(sys.executable)))
    for name in ground.machines:
        (ground.home(name) / ".gitconfig").write_text(_GITCONFIG.format(name=name))
        exports = "\n".join(f"export {k}={shlex.quote(v)}" for k, v in ground.env(name).items())
        top = shlex.quote(str(ground.home(name) / "toy"))
        _script(ground.folder / "bin" / name, _AS.format(name=name, exports=exports, top=top))
    if not os.access(shim, os.X_OK):  # says no where the file system is mounted noexec
        raise UnfitError(
            f"no program can run below {ground.folder.parent}",
            hint="name another place: TMPDIR=~/tmp handsoff tour",
        )
    made = ground.run(ground.machines[0], f"git init -q --bare {ground.remote}")
    if made.code:
        raise UnfitError(
            f"git cannot make a repository: {made.output.strip()}",
            hint="git --version says whether git itself runs",
        )


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _walk(top: Path) -> Iterator[tuple[str, str]]:
    for where, inner, names in os.walk(top):
        if Path(where) == top:
            inner.remove(".git")
        for name in names:
            path = Path(where) / name
            mode = path.lstat().st_mode
            kind = "exec" if mode & stat.S_IXUSR else "file"
            yield (
                str(path.relative_to(top)),
                f"{kind} {hashlib.sha256(path.read_bytes()).hexdigest()}",
            )


def has(program: str) -> bool:
    """Say whether there is such a program here."""
    return shutil.which(program) is not None
