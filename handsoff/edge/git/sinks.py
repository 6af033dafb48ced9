"""Where the objects go that a capture makes: nowhere, into the clone's private folder, or a pack.

``Hashing`` keeps nothing (the receiver compares ids), ``Storing`` keeps a restore point, and
``Packing`` writes what travels, so that what is hashed, inspected and sent is one thing.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from handsoff.core.objects import LINK, oid_of
from handsoff.edge.git import disk
from handsoff.edge.git.disk import Content, Signature, Worktree
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import PackWriter, Piece

_LARGE: Final = 1 << 20


class Sink(Protocol):
    """Where new objects go."""

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, "Taken"]:
        """Read and hash the files ``wanted``; those that are not there are left out."""
        ...

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:
        """Take one object that was made in memory, and return its id."""
        ...


class Taken:
    """A file that was read: its leaf, and the signature that tells whether it changed since."""

    __slots__ = ("leaf", "links", "signature")

    def __init__(self, content: Content) -> None:
        self.leaf = disk.leaf_of(content)
        self.signature: Signature = content.signature
        self.links = content.links


def _taken(worktree: Worktree, path: bytes) -> Taken | None:
    content = worktree.read(path)
    return Taken(content) if content is not None else None


class Hashing:
    """A sink that only names what it is given."""

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read and hash files: large ones two at a time.

        Of small ones two threads would mostly wait for each other, and take longer than one.
        """
        found, large = {}, []
        for path in wanted:
            content = worktree.read(path, _LARGE)
            if content is not None and content.signature.size > _LARGE:
                large.append(path)
            elif content is not None:
                found[path] = Taken(content)
        if large:
            with ThreadPoolExecutor(2) as pool:
                contents = pool.map(lambda path: _taken(worktree, path), large)
                found |= {path: taken for path, taken in zip(large, contents, strict=True) if taken}
        return found

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:  # noqa: ARG002
        """Return the id of an object."""
        return oid_of(kind, data)


class Storing:
    """A sink that keeps what it is given in the clone's private folder, one file an object."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read, hash and store files."""
        found = {}
        for path in wanted:
            content = worktree.read(path)
            if content is not None:
                found[path] = Taken(content)
                self.put("blob", content.data, path, "")
        return found

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:  # noqa: ARG002
        """Store an object that was made in memory."""
        return self._objects.write(kind, data)


class Packing:
    """A sink that writes a pack, so that what is hashed, inspected and sent is one thing."""

    def __init__(
        self, pack: PackWriter, *, limit: int, oversize: Callable[[bytes, int, str], bool]
    ) -> None:
        self._pack = pack
        self._limit = limit
        self._oversize = oversize

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read, hash and pack files.

        One over the limit is taken only if ``oversize`` lets its size and id pass; else it is left
        out, and whoever was told must see to it that this state is never sent.
        """
        found: dict[bytes, Taken] = {}

        def read(path: bytes) -> Piece | None:
            content = self._read(worktree, path)
            if content is None:
                return None
            found[path] = taken = Taken(content)
            return Piece("blob", content.data, path, "", oid=taken.leaf.oid)

        self._pack.each(wanted, read)
        self._pack.drain()
        return found

    def _read(self, worktree: Worktree, path: bytes) -> Content | None:
        content = worktree.read(path, self._limit)
        if content is not None and content.mode != LINK and content.signature.size > self._limit:
            whole = self._oversize(path, content.signature.size, worktree.oid(path))
            return worktree.read(path) if whole else None
        return content

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:
        """Pack an object that was made in memory."""
        oid = oid_of(kind, data)
        self._pack.add([Piece(kind, data, path, where, oid=oid)])
        return oid
