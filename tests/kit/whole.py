"""All that a hand-over must bring, seen by means of its own: it shares no code with handsoff.

    sent, arrived = see(m1.top), see(m2.top)
    assert differences(sent.travelling(carried), arrived) == []

Where ``compare.look`` is enough for most tests, this one also sees operations in progress, empty
folders, every permission bit, what git says of the checkout, and whether objects are missing.
"""

import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.kit.compare import ask, index_entries

_FILES: Final = (
    "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD",
    "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE", "SQUASH_MSG", "BISECT_LOG", "BISECT_NAMES",
    "BISECT_TERMS", "BISECT_START", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK",
    "BISECT_FIRST_PARENT",
)  # fmt: skip
_FOLDERS: Final = ("sequencer", "rebase-merge", "rebase-apply")
_REFS: Final = ("refs/bisect", "refs/rewritten")
_FLAGS: Final = 0x8000 | 1 << 29 | 1 << 30  # assume-unchanged, intent-to-add, skip-worktree
_ALONG: Final = (b".wip/HANDOFF.md", b".wip/carry")
_FINDER: Final = re.compile(rb"\r|\$Id")
_SHOWN: Final = 100


@dataclass(frozen=True)
class File:
    """A file or a link as it stands on the disk."""

    kind: str
    mode: int
    data: bytes = field(repr=False)

    @property
    def text(self) -> str:
        return f"{self.kind} {self.mode:04o} {_short(self.data)}"


@dataclass(frozen=True)
class Whole:
    """A checkout. Names and git's output are bytes, as they are."""

    head: Mapping[str, bytes]
    index: Mapping[str, bytes]
    files: Mapping[bytes, File]
    empty: Mapping[bytes, str]
    status: Mapping[bytes, bytes]
    stash: tuple[bytes, ...]
    operation: Mapping[str, bytes]
    upstream: Mapping[str, bytes]
    sparse: Mapping[str, bytes]
    ignored: frozenset[bytes]
    complete: bool

    def coarse(self) -> "Whole":
        """Return this with no more of each file's mode than whether it is executable."""
        plain = {k: replace(f, mode=f.mode & 0o100) for k, f in self.files.items()}
        return replace(self, files=plain)

    def travelling(self, carried: frozenset[bytes]) -> "Whole":
        """Return what is to arrive: all but the ignored files that are not ``carried``."""
        stays = self.ignored - carried - {*_ALONG}
        return replace(self, files={k: v for k, v in self.files.items() if k not in stays})


def see(top: Path) -> Whole:
    """Return all of the checkout at ``top``."""
    config = dict(_settings(ask(top, "config", "-z", "--list")))
    head = (top / ".git" / "HEAD").read_bytes().strip()
    ref = head.removeprefix(b"ref: ") if head.startswith(b"ref: ") else b""
    branch = ref.decode().removeprefix("refs/heads/")
    upstream = {key: config.get(f"branch.{branch}.{key}", b"") for key in ("remote", "merge")}
    ignored = ask(top, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    files, empty = _walk(top)
    return Whole(
        head={"ref": ref, "commit": ask(top, "rev-parse", "--verify", "HEAD").strip()},
        index=dict(_index(ask(top, "ls-files", "--stage", "--debug", "-z"))),
        files=files,
        empty=empty,
        status=_status(top),
        stash=_stash(top),
        operation={**_operation(top / ".git"), **_refs(top)},
        upstream=upstream if any(upstream.values()) else {},
        sparse=_sparse(top, config),
        ignored=frozenset(ignored.split(b"\0")[:-1]),
        complete=_complete(top),
    )


def differences(
    sent: Whole, arrived: Whole, *, filtered: bool = False, alike: bool = True
) -> list[str]:
    """Return a line for each thing that did not arrive as it was.

    ``filtered``: git converts files here, so that of one with the same bytes it may say on one
    machine only that it is changed. Not ``alike``: the two machines change line ends in different
    ways, so that a tracked file whose lines all end in CRLF may arrive with LF.
    """
    tracked = {os.fsencode(key.rpartition("#")[0]) for key in sent.index}
    files = dict(sent.files)
    told = dict(sent.status)
    for name in {*files} & {*arrived.files} & tracked if filtered else ():
        before, after = files[name], arrived.files[name]
        if not alike and _only_crlf(before.data) and after.data != before.data:
            files[name] = replace(before, data=before.data.replace(b"\r\n", b"\n"))
        elif after.data == before.data and _FINDER.search(before.data):
            _excuse(name, told, arrived.status)
    found = [] if arrived.complete or not sent.complete else ["objects are missing"]
    pairs: list[tuple[str, Mapping[Any, object], Mapping[Any, object]]] = [
        ("head", sent.head, arrived.head),
        ("index", sent.index, arrived.index),
        ("file", files, arrived.files),
        ("empty folder", sent.empty, arrived.empty),
        ("status", told, arrived.status),
        ("operation", sent.operation, arrived.operation),
        ("sparse", sent.sparse, arrived.sparse),
    ]
    if sent.upstream:
        pairs.append(("upstream", sent.upstream, arrived.upstream))
    for what, here, there in pairs:
        found += _between(what, here, there)
    if sent.stash != arrived.stash:
        found += [f"stash: {_short(b' '.join(s))}" for s in ((*sent.stash, b"->"), arrived.stash)]
    return found


def _only_crlf(data: bytes) -> bool:
    return data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r") > 0


def _excuse(name: bytes, told: dict[bytes, bytes], arrived: Mapping[bytes, bytes]) -> None:
    """Let ``told`` say what ``arrived`` says, if only git's opinion on the worktree differs."""
    before, after = told.get(name, b"1 .."), arrived.get(name, b"1 ..")
    if {before[3:4], after[3:4]} <= {b".", b"M"} and before[2:3] == after[2:3]:
        told.pop(name, None)
        if name in arrived:
            told[name] = arrived[name]


def _between(what: str, sent: Mapping[Any, object], arrived: Mapping[Any, object]) -> Iterator[str]:
    for name in sorted({*sent, *arrived}):
        before, after = (_value(side.get(name)) for side in (sent, arrived))
        if sent.get(name) != arrived.get(name):
            yield f"{what} {name!r}: {before} -> {after}"


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, File):
        return value.text
    return _short(value) if isinstance(value, bytes) else str(value)


def _short(data: bytes) -> str:
    return repr(data) if len(data) <= _SHOWN else f"{data[:_SHOWN]!r}... ({len(data)} bytes)"


def _settings(listed: bytes) -> Iterator[tuple[str, bytes]]:
    for item in listed.split(b"\0")[:-1]:
        key, _, value = item.partition(b"\n")
        yield os.fsdecode(key), value


def _index(listed: bytes) -> Iterator[tuple[str, bytes]]:
    for entry in index_entries(listed):
        told, _, flags = entry.rpartition(b" flags ")
        head, _, name = told.partition(b"\t")
        mode, oid, stage = head.split(b" ")
        kept = b"%x" % (int(flags, 16) & _FLAGS)
        yield f"{os.fsdecode(name)}#{stage.decode()}", b" ".join((mode, oid, kept))


def _status(top: Path) -> dict[bytes, bytes]:
    words = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
    found = {}
    for line in ask(top, "status", *words, "--ignore-submodules=none").split(b"\0")[:-1]:
        cut = {b"?": 1, b"1": 8, b"u": 10}[line[:1]]
        found[line.split(b" ", cut)[-1]] = line
    return found


def _stash(top: Path) -> tuple[bytes, ...]:
    if not (top / ".git" / "logs" / "refs" / "stash").exists():
        return ()
    shown = ("-z", "--format=%H %gs", "--encoding=UTF-8")
    return tuple(ask(top, "log", "-g", *shown, "refs/stash", "--").split(b"\0")[:-1])


def _complete(top: Path) -> bool:
    """Say whether every object is there that HEAD, the index and the stash list need."""
    words = ("rev-list", "--quiet", "--objects", "--reflog", "--indexed-objects", "HEAD", "--")
    return not subprocess.run(["git", *words], cwd=top, check=False).returncode


def _refs(top: Path) -> dict[str, bytes]:
    listed = ask(top, "for-each-ref", "--format=%(refname) %(objectname)", *_REFS)
    pairs = [line.rpartition(b" ") for line in listed.splitlines()]
    return {os.fsdecode(name): oid for name, _, oid in pairs}


def _operation(git_dir: Path) -> dict[str, bytes]:
    found = [git_dir / name for name in _FILES]
    for name in _FOLDERS:
        found += sorted((git_dir / name).rglob("*"))
    return {str(p.relative_to(git_dir)): p.read_bytes() for p in found if p.is_file()}


def _sparse(top: Path, config: Mapping[str, bytes]) -> dict[str, bytes]:
    if config.get("core.sparsecheckout") != b"true":
        return {}
    keys = ("core.sparsecheckoutcone", "index.sparse")
    patterns = top / ".git" / "info" / "sparse-checkout"
    told = {"patterns": patterns.read_bytes() if patterns.exists() else b""}
    return {**{key: config.get(key, b"") for key in keys}, **told}


def _walk(top: Path) -> tuple[dict[bytes, File], dict[bytes, str]]:
    """Return every file and link but git's, and every folder in which nothing stands."""
    files: dict[bytes, File] = {}
    empty: dict[bytes, str] = {}
    root = os.fsencode(top)
    pending = [b""]
    while pending:
        folder = pending.pop()
        with os.scandir(root + b"/" + folder) as listed:
            entries = [e for e in listed if folder or e.name != b".git"]
        if folder and not entries:
            empty[folder] = "empty"
        for entry in entries:
            name = folder + b"/" + entry.name if folder else entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                pending.append(name)
            elif stat.S_ISLNK(mode):
                files[name] = File("link", 0, os.readlink(entry.path))  # noqa: PTH115
            elif stat.S_ISREG(mode):
                data = Path(os.fsdecode(entry.path)).read_bytes()
                files[name] = File("file", stat.S_IMODE(mode), data)
            else:
                files[name] = File(oct(stat.S_IFMT(mode)), 0, b"")
    return files, empty
