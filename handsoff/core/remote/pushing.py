"""Pushing a branch together with its record: which branch, what has to move, what to say.

The two refs move in one atomic push. That is one act against other pushers, and two against a
remote that dies in between, so the entry says what was meant, the pusher notes it too, and the
next run asks ``decide`` what is left to do:

    the record says old -> new, the branch is at old      the branch moves, no entry is added
    this checkout meant old -> new, the branch is at new,
    and the record does not say so                        the entry is added, nothing else moves
    the branch is at new, and the record's last word
    about it is another                                   the same: plain git had moved it
    the branch is at new                                  nothing
    anything else                                         both move
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from handsoff.core.loose import quoted
from handsoff.core.plain import plain
from handsoff.core.remote.refs import HEADS
from handsoff.core.times import moment
from handsoff.core.works.lease import Pushed, State
from handsoff.core.works.record import Record
from handsoff.errors import RefusedError

NOTHING_THERE: Final = "0" * 40
"""How an entry spells that a branch was not there."""

_BY_UPSTREAM: Final = frozenset({"upstream", "tracking"})


class Deed(Enum):
    """What has to move."""

    NOTHING = "nothing"
    BOTH = "both"
    BRANCH = "branch"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Meant:
    """A move of a branch that was about to be pushed; ``old`` is "" where there was none."""

    branch: str
    old: str
    new: str

    def is_said_by(self, entry: Pushed | None) -> bool:
        """Say whether ``entry`` tells of this very move."""
        return entry is not None and self == meant_by(entry)


@dataclass(frozen=True, slots=True)
class Target:
    """The branch of the remote that a work is pushed to."""

    branch: str
    sets_upstream: bool = False


def meant_by(entry: Pushed) -> Meant:
    """Return the move that an entry tells of."""
    old = "" if entry.old == NOTHING_THERE else entry.old
    return Meant(entry.branch, old, entry.new)


def target(
    work: str, remote: str, *, upstream: tuple[str, str] | None, default: str | None
) -> Target:
    """Return where the branch ``work`` is pushed on ``remote``; RefusedError where git would ask.

    ``upstream`` are the branch's own remote and ref, if it has any; ``default`` is the user's
    push.default. Trap: ``git switch -c x origin/main`` makes main the upstream of x.
    """
    if upstream is None:
        return Target(work, sets_upstream=True)
    where, ref = upstream
    branch = ref.removeprefix(HEADS)
    if where != remote or default == "current" or branch == work or not ref.startswith(HEADS):
        return Target(work)
    if default in _BY_UPSTREAM:
        return Target(branch)
    raise RefusedError(
        f"{plain(work)} follows {plain(branch)} on {remote}, which has another name",
        hint="git branch --unset-upstream pushes it under its own; to push there all the same: "
        "git config push.default upstream",
    )


def last_pushed(record: Record, branch: str) -> Pushed | None:
    """Return what the carrier's present leg said last of a move of ``branch``."""
    said = [e.event for e in record.good if isinstance(e.event, Pushed)]
    here = [e for e in said if e.branch == branch and e.leg == record.lease.leg]
    return here[-1] if here else None


def unsaid(
    said: Pushed | None, meant: Meant | None, *, tip: str, last: Pushed | None = None
) -> Meant | None:
    """Return the move that brought the branch to ``tip``, if no entry tells of it.

    That is a push of ours that was torn, or one past the record: ``last`` is the record's last word
    about the branch, of any leg.
    """
    if meant is not None and meant.new == tip and not meant.is_said_by(said):
        return meant
    if last is not None and last.new != tip:
        return Meant(last.branch, last.new, tip)
    return None


def decide(
    said: Pushed | None,
    meant: Meant | None,
    *,
    tip: str,
    want: str,
    last: Pushed | None = None,
) -> Deed:
    """Return what has to move so that the branch stands at ``want``, and the record says so.

    ``said`` is the last entry about it (``last_pushed``), ``meant`` what this checkout noted
    before a push whose end it did not see, ``tip`` where the branch is now; ``last``: ``unsaid``.
    """
    if tip == want:
        return Deed.RECORD if unsaid(said, meant, tip=tip, last=last) else Deed.NOTHING
    if said is not None and (meant_by(said).old, said.new) == (tip, want):
        return Deed.BRANCH
    return Deed.BOTH


def tracking_ref(refspecs: Sequence[str], ref: str) -> str | None:
    """Return the ref in which a clone keeps ``ref`` of a remote that it fetches so."""
    for spec in refspecs:
        source, _, to = spec.removeprefix("+").partition(":")
        if source.startswith("^") or not to:
            continue
        before, star, after = source.partition("*")
        if not star and source == ref:
            return to
        if star and ref.startswith(before) and ref.endswith(after):
            middle = ref[len(before) : len(ref) - len(after)]
            if middle:
                return to.replace("*", middle, 1)
    return None


def way_on(record: Record, machine: str, name: str, now: datetime) -> str:
    """Return what ``machine`` (called ``name``), which may not push this work, can do."""
    work, roster = plain(record.work), record.roster
    lease = record.lease.as_of(now)
    carrier = roster.name_of(lease.carrier)
    if lease.state is State.OFFERED and lease.to is not None:
        to = roster.named_text(lease.to.shown())
        if lease.carrier == machine:
            return f"{to} may catch it until {moment(lease.until)}; from then on it is yours again"
        if lease.to.admits(machine, roster.person_of(machine)):
            return f"catch it first: handsoff catch {quoted(work)}"
        return f"it is for {to} to catch; ask {carrier}"
    if lease.state is State.DROPPED:
        return f"catch it first: handsoff catch {quoted(work)}"
    return f"on {carrier}: handsoff send {name}; then here: handsoff catch {quoted(work)}"
