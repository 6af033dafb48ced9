"""Trees that nobody honest makes, as raw objects: each kind by name, and what becomes of it.

A kind is refused where git's gate or our own rules for paths refuse it; the others arrive exactly
as they are and harm nobody: links are written and never followed, odd names are names.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from handsoff.core.objects import oid_of

Entries: TypeAlias = Sequence[tuple[bytes, bytes, "bytes | Entries"]]
"""Mode, name, and the content of a blob, or the entries of a tree; in the order given."""

OUTSIDE: Final = b"/tmp/handsoff-poison"
RUN: Final = "touch {canary}"
FILE, RUNS, LINK, DIR, MODULE = b"100644", b"100755", b"120000", b"40000", b"160000"


@dataclass(frozen=True)
class Poison:
    """One kind: entries of a tree, and whether a receiver takes it."""

    name: str
    entries: Entries
    arrives: bool = False

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield the objects, the tree of the kind last."""
        yield from _objects(self.entries)

    def named(self, prefix: bytes = b"") -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield path, mode and content of each file and link."""
        yield from _leaves(self.entries, prefix)


def _tree(entries: Entries) -> bytes:
    lines = []
    for mode, name, inside in entries:
        raw = inside if isinstance(inside, bytes) else _tree(inside)
        kind = "blob" if isinstance(inside, bytes) else "tree"
        oid = inside.decode() if mode == MODULE and isinstance(inside, bytes) else oid_of(kind, raw)
        lines.append(mode + b" " + name + b"\0" + bytes.fromhex(oid))
    return b"".join(lines)


def _objects(entries: Entries) -> Iterator[tuple[str, bytes]]:
    for mode, _, inside in entries:
        if not isinstance(inside, bytes):
            yield from _objects(inside)
        elif mode != MODULE:
            yield "blob", inside
    yield "tree", _tree(entries)


def _leaves(entries: Entries, prefix: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    for mode, name, inside in entries:
        if isinstance(inside, bytes):
            yield prefix + name, mode, inside
        else:
            yield from _leaves(inside, prefix + name + b"/")


def write(poison: Poison, put: Callable[[str, bytes], str]) -> str:
    """Store the objects of a kind with ``put``; return the id of its tree."""
    oid = ""
    for kind, data in poison.objects():
        oid = put(kind, data)
    return oid


def _at(name: bytes, mode: bytes = FILE, inside: "bytes | Entries" = b"x\n") -> Entries:
    found: Entries = [(mode, name, inside)]
    return found


def _below(name: bytes) -> Entries:
    return _at(name, DIR, [(DIR, b"hooks", [(RUNS, b"post-checkout", b"#!/bin/sh\n")])])


def _modules(text: str) -> Entries:
    return [(FILE, b".gitmodules", text.encode()), (MODULE, b"sub", b"1" * 40)]


_TWINS: Final[Entries] = [
    (LINK, b"D", b".git"), (DIR, b"d", [(DIR, b"hooks", _at(b"post-checkout", RUNS))]),
]  # fmt: skip


def _submodule(path: str = "sub", url: str = "u", more: str = "", name: str = "sub") -> Entries:
    return _modules(f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n{more}')


def _deep(levels: int) -> Entries:
    entries = _at(b"f")
    for _ in range(levels):
        entries = _at(b"d", DIR, entries)
    return entries


def _bare(config: bytes) -> Entries:
    """Return what git takes for a repository when somebody works in that folder."""
    return [
        (FILE, b"HEAD", b"ref: refs/heads/main\n"),
        (FILE, b"config", config),
        (DIR, b"objects", [(FILE, b"keep", b"")]),
        (DIR, b"refs", [(FILE, b"keep", b"")]),
    ]


_CONFIG: Final = (
    b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = CANARY\n"
    b'\tsshCommand = CANARY\n\tpager = CANARY\n\teditor = CANARY\n[remote "origin"]\n'
    b"\turl = ext::CANARY\n\tuploadpack = CANARY\n[diff]\n\texternal = CANARY\n"
)
HFS: Final = (b".g\xe2\x80\x8cit", b"\xe2\x80\x8d.git", b".git\xe2\x81\xaa", b".gi\xef\xbb\xbft")

REFUSED: Final = (
    *(Poison(f"the name {name!r}", _at(name)) for name in (
        b"..", b".", b"", b"a/b", b"/etc/passwd", b"../esc", b".git", b".GIT", b".giT", b"git~1",
        b"GIT~1", b"git~2", b".git ", b".git.", b".git . .", b".git::$INDEX_ALLOCATION", b".git:x",
        b".git\\config", b"a\\.git\\hooks", *HFS, b"n" * 256, b"n" * 5000,
    )),
    Poison("a folder ..", _at(b"..", DIR, _at(b"..", DIR, _at(b"esc")))),
    Poison("a hook in .git", _below(b".git")),
    Poison("a hook in .GIT", _below(b".GIT")),
    Poison("a hook in git~1", _below(b"git~1")),
    Poison("a link called .git", _at(b".git", LINK, OUTSIDE)),
    Poison("a submodule called .git", _at(b".git", MODULE, b"1" * 40)),
    Poison("a link, then a file below it", [(LINK, b"d", OUTSIDE), (DIR, b"d", _at(b"f"))]),
    Poison("a file and a folder of one name", [(FILE, b"d", b"x"), (DIR, b"d", _at(b"f"))]),
    Poison("one name twice", [(FILE, b"d", b"x"), (FILE, b"d", b"y")]),
    Poison("out of order", [(FILE, b"z", b"x"), (FILE, b"a", b"y")]),
    Poison("mode 104755", _at(b"f", b"104755")),
    Poison("mode 100666", _at(b"f", b"100666")),
    Poison("mode 140000", _at(b"f", b"140000")),
    Poison(".gitmodules as a link", _at(b".gitmodules", LINK, OUTSIDE)),
    Poison("a submodule's -u as url", _submodule(url="-utouch x")),
    Poison("a submodule's option as path", _submodule(path="-x")),
    Poison("a submodule's ../.. as name", _submodule(name="../../x")),
    Poison("a submodule's command as update", _submodule(more="\tupdate = !touch x\n")),
    Poison("200 folders deep", _deep(200)),
)  # fmt: skip

ARRIVES: Final = tuple(
    Poison(name, entries, arrives=True) for name, entries in (
        ("a link out of the tree", _at(b"passwd", LINK, b"/etc/passwd")),
        ("a link into .git", _at(b"conf", LINK, b"../.git/config")),
        ("a link to the top", _at(b"up", LINK, b"../../..")),
        ("a link to nothing, long", _at(b"long", LINK, b"x" * 2000)),
        ("a link and a folder of another case", _TWINS),
        ("two names of another case", [(FILE, b"README", b"a"), (FILE, b"readme", b"b")]),
        ("composed and decomposed", [(FILE, b"cafe\xcc\x81", b"a"), (FILE, b"caf\xc3\xa9", b"b")]),
        ("a backslash", _at(b"a\\..\\..\\esc")),
        ("a drive", _at(b"C:evil")),
        ("a stream", _at(b"x:y")),
        ("devices of Windows", [(FILE, b"CON", b"a"), (FILE, b"aux.c", b"b"), (FILE, b"nul", b"")]),
        ("dot and blank at the end", [(FILE, b"blank ", b"a"), (FILE, b"dot.", b"b")]),
        ("escapes and line ends", _at(b"\x1b]52;c;aGk=\x07\x1b[2J\nname\r")),
        ("turned writing", _at("\u202egnp.exe".encode())),
        ("not UTF-8", _at(b"\xff\xfe\x80")),
        ("an option", _at(b"--upload-pack=touch x")),
        ("255 bytes", _at(b"n" * 255)),
        ("100 folders deep", _deep(100)),
        (".gitattributes as a link", _at(b".gitattributes", LINK, b"/etc/passwd")),
        ("a filter and a textconv", _at(
            b".gitattributes", FILE, b"* filter=evil diff=evil merge=evil\n")),
        (".lfsconfig", _at(b".lfsconfig", FILE, b"[lfs]\n\turl = ext::CANARY\n")),
        ("a submodule's path with a return", _submodule(path='"sub\r"')),
        ("a repository of its own", _bare(_CONFIG)),
        ("a hook of husky", _at(b".husky", DIR, _at(b"pre-commit", RUNS, b"CANARY\n"))),
    )
)  # fmt: skip
