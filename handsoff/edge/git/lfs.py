"""Contents that git-lfs keeps beside the objects: found for new pointers, and put in place.

git-lfs itself is never run: its store is files by their SHA-256, and a server is not asked.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from handsoff.core.checkout.lfs import LIMIT, parse_pointer, place_of
from handsoff.edge import files
from handsoff.edge.git import command
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.errors import DamagedError

_MODE: Final = 0o444
_PIECE: Final = 16 << 20


def store(checkout: Checkout) -> Path:
    """Return the folder in which git-lfs keeps contents for this clone."""
    named = checkout.setting("lfs.storage") or "lfs"
    return checkout.common_dir / named / "objects"


def contents(
    checkout: Checkout, objects: Objects, oids: Iterable[str]
) -> Iterator[tuple[str, Path]]:
    """Yield the contents here that pointers among the objects ``oids`` stand for, by digest."""
    kept = store(checkout)
    if not kept.is_dir():
        return
    seen = set()
    for oid in oids:
        if objects.kind(oid) != "blob" or objects.size(oid) > LIMIT:
            continue
        pointer = parse_pointer(objects.blob(oid))
        place = kept / place_of(pointer.digest) if pointer else kept
        if pointer and pointer.digest not in seen and place.is_file():
            seen.add(pointer.digest)
            yield pointer.digest, place


def check(objects: Objects, digest: str, oid: str) -> None:
    """Raise DamagedError unless the blob ``oid`` is what ``digest`` names.

    ``objects`` are those of a pack in its quarantine. A large one is read piece by piece.
    """
    found = hashlib.sha256()
    if objects.size(oid) <= _PIECE:
        found.update(objects.blob(oid))
    else:
        folder = objects.folders[0].parent  # a repository of its own, alternates and all
        words = (f"--git-dir={folder}", "cat-file", "blob", oid)
        with command.start(words, cwd=folder, env=command.environment()) as git:
            assert git.stdout is not None
            while piece := git.stdout.read(_PIECE):
                found.update(piece)
    if found.hexdigest() != digest:
        raise DamagedError(f"a large file of the parcel is not what it claims to be: {digest[:12]}")


def put(checkout: Checkout, objects: Objects, wanted: Iterable[tuple[str, str]]) -> None:
    """Keep contents, each a digest and the blob that has it, where git-lfs looks for them."""
    for digest, oid in wanted:
        place = store(checkout) / place_of(digest)
        if not place.exists():
            step("catch.apply.lfs.before")
            place.parent.mkdir(parents=True, exist_ok=True)
            files.write(place, objects.blob(oid), _MODE)
