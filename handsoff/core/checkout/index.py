"""The index as data: every entry with its stage and flags, read and written without loss.

An index is not a tree: ``git write-tree`` drops intent-to-add and dies on conflicts. It is read
as a file of version 2 or 3 (gitformat-index(5)), and written as one; every other kind is read
from ``git ls-files --stage --debug -z``, which speaks for all of them.
"""

import hashlib
import re
import struct
from collections.abc import Iterable, KeysView
from enum import IntFlag
from typing import Final, NamedTuple

from handsoff.core.checkout.paths import parents
from handsoff.core.objects import MODES, TREE
from handsoff.errors import DamagedError


class Flag(IntFlag):
    """What an entry says besides its content; the values are git's own in memory."""

    NONE = 0
    ASSUME_UNCHANGED = 0x8000
    INTENT_TO_ADD = 1 << 29
    SKIP_WORKTREE = 1 << 30


KEPT: Final = int(Flag.ASSUME_UNCHANGED | Flag.INTENT_TO_ADD | Flag.SKIP_WORKTREE)
_EXTENDED: Final = int(Flag.INTENT_TO_ADD | Flag.SKIP_WORKTREE)
_EXTENDED_BIT: Final = 0x4000
_STAGE_MASK: Final = 0x3000
_NAME_MASK: Final = 0x0FFF


class Stat(NamedTuple):
    """The stat data by which git believes a file unchanged; all zero believes nothing."""

    ctime: tuple[int, int] = (0, 0)
    mtime: tuple[int, int] = (0, 0)
    dev: int = 0
    ino: int = 0
    uid: int = 0
    gid: int = 0
    size: int = 0


NO_STAT: Final = Stat()
WRONG_SIZE: Final = Stat(size=0xFFFFFFFF)
"""Lets git take a file for changed without a look at its content."""


class Entry(NamedTuple):
    """One entry. ``flags`` holds bits of Flag only."""

    path: bytes
    mode: int
    oid: str
    stage: int = 0
    flags: int = 0
    stat: Stat = NO_STAT

    @property
    def plain(self) -> bool:
        """Whether a tree can say all that this entry says."""
        return self.stage == 0 and self.flags == 0


_DEBUG: Final = re.compile(
    rb"(\d{6}) ([0-9a-f]{40,64}) (\d)\t([^\0]*)\0"
    rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: (\d+)\tino: (\d+)\n"
    rb"  uid: (\d+)\tgid: (\d+)\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)


def _entry(match: re.Match[bytes]) -> Entry:
    mode, oid, stage, path, *numbers, flags = match.groups()
    c, cn, m, mn, dev, ino, uid, gid, size = map(int, numbers)
    stat = Stat((c, cn), (m, mn), dev, ino, uid, gid, size)
    return Entry(path, int(mode, 8), oid.decode(), int(stage), int(flags, 16) & KEPT, stat)


def parse_debug(text: bytes) -> list[Entry]:
    """Return the entries that ``git ls-files --stage --debug -z`` printed."""
    entries = []
    at = 0
    for match in _DEBUG.finditer(text):
        if match.start() != at:
            break
        at = match.end()
        entries.append(_entry(match))
    if at != len(text):
        raise DamagedError(f"git ls-files --debug printed {text[at : at + 60]!r}")
    return entries


class Encoded(NamedTuple):
    """An entry as it stands in an index file; sorted as git sorts."""

    path: bytes
    stage: int
    extended: bool
    record: bytes


_HEAD: Final = struct.Struct(">10I20sH")
_WORD: Final = 0xFFFFFFFF
_START: Final = 12
_TRAILER: Final = 20
_FIXED: Final = 62
_GITLINK: Final = b"\0\0\xe0\0"


class Listing:
    """An index by path, from the bytes of an index file of version 2 or 3 (gitformat-index(5)).

    An entry becomes a value only when it is asked for: of a hundred thousand, few ever are.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at: dict[bytes, int] = {}
        self._stages: dict[bytes, list[int]] = {}
        self.odd: list[bytes] = []
        """Paths with an entry that a tree cannot say."""
        self.links: list[bytes] = []
        """Paths of submodules."""
        at = _START
        for _ in range(int.from_bytes(data[8:_START], "big")):
            flags = data[at + 60] << 8 | data[at + 61]
            start = at + (_FIXED + 2 if flags & _EXTENDED_BIT else _FIXED)
            length = flags & _NAME_MASK
            end = start + length if length < _NAME_MASK else data.index(b"\0", start)
            path = data[start:end]
            if flags & ~_NAME_MASK:
                self.odd.append(path)
                if flags & _STAGE_MASK:
                    self._stages.setdefault(path, []).append(at)
            if data[at + 24 : at + 28] == _GITLINK:
                self.links.append(path)
            self._at[path] = at
            at += (end - at + 8) & ~7
        if at + _TRAILER > len(data):
            raise ValueError("an index is cut short")
        self._end = at

    @property
    def extensions(self) -> set[bytes]:
        """The four-letter names of what follows the entries."""
        found = set()
        at = self._end
        while at + 8 <= len(self._data) - _TRAILER:
            found.add(self._data[at : at + 4])
            at += 8 + int.from_bytes(self._data[at + 4 : at + 8], "big")
        return found

    def __getitem__(self, path: bytes) -> list[Entry]:
        """Return the entries of a path: one, or the stages of a conflict."""
        places = self._stages.get(path) or [self._at[path]]
        return [self._entry(path, at) for at in places]

    def of(self, path: bytes) -> list[Entry]:
        """Return the entries of a path that the index need not have."""
        return self[path] if path in self._at else []

    @property
    def paths(self) -> KeysView[bytes]:
        """All paths, in the order of the index."""
        return self._at.keys()

    def encoded(self, path: bytes) -> Encoded:
        """Return the plain entry of a path as it stands in the file, stat data and all."""
        at = self._at[path]
        record = self._data[at : at + ((_FIXED + len(path) + 8) & ~7)]
        return Encoded(path, 0, extended=False, record=record)

    def _entry(self, path: bytes, at: int) -> Entry:
        c, cn, m, mn, dev, ino, mode, uid, gid, size, oid, flags = _HEAD.unpack_from(self._data, at)
        kept = flags & int(Flag.ASSUME_UNCHANGED)
        if flags & _EXTENDED_BIT:
            more = int.from_bytes(self._data[at + _FIXED : at + _FIXED + 2], "big")
            kept |= (more << 16) & KEPT
        stat = Stat((c, cn), (m, mn), dev, ino, uid, gid, size)
        return Entry(path, mode, oid.hex(), flags >> 12 & 3, kept, stat)


def read_index(data: bytes) -> Listing | None:
    """Return the index in ``data``, or None if only git can read it.

    That is version 4, a split index, a sparse one, and anything that does not add up.
    """
    if data[:4] != b"DIRC" or data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return None
    try:
        found = Listing(data)
    except (IndexError, ValueError):
        return None
    return None if found.extensions & {b"link", b"sdir"} else found


def clashing(listing: Listing) -> frozenset[bytes]:
    """Return the unmerged paths that no tree can name beside the others.

    A conflict may leave a file and a folder of one name in the index; git shows both.
    """
    unmerged = {path for path in listing.odd if listing[path][0].stage}
    found = set()
    if unmerged:
        for path in listing.paths:
            above = [parent for parent in parents(path) if parent in listing.paths]
            found |= {parent if parent in unmerged else path for parent in above}
    return frozenset(found)


def listing_of(entries: Iterable[Entry]) -> Listing:
    """Return a listing of entries that were read in another way."""
    return Listing(encode(map(encode_entry, entries)))


def encode(entries: Iterable[Encoded], extension: bytes = b"") -> bytes:
    """Return the index file that holds ``entries``: version 3 if a flag needs it, else 2."""
    ordered = sorted(entries)
    version = 3 if any(entry.extended for entry in ordered) else 2
    parts = [b"DIRC", version.to_bytes(4, "big"), len(ordered).to_bytes(4, "big")]
    parts += (entry.record for entry in ordered)
    body = b"".join(parts) + extension
    return body + hashlib.sha1(body).digest()


def encode_entry(entry: Entry) -> Encoded:
    """Return ``entry`` as it stands in an index file."""
    path, mode, oid, stage, kept, stat = entry
    (c, cn), (m, mn), dev, ino, uid, gid, size = stat
    flags = (kept & 0x8000) | stage << 12 | min(len(path), _NAME_MASK)
    if kept & _EXTENDED:
        flags |= _EXTENDED_BIT
    head = _HEAD.pack(
        c & _WORD, cn, m & _WORD, mn, dev & _WORD, ino & _WORD, mode, uid, gid, size & _WORD,
        bytes.fromhex(oid), flags,
    )  # fmt: skip
    if kept & _EXTENDED:
        head += ((kept & _EXTENDED) >> 16).to_bytes(2, "big")
    head += path
    record = head + b"\0" * (8 - len(head) % 8)
    return Encoded(path, stage, bool(kept & _EXTENDED), record)


def encode_special(entries: Iterable[Entry]) -> bytes:
    """Return the entries that no tree can say, as they stand in an envelope.

    One NUL-ended record an entry: ``mode oid stage flags<TAB>path``, flags in hex.
    """
    return b"".join(
        b"%06o %s %d %x\t%s\0" % (e.mode, e.oid.encode(), e.stage, e.flags, e.path)
        for e in sorted(entries, key=lambda e: (e.path, e.stage))
    )


_SPECIAL: Final = re.compile(rb"([0-7]{6}) ([0-9a-f]{40}) ([0-3]) ([0-9a-f]{1,8})\t([^\0]+)")


def decode_special(data: bytes) -> list[Entry]:
    """Return what ``encode_special`` wrote; DamagedError for anything else."""
    entries = []
    for record in data.split(b"\0")[:-1]:
        match = _SPECIAL.fullmatch(record)
        if match is None:
            raise DamagedError(f"not an index entry: {record[:60]!r}")
        mode, oid, stage, flags, path = match.groups()
        entry = Entry(path, int(mode, 8), oid.decode(), int(stage), int(flags, 16))
        if entry.mode not in MODES - {TREE} or entry.flags & ~KEPT:
            raise DamagedError(f"not an index entry: {record[:60]!r}")
        entries.append(entry)
    # git dies on an index that has one path twice, and so would everything after a restore
    merged = {e.path for e in entries if e.stage == 0}
    both = any(e.stage and e.path in merged for e in entries)
    twice = len({(e.path, e.stage) for e in entries}) < len(entries)
    if both or twice or encode_special(entries) != data:
        raise DamagedError("the index entries of the snapshot are malformed")
    return entries
