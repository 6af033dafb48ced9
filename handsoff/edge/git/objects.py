"""Git's objects, read in process: the one use of pygit2, at the level of its object database.

Only the database is opened, never the repository: libgit2 refuses some repositories that git
reads (partial clones, unknown extensions) and knows other rules for the rest.
"""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from handsoff.core.chain import Draft
from handsoff.core.objects import EMPTY_TREE, Commit, oid_of, parse_commit
from handsoff.edge.git.remote import Shared
from handsoff.errors import DamagedError

_KINDS: Final = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_NUMBERS: Final = {name: number for number, name in _KINDS.items()}


_WINDOW: Final = 16 << 20
_MAPPED: Final = 64 << 20


@cache
def _keep_small() -> None:
    """Let libgit2 map packs in small windows and cache nothing: each object is read once here.

    Objects are hashed where that decides something (git's gate when they arrive, our own writer
    when they become files), so libgit2 need not hash each of them again.
    """
    import pygit2  # noqa: PLC0415 - as below
    from pygit2.enums import Option  # noqa: PLC0415 - as below

    pygit2.option(Option.ENABLE_CACHING, False)  # noqa: FBT003 - its API
    pygit2.option(Option.ENABLE_STRICT_HASH_VERIFICATION, False)  # noqa: FBT003 - its API
    pygit2.option(Option.SET_MWINDOW_SIZE, _WINDOW)
    pygit2.option(Option.SET_MWINDOW_MAPPED_LIMIT, _MAPPED)


def preload() -> None:
    """Begin to import libgit2's binding in a thread, while something else is waited for."""
    threading.Thread(target=_keep_small, name="libgit2", daemon=True).start()


class Objects:
    """Objects of one or more object folders (``.../objects``); the first one is written to.

    The empty tree is always here, as it is for git: ``git rebase --root`` and others name it, and
    write it nowhere.
    """

    def __init__(self, *folders: Path) -> None:
        import pygit2  # noqa: PLC0415 - 0.15 s, so imported where it is needed

        _keep_small()
        self._odb = pygit2.Odb(str(folders[0]))
        for folder in folders[1:]:
            self._odb.add_disk_alternate(str(folder))
        self.folders: Sequence[Path] = folders

    def has(self, oid: str) -> bool:
        """Say whether the object is here."""
        return oid == EMPTY_TREE or oid in self._odb

    def read(self, oid: str) -> tuple[str, bytes]:
        """Return the kind and the content of an object; DamagedError if missing or broken."""
        import pygit2  # noqa: PLC0415 - as above

        if oid == EMPTY_TREE:
            return "tree", b""
        try:
            number, data = self._odb.read(oid)
        except (KeyError, ValueError, pygit2.GitError, OSError) as error:
            raise DamagedError(
                f"the object {oid} is missing or broken", hint="run git fsck in this clone"
            ) from error
        return _KINDS[int(number)], data

    def kind(self, oid: str) -> str:
        """Return the kind of an object without reading it whole."""
        return _KINDS[self._header(oid)[0]]

    def size(self, oid: str) -> int:
        """Return how many bytes an object has, without reading it whole."""
        return self._header(oid)[1]

    def tree(self, oid: str) -> bytes:
        """Return the bytes of a tree."""
        return self._of_kind(oid, "tree")

    def blob(self, oid: str, limit: int | None = None) -> bytes:
        """Return the bytes of a blob; DamagedError, and no byte read, if over ``limit``."""
        if limit is not None and self.size(oid) > limit:
            raise DamagedError(f"the object {oid} has {self.size(oid)} bytes, and {limit} may be")
        return self._of_kind(oid, "blob")

    def commit(self, oid: str) -> Commit:
        """Return a commit."""
        data = self._of_kind(oid, "commit")
        try:
            return parse_commit(data)
        except DamagedError as error:
            short = oid[:10]
            raise DamagedError(
                f"the commit {short} is malformed",
                hint=f"to see what is wrong with it: git cat-file -p {short}",
            ) from error

    def write(self, kind: str, data: bytes) -> str:
        """Store an object as a loose file, and return its id."""
        oid = str(self._odb.write(_NUMBERS[kind], data))
        assert oid == oid_of(kind, data)
        return oid

    def write_drafts(self, drafts: Sequence[Draft]) -> None:
        """Store entries that were written here, so that they can be pushed."""
        for draft in drafts:
            self.write("tree", draft.tree)
            self.write("commit", draft.data)

    def _header(self, oid: str) -> tuple[int, int]:
        import pygit2  # noqa: PLC0415 - as above

        if oid == EMPTY_TREE:
            return _NUMBERS["tree"], 0
        try:
            number, size = self._odb.read_header(oid)
        except (KeyError, ValueError, pygit2.GitError) as error:
            raise DamagedError(f"the object {oid} is missing or broken") from error
        return int(number), int(size)

    def _of_kind(self, oid: str, kind: str) -> bytes:
        found, data = self.read(oid)
        if found != kind:
            raise DamagedError(f"the object {oid} is a {found}, not a {kind}")
        return data


def store_of(shared: Shared) -> Objects:
    """Return the private objects of a clone, beside those of the repository itself."""
    return Objects(shared.objects, shared.checkout.objects_dir)
