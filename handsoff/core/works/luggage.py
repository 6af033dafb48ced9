r"""The part of a record that travels in a parcel, for a receiver that cannot ask the remote.

It is one blob in the parcel's pack, named by the manifest: objects one after the other, each as
``<kind> <size>\n<bytes>\n``. Commits are entries along the chain, oldest first; trees and blobs
are their pages. Nothing of it is believed because it came along: the entries are verified like
those of the remote.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from handsoff.core.chain import Commits
from handsoff.core.objects import oid_of
from handsoff.errors import DamagedError

LIMIT: Final = 32 << 20
NAME: Final = b".git/handsoff/record"
"""What the blob is called where things of a parcel are named."""

_KINDS: Final = frozenset({"commit", "tree", "blob"})
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Luggage:
    """What came along: the entries in their order, and the objects that they need."""

    commits: Commits
    others: Sequence[tuple[str, bytes]]
    """Trees and blobs: the kind and the content of each."""


def pack(commits: Commits, others: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the blob for entries and the trees and pages that they need."""
    parts = [("commit", data) for _, data in commits] + list(others)
    return b"".join(b"%s %d\n%s\n" % (kind.encode(), len(data), data) for kind, data in parts)


def unpack(blob: bytes) -> Luggage:
    """Return what a blob of another machine holds; DamagedError if it is malformed."""
    if len(blob) > LIMIT:
        raise DamagedError(f"the record in the parcel has {len(blob)} bytes, over {LIMIT}")
    commits, others, at = [], [], 0
    while at < len(blob):
        end = blob.find(b"\n", at, at + 32)
        kind, _, size = blob[at : max(end, at)].decode("ascii", "replace").partition(" ")
        if end < 0 or kind not in _KINDS or not size.isdecimal() or len(size) > _DIGITS:
            raise DamagedError("the record in the parcel is malformed")
        start, at = end + 1, end + 1 + int(size) + 1
        if blob[at - 1 : at] != b"\n":
            raise DamagedError("the record in the parcel is cut short")
        data = blob[start : at - 1]
        if kind == "commit":
            commits.append((oid_of("commit", data), data))
        else:
            others.append((kind, data))
    return Luggage(commits, others)
