"""Which paths may be written at all: one rule for everything that writes into a worktree.

A path of a parcel comes from another machine. It must already be clean (``..`` is refused,
never repaired), must not reach into a ``.git`` under any spelling that some file system folds
into it, and two paths must not fold into one. Links are data: they travel as they are, and are
never followed when something is written below them.

Sources: git's verify_path and its fsck messages, CVE-2014-9390 (HFS+ and NTFS spellings of
.git), CVE-2019-1353 (git~1), CVE-2021-21300 (a link and a directory that fold together).
"""

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Final

from handsoff.errors import RefusedError

NAME_LIMIT: Final = 255
DEPTH_LIMIT: Final = 128
PATH_LIMIT: Final = 4000

# characters that HFS+ leaves out when it compares names
_IGNORABLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_NTFS_GIT: Final = re.compile(r"(\.git|git~\d+)([ .]*)(:.*)?", re.IGNORECASE | re.DOTALL)
# a name in which nothing above can be: ASCII that is printed, and no backslash
_PLAIN: Final = rb"(?!\.git|git~|\.{1,2}(?:[\0/]|\Z))[ -.0-\[\]-~]{1,%d}" % NAME_LIMIT
_NAME: Final = _PLAIN + rb"\0"
_PATH: Final = re.compile(rb"%b(?:/%b)*+" % (_PLAIN, _PLAIN), re.IGNORECASE)
_HARMLESS: Final = re.compile(rb"(?:%b)*+" % _NAME, re.IGNORECASE)
# a tree of git with such names, and no folder among them
_FILES: Final = re.compile(
    rb"(?:(?:100644|100755|120000|160000) %b.{20})*+" % _NAME, re.IGNORECASE | re.DOTALL
)
_EACH: Final = re.compile(rb"[0-7]+ ([^\0]+)\0.{20}", re.DOTALL)
_WILD: Final = re.compile(rb"[*?\[\\]")
"""What makes of a part of a gitignore pattern more than a name."""


def check_path(path: bytes) -> None:
    """Raise RefusedError if nothing of this name may be written into a worktree."""
    problem = path_problem(path)
    if problem:
        raise RefusedError(f"the path {shown(path[:120])} {problem}")


def check_names(names: Sequence[bytes]) -> None:
    """Raise RefusedError if ``check_path`` does so for one of ``names``, the names of a folder."""
    # most folders have nothing else in them, and one look at all their names is a tenth of the work
    if not _HARMLESS.fullmatch(b"".join(name + b"\0" for name in names)):
        for name in names:
            check_path(name)


def harmless_files(tree: bytes) -> list[bytes] | None:
    """Return the names in a tree that has files alone, all of which may be written.

    None if one look at it does not tell: then each entry must be looked at by itself.
    """
    return _EACH.findall(tree) if _FILES.fullmatch(tree) else None


def is_spelled(path: str) -> bool:
    """Say whether a disk could have such a name: JSON can spell characters that are none."""
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def path_problem(path: bytes) -> str | None:
    """Return what is wrong with ``path`` (relative, slashes), or None if it may be written."""
    if _PATH.fullmatch(path) and len(path) <= PATH_LIMIT and path.count(b"/") < DEPTH_LIMIT:
        return None  # as most are
    if not path or path.startswith(b"/") or b"\0" in path:
        return "is empty, absolute or has a NUL"
    parts = path.split(b"/")
    if len(path) > PATH_LIMIT:
        return f"is longer than {PATH_LIMIT} bytes"
    if len(parts) > DEPTH_LIMIT:
        return f"is more than {DEPTH_LIMIT} levels deep"
    for part in parts:
        if part in (b"", b".", b".."):
            return "is not a clean relative path"
        if len(part) > NAME_LIMIT:
            return f"has a name of {len(part)} bytes"
        if _is_dot_git(part):
            return "reaches into .git"
    return None


def _is_dot_git(name: bytes) -> bool:
    text = _IGNORABLE.sub("", name.decode("utf-8", "surrogateescape"))
    # on NTFS a backslash is a slash, and git itself refuses such names
    return any(_NTFS_GIT.fullmatch(part) for part in text.split("\\"))


def fold(path: bytes) -> str:
    """Return a key under which names that some file system takes for one are equal."""
    text = _IGNORABLE.sub("", path.decode("utf-8", "surrogateescape"))
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def collisions(paths: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of different paths (or folders of paths) that fold into one name."""
    seen: dict[str, bytes] = {}
    found = []
    for path in paths:
        parts = path.split(b"/")
        for end in range(1, len(parts) + 1):
            prefix = b"/".join(parts[:end])
            first = seen.setdefault(fold(prefix), prefix)
            if first != prefix:
                found.append((first, prefix))
    return list(dict.fromkeys(found))


def parents(path: bytes) -> list[bytes]:
    """Return the folders above ``path``, outermost first."""
    parts = path.split(b"/")
    return [b"/".join(parts[:end]) for end in range(1, len(parts))]


def folders_above(paths: Iterable[bytes]) -> list[bytes]:
    """Return the folders above any of ``paths``, each once, outer ones before those inside."""
    nearest = dict.fromkeys(path.rpartition(b"/")[0] for path in paths)
    above = (folder for near in nearest if near for folder in (*parents(near), near))
    return list(dict.fromkeys(above))


def shown(path: bytes) -> str:
    """Return ``path`` as one safe line for a person: control characters escaped."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def check_carry(lines: bytes, top: bytes) -> list[bytes]:
    """Return the patterns of a carry list (gitignore syntax), ready to be given to git.

    Line ends of any system, blanks around a line and a mark of byte order are dropped, and ``./``
    stands for the top, where git would find nothing by it. A blank at the end that a backslash
    quotes stays. A pattern that leaves the checkout (``..``, or an absolute path outside ``top``)
    raises RefusedError.
    """
    patterns = []
    for number, raw in enumerate(lines.removeprefix(BOM_UTF8).splitlines(), 1):
        given = raw.lstrip(b" \t")
        line = given.rstrip(b" \t\r")
        if (len(line) - len(line.rstrip(b"\\"))) % 2:
            line = given[: len(line) + 1]  # a blank that is quoted belongs to the name
        if not line or line.startswith(b"#"):
            continue
        bare = line.lstrip(b"!").replace(b"\\", b"/")
        if b".." in bare.split(b"/") or re.match(rb"[A-Za-z]:/", bare) or bare.startswith(b"~/"):
            raise RefusedError(
                f"line {number} of .wip/carry leaves the checkout: {shown(line)}",
                hint="name files inside the checkout, relative to its top",
            )
        but = b"!" if line.startswith(b"!") else b""
        if line.startswith(but + top + b"/"):
            line = but + line[len(but + top) :]
        elif line.startswith(but + b"./"):
            line = but + line[len(but) + 1 :]
        patterns.append(line)
    return patterns


def absent(
    patterns: Iterable[bytes], carried: Iterable[bytes], there: Callable[[bytes], bool]
) -> list[bytes]:
    """Return what ``patterns`` of a carry list name letter by letter, and is not to be had.

    A pattern with a wildcard may well find nothing today; a plain name is a file that somebody
    means to take along. ``there`` says of a path whether anything stands at it.
    """
    names: set[bytes] = set()
    for path in carried:
        parts = path.lower().rstrip(b"/").split(b"/")
        names.update(parts)
        names.update(b"/".join(parts[: end + 1]) for end in range(len(parts)))
    plainly = (p.strip(b"/") for p in patterns if not p.startswith(b"!") and not _WILD.search(p))
    lost = {path for path in plainly if path.lower() not in names and path_problem(path) is None}
    return sorted(path for path in lost if not there(path))


def carry_places(patterns: Iterable[bytes]) -> list[bytes]:
    """Return the paths at or below which all lies that a carry list can name, sorted.

    Empty if it can lie anywhere: a pattern without a slash in front of its end is looked for in
    each folder, and one may begin with a wildcard (gitignore(5)).
    """
    places = set()
    for pattern in patterns:
        if pattern.startswith(b"!"):
            continue  # it takes back only
        parts = pattern.strip(b"/").split(b"/")
        place = b"/".join(takewhile(lambda part: not _WILD.search(part), parts))
        if b"/" not in pattern[:-1] or not place:
            return []
        places.add(place)
    return sorted(places)
