"""Moving refs of the remote by compare-and-swap: what moves, how it ends, and the one push.

Rule of the room: ``push_command`` builds every push. It never writes a ``+``: with one,
``--force-with-lease`` is ignored and a stale writer wins.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from handsoff.edge.git.command import EMPTY


class Move(NamedTuple):
    """A ref to be moved from ``old`` ("" if it must not exist) to ``new`` ("" to delete it)."""

    ref: str
    new: str
    old: str


class Outcome(Enum):
    """How a push ended that the remote answered."""

    MOVED = "moved"
    LOST = "lost"
    """Somebody else moved a ref first, or is doing so."""


def push_command(remote: str, moves: Sequence[Move]) -> list[str]:
    """Return the arguments of the one push that makes all ``moves`` or none.

    A remote that is set up to mirror takes no single refs, and what it gets is forced: so ours
    are not pushed to it as to a mirror.
    """
    plainly = f"--config-env=remote.{remote}.mirror={EMPTY}"
    switches = ["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
                "--recurse-submodules=no"]  # fmt: skip
    if len(moves) > 1:
        switches.append("--atomic")
    leases = [f"--force-with-lease={move.ref}:{move.old}" for move in moves]
    return [plainly, "push", *switches, *leases, "--", remote, *(f"{m.new}:{m.ref}" for m in moves)]
