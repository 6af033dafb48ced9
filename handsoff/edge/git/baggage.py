"""The transcripts beside a state, read out of an envelope piece by piece."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from handsoff.core import objects
from handsoff.core.objects import FILE, TreeEntry, parse_tree
from handsoff.core.parcels import bounds
from handsoff.core.plain import plain
from handsoff.core.transcripts.baggage import (
    LIST,
    LIST_LIMIT,
    TREE,
    Baggage,
    File,
    check_pieces,
    decode,
)
from handsoff.core.transcripts.baggage import PIECES as MOST_PIECES
from handsoff.edge.git.objects import Objects
from handsoff.errors import DamagedError, RefusedError


@dataclass(frozen=True)
class Arrived:
    """What travelled beside a state. Nothing of it is held: a file is read as it is needed."""

    baggage: Baggage
    store: Objects
    trees: Mapping[str, str]

    def pieces(self, file: File) -> Iterator[bytes]:
        """Yield a file, piece by piece."""
        for entry in self._entries(file):
            yield self.store.blob(entry.oid)

    def tail(self, file: File, size: int) -> bytes:
        """Return the last ``size`` bytes of a file, or all of it."""
        end = b""
        for entry in reversed(self._entries(file)):
            if len(end) >= size:
                break
            end = self.store.blob(entry.oid) + end
        return end[-size:]

    def check(self) -> None:
        """Raise DamagedError unless each file is all there, and is what the list says of it."""
        count = 0
        for session in self.baggage.sessions:
            for file in session.files:
                entries = self._entries(file)
                count += len(entries)
                if count > MOST_PIECES:
                    raise RefusedError(f"the transcripts have more than {MOST_PIECES} pieces")
                sizes = ((e.name, e.mode == FILE, self.store.size(e.oid)) for e in entries)
                check_pieces(file, sizes)
                digest = hashlib.sha256()
                for piece in self.pieces(file):
                    digest.update(piece)
                if digest.hexdigest() != file.sha256:
                    raise DamagedError(
                        f"the transcript {plain(file.name)} is not what it should be"
                    )

    def _entries(self, file: File) -> list[TreeEntry]:
        if not file.pieces:
            return []
        if file.pieces not in self.trees:
            raise DamagedError(f"the transcript {plain(file.name)} is not in the parcel")
        return _tree(self.store, self.trees[file.pieces])


def read(store: Objects, envelope: str) -> Arrived | None:
    """Return what travels beside the state of ``envelope``, None if nothing does."""
    root = parse_tree(store.tree(store.commit(envelope).tree))
    found = [entry for entry in root if entry.name == TREE]
    if not found:
        return None
    if found[0].mode != objects.TREE:
        raise DamagedError("the parcel's transcripts are no folder")
    entries = {entry.name: entry for entry in _tree(store, found[0].oid)}
    listed = entries.pop(LIST, None)
    if listed is None or listed.mode != FILE:
        raise DamagedError("the parcel's transcripts have no list")
    baggage = decode(store.blob(listed.oid, LIST_LIMIT))
    trees = {e.name.decode("ascii", "replace"): e.oid for e in entries.values()}
    wanted = {file.pieces for session in baggage.sessions for file in session.files} - {""}
    if wanted != {*trees} or {e.mode for e in entries.values()} - {objects.TREE}:
        raise DamagedError("the parcel's transcripts are not those of their list")
    return Arrived(baggage, store, trees)


def _tree(store: Objects, oid: str) -> list[TreeEntry]:
    if store.size(oid) > bounds.TREE_LIMIT:
        raise RefusedError("the parcel's transcripts have a tree that is too large")
    return parse_tree(store.tree(oid))
