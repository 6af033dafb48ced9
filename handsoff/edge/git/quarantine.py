"""A received pack, checked by git under limits before any object of it is believed.

``index-pack --fsck-objects`` and a walk of all that hangs on the pack are the gate (libgit2 has
none); they run in a repository of their own, with nobody's configuration, which sees the clone's
objects only as an alternate. What they let pass and should not be written is the business of
``core/checkout/paths.py``.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple

from handsoff.core.checkout import paths
from handsoff.core.objects import EMPTY_TREE, MODES, TREE, RawEntry, raw_entries
from handsoff.core.parcels import bounds
from handsoff.edge import files
from handsoff.edge.git import command
from handsoff.edge.git.objects import Objects
from handsoff.errors import DamagedError, RefusedError, UnfitError

_SLOWEST: Final = 10 << 20
"""Bytes a second that git gets through at least."""
_LEAST: Final = 600
# what only old and honest history trips
_IGNORED: Final = ("zeroPaddedFilemode", "badEmail", "missingSpaceBeforeDate", "badTimezone",
                   "missingEmail", "missingNameBeforeEmail", "badName")  # fmt: skip
_TRIPPED: Final = tuple(f": {name}: ".encode() for name in _IGNORED)
_NAMED: Final = re.compile(rb"(?m)^error: object ([0-9a-f]{40}): \w+: ([ -~]{1,200})")
"""What git says of an object that it does not take: which it is, and why."""
_INDEXED: Final = 5
"""Times the bytes of a pack that its index may have: 36 for each object, of which none is
smaller than 9."""
_LISTED: Final = 1 << 30
_SHOWN: Final = 80
"""Bytes of a path that are enough to find it."""
_FANOUT: Final = 8 + 4 * 256
"""Bytes in an index of version 2 before the ids, of which the last four say how many there are."""
_LISTING: Final = ("rev-list", "--objects", "--no-object-names")
# any name will do: what is promised shows by the .promisor files of the clone's packs
_PROMISING: Final = ("-c", "remote.promised.promisor=true", *_LISTING)


def check_in(
    folder: Path,
    pack: IO[bytes],
    alternate: Path | None,
    *,
    most: int | None = None,
    whole: bool = True,
) -> Path:
    """Index ``pack`` (positioned at its first byte) inside ``folder``; return the object folder.

    It may unpack to ``most`` bytes, if None to what any pack of its size may (see ``bounds``).
    ``check_links`` is the second half of the gate, where there is a clone, whose objects are the
    ``alternate``. DamagedError with git's own words when the pack does not pass.
    """
    objects = files.ensure_folder(folder / "objects")
    files.ensure_folder(objects / "info")
    files.ensure_folder(folder / "refs")
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    if alternate is not None:
        (objects / "info" / "alternates").write_bytes(os.fsencode(alternate) + b"\n")
    done = _index(folder, pack, most, "--fsck-objects")
    if alternate is not None and whole and any(name in done.stderr for name in _TRIPPED):
        # index-pack reads no fsck.* of the configuration, and takes such words with --strict only,
        # which looks for whatever the pack names as well: in a large clone that takes as long again
        words = ",".join(f"{name}=ignore" for name in _IGNORED)
        done = _index(folder, pack, most, f"--strict={words}")
    _judge(done)
    return objects


def _index(
    folder: Path, pack: IO[bytes], most: int | None, how: str
) -> "subprocess.CompletedProcess[bytes]":
    """Let git index ``pack``, which gets no byte of it that was not measured before."""
    shutil.rmtree(folder / "objects" / "pack", ignore_errors=True)
    files.ensure_folder(folder / "objects" / "pack")
    start = pack.tell()
    size = pack.seek(0, os.SEEK_END) - start
    pack.seek(start)
    limit = bounds.most(size, {}) if most is None else most
    try:
        return command.run_limited(
            [f"--git-dir={folder}", "index-pack", "--stdin", how],
            cwd=folder,
            feed=lambda write: bounds.measure(pack.read, limit, write),
            largest=_INDEXED * size + (1 << 20),
            seconds=_LEAST + limit // _SLOWEST,
        )
    except DamagedError as error:
        raise _failed(error) from error
    finally:
        pack.seek(start)


def absent(folder: Path, tip: str, bases: Iterable[str]) -> list[str]:
    """Return what ``tip`` reaches, ``bases`` do not, and is not here.

    For a pack that was checked in at ``folder`` beside a partial clone.
    """
    with _walk(folder, [tip], bases, *_PROMISING, "--missing=print") as listed:
        return [line[1:-1].decode() for line in listed if line.startswith(b"?")]


def check_links(folder: Path, objects: Objects, tip: str, bases: Iterable[str]) -> None:
    """Check that all that anything in the pack at ``folder`` reaches is there, or in ``bases``.

    Git holds its own fetches to that. It does not look at a file that it does not need: that
    each is one, and no folder, is for us to see.
    """
    left = _packed(folder)
    _link(folder, objects, [tip], bases, left)
    odd = [oid for oid in map(bytes.hex, left) if objects.kind(oid) != "blob"]
    if odd:  # nothing of ours, but for folders that the bases have as well
        _link(folder, objects, odd, [*bases, tip], left)


def _link(
    folder: Path, objects: Objects, tips: Iterable[str], bases: Iterable[str], left: set[bytes]
) -> None:
    """Check what hangs on ``tips``, and take it out of what is ``left``."""
    shown = ("--filter=blob:none", "--filter-print-omitted")
    with _walk(folder, tips, bases, *_LISTING, *shown) as listed:
        for line in listed:
            oid = line[-41:-1].decode()
            left.discard(bytes.fromhex(oid))
            if line.startswith(b"~") and _kind(objects, oid) != "blob":
                raise _failed(f"the object {oid} is no file, and is called one")


def _kind(objects: Objects, oid: str) -> str:
    try:
        return objects.kind(oid)
    except DamagedError as error:
        raise _failed(error) from error


def _packed(folder: Path) -> set[bytes]:
    """Return the ids of what is in the pack, as its index has them (gitformat-pack(5))."""
    (index,) = (folder / "objects" / "pack").glob("*.idx")
    data = index.read_bytes()
    end = _FANOUT + 20 * int.from_bytes(data[_FANOUT - 4 : _FANOUT], "big")
    return {data[at : at + 20] for at in range(_FANOUT, end, 20)}


def check_promised(folder: Path, tip: str, bases: Iterable[str]) -> None:
    """Check that all that ``tip`` reaches is here, or in ``bases``, or promised by a remote.

    In place of ``check_links``, where a pack was checked in beside a partial clone: a file that
    nobody changed is but promised there. Git holds its own fetches into such a clone to this rule:
    what is missing must hang on something that came from the remote that promised it.
    """
    with _walk(folder, [tip], bases, *_PROMISING, "--missing=allow-promisor"):
        pass  # git is content


@contextmanager
def _walk(
    folder: Path, tips: Iterable[str], bases: Iterable[str], *walk: str
) -> Iterator[IO[bytes]]:
    """Give the file in which git lists what ``tips`` reach and ``bases`` do not."""
    asked = "".join([*(f"{oid}\n" for oid in tips), *(f"^{oid}\n" for oid in bases)]).encode()
    with tempfile.TemporaryFile(dir=folder) as listed:
        _judge(
            command.run_limited(
                [f"--git-dir={folder}", *walk, "--stdin"],
                cwd=folder,
                feed=lambda write: write(asked),
                out=listed,
                largest=_LISTED,
            )
        )
        listed.seek(0)
        yield listed


def _judge(done: "subprocess.CompletedProcess[bytes]") -> None:
    if b"No space left on device" in done.stderr:
        raise UnfitError(
            "the parcel does not fit: no space left on device", hint="make room, and take it again"
        )
    named = _NAMED.search(done.stderr)
    if done.returncode and named:
        oid, said = (part.decode() for part in named.groups())
        raise _failed(f"git says of the object {oid}: {said}")
    if done.returncode:
        raise _failed(command.failed(done.stderr, "accept the pack"))


def _failed(said: object) -> DamagedError:
    return DamagedError(f"the parcel's objects do not pass: {said}", hint="have it sent again")


class _Size(NamedTuple):
    """What a tree holds: files, levels of folders, and bytes of its longest path."""

    files: int
    depth: int
    longest: int


def check_trees(
    objects: Objects, roots: list[str], most: int = bounds.FILES_LIMIT, what: str = "files"
) -> list[int]:
    """Check that every path in the trees ``roots`` may be written here, and that they are finite.

    Each tree is read once however often it occurs, so that a small bomb stays small. Returns the
    number of files in each, of which none may have more than ``most``.
    """
    sizes: dict[str, _Size] = {EMPTY_TREE: _Size(0, 0, 0)}
    for root in roots:
        size = _measure(objects, root, 0, sizes)
        if size.files > most:
            raise RefusedError(f"the parcel has {size.files} {what}, and {most} is the most")
        if size.longest > paths.PATH_LIMIT:
            raise RefusedError(f"the parcel has a path of {size.longest} bytes")
    return [sizes[root].files for root in roots]


def _measure(
    objects: Objects, tree: str, depth: int, sizes: dict[str, _Size], where: bytes = b""
) -> _Size:
    if depth + (sizes[tree].depth if tree in sizes else 0) > paths.DEPTH_LIMIT:
        top = paths.shown(where[:_SHOWN])
        raise RefusedError(f"the parcel has folders deeper than {paths.DEPTH_LIMIT}, in {top}")
    if tree not in sizes:
        names, folders = _contents(objects.tree(tree))
        files, levels, longest = len(names) - len(folders), 0, max(map(len, names), default=0)
        for name, oid in folders:
            # only as much of the path as is shown: a bomb is deep in many places
            inside = where if len(where) > _SHOWN else where + name + b"/"
            below = _measure(objects, oid, depth + 1, sizes, inside)
            files += below.files
            levels = max(levels, below.depth + 1)
            longest = max(longest, len(name) + 1 + below.longest)
        sizes[tree] = _Size(files, levels, longest)
    return sizes[tree]


def _contents(tree: bytes) -> tuple[list[bytes], list[tuple[bytes, str]]]:
    """Return the names in a tree, and name and id of each folder: all of them may be written."""
    names = paths.harmless_files(tree)
    if names is not None:  # as in most trees
        return names, []
    entries = raw_entries(tree)
    folders = _folders(entries)
    names = [name for _, name, _ in entries]
    paths.check_names(names)
    return names, folders


def _folders(entries: Sequence[RawEntry]) -> list[tuple[bytes, str]]:
    """Return name and id of each folder among the entries of a tree; no mode may be odd."""
    modes = {mode: int(mode, 8) for mode in {mode for mode, _, _ in entries}}
    if odd := {mode for mode, number in modes.items() if number not in MODES}:
        name = next(name for mode, name, _ in entries if mode in odd)
        raise RefusedError(f"the parcel has a malformed entry {name[:80]!r}")
    return [(name, oid.hex()) for mode, name, oid in entries if modes[mode] == TREE]
