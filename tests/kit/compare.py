"""What a checkout holds, found by means of its own: it shares no code with what it checks.

    look(top)        a checkout as plain data, to be compared with another one
    untouched(top)   a digest of every byte of a checkout but handsoff's own folders

Both only read: git is kept from refreshing the index on the way.
"""

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Look:
    """A checkout. Names and git's output are bytes, as they are."""

    files: dict[bytes, tuple[str, str]]
    """Every file and link but git's: its kind, and the SHA-256 of its content."""
    index: tuple[bytes, ...]
    """Entries with their flags, without stat data."""
    stash: tuple[bytes, ...]
    branch: bytes
    head: bytes
    upstream: bytes

    def without(self, *names: bytes) -> "Look":
        """Return this look without some files, which are meant to stay where they are."""
        files = {k: v for k, v in self.files.items() if k not in names}
        return Look(files, self.index, self.stash, self.branch, self.head, self.upstream)


def look(top: Path) -> Look:
    """Return what the checkout at ``top`` holds."""
    branch = ask(top, "symbolic-ref", "-q", "HEAD").strip()
    name = os.fsdecode(branch.removeprefix(b"refs/heads/"))
    config = [ask(top, "config", "--get", f"branch.{name}.{key}") for key in ("remote", "merge")]
    return Look(
        files=dict(_walk(top)),
        index=tuple(index_entries(ask(top, "ls-files", "--stage", "--debug", "-z"))),
        stash=tuple(ask(top, "stash", "list", "--format=%H %gs").splitlines()),
        branch=branch,
        head=ask(top, "rev-parse", "-q", "--verify", "HEAD").strip(),
        upstream=b" ".join(line.strip() for line in config),
    )


def untouched(*tops: Path) -> dict[str, Any]:
    """Return something that differs whenever a byte, a mode or a name below ``tops`` did.

    A top may be a checkout, a linked worktree, a bare repository or any other folder; empty
    folders do not count.
    """
    found: dict[str, Any] = {}
    for top in tops:
        for path, told in _walk(top, git_too=True):
            if b"handsoff" not in path.split(b"/"):
                found[f"{top.parent.name}/{top.name}:{os.fsdecode(path)}"] = told
    return found


def ask(top: Path, *words: str) -> bytes:
    """Return what git prints, "" where it fails; it refreshes nothing."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(
        ["git", *words], cwd=top, env=env, capture_output=True, check=False
    ).stdout


def index_entries(listed: bytes) -> Iterator[bytes]:
    """Yield each entry of ``ls-files --stage --debug -z`` with its flags, without stat data."""
    rest = listed
    while rest:
        entry, _, rest = rest.partition(b"\0")
        stat_data, _, rest = rest.partition(b"flags: ")
        assert stat_data.startswith(b"  ctime"), stat_data[:40]
        flags, _, rest = rest.partition(b"\n")
        yield entry + b" flags " + flags


def _walk(top: Path, *, git_too: bool = False) -> Iterator[tuple[bytes, tuple[str, str]]]:
    # strings, not paths: some tests look at a thousand files four times
    start = len(str(top)) + 1
    for where, inner, names in os.walk(str(top)):
        hidden = len(where) < start and not git_too  # where .git may also be a file
        if hidden and ".git" in inner:
            inner.remove(".git")
        links = [name for name in inner if os.path.islink(f"{where}/{name}")]  # noqa: PTH114
        for name in [*names, *links]:
            if hidden and name == ".git":
                continue
            path = f"{where}/{name}"
            yield os.fsencode(path[start:]), _told(path)


def _told(path: str) -> tuple[str, str]:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(path)  # noqa: PTH115
    if not stat.S_ISREG(mode):
        return "special", oct(stat.S_IFMT(mode))
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        digest = hashlib.sha256(file.readall()).hexdigest()
    return ("exec" if mode & 0o100 else "file"), digest
