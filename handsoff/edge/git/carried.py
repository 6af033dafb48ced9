"""What a carry list names: how git is asked for it, and what of it is not there."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from handsoff.core.checkout import paths
from handsoff.core.checkout.index import Listing
from handsoff.edge.git.repo import decode

OTHERS: Final = ("ls-files", "--others", "-z")


def asked(carry: Sequence[bytes]) -> tuple[str, ...]:
    """Return the question what ``carry`` names, asked of those places only that it leads to.

    In any case of letters: where the disk folds it, git's patterns do, and the places would not.
    """
    places = (f":(icase){decode(place)}" for place in paths.carry_places(carry))
    patterns = (f"--exclude={decode(pattern)}" for pattern in carry)
    return ("--no-literal-pathspecs", *OTHERS, "--ignored", *patterns, "--", *places)


def absent(
    top: Path, carry: Collection[bytes], found: Iterable[bytes], entries: Listing
) -> tuple[bytes, ...]:
    """Return what ``carry`` names plainly and is not here, where ``found`` is what it named."""
    lost = paths.absent(carry, found, lambda path: os.path.lexists(top / os.fsdecode(path)))
    # one without a slash is looked for in each folder; what is tracked travels anyhow
    return tuple(
        name
        for name in lost
        if b"/" in name or not any(path.endswith(b"/" + name) for path in entries.paths)
    )
