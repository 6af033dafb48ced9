"""Where on the remote our refs lie: a prefix, checked before anything is built from it.

Some hosts take branches only. There everything moves below ``refs/heads/``, which costs
something: hosts start reviews and builds for a push to a branch, and ours are branches to them.

Source: git-check-ref-format(1); what is stricter here keeps the prefix free of any quoting.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from handsoff.core.ids import work_component
from handsoff.core.remote.refs import HEADS
from handsoff.errors import UsageError

PREFIX: Final = "refs/wip"
BRANCHES: Final = "refs/heads/handsoff"
KNOWN: Final = (PREFIX, BRANCHES)
"""Where another machine may have put the roster, looked at before a second one is founded."""

_PART: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|lock(?:/|\Z)|/|\Z))*"
_SHAPE: Final = re.compile(rf"refs/{_PART}(?:/{_PART})*")
_LIMIT: Final = 100
_NAMED: Final = 100
"""Refs that one question to the remote names; for more, it is asked for all of a kind."""
_TAKEN: Final = frozenset({
    "tags", "remotes", "stash", "notes", "replace", "bisect", "worktree", "rewritten", "prefetch",
    "original", "pull", "merge-requests", "changes", "for",
})  # fmt: skip
"""Places that git or a host gives a meaning of its own."""


def check_prefix(text: str) -> str:
    """Return ``text`` as the place of our refs; UsageError if they cannot lie there."""
    prefix = text.rstrip("/")
    if len(prefix) > _LIMIT or not _SHAPE.fullmatch(prefix):
        problem = "is no place for refs"
    elif prefix == HEADS.rstrip("/"):
        problem = "is where all branches are"
    elif prefix.split("/")[1] in _TAKEN:
        problem = "belongs to git or to the host"
    else:
        return prefix
    raise UsageError(
        f"handsoff.refs is {text!r}, which {problem}",
        hint=f"git config handsoff.refs {BRANCHES}, or: git config --unset handsoff.refs",
    )


def are_branches(prefix: str) -> bool:
    """Say whether refs below ``prefix`` are branches to the remote."""
    return prefix.startswith(HEADS)


def warning(prefix: str) -> str:
    """Return what is to be known about ``prefix``, "" if nothing."""
    if not are_branches(prefix):
        return ""
    return (
        f"what handsoff keeps on the remote are branches there, below {prefix}: each hand-over is "
        "a push to a branch, which may start reviews, builds and mails; exempt them on the host"
    )


def elsewhere(prefix: str, there: Collection[str]) -> str:
    """Return the known place, not ``prefix``, that has a roster among refs ``there``, or ""."""
    if f"{prefix}/roster" in there:
        return ""
    return next((place for place in KNOWN if f"{place}/roster" in there), "")


def in_the_way(prefix: str, there: Collection[str]) -> str:
    """Return the ref among ``there`` that keeps any from lying below ``prefix``, or ""."""
    return next((ref for ref in above(prefix) if ref in there), "")


def above(prefix: str) -> list[str]:
    """Return the refs that could not be there together with any below ``prefix``."""
    parts = prefix.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]


def is_ours(prefix: str, ref: str) -> bool:
    """Say whether a ref of the remote is one of ours."""
    return ref.startswith((f"{prefix}/", f"{PREFIX}/"))


def is_copy(prefix: str, ref: str) -> bool:
    """Say whether a ref of a clone is what ``git fetch`` made of one of ours on the remote."""
    below = prefix.removeprefix(HEADS)
    return are_branches(prefix) and ref.startswith("refs/remotes/") and f"/{below}/" in ref


class Ours:
    """Where each thing of ours lies below a prefix."""

    prefix: str

    @property
    def roster_ref(self) -> str:
        """The ref of the roster."""
        return f"{self.prefix}/roster"

    @property
    def archive_ref(self) -> str:
        """The ref of the archive."""
        return f"{self.prefix}/archive"

    def record_ref(self, work: str) -> str:
        """Return the ref of a work's record."""
        return f"{self.prefix}/lease/{work_component(work)}"

    def notes_ref(self, work: str, machine: str) -> str:
        """Return the ref of what one machine noted on a work."""
        return f"{self.prefix}/notes/{work_component(work)}/{machine}"

    def parcel_ref(self, work: str, parcel: str) -> str:
        """Return the ref under which a parcel waits on the remote."""
        return f"{self.prefix}/snap/{work_component(work)}/{parcel}"

    def question(self, works: Sequence[str]) -> tuple[str, ...]:
        """Return what to ask for about ``works``: all records where naming them is too long."""
        records = [self.record_ref(work) for work in works]
        named = records if len(records) <= _NAMED else [f"{self.prefix}/lease/*"]
        return (self.roster_ref, *named, *(HEADS + work for work in works[:_NAMED]))
