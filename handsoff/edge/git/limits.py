"""What a remote can make a clone take while it fetches records: so much, and no more.

Whoever may push can put anything into our refs. A record is small; a fetch of records may write
files of ``RECORDS`` bytes, and ask for blocks of ``_BLOCK``, so that neither a disk fills up nor
one object does. Parcels are as large as they are, and judged when they are here.
"""

import resource
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from handsoff.errors import DamagedError

RECORDS: Final = 256 << 20
_BLOCK: Final = "64m"
_SPARE: Final = 1 << 20
# EFBIG; what xmalloc says over GIT_ALLOC_LIMIT
_SAID: Final = (b"File too large", b"over limit", b"out of memory")


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return ``env`` with a limit on each block that git asks for."""
    return {**env, "GIT_ALLOC_LIMIT": _BLOCK}


def of_files(most: int) -> Callable[[], None]:
    """Return what is to run in the child before git: no file of its may be over ``most`` bytes."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error that is told, not a death
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return limit


def check(stderr: bytes, packs: Path, most: int) -> None:
    """Raise DamagedError if git stopped at a limit; what it left in ``packs`` then goes."""
    if not any(said in stderr for said in _SAID):
        return
    for left in packs.glob("tmp_pack_*"):
        if left.stat().st_size > most - _SPARE:
            left.unlink(missing_ok=True)
    raise DamagedError(
        f"what lies on the remote in place of a record is over {most >> 20} MB",
        hint="somebody who may push put it there; the way out: handsoff doctor",
    )


def check_total(total: int) -> None:
    """Raise DamagedError if so many bytes of entries are too much to be read at once."""
    if total > RECORDS:
        raise DamagedError(
            f"a record on the remote has {total >> 20} MB of entries, over {RECORDS >> 20}",
            hint="somebody who may push put them there; the way out: handsoff doctor",
        )
