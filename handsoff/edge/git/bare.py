"""The repository of a server, read from inside one of its hooks.

What was pushed lies in a quarantine that only the hook's own environment leads to, so these
variables are handed on; every other ``GIT_*`` of the pusher's connection is not.

Source: git-receive-pack(1), "Quarantine environment".
"""

import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from handsoff.core.chain import Commits
from handsoff.core.remote.gate import BYTES, CHAIN
from handsoff.edge.git import command
from handsoff.edge.git.repo import TRUE, decode, lines
from handsoff.errors import RefusedError, UsageError

_HANDED_ON: Final = (
    "GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
)  # fmt: skip


@dataclass(frozen=True)
class Bare:
    """The repository around a hook that runs."""

    folder: Path

    def run(self, *args: str, given: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
        """Run ``git args`` on the repository and what is being pushed."""
        seen = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
        return command.run(args, cwd=self.folder, env=command.environment(seen), given=given)

    @cached_property
    def _config(self) -> dict[str, str]:
        listed = decode(command.checked(self.run("config", "--list", "-z"), "read its settings"))
        pairs = (item.partition("\n") for item in listed.split("\0")[:-1])
        return {key: value for key, _, value in pairs}

    def setting(self, key: str) -> str | None:
        """Return a configuration key (in lower case), as the server has it."""
        return self._config.get(key)

    def switch(self, key: str) -> bool:
        """Return a configuration key as git reads a boolean; absent is false."""
        value = self.setting(key)
        return value is not None and value.lower() in TRUE

    def tips(self, *patterns: str) -> dict[str, str]:
        """Return the refs as they are now, before the push, that match or lie under a pattern."""
        words = ("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
        listed = lines(command.checked(self.run(*words), "list the refs"))
        found = (line.split(" ", 1) for line in listed)
        return {ref: oid for oid, ref in found}

    def ids(self, tip: str) -> list[str]:
        """Return the ids of the chain up to ``tip``, oldest first; RefusedError if too long."""
        words = ("rev-list", "--first-parent", f"--max-count={CHAIN + 1}", "--end-of-options", tip)
        done = self.run(*words)
        found = decode(done.stdout).split()[::-1]
        if done.returncode or found[-1:] != [tip]:
            raise RefusedError(f"{tip[:12]} is no commit, so no entry of ours")
        if len(found) > CHAIN:
            raise RefusedError(f"a chain of more than {CHAIN} entries")
        return found

    def sizes(self, ids: list[str]) -> list[tuple[str, int]]:
        """Return the kind and the size of objects, without reading them."""
        given = "".join(f"{oid}\n" for oid in ids).encode()
        done = self.run("cat-file", "--batch-check=%(objecttype) %(objectsize)", given=given)
        words = [line.split(" ") for line in decode(done.stdout).splitlines()]
        if any(not size.isdigit() for _, size in words):
            raise RefusedError("an object that is not here")
        return [(kind, int(size)) for kind, size in words]

    def commits(self, ids: list[str], fresh: int, limit: int) -> Commits:
        """Return raw commits; of the last ``fresh`` each may have ``limit`` bytes, all BYTES."""
        new = [size for _, size in self.sizes(ids[len(ids) - fresh :])] if fresh else []
        if sum(new) > BYTES or max(new, default=0) > limit:
            raise RefusedError(
                f"new entries of up to {max(new)} bytes, {sum(new)} in all: too large"
            )
        given = "".join(f"{oid}\n" for oid in ids).encode()
        out = self.run("cat-file", "--batch", given=given).stdout if ids else b""
        return command.split_batch(out, ids)

    def read(self, oid: str, kind: str = "commit") -> bytes:
        """Return an object of this kind."""
        return command.checked(self.run("cat-file", kind, oid), f"read {kind} {oid[:12]}")


def open_bare() -> Bare:
    """Return the repository whose hook this is."""
    here = Path.cwd()
    if "GIT_DIR" not in os.environ:
        raise UsageError("not called by git", hint="this is a pre-receive hook")
    return Bare(here)
