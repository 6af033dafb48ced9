"""The index as data: every entry with its stage and flags, read and written without loss.

An index is not a tree: ``git write-tree`` drops intent-to-add and dies on conflicts. It is read
from ``git ls-files --stage --debug -z``, which speaks for every version, for a split index and
for a sparse one; it is written as an index file of version 2 or 3 (gitformat-index(5)).
"""

import hashlib
import re
import struct
from collections.abc import Iterable, KeysView
from enum import IntFlag
from typing import Final, NamedTuple

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
_LISTED: Final = re.compile(
    rb"(\d{6}) [0-9a-f]{40} (\d)\t([^\0]*)\0"
    rb"  ctime: [^\n]*\n  mtime: [^\n]*\n  dev: [^\n]*\n  uid: [^\n]*\n"
    rb"  size: \d+\tflags: ([0-9a-f]+)\n"
)


class Listing:
    """An index by path, from what ``git ls-files --stage --debug -z`` printed.

    An entry becomes a value only when it is asked for: of a hundred thousand, few ever are.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at: dict[bytes, int] = {}
        self._stages: dict[bytes, list[int]] = {}
        self.odd: list[bytes] = []
        """Paths with an entry that a tree cannot say."""
        self.links: list[bytes] = []
        """Paths of submodules."""
        at = 0
        for match in _LISTED.finditer(text):
            if match.start() != at:
                break
            mode, stage, path, flags = match.groups()
            if stage != b"0":
                self._stages.setdefault(path, []).append(at)
            if stage != b"0" or (flags != b"0" and int(flags, 16) & KEPT):
                self.odd.append(path)
            if mode == b"160000":
                self.links.append(path)
            self._at[path] = at
            at = match.end()
        if at != len(text):
            raise DamagedError(f"git ls-files --debug printed {text[at : at + 60]!r}")

    def __getitem__(self, path: bytes) -> list[Entry]:
        """Return the entries of a path: one, or the stages of a conflict."""
        return [self._entry(at) for at in self._stages.get(path) or [self._at[path]]]

    def encoded(self, path: bytes) -> Encoded:
        """Return the plain entry of a path as it stands in an index file, stat data and all."""
        match = _DEBUG.match(self._text, self._at[path])
        assert match is not None, "the constructor saw an entry here"
        mode, oid, _, _, c, cn, m, mn, dev, ino, uid, gid, size, _ = match.groups()
        head = _HEAD.pack(
            int(c) & _WORD, int(cn), int(m) & _WORD, int(mn), int(dev) & _WORD, int(ino) & _WORD,
            int(mode, 8), int(uid), int(gid), int(size) & _WORD, bytes.fromhex(oid.decode()),
            min(len(path), _NAME_MASK),
        )  # fmt: skip
        record = head + path
        return Encoded(path, 0, extended=False, record=record + b"\0" * (8 - len(record) % 8))

    def of(self, path: bytes) -> list[Entry]:
        """Return the entries of a path that the index need not have."""
        return self[path] if path in self._at else []

    @property
    def paths(self) -> KeysView[bytes]:
        """All paths, in the order of the index."""
        return self._at.keys()

    def _entry(self, at: int) -> Entry:
        match = _DEBUG.match(self._text, at)
        assert match is not None, "the constructor saw an entry here"
        return _entry(match)


def encode(entries: Iterable[Encoded]) -> bytes:
    """Return the index file that holds ``entries``: version 3 if a flag needs it, else 2."""
    ordered = sorted(entries)
    version = 3 if any(entry.extended for entry in ordered) else 2
    parts = [b"DIRC", version.to_bytes(4, "big"), len(ordered).to_bytes(4, "big")]
    parts += (entry.record for entry in ordered)
    body = b"".join(parts)
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
