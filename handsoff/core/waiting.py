"""What becomes of entries that were written without the remote, once it answers.

The local chain is the record as it was last seen on the remote, and what was added here. It lands
whole, by fast-forward, or its entries are signed anew where they still fit; what fits nowhere is
refused. An entry fits the leg and the revision that it was made against, and no other.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import Enum
from typing import Final

from handsoff.core.lease import Caught, Event, Offered
from handsoff.core.pen import Pen

LIMIT: Final = timedelta(hours=24)
"""How long what waits is sent by itself; after that somebody must ask for it."""


class Fate(Enum):
    """What is to be done with a chain that waits."""

    LANDED = "landed"
    SEND = "send"
    AGAIN = "again"
    """Its own entries are to be signed anew, on what the remote has; those that do not fit lost."""
    WAIT = "wait"


def fate(
    local: Sequence[str],
    remote: Sequence[str],
    *,
    good: str,
    own: Collection[str],
    age: timedelta,
    asked: bool = False,
) -> Fate:
    """Return what is to be done with the chain ``local``, given the one on the remote.

    Both are ids, oldest first; ``good`` is the last entry on the remote that counts, ``own`` are
    the entries that this machine can sign anew, and ``asked`` says that somebody asked for it.
    """
    if local[-1] in remote:
        return Fate.LANDED
    if age > LIMIT and not asked:
        return Fate.WAIT
    if not remote or remote[-1] in local:
        return Fate.SEND if age <= LIMIT else Fate.AGAIN
    ahead = local[len(_common(local, remote)) :]
    only_void = good == "" or good in local
    if only_void and not all(oid in own for oid in ahead):
        return Fate.WAIT  # another machine's entry is among them, and only that can sign it anew
    return Fate.AGAIN


def _common(local: Sequence[str], remote: Sequence[str]) -> Sequence[str]:
    number = 0
    for ours, theirs in zip(local, remote, strict=False):
        if ours != theirs:
            break
        number += 1
    return local[:number]


def write_again(pen: Pen, event: Event) -> Pen:
    """Return the pen after ``event``, written anew at its own time; raise what the rules say.

    Leg and revision stay: on another leg or revision it is refused.
    """
    at = pen.at
    if isinstance(event, Offered):
        event = replace(event, deadline=at + (event.deadline - event.at))
    if isinstance(event, Caught):
        event = replace(event, found=pen.record.lease.as_of(at).found())
    return pen.write(replace(event, at=at))
