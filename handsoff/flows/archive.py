"""The archive on the remote, read: the deletion of a ref was named there, or it was not.

It is asked for only when something is missing that this clone has seen, so it costs nothing
otherwise. Imported by the desk, and so by the pre-push program: nothing heavy here.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from handsoff.core import archive as rules
from handsoff.core.archive import Archive
from handsoff.core.chain import Commits, Tips, compare_tips
from handsoff.core.record import Record
from handsoff.core.roster import Roster
from handsoff.edge import files
from handsoff.edge.git.remote import Shared
from handsoff.errors import TrustError

_SEEN: Final = "archive.json"


def archive_ref(shared: Shared) -> str:
    """Return the ref of the archive."""
    return f"{shared.prefix}/archive"


def named(shared: Shared, ref: str) -> str:
    """Return how the archive names a ref of ours."""
    return ref.removeprefix(f"{shared.prefix}/")


def read_archive(shared: Shared, roster: Roster) -> Archive:
    """Return the archive as the remote has it now, verified; TrustError if it was rewritten."""
    ref = archive_ref(shared)
    tip = shared.tips(ref).get(ref, "")
    if tip and not shared.has(tip):
        shared.fetch([ref])
    commits = (shared.chain(tip) or []) if tip else []
    path = shared.checkout.store_dir / _SEEN
    seen = str((files.read_json(path) or {}).get("tip", ""))
    judged = compare_tips([seen] if seen else [], [oid for oid, _ in commits])
    if judged not in (Tips.SAME, Tips.AHEAD):
        raise TrustError(
            f"the archive was {judged.value} on the remote: this clone saw {seen[:12]}, "
            f"it now has {tip[:12] or 'nothing'}",
            hint=f"somebody rewrote {ref} there: ask who; {seen[:12]} can be pushed back",
        )
    if tip != seen:
        files.write_json(path, {"tip": tip})
    return Archive(roster=roster).extend(commits)


def lets_go(
    shared: Shared, ref: str, seen: Record | None, found: Iterable[str], now: datetime
) -> bool:
    """Say whether the record that this clone saw was closed and archived, and stays away.

    ``found`` are the entries that the ref has now. A new record may stand there, but nothing of
    the old one: that would be the past, put back.
    """
    if seen is None or not {entry.oid for entry in seen.entries}.isdisjoint(found):
        return False
    return rules.lets_go(read_archive(shared, seen.roster), named(shared, ref), seen, now)


def read(shared: Shared, ref: str, empty: Record, commits: Commits) -> Record:
    """Return the record that ``commits`` add up to, after one of the same name or not.

    A revocation may name a tip of a record that was archived since. It is not waited for then: the
    revoked machine had its last word there, and has none in the new record.
    """
    record = empty.extend(commits)
    revoked = [(m.id, m.revoked) for m in record.roster.everyone.values() if m.revoked]
    tips = {machine: gone.tips.get(record.work, "") for machine, gone in revoked}
    if not record.behind or not any(tips.values()):
        return record
    archive, name = read_archive(shared, record.roster), named(shared, ref)
    passed = frozenset(machine for machine, tip in tips.items() if archive.names(name, tip))
    return replace(empty, passed=passed).extend(commits)


def is_archived(shared: Shared, roster: Roster, ref: str, seen: str) -> bool:
    """Say whether any ref of ours was deleted by the rules, with the entry ``seen`` in it."""
    return read_archive(shared, roster).names(named(shared, ref), seen)
