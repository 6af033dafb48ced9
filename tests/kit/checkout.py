"""One checkout, made with git and plain files, and what is needed to see that nothing changed."""

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from handsoff.core.checkout.state import BranchConfig
from handsoff.edge.git.look import Look, look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.git.sinks import Hashing, Sink
from handsoff.edge.git.snapshot import Snapshot, capture
from tests.kit.machines import git


@dataclass(frozen=True)
class Here:
    """A checkout."""

    top: Path

    @classmethod
    def make(cls, top: Path) -> "Here":
        """Make a checkout in which one commit stands."""
        top.mkdir(parents=True)
        here = cls(top)
        here.git("init", "-q", "-b", "main")
        here.write("f", "f\n")
        here.write("dir/g", "g\n")
        here.write("run", "#!/bin/sh\n").chmod(0o755)
        (top / "link").symlink_to("f")
        here.write(".gitignore", "*.log\nbuilt/\n")
        here.git("add", ".")
        here.git("commit", "-qm", "first")
        return here

    @property
    def checkout(self) -> Checkout:
        return open_checkout(self.top)

    @property
    def objects(self) -> Objects:
        return Objects(self.top / ".git" / "objects")

    def git(self, *words: str, given: str = "") -> str:
        return git(self.top, *words, given=given)

    def write(self, name: str | bytes, data: str | bytes = "x") -> Path:
        """Put a file into the checkout, with the folders above it."""
        path = self.top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def stash(self, message: str, data: str = "stashed\n") -> str:
        """Stash an edit of ``f``, and return the stash commit."""
        self.write("f", data)
        self.git("stash", "push", "-q", "-m", message)
        return self.git("rev-parse", "refs/stash")

    def look(self, carry: Iterable[bytes] = ()) -> Look:
        return look(self.checkout, list(carry))

    def capture(
        self, sink: Sink | None = None, carry: Iterable[bytes] = (), seen: Look | None = None
    ) -> Snapshot:
        """Return the state of the checkout."""
        return capture(
            self.checkout,
            seen or self.look(carry),
            self.objects,
            sink or Hashing(),
            work="main",
            branch=BranchConfig(),
        )


def traces(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, time of change and digest of all that is in ``folder``."""
    found = {}
    for path in sorted(folder.rglob("*")):
        st = path.lstat()
        content = b""
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(st.st_mode):
            content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        found[str(path.relative_to(folder))] = (st.st_mode, st.st_mtime_ns, digest)
    return found
