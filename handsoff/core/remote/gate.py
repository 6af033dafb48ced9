"""What a remote of one's own lets in: each ref of ours by its rules, a branch by its carrier.

Elsewhere a void entry is shown, skipped and stood upon, since anybody with push access may have
put it there. At the door it is refused. A branch whose work is carried moves only if its carrier
vouches for this very move: by an entry (Pushed) in its record, or by a signed push.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from handsoff.core.chain import Commits, Judged, Link, Tips, compare_tips, open_link
from handsoff.core.ids import machine_id, work_component, work_of
from handsoff.core.loose import quoted
from handsoff.core.objects import EMPTY_TREE, Commit, parse_commit
from handsoff.core.plain import plain
from handsoff.core.remote.archive import Archive
from handsoff.core.remote.pushcert import Certificate
from handsoff.core.remote.pushing import NOTHING_THERE, last_pushed
from handsoff.core.remote.refs import HEADS, Kind
from handsoff.core.works.lease import Pushed, State
from handsoff.core.works.record import Record
from handsoff.errors import HeldError, RefusedError

ENTRIES: Final = 1000
"""New entries that one push may put on a ref."""
BYTES: Final = 16 << 20
"""Bytes that these may have together."""
WORKS: Final = 200
"""Records that one push may make us read."""
PROBES: Final = 4
"""Commits that a try of the remote may have."""
CHAIN: Final = 50_000
"""Entries that a chain may have at all."""


class Update(NamedTuple):
    """A ref that is to move; an id is "" where there is none."""

    ref: str
    old: str
    new: str


def check_deleted(update: Update, kind: Kind, *, archived: bool, allowed: bool) -> None:
    """Refuse the deletion of a chain, unless the archive names its tip or the owner allows it.

    Parcels come and go: they are sealed, and the record says which one counts.
    """
    if kind in (Kind.PARCEL, Kind.PROBE):
        return
    chains = (Kind.RECORD, Kind.NOTES)
    if kind in chains and (allowed or archived):
        return
    raise RefusedError(
        f"{plain(update.ref)} may not be deleted: it is the signed history of this repository",
        hint="whoever keeps this server may: git config handsoff.allowDeletion true",
    )


def check_goes_on(update: Update, before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many entries are new; RefusedError unless ``after`` goes on from ``before``."""
    found = compare_tips(before, after)
    if found not in (Tips.SAME, Tips.AHEAD):
        raise RefusedError(
            f"{plain(update.ref)} would be {found.value}: it had {update.old[:12]}",
            hint="what stands there is kept: fetch, and write on top of it",
        )
    fresh = len(after) - (after.index(before[-1]) + 1 if before else 0)
    if fresh > ENTRIES:
        raise RefusedError(f"{fresh} entries in one push, over the limit of {ENTRIES}")
    return fresh


def check_fresh(update: Update, entries: Sequence[Judged[Any]], fresh: int) -> None:
    """Refuse if one of the last ``fresh`` entries is void."""
    for entry in entries[len(entries) - fresh :]:
        if not entry.good:
            raise RefusedError(
                f"an entry for {plain(update.ref)} is void ({entry.oid[:12]}): "
                f"{plain(entry.reason)} [{entry.word.value}]",
                hint="fetch the roster and the record, and write it again",
            )


def may_delete(archive: Archive, name: str, update: Update, record: Record | None) -> bool:
    """Say whether a chain, ``name`` without the prefix, is deleted as the archive has it.

    A ``record`` must have been closed as well: naming it lets nobody's work go.
    """
    closed = record is None or (record.lease.state is State.CLOSED and not record.behind)
    return closed and archive.ends(name, update.old)


def check_new(update: Update, archive: Archive, name: str, oids: Sequence[str]) -> None:
    """Refuse a chain that was archived, and is put back."""
    if not update.old and any(archive.names(name, oid) for oid in oids):
        raise RefusedError(
            f"{plain(update.ref)} would be the record that was archived, put back",
            hint="a new record of the same work begins anew",
        )


def check_parcel(update: Update, commit: Commit) -> None:
    """Refuse a parcel that is changed, or that would bring history along."""
    if update.old:
        raise RefusedError(f"{plain(update.ref)} is a parcel, which never changes")
    if commit.parents:
        raise RefusedError(f"{plain(update.ref)} is no parcel: it has a history")


def check_probe(update: Update, commits: Commits) -> None:
    """Refuse a try of the remote that is more than a few empty commits."""
    trees = {parse_commit(data).tree for _, data in commits}
    if len(commits) > PROBES or trees != {EMPTY_TREE}:
        raise RefusedError(f"{plain(update.ref)} is no try of this remote, but something to keep")


def work_named(component: str, commits: Commits) -> str:
    """Return the work whose record stands under ``component``; RefusedError if it is another's.

    A name that was cut is not in the component; each entry has it.
    """
    work = work_of(component)
    if work is None:
        named = (open_link(oid, data) for oid, data in commits)
        works = (str(link.body.get("work")) for link in named if isinstance(link, Link))
        work = next((each for each in works if work_component(each) == component), None)
    if work is None:
        raise RefusedError(f"{plain(component)} is not how the name of a work is spelled")
    return work


def check_behind(record: Record) -> None:
    """Refuse to judge by a record that names what is not here."""
    if record.behind:
        raise RefusedError(
            f"the record of {plain(record.work)} cannot be verified: {plain(record.behind)}",
            hint="push the roster first",
        )


@dataclass(frozen=True, slots=True)
class Chapter:
    """A record as it is after the push, and how many of its entries are new."""

    record: Record
    fresh: int = 0

    @property
    def pushed(self) -> list[Pushed]:
        """What the new entries say of branches, in order."""
        new = self.record.entries[len(self.record.entries) - self.fresh :]
        events = [e.entry.event for e in new if e.good and e.entry is not None]
        return [event for event in events if isinstance(event, Pushed)]


def check_claims(chapter: Chapter, branches: dict[str, str]) -> None:
    """Refuse an entry that says a branch moved to where it does not stand after this push."""
    for branch, new in {e.branch: e.new for e in chapter.pushed}.items():
        if (branches.get(branch) or NOTHING_THERE) != new:
            raise RefusedError(
                f"the record of {plain(chapter.record.work)} would say that {plain(branch)} is at "
                f"{new[:12]}, and it is not",
                hint="branch and entry move in one push: handsoff push",
            )


def vouchers(
    update: Update, own: Record, chapters: Iterable[Chapter], certificate: Certificate | None
) -> set[str]:
    """Return the machines that vouch for this very move of a branch.

    By the new entries of any record, by the last one of the branch's ``own`` record (a push
    that was cut off, done again), or by the certificate of a signed push.
    """
    branch = update.ref.removeprefix(HEADS)
    old, new = update.old or NOTHING_THERE, update.new or NOTHING_THERE
    found = set()
    last = last_pushed(own, branch)
    told = [[last]] if last is not None else []
    told += [[e for e in chapter.pushed if e.branch == branch] for chapter in chapters]
    for entries in told:
        ends = [old, *(e.new for e in entries)]
        if entries and [e.old for e in entries] == ends[:-1] and ends[-1] == new:
            found |= {entries[-1].by} if len({e.by for e in entries}) == 1 else set()
    if certificate is not None and (update.ref, old, new) in certificate.updates:
        found.add(machine_id(certificate.key))
    return {machine for machine in found if own.roster.member(machine) is not None}


def check_branch(
    record: Record, vouching: Collection[str], now: datetime, *, unsigned: str = ""
) -> None:
    """Refuse a move of a branch unless the carrier of its work vouches for it.

    ``unsigned`` says why the push does not count as signed, if it was meant to be.
    """
    verdict = record.may_push("", now)
    if verdict.allowed or any(record.may_push(machine, now).allowed for machine in vouching):
        return
    roster, work = record.roster, plain(record.work)
    carrier = roster.name_of(record.lease.carrier)
    names = ", ".join(sorted(roster.name_of(machine) for machine in vouching))
    by = f"this push is {names}'s" if names else "nothing in this push shows who makes it"
    signed = f" (its certificate does not count: {plain(unsigned)})" if unsigned else ""
    raise HeldError(
        f"{work}: {roster.named_text(verdict.reason)}; {by}{signed}",
        hint=f"on {carrier}: handsoff push; or git push --signed with the key of that machine; "
        f"elsewhere, once it is let go: handsoff catch {quoted(work)}",
    )
