"""Puts down for the hooks of agents what was verified: ``<store>/state.json``.

Every verb that read or wrote a record calls ``write``, and so does whoever put a parcel into the
inbox. The file is a cache: nothing decides by it but the hook, and pre-push looks for itself. What
cannot be written is removed, since a hook that knows nothing lets everything pass.

Under the lock of the file each work is told as this clone verified it last, from disk; so it does
not matter which of two commands that ran side by side comes to it later.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from handsoff.core.hooks import briefing
from handsoff.core.hooks.telling import told_of
from handsoff.core.machines.roster import Roster
from handsoff.core.pages import page as pages
from handsoff.core.plain import plain
from handsoff.core.works.record import Record
from handsoff.edge import files
from handsoff.edge.git.objects import store_of
from handsoff.errors import HandsoffError
from handsoff.flows.desk import Desk
from handsoff.flows.waiting import Pending, judging

_FRESH: Final = 60
"""Seconds after which the file is written even though nothing in it has changed."""


def write(desk: Desk, roster: Roster | None, works: Iterable[str] = ()) -> None:
    """Tell hooks how ``works`` stand, and what waits in the inbox; never fails a verb."""
    path = desk.checkout.store_dir / "state.json"
    try:
        with _locked(desk.checkout.store_dir):
            before = _read(path)
            after = _state(desk, roster, set(works), before)
            if _differs(before, after):
                files.write_json(path, after)
    except (HandsoffError, OSError, KeyError, TypeError, ValueError):
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    import fcntl  # noqa: PLC0415 - POSIX only, and said so in README

    with (store / "state.lock").open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> dict[str, Any]:
    try:
        found = files.read_json(path) or {}
    except HandsoffError:
        return {}
    return found if found.get("version") == briefing.VERSION else {}


def _state(
    desk: Desk, roster: Roster | None, works: set[str], before: Mapping[str, Any]
) -> dict[str, Any]:
    entries = dict(before.get("works", {}))
    if not before or (roster is not None and before.get("roster") != roster.tip):
        # the first time, or names have changed: all are told anew
        entries, works = {}, {*works, *desk.works_seen(), *Pending(desk.checkout).works()}
        roster = roster or desk.local_roster()
    for work in works:
        entries.pop(work, None)
        if roster is None:
            continue
        with suppress(HandsoffError):  # what cannot be read is told as nothing; others are told
            entry = _entry(desk, roster, work, before.get("works", {}).get(work, {}))
            entries |= {work: entry} if entry is not None else {}
    entries = briefing.kept(entries)
    return {
        "version": briefing.VERSION,
        "home": str(desk.home.folder),
        "machine": {"id": desk.machine.id, "name": plain(desk.machine.name, limit=100)},
        "written_at": int(desk.now.timestamp()),
        "roster": roster.tip if roster is not None else before.get("roster", ""),
        "settings": briefing.settings_of(
            desk.checkout.setting("handsoff.guardedits") or "",
            desk.checkout.setting("handsoff.autosave") or "",
        ),
        "works": entries,
        "waits": briefing.waits(entries, _arrived(desk, roster)),
    }


def _entry(
    desk: Desk, roster: Roster, work: str, before: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return what is told of a work; None where there is nothing to tell."""
    record = desk.kept_record(work, roster) or Record(roster=roster, work=work)
    seen = record.git_tip or ""
    records = judging(desk, record)
    if not any(r.lease.leg for r in records):
        return None
    tips = [r.git_tip or "" for r in records]
    if before.get("tips") == tips and before.get("seen") == seen:
        return dict(before)
    told = {"provisional": tips != [seen], "tips": tips, "seen": seen}
    if records[0].lease.carrier == desk.machine.id:
        told["taken"] = briefing.taken_of(desk.history(records[0]))
    saved = records[0].saved
    if saved is not None and saved.page:
        with suppress(HandsoffError):  # a page that is none keeps nobody from the rest
            body = store_of(desk.shared).blob(saved.page, pages.LIMIT)
            told |= told_of(pages.parse(body))
    return briefing.entry_of(records, machine=desk.machine.id, now=desk.now, told=told)


def _arrived(desk: Desk, roster: Roster | None) -> list[tuple[str, str, int]]:
    """Return the parcels in the inbox that are of this repository."""
    here = [p.manifest for p in desk.home.parcels() if p.manifest.repository == desk.pin]
    roster = roster or (desk.local_roster() if here else None)
    return [
        (m.work, roster.name_of(m.sender) if roster is not None else m.sender, m.revision)
        for m in here
        if m.sender != desk.machine.id
    ]


def _differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    old = abs(after["written_at"] - before.get("written_at", 0)) >= _FRESH
    return old or {**before, "written_at": 0} != {**after, "written_at": 0}
