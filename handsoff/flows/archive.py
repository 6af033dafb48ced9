"""The archive on the remote, read: the deletion of a ref was named there, or it was not.

It is asked for only when something is missing that this clone has seen, so it costs nothing
otherwise. Imported by the desk, and so by the pre-push program: nothing heavy here.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from handsoff.core.chain import Commits, Tips, compare_tips
from handsoff.core.machines.roster import Roster
from handsoff.core.remote import archive as rules
from handsoff.core.remote.archive import Archive
from handsoff.core.works.record import Record
from handsoff.edge import files
from handsoff.edge.git import keeping
from handsoff.edge.git.remote import Shared
from handsoff.errors import TrustError, UnreachableError

_SEEN: Final = "archive.json"


def named(shared: Shared, ref: str) -> str:
    """Return how the archive names a ref of ours."""
    return ref.removeprefix(f"{shared.prefix}/")


def read_archive(shared: Shared, roster: Roster) -> Archive:
    """Return the archive as the remote has it now, verified; TrustError if it was rewritten."""
    ref = shared.archive_ref
    tips = shared.tips(ref)
    shared.bring(tips)
    tip = tips.get(ref, "")
    commits = (shared.chains.line(tip) or []) if tip else []
    seen = _seen(shared)
    judged = compare_tips([seen] if seen else [], [oid for oid, _ in commits])
    if judged not in (Tips.SAME, Tips.AHEAD):
        raise TrustError(
            f"the archive was {judged.value} on the remote: this clone saw {seen[:12]}, "
            f"it now has {tip[:12] or 'nothing'}",
            hint=f"somebody rewrote {ref} there: ask who; {seen[:12]} can be pushed back",
        )
    if tip != seen:
        keeping.own(shared, tip, seen)
        files.write_json(shared.checkout.store_dir / _SEEN, {"tip": tip})
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
    """Return the record that ``commits`` add up to, after one of the same name or not."""

    def archive() -> Archive:
        try:
            return read_archive(shared, empty.roster)
        except UnreachableError:
            return Archive(roster=empty.roster).extend(shared.chains.line(_seen(shared)) or [])

    return rules.read_after(empty, commits, named(shared, ref), archive)


def _seen(shared: Shared) -> str:
    """Return the tip of the archive that this clone last saw, "" if none."""
    return str((files.read_json(shared.checkout.store_dir / _SEEN) or {}).get("tip", ""))
