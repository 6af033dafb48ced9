"""Running git: one place that decides what its children see of the world.

Three profiles (facts that each cost somebody data):

* ``local``: reading and writing this checkout. The user's configuration counts (excludes,
  safe.directory), but no hook, monitor, colour, external program or signature of theirs runs, the
  index is never refreshed behind our back, and no ``GIT_*`` of a hook that called us leaks in.
* ``remote``: talking to the shared remote. The user's own git, with credentials, proxies and
  ssh settings; hooks stay off, as a project's pre-push would judge our refs.
* ``hermetic``: received bytes. No configuration of anybody, limits on memory and time.
"""

import os
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Final, TypeAlias

from handsoff.edge import aside
from handsoff.errors import HandsoffError, UnfitError

_QUIET: Final = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "color.ui=false",
    "-c", "core.quotePath=true", "-c", "advice.detachedHead=false", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "log.showSignature=false",
    "-c", "core.untrackedCache=keep", "-c", "submodule.recurse=false", "-c", "core.pager=cat",
    "-c", "diff.external=", "-c", "diff.ignoreSubmodules=none", "-c", "core.commentChar=auto",
    # all that lstat says is compared: a clone may be told to overlook an edit of the same length
    "-c", "core.trustctime=true", "-c", "core.checkStat=default",
    # a folder of the project that looks like a repository is not one, whatever stands in its config
    "-c", "safe.bareRepository=explicit", "--literal-pathspecs", "--no-replace-objects",
)  # fmt: skip
_KEPT: Final = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS",
    "GIT_EXEC_PATH", "GIT_SSL_NO_VERIFY", "GIT_SSL_CAINFO", "GIT_ALLOW_PROTOCOL",
    "GIT_TRACE_PACKET_FILE",
)  # fmt: skip
EMPTY: Final = "HANDSOFF_EMPTY"
"""A variable that is there and says nothing, for --config-env."""

_FIXED: Final = {
    EMPTY: "",
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # nor are parents made up by info/grafts: what is sent is what the commits say. (Of a file that
    # is there, if only /dev/null, git says with each command that it is deprecated.)
    "GIT_GRAFT_FILE": "/dev/null/none",
}
_MEMORY: Final = 2 << 30
"""Address space: of packs and their indexes, which are mapped, most is never touched."""
_ALLOC: Final = "128m"
"""The largest block that git may ask for: no tree or commit that passed is as large."""
_STREAMED: Final = "32m"
"""Blobs from this size on never are in memory whole."""
_SMALL: Final = (
    # small windows: a large pack of the clone must not use up the memory that is allowed
    "-c", "core.packedGitWindowSize=16m", "-c", "core.packedGitLimit=128m",
    "-c", f"core.bigFileThreshold={_STREAMED}",
)  # fmt: skip
_SECONDS: Final = 600
_OUTSIDE: Final = hasattr(resource, "prlimit")
"""Whether a child can be given limits when it runs, and has not read anything: on Linux. Else it is
forked and takes them itself, which is slower, and a risk where there are threads."""

Feed: TypeAlias = Callable[[Callable[[bytes], object]], object]
"""What is given a function that writes to git, and writes."""


def alternates(*folders: Path) -> str:
    """Return folders of objects as git reads them from the environment.

    A path with a colon in it, which parts them, stands in the quotes of C: see
    git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES.
    """
    return ":".join(map(_quoted, map(str, folders)))


def _quoted(path: str) -> str:
    if not {":", "\n", '"'}.intersection(path):
        return path
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return our environment without the ``GIT_*`` that would lead git astray."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith("GIT_CONFIG_")
    }
    return {**kept, **_FIXED, **(extra or {})}


def words(*args: str | bytes | Path) -> list[bytes]:
    """Return arguments as the bytes that git gave or shall get, whatever the locale is."""
    return [os.fsencode(a) if isinstance(a, Path) else _bytes(a) for a in args]


def spelled(env: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return an environment as bytes, for the same reason."""
    return {_bytes(name): _bytes(value) for name, value in env.items()}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def start(
    args: Sequence[str | bytes | Path], *, cwd: Path | None, env: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start ``git args`` with the local profile's switches, all three streams piped."""
    try:
        return subprocess.Popen(
            words("git", *_QUIET, *args),
            cwd=cwd,
            env=spelled(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise UnfitError(
                f"the folder {cwd} is gone", hint="cd into a checkout that is there"
            ) from error
        raise UnfitError(
            "git is not installed, or not on PATH", hint="install git 2.39 or later"
        ) from error


def run(
    args: Sequence[str | bytes | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    given: bytes | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run ``git args`` and return how it ended; the caller judges the exit code."""
    with start(args, cwd=cwd, env=env if env is not None else environment()) as process:
        try:
            out, err = process.communicate(given)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def checked(completed: "subprocess.CompletedProcess[bytes]", what: str) -> bytes:
    """Return what git printed, or raise UnfitError with ``what`` and git's own last line."""
    if completed.returncode:
        raise failed(completed.stderr, what)
    return completed.stdout


def failed(stderr: bytes, what: str) -> HandsoffError:
    """Return the error that says that git could not do ``what``."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    said = lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else "no reason given"
    return UnfitError(f"git cannot {what}: {said}", hint="git status and git fsck say more")


def run_limited(
    args: Sequence[str | Path],
    *,
    cwd: Path,
    feed: Feed,
    out: IO[bytes] | None = None,
    largest: int = 0,
    seconds: int = _SECONDS,
) -> "subprocess.CompletedProcess[bytes]":
    """Run git on received bytes: nobody's configuration, bounded memory, files and time.

    ``feed`` writes what git reads, in a thread and once the limits hold; what it raises is raised
    here. What git prints goes to the file ``out`` if there is one. ``largest`` are the bytes that a
    file may have which git writes.
    """
    limit = partial(_limit, largest, seconds)
    inside = None if _OUTSIDE else partial(limit, resource.setrlimit)
    process = subprocess.Popen(
        words("git", *_QUIET, *_SMALL, "-c", "core.fsync=all", *args),
        cwd=cwd,
        env=spelled(_nobodys()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if out is None else out,
        stderr=subprocess.PIPE,
        preexec_fn=inside,  # noqa: PLW1509 - see _OUTSIDE
    )
    with process:
        if _OUTSIDE:
            limit(partial(resource.prlimit, process.pid))
        pipe, process.stdin = process.stdin, None  # communicate would close it
        assert pipe is not None
        fed = aside.begin(partial(_fed, feed, pipe), "feed")
        try:
            said, failure = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            said, failure = b"", b"it takes longer than %d s" % seconds
        except BaseException:
            process.kill()
            raise
    code = process.returncode
    if not fed.result() and not code:
        code, failure = 1, b"git did not read all of it"
    return subprocess.CompletedProcess(process.args, code, said or b"", failure)


def _nobodys() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOC_LIMIT": _ALLOC,
        **_FIXED,
    }


def _fed(feed: Feed, pipe: IO[bytes]) -> bool:
    """Let ``feed`` write to git; return whether that took all of it."""
    try:
        feed(pipe.write)
        pipe.close()
    except BrokenPipeError:  # git says itself what it was not content with
        return False
    finally:
        with suppress(BrokenPipeError):
            pipe.close()
    return True


def _limit(largest: int, seconds: int, limit: Callable[[int, tuple[int, int]], object]) -> None:
    limit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    limit(resource.RLIMIT_CPU, (seconds, seconds))
    limit(resource.RLIMIT_FSIZE, (largest, largest))
    limit(resource.RLIMIT_CORE, (0, 0))


def split_batch(out: bytes, oids: Sequence[str]) -> list[tuple[str, bytes]]:
    """Return the objects that ``cat-file --batch`` printed for ``oids``, all of which are here."""
    found, at = [], 0
    for oid in oids:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[-1])
        found.append((oid, out[end + 1 : end + 1 + size]))
        at = end + 1 + size + 1
    return found
