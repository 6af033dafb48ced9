"""Git's objects as bytes: names, trees and commits, read and written without git.

Source: gitformat-pack(5), git-cat-file(1), and "Git Internals: Git Objects". Names are bytes:
a path need not be UTF-8. Reading is strict; what git itself would refuse raises DamagedError.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from handsoff.errors import DamagedError

FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
LINK: Final = 0o120000
TREE: Final = 0o040000
GITLINK: Final = 0o160000
MODES: Final = frozenset({FILE, EXECUTABLE, LINK, TREE, GITLINK})

_MODE: Final = re.compile(rb"[0-7]{1,7}")

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of the tree without entries."""


def oid_of(kind: str, data: bytes) -> str:
    """Return the SHA-1 name of an object of ``kind`` (blob, tree, commit) with this content."""
    digest = begun_oid(kind, len(data))
    digest.update(data)
    return digest.hexdigest()


def begun_oid(kind: str, size: int) -> "hashlib._Hash":
    """Return the SHA-1 that names an object of ``kind`` once its ``size`` bytes are fed to it."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), size))


class TreeEntry(NamedTuple):
    """One line of a tree: a name without slash, its mode, and the object's id."""

    name: bytes
    mode: int
    oid: str


RawEntry: TypeAlias = tuple[bytes, bytes, bytes]
"""Mode, name and id of an entry, as the bytes that stand there."""
SUBTREE: Final = b"40000"
"""How a tree spells the mode of another in it."""
_ENTRY: Final = re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0(.{20})", re.DOTALL)
_TREE: Final = re.compile(rb"(?:[0-7]{5,6} [^\0/]+\0.{20})*+", re.DOTALL)


def raw_entries(data: bytes) -> list[RawEntry]:
    """Return the entries of a tree object."""
    if not _TREE.fullmatch(data):
        raise DamagedError("a tree object is cut short or malformed")
    return _ENTRY.findall(data)


def parse_tree(data: bytes) -> list[TreeEntry]:
    """Return the entries of a tree object, in the order in which they stand."""
    return [TreeEntry(name, int(mode, 8), oid.hex()) for mode, name, oid in raw_entries(data)]


def encode_tree(entries: list[TreeEntry]) -> bytes:
    """Return the bytes of a tree with ``entries``, sorted as git sorts them."""
    return join_entries((b"%o" % e.mode, e.name, bytes.fromhex(e.oid)) for e in entries)


def join_entries(entries: Iterable[RawEntry]) -> bytes:
    """Return the bytes of a tree with entries as ``raw_entries`` gives them, sorted."""
    # git compares a directory as if its name ended with a slash
    ordered = sorted(entries, key=lambda e: e[1] + b"/" if e[0] == SUBTREE else e[1])
    return b"".join([b"%b %b\0%b" % entry for entry in ordered])


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: ids in hex, lines of identity as git writes them (``name <mail> secs zone``)."""

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str
    signatures: tuple[str, ...] = ()
    """Values of ``gpgsig`` headers, without the continuation blanks. Git makes one or none."""
    others: tuple[tuple[str, str], ...] = ()
    """Any further headers, such as ``encoding``, in their order."""


def encode_commit(commit: Commit, *, signed: bool = True) -> bytes:
    """Return the bytes of ``commit``; without its signatures, they are what was signed."""
    lines = [f"tree {commit.tree}", *(f"parent {p}" for p in commit.parents)]
    lines += [f"author {commit.author}", f"committer {commit.committer}"]
    lines += [f"{name} {_fold(value)}" for name, value in commit.others]
    if signed:
        lines += [f"gpgsig {_fold(signature)}" for signature in commit.signatures]
    return ("\n".join(lines) + "\n\n" + commit.message).encode("utf-8", "surrogateescape")


def parse_commit(data: bytes) -> Commit:
    """Return the commit that ``data`` spells; what has no tree, author or committer is damaged."""
    head, separator, message = data.decode("utf-8", "surrogateescape").partition("\n\n")
    headers = _headers(head)
    parents = []
    signatures = []
    others = []
    single: dict[str, str] = {}
    for name, value in headers:
        if name == "parent":
            parents.append(value)
        elif name == "gpgsig":
            signatures.append(value)
        elif name in ("tree", "author", "committer") and name not in single:
            single[name] = value
        else:
            others.append((name, value))
    if not separator or single.keys() != {"tree", "author", "committer"}:
        raise DamagedError("a commit object is malformed")
    return Commit(
        tree=single["tree"],
        parents=tuple(parents),
        author=single["author"],
        committer=single["committer"],
        message=message,
        signatures=tuple(signatures),
        others=tuple(others),
    )


def _headers(head: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in head.split("\n"):
        if line.startswith(" ") and found:
            name, value = found[-1]
            found[-1] = (name, f"{value}\n{line[1:]}")
        else:
            name, _, value = line.partition(" ")
            found.append((name, value))
    return found


def _fold(value: str) -> str:
    return value.replace("\n", "\n ")
