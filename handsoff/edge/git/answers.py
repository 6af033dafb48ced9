"""What git's words about a remote mean: which error, and what to do.

git has one exit code for all of these, so the words are read; ``LC_ALL=C`` keeps them English.
"""

import re
from typing import Final

from handsoff.core.plain import plain
from handsoff.core.remote.places import BRANCHES, are_branches
from handsoff.edge.git.repo import decode
from handsoff.errors import HandsoffError, RefusedError, UnfitError, UnreachableError

_LOST: Final = re.compile(
    r"stale info|fetch first|non-fast-forward|cannot lock|failed to update ref|incorrect old value"
    r"|failed to lock|reference already exists|remote ref updated since"
)


_OURS: Final = re.compile(
    # what the other end says begins with "remote:"
    r"^(?!remote:).*(?:no space left on device|disk quota exceeded|read-only file system"
    r"|insufficient permission for adding an object).*$",
    re.IGNORECASE | re.MULTILINE,
)


def judge(remote: str, prefix: str, said: str) -> HandsoffError | None:
    """Return the error that git's words mean, or None if somebody else was faster."""
    words = plain("; ".join(line for line in said.splitlines() if line.strip()), limit=400)
    move = f"git config handsoff.refs {BRANCHES}, on each machine, then the same again"
    if re.search(r"deletion prohibited|denying ref deletion", said):
        return RefusedError(
            f"the remote {remote} lets nobody delete a ref: {words}",
            hint="on a remote you host: git config receive.denyDeletes false",
        )
    if re.search(r"hidden ref|prohibited|funny refname|refusing to create|not allowed to", said):
        return RefusedError(
            f"the remote {remote} does not take refs under {prefix}: {words}",
            hint="on a remote you host: receive.hideRefs and transfer.hideRefs must not hide them"
            if are_branches(prefix)
            else f"if it is not yours to set (receive.hideRefs, transfer.hideRefs): {move}",
        )
    if "hook declined" in said:
        return RefusedError(
            f"a hook of the remote {remote} refuses it: {words}",
            hint=f"let that hook pass {prefix}, or ask whoever keeps the remote"
            if are_branches(prefix)
            else f"let that hook pass {prefix}; if it takes branches only: {move}",
        )
    if re.search(r"maximum allowed size|unpacker error|unpack failed|index-pack", said):
        return RefusedError(
            f"the remote {remote} refuses the objects: {words}",
            hint="receive.maxInputSize may be too small there, its disk full, its folder not yours",
        )
    if "--atomic" in said:
        return RefusedError(
            f"the remote {remote} cannot move two refs together (no atomic push)",
            hint="set receive.advertiseAtomic=true there",
        )
    if _LOST.search(said):
        return None
    return unreachable(remote, said.encode("utf-8", "surrogateescape"))


def unreachable(remote: str, stderr: bytes) -> HandsoffError:
    """Return the error for what git said of a remote that did not do what was asked."""
    ours = _OURS.search(decode(stderr))
    if ours is not None:  # it answered, and what it sent cannot be put down
        said = plain(ours[0], limit=300).removeprefix("fatal: ").removeprefix("error: ")
        return UnfitError(
            f"git cannot write into this clone: {said}",
            hint="make room on this disk, or see who may write in .git (git rev-parse --git-dir)",
        )
    lines = [line for line in decode(stderr).splitlines() if line.strip()]
    said = plain(lines[0] if lines else "no reason given", limit=300)
    return UnreachableError(
        f"the remote {remote} cannot be reached: {said.removeprefix('fatal: ')}",
        hint=f"check: git ls-remote {remote}",
    )
