"""Which ignored files travel all the same, and what stays behind, with the reason."""

import stat
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from handsoff.core.checkout import paths
from handsoff.core.checkout.state import LeftBehind
from handsoff.core.guard import guard
from handsoff.core.plain import plain
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.look import Look
from handsoff.edge.git.repo import Checkout
from handsoff.errors import RefusedError

PAGE: Final = b".wip/HANDOFF.md"
CARRY: Final = b".wip/carry"
_LONGEST: Final = 1 << 18
_LINES: Final = 10_000
_ALONG: Final = (PAGE, CARRY)


def carry_patterns(checkout: Checkout) -> list[bytes]:
    """Return the patterns of ``.wip/carry``; RefusedError if one leaves the checkout.

    The list is one that git can be asked with: a file of text, and not too long.
    """
    worktree = Worktree(checkout.top)
    there = worktree.stat(CARRY)
    if there is not None and not stat.S_ISREG(there.st_mode):
        raise RefusedError(
            ".wip/carry is no file but a link, a folder or the like, and is not read",
            hint="let it be a file, with the list itself in it",
        )
    listed = worktree.read(CARRY)
    if listed is None:
        return []
    if b"\0" in listed.data or len(listed.data) > _LONGEST or listed.data.count(b"\n") > _LINES:
        raise RefusedError(
            ".wip/carry is too long, or is no text in UTF-8",
            hint="name folders or patterns instead of each file, and save it as UTF-8",
        )
    return paths.check_carry(listed.data, str(checkout.top).encode("utf-8", "surrogateescape"))


def along(checkout: Checkout) -> list[bytes]:
    """Return the ignored files that travel with every work: the page and the carry list."""
    worktree = Worktree(checkout.top)
    return [path for path in _ALONG if worktree.stat(path) is not None]


def left_behind(found: Look, extra: Collection[bytes] = ()) -> tuple[LeftBehind, ...]:
    """Return what does not travel, with the reason; ``extra`` travels though it is ignored."""
    special = found.walked.special
    behind = {
        path: f"{what} in place of a file, which arrives as missing"
        if path in found.entries.paths
        else f"{what}: it has no content to carry"
        for path, what in special.items()
    }
    for path in found.walked.empty:
        if problem := paths.path_problem(path):
            behind[path] = f"an empty folder that {problem}"
    known = {path.rstrip(b"/") for path in found.nested}.union(found.submodules)
    for folder in set(found.walked.inner) - known:
        # where the work has files in it already, git looks past a repository, even a good one
        shared = any(path.startswith(folder + b"/") for path in found.entries.paths)
        behind[folder + b"/.git"] = (
            "a repository around files of this work: they travel, and its .git stays"
            if shared
            else "git takes it for no repository of its own: it stays"
        )
    behind |= {
        path: "its setuid, setgid or sticky bit: the file itself travels"
        for path, mode in found.modes.items()
        if mode & ~0o777
    }
    for path, has_repository in found.submodules.items():
        if has_repository:
            behind[path] = "a submodule: its commit travels; there: git submodule update --init"
    travels = {*found.carried, PAGE, CARRY, *extra}
    for path in found.ignored - travels:
        if guard.never(path.rstrip(b"/")):
            behind[path] = "an environment file: it never travels"
        elif path.endswith(b"/") and any(p.startswith(path) for p in travels):
            behind[path] = "ignored, but for what is carried of it, which travels"
        else:
            behind.setdefault(path, "ignored; name it in .wip/carry to take it along")
    return tuple(LeftBehind(path, behind[path]) for path in sorted(behind))


def warnings(found: Look) -> Iterator[str]:
    """Yield a warning for what the carry list names and nobody finds: most often a slip."""
    for path in found.absent:
        yield f"{paths.shown(path)} is named in .wip/carry, and is not here"


def for_people(behind: Iterable[LeftBehind]) -> tuple[dict[str, str], ...]:
    """Return what did not travel, or not wholly, as text that may be shown."""
    return tuple({"path": paths.shown(e.path), "reason": plain(e.reason)} for e in behind)
