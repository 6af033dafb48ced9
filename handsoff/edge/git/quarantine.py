"""A received pack, checked by git under limits before any object of it is believed.

``index-pack --strict`` is the gate (libgit2 has none); it runs in a repository of its own, with
nobody's configuration, and sees the clone's objects only as an alternate. What it lets pass and
should not be written is the business of ``core/paths.py``.
"""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from handsoff.core import bounds, paths
from handsoff.core.objects import EMPTY_TREE, MODES, TREE, raw_entries
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

    With ``alternate`` (a clone's objects) every link of the pack must lead somewhere, unless that
    clone is not ``whole``: then ``check_links`` is the second half of the gate. DamagedError with
    git's own words when the pack does not pass.
    """
    held = _measure_pack(pack, most)
    objects = files.ensure_folder(folder / "objects")
    files.ensure_folder(objects / "pack")
    files.ensure_folder(objects / "info")
    files.ensure_folder(folder / "refs")
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    if alternate is not None:
        (objects / "info" / "alternates").write_bytes(os.fsencode(alternate) + b"\n")
    # index-pack reads no fsck.* of the configuration, and takes such words with --strict only
    lenient = "--strict=" + ",".join(f"{name}=ignore" for name in _IGNORED)
    strict = lenient if alternate is not None and whole else "--fsck-objects"
    done = command.run_limited(
        [f"--git-dir={folder}", "index-pack", "--stdin", strict],
        cwd=folder,
        given=pack,
        largest=_size_of(pack) + 64 * held.objects + (1 << 20),  # the pack, or its index
        seconds=_LEAST + held.size // _SLOWEST,
    )
    if b"No space left on device" in done.stderr:
        raise UnfitError(
            "the parcel does not fit: no space left on device", hint="make room, and take it again"
        )
    _judge(done)
    return objects


def _measure_pack(pack: IO[bytes], most: int | None) -> bounds.Unpacked:
    start = pack.tell()
    limit = bounds.most(_size_of(pack) - start, {}) if most is None else most
    try:
        held = bounds.measure(pack.read, limit)
    except DamagedError as error:
        said = f"the parcel's objects do not pass: {error}"
        raise DamagedError(said, hint="have it sent again") from error
    pack.seek(start)
    return held


def _size_of(pack: IO[bytes]) -> int:
    here = pack.tell()
    end = pack.seek(0, os.SEEK_END)
    pack.seek(here)
    return end


def absent(folder: Path, tip: str, bases: Iterable[str]) -> list[str]:
    """Return what ``tip`` reaches, ``bases`` do not, and is not here.

    For a pack that was checked in at ``folder`` beside a partial clone.
    """
    done = _walk(folder, "--missing=print", tip, bases)
    return [line[1:].decode() for line in done.stdout.splitlines() if line.startswith(b"?")]


def check_links(folder: Path, tip: str, bases: Iterable[str]) -> None:
    """Check that all that ``tip`` reaches is here, or in ``bases``, or promised by a remote.

    In place of --strict, where a pack was checked in beside a partial clone: that wants the object
    behind every link, so it would refuse each honest pack, as a file that nobody changed is but
    promised. Git holds its own fetches into such a clone to this rule: what is missing must hang
    on something that came from the remote that promised it.
    """
    _walk(folder, "--missing=allow-promisor", tip, bases)


def _walk(
    folder: Path, missing: str, tip: str, bases: Iterable[str]
) -> "subprocess.CompletedProcess[bytes]":
    # any name will do: what is promised shows by the .promisor files of the clone's packs
    promising = ("-c", "remote.promised.promisor=true")
    walk = ("rev-list", "--objects", "--no-object-names", missing, tip, "--not", *bases)
    done = command.run_limited([f"--git-dir={folder}", *promising, *walk], cwd=folder)
    _judge(done)
    return done


def _judge(done: "subprocess.CompletedProcess[bytes]") -> None:
    if done.returncode:
        said = command.failed(done.stderr, "accept the pack")
        raise DamagedError(f"the parcel's objects do not pass: {said}", hint="have it sent again")


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


def _measure(objects: Objects, tree: str, depth: int, sizes: dict[str, _Size]) -> _Size:
    if depth + (sizes[tree].depth if tree in sizes else 0) > paths.DEPTH_LIMIT:
        raise RefusedError(f"the parcel has folders deeper than {paths.DEPTH_LIMIT}")
    if tree not in sizes:
        entries = raw_entries(objects.tree(tree))
        folders = _folders(entries)
        names = [name for _, name, _ in entries]
        paths.check_names(names)
        files, levels, longest = len(entries) - len(folders), 0, max(map(len, names), default=0)
        for name, oid in folders:
            below = _measure(objects, oid, depth + 1, sizes)
            files += below.files
            levels = max(levels, below.depth + 1)
            longest = max(longest, len(name) + 1 + below.longest)
        sizes[tree] = _Size(files, levels, longest)
    return sizes[tree]


def _folders(entries: Sequence[tuple[bytes, bytes, bytes]]) -> list[tuple[bytes, str]]:
    """Return name and id of each folder among the entries of a tree; no mode may be odd."""
    modes = {mode: int(mode, 8) for mode in {mode for mode, _, _ in entries}}
    if odd := {mode for mode, number in modes.items() if number not in MODES}:
        name = next(name for mode, name, _ in entries if mode in odd)
        raise RefusedError(f"the parcel has a malformed entry {name[:80]!r}")
    return [(name, oid.hex()) for mode, name, oid in entries if modes[mode] == TREE]
