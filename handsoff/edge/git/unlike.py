"""Files that are not on disk what git has of them, though nothing converts them now.

Something did when they were written: since then an attribute went, or the commands of a filter.
Git believes their stat data until it has to look, and calls them clean; what is on disk of them
would stay behind, without a word. The size in the index, which is that on disk, and that of the
blob tell.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from handsoff.core.checkout import paths
from handsoff.core.checkout.conversion import Kind
from handsoff.edge.git.convert import Rules, attributes_among
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError, RefusedError

_Time = tuple[int, int]
_GONE: Final[_Time] = (1 << 62, 0)


def unlike(
    checkout: Checkout, look: Look, rules: Rules, present: Iterable[bytes], *, refused: bool
) -> set[bytes]:
    """Return those of the files ``present``.

    Of a hundred thousand blobs the sizes take a second: asked about are the files that are older
    than attributes that count for them, and those of a filter without commands.
    If they are to be ``refused``, RefusedError in a clone in which a filter encrypts.
    """
    found = set(_found(checkout, look, rules, present))
    if refused and rules.settings.encrypts:
        _refuse(found)
    return found


def _found(
    checkout: Checkout, look: Look, rules: Rules, present: Iterable[bytes]
) -> Iterator[bytes]:
    since, objects = list(_since(checkout, look)), Objects(checkout.objects_dir)
    for path in present:
        if path in look.suspects or rules.kind(path) not in (Kind.NOBODY, Kind.GIT):
            continue
        entry = look.entries.of(path)[0]
        written = entry.stat.mtime
        is_older = any(written < at and path.startswith(below) for below, at in since)
        if is_older or "filter" in rules.attributes.get(path, {}):
            size = entry.stat.size  # 0 where git itself does not believe it
            if size and entry.plain and _size(objects, entry.oid) not in (size, None):
                yield path


def _refuse(found: Iterable[bytes]) -> None:
    for path in sorted(found):
        raise RefusedError(
            f"what is on disk of {paths.shown(path)} is not what git has of it, and a filter "
            "encrypts here: it may be plaintext, which never travels",
            hint="git add it if it is to be plain; or remove it, and git checkout brings it back",
        )


def _since(checkout: Checkout, look: Look) -> Iterator[tuple[bytes, _Time]]:
    """Yield how the paths begin that attributes count for, and since when they are as they are."""
    yield b"", _written(checkout.common_dir / "info" / "attributes") or (0, 0)
    for path in attributes_among({*look.entries.paths, *look.untracked, *look.staged}):
        # where the disk has none, git reads those of the index
        at = _written(checkout.top / os.fsdecode(path)) or (
            (0, 0) if look.entries.of(path) else _GONE
        )
        yield path[: path.rfind(b"/") + 1], at


def _written(path: Path) -> _Time | None:
    try:
        return divmod(path.stat().st_mtime_ns, 10**9)
    except OSError:
        return None


def _size(objects: Objects, oid: str) -> int | None:
    try:
        return objects.size(oid) & 0xFFFFFFFF  # as an index has it
    except DamagedError:
        return None  # promised by a remote, and not here
