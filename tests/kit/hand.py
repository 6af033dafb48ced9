"""Somebody at work in a checkout, with plain git and plain files, led by a seed.

A ``Hand`` notes all that it does, so that the list can be read, and typed again. Dates are fixed,
and the test's environment names nobody but Lin: the same seed makes the same objects.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

_START: Final = 1893456000
_SECONDS: Final = 60
_WORDS: Final = (
    "amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "juniper",
    "krill", "lagoon", "meadow", "nectar", "otter", "pebble", "quartz", "reed", "spruce", "tundra",
)  # fmt: skip
_NAMES: Final = (
    b"plain.txt", b"table.csv", b"two words.txt", b"it's \"quoted\".txt", b"new\nline.txt",
    b"caf\xe9.txt", b"\xff\xfe", "caf\u00e9.md".encode(), "cafe\u0301.md".encode(), b"-dash.txt",
    b"--", b"#hash", b"!bang", b"star*.txt", b"[a].txt", b"tab\there", b"back\\slash", b" ",
    "\u820d\u5165.py".encode(), b"data.dat", b"a.b.c", b":(top)x", b"~", b"Plain.txt", b"HEAD",
)  # fmt: skip
_FOLDERS: Final = (
    b"src", b"src/deep/er", b"with space", "\u00fcber".encode(), b"-f", b"odd\xfe", b"docs",
)  # fmt: skip
_IGNORED: Final = (b".log", b".env.local")
_OURS: Final = (b".git", b".wip", b"built", b".gitignore", b".gitattributes")


def told(name: bytes) -> str:
    """Return ``name`` as a shell takes it, or spelled out where it is no plain text."""
    text = os.fsdecode(name)
    return shlex.quote(text) if text.isprintable() else ascii(name)


@dataclass
class Hand:
    """One person in the checkout at ``top``."""

    top: Path
    rng: Random
    done: list[str] = field(default_factory=list)
    carried: frozenset[bytes] = frozenset()
    """Ignored files that the carry list names."""
    _minutes: int = 0

    def tell(self, text: str) -> None:
        """Note what was done."""
        self.done.append(text)

    def git(
        self, *words: str | bytes, given: bytes = b"", may_fail: bool = False, **env: str
    ) -> bool:
        """Run git, and say whether it succeeded; it must, unless it ``may_fail``."""
        self._minutes += 1
        ran = self._run(words, given, env)
        spelled = [f"{name}={shlex.quote(value)}" for name, value in env.items()]
        spelled += ["git", *(told(w) if isinstance(w, bytes) else shlex.quote(w) for w in words)]
        failed = f"  # exit {ran.returncode}" if ran.returncode else ""
        self.tell(" ".join(spelled) + failed)
        assert may_fail or not ran.returncode, (self.done, ran.stderr)
        return not ran.returncode

    def ask(self, *words: str) -> bytes:
        """Return what git prints, as nothing worth noting."""
        ran = self._run((*words,), b"", {})
        assert ran.returncode == 0, (words, ran.stderr)
        return ran.stdout

    def _run(
        self, words: Sequence[str | bytes], given: bytes, env: dict[str, str]
    ) -> "subprocess.CompletedProcess[bytes]":
        date = f"{_START + 60 * self._minutes} +0100"
        fixed = {
            "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_LITERAL_PATHSPECS": "1",
            "GIT_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no",
        }  # fmt: skip
        return subprocess.run(
            ["git", *words], cwd=self.top, env={**os.environ, **fixed, **env}, input=given,
            capture_output=True, check=False, timeout=_SECONDS,
        )  # fmt: skip

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def one(self, things: Collection[T]) -> T:
        """Return one of ``things``, which must not be a set: a set has no order of its own."""
        return self.rng.choice([*things])

    def path(self, name: bytes) -> Path:
        return self.top / os.fsdecode(name)

    def files(self) -> list[bytes]:
        """Return the names of all files and links that are anybody's to change."""
        found = []
        root = os.fsencode(self.top)
        for where, folders, names in os.walk(root):
            inside = where[len(root) + 1 :]
            if not inside:
                folders[:] = [f for f in folders if f not in _OURS]
            links = [f for f in folders if os.path.islink(os.path.join(where, f))]  # noqa: PTH114, PTH118
            found += [inside + b"/" + n if inside else n for n in [*names, *links]]
        return sorted(n for n in found if n not in _OURS and not n.endswith(_IGNORED))

    def regular(self) -> list[bytes]:
        """Return the names of all files that are no links."""
        return [n for n in self.files() if not self.path(n).is_symlink()]

    def folders(self) -> list[bytes]:
        """Return the names of the folders in which files stand, at any depth."""
        parents = {os.fsencode(p) for n in self.files() for p in Path(os.fsdecode(n)).parents}
        return sorted(parents - {b"."})

    def tracked(self) -> list[bytes]:
        """Return what the index has without a conflict."""
        listed = self.ask("ls-files", "--stage", "-z").split(b"\0")[:-1]
        entries = [entry.partition(b"\t") for entry in listed]
        return [name for head, _, name in entries if head.endswith(b" 0") and name not in _OURS]

    def fresh(self) -> bytes:
        """Return a name at which nothing stands, below folders that are, or can be made."""
        for _ in range(50):
            folder = self.one(["", "", *_FOLDERS, *self.folders()])
            name = self.one(_NAMES)
            whole = folder + b"/" + name if isinstance(folder, bytes) else name
            path = self.path(whole)
            above = [p for p in path.parents if p != self.top and self.top in p.parents]
            free = not _stands(path)
            if free and all(p.is_dir() and not p.is_symlink() for p in above if _stands(p)):
                return whole
        return b"last-%d" % self.rng.randrange(10**9)

    def write(self, name: bytes, data: bytes) -> None:
        """Put a file at ``name``, keeping its mode if one may write to it."""
        path = self.path(name)
        if _stands(path) and (path.is_symlink() or not path.stat().st_mode & 0o200):
            path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def clear(self, name: bytes) -> None:
        """Remove whatever stands at ``name``."""
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif _stands(path):
            path.unlink()

    def lines(self, count: int, end: bytes = b"\n") -> bytes:
        return b"".join(b"%d %s%s" % (n, self.words(), end) for n in range(count))

    def words(self) -> bytes:
        return " ".join(self.rng.choices(_WORDS, k=3)).encode()

    def content(self) -> bytes:
        """Return what a file may hold."""
        kind = self.rng.randrange(9)
        count = self.rng.randrange(1, 20)
        match kind:
            case 0:
                return b""
            case 1:
                return b"\0\1" + self.rng.randbytes(200)
            case 2:
                return self.lines(count, b"\r\n")
            case 3:
                return self.lines(count) + self.lines(count, b"\r\n") + b"lone\rreturn\n"
            case 4:
                return self.lines(count) + self.words()
            case 5:
                return b"caf\xe9 " + self.lines(count)
            case 6:
                return b"$Id$\n" + self.lines(count)
            case _:
                return self.lines(count)


def _stands(path: Path) -> bool:
    return path.is_symlink() or path.exists()
