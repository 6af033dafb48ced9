"""Generate a repository with half-finished work in it, of a given size, always the same.

    repos.py SIZE DIR          SIZE is medium or large

Makes DIR/remote.git (bare), DIR/m1 (the work), DIR/m2 (a clean clone, on the branch as it
was pushed). The contents are made of random words, one line in each file is unlike any other,
and all of it deflates about threefold, as source text does.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from machines import BRANCH

START = 1767600000
ENV = {
    "GIT_AUTHOR_NAME": "m1",
    "GIT_AUTHOR_EMAIL": "m1@lab.invalid",
    "GIT_AUTHOR_DATE": f"{START} +0000",
    "GIT_COMMITTER_NAME": "m1",
    "GIT_COMMITTER_EMAIL": "m1@lab.invalid",
    "GIT_COMMITTER_DATE": f"{START} +0000",
}


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of everything there is."""

    tracked: int
    bytes_each: tuple[int, int]
    history: int
    unpushed: int
    files_a_commit: int
    staged: int
    unstaged: int
    both: int
    removed: int
    untracked: int
    untracked_bytes: tuple[int, int]
    stashes: int
    cache_mib: int


SIZES = {
    "medium": Size(
        tracked=5_000, bytes_each=(1_000, 20_000), history=50, unpushed=20, files_a_commit=8,
        staged=800, unstaged=1_200, both=100, removed=40,
        untracked=300, untracked_bytes=(500, 8_000), stashes=2, cache_mib=3,
    ),
    "large": Size(
        tracked=100_000, bytes_each=(500, 4_500), history=100, unpushed=200, files_a_commit=15,
        staged=300, unstaged=500, both=50, removed=50,
        untracked=20_000, untracked_bytes=(4_096, 4_096), stashes=3, cache_mib=30,
    ),
}  # fmt: skip


class Text:
    """Text that looks like source: pieces of one corpus of random words."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        letters = "abcdefghijklmnopqrstuvwxyz"
        words = ["".join(dice.choices(letters, k=dice.randint(2, 10))) for _ in range(800)]
        # As in any text, a few words are frequent and most are rare.
        weights = [(rank + 1) ** -1.2 for rank in range(len(words))]
        lines = []
        for _ in range(60_000):
            line = " ".join(dice.choices(words, weights, k=dice.randint(3, 11)))
            lines.append("    " * dice.randint(0, 3) + line + "\n")
        self.corpus = "".join(lines).encode()

    def piece(self, size: int) -> bytes:
        """Return ``size`` bytes that begin with a line of their own."""
        start = self.dice.randrange(len(self.corpus) - size - 1)
        own = f"# piece {self.dice.getrandbits(48)}\n".encode()
        return (own + self.corpus[start : start + size])[: size - 1] + b"\n"

    def edited(self, content: bytes) -> bytes:
        """Return ``content`` with one line replaced."""
        lines = content.split(b"\n")
        lines[self.dice.randrange(len(lines))] = self.piece(60).replace(b"\n", b" ").strip()
        return b"\n".join(lines)


class Stream:
    """Commits written through ``git fast-import``."""

    def __init__(self, repository: Path, *, loose: bool) -> None:
        limit = 10**7 if loose else 1
        command = ["git", "-c", f"fastimport.unpackLimit={limit}", "fast-import", "--quiet"]
        self.process: Any = subprocess.Popen(
            [*command, "--force"], cwd=repository, stdin=subprocess.PIPE
        )
        self.pipe: IO[bytes] = self.process.stdin
        self.now = START

    def commit(
        self, ref: str, subject: str, files: Iterable[tuple[str, bytes]], base: str = ""
    ) -> None:
        """Add a commit with ``files`` to ``ref``, on ``base`` if given."""
        self.now += 60
        self.pipe.write(f"commit {ref}\ncommitter m1 <m1@lab.invalid> {self.now} +0000\n".encode())
        self.pipe.write(f"data {len(subject)}\n{subject}\n".encode())
        if base:
            self.pipe.write(f"from {base}\n".encode())
        for path, content in files:
            self.pipe.write(f"M 100644 inline {path}\ndata {len(content)}\n".encode())
            self.pipe.write(content + b"\n")

    def close(self) -> None:
        """End the stream and wait for git."""
        self.pipe.close()
        if self.process.wait():
            raise SystemExit("git fast-import failed")


class Generator:
    """One repository in the making."""

    def __init__(self, name: str, root: Path) -> None:
        self.size = SIZES[name]
        self.root = root
        self.m1 = root / "m1"
        self.dice = random.Random(f"handsoff {name}")
        self.text = Text(self.dice)
        self.content: dict[str, bytes] = {}
        self.paths = [
            f"src/part{n // 2500:03}/unit{n // 50 % 50:02}/file_{n:06}.py"
            for n in range(self.size.tracked)
        ]

    def git(self, *words: str, cwd: Path | None = None, names: Iterable[str] = ()) -> str:
        """Run git in m1, or in ``cwd``; ``names`` are pathspecs."""
        joined = "\0".join(names).encode()
        more = ("--pathspec-from-file=-", "--pathspec-file-nul") if joined else ()
        run = subprocess.run(
            ["git", *words, *more],
            cwd=cwd or self.m1,
            env={**os.environ, **ENV},
            input=joined,
            stdout=subprocess.PIPE,
            check=True,
        )
        return os.fsdecode(run.stdout).strip()

    def write(self, path: str, content: bytes) -> None:
        """Write a file of m1's checkout."""
        target = self.m1 / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def some_edits(self) -> Iterator[tuple[str, bytes]]:
        """Edit as many files as a commit has, and yield them."""
        for path in self.dice.sample(self.paths, self.size.files_a_commit):
            self.content[path] = self.text.edited(self.content[path])
            yield path, self.content[path]

    def history(self) -> None:
        """Make main, the branch, the remote, and a clone for m2."""
        remote = self.root / "remote.git"
        self.git("init", "-q", "-b", "main", str(self.m1), cwd=self.root)
        self.content = {
            p: self.text.piece(self.dice.randint(*self.size.bytes_each)) for p in self.paths
        }
        rules = b"/.wip/\n.env*\n/cache/\n*.pyc\n"
        stream = Stream(self.m1, loose=False)
        stream.commit("refs/heads/main", "start", [*self.content.items(), (".gitignore", rules)])
        for number in range(self.size.history):
            stream.commit("refs/heads/main", f"history {number}", self.some_edits())
        begun = [("src/begun.py", b"BEGUN = True\n")]
        stream.commit(f"refs/heads/{BRANCH}", "begin", begun, base="refs/heads/main")
        stream.close()
        self.git("repack", "-adq")
        bare = ("clone", "-q", "--bare", "--no-hardlinks")
        self.git(*bare, str(self.m1), str(remote), cwd=self.root)
        self.git("remote", "remove", "origin", cwd=remote)
        self.git("remote", "add", "origin", str(remote))
        self.git("fetch", "-q", "origin")
        self.git("checkout", "-q", BRANCH)
        self.git("branch", "-q", f"--set-upstream-to=origin/{BRANCH}")
        clone = ("clone", "-q", "--no-hardlinks", "-b", BRANCH)
        self.git(*clone, str(remote), str(self.root / "m2"), cwd=self.root)

    def unpushed(self) -> None:
        """Add commits that the remote does not have, as loose objects."""
        stream = Stream(self.m1, loose=True)
        base = self.git("rev-parse", "HEAD")
        for number in range(self.size.unpushed):
            edits = list(self.some_edits())
            stream.commit(
                f"refs/heads/{BRANCH}", f"step {number}", edits, base="" if number else base
            )
        stream.close()
        self.git("reset", "-q", "--hard")

    def half_done(self) -> None:
        """Leave stashes, staged, unstaged, removed, untracked and ignored files."""
        size = self.size
        for number in range(size.stashes):
            for path in self.dice.sample(self.paths, 3):
                self.write(path, self.text.edited(self.content[path]))
            self.write(f"src/idea_{number}.py", self.text.piece(500))
            self.git("add", f"src/idea_{number}.py")
            self.git("stash", "push", "-q", "-m", f"experiment {number}")
        pool = self.dice.sample(self.paths, size.staged + size.unstaged + size.removed)
        staged, unstaged = pool[: size.staged], pool[size.staged : size.staged + size.unstaged]
        for path in staged:
            self.write(path, self.text.edited(self.content[path]))
        self.git("add", names=staged)
        for path in [*staged[: size.both], *unstaged]:
            self.write(path, self.text.edited((self.m1 / path).read_bytes()))
        self.git("rm", "-q", names=pool[size.staged + size.unstaged :])
        for number in range(size.untracked):
            content = self.text.piece(self.dice.randint(*size.untracked_bytes))
            self.write(f"new/part{number // 500:03}/case_{number:05}.csv", content)
        self.write(".env.local", b"INVOICE_API_TOKEN=not-a-real-token\n")
        self.write("cache/rates.bin", self.dice.randbytes(size.cache_mib << 20))
        self.write(".wip/notes.md", b"with HALF_EVEN everywhere, invoice 2019-0042 is off\n")
        self.write(".wip/carry", b".wip/notes.md\n")


def generate(name: str, root: Path) -> Mapping[str, int]:
    """Make the repository ``name`` in ``root``, which is new; return what it holds."""
    root.mkdir(parents=True, exist_ok=True)
    generator = Generator(name, root)
    generator.history()
    generator.unpushed()
    generator.half_done()
    return vars(generator.size)


if __name__ == "__main__":
    generate(sys.argv[1], Path(sys.argv[2]))
