"""All that the shared remote has of ours: records judged, and the refs beside them.

A record that cannot be verified is a finding here, not a failure: whoever can push to the remote
could otherwise keep a stolen key from being revoked by spoiling one record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from handsoff.core.admission import RosterRead
from handsoff.core.archive import REVOKED_AT
from handsoff.core.ids import is_parcel_id, work_of
from handsoff.core.record import Record
from handsoff.core.roster import Roster
from handsoff.edge import files
from handsoff.edge.git.repo import open_checkout
from handsoff.flows.desk import Desk
from handsoff.flows.survey import Standing, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighted:
    """One work: its record, or what stands against believing that; ``tip`` is the ref's.

    ``counts`` is the tip for a revocation to name. Where the remote contradicts what this clone
    verified, that is the one seen here: the record is to be put back there.
    """

    work: str
    ref: str
    tip: str
    counts: str
    record: Record
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What was found: the roster, the works, and every ref that was asked for."""

    read: RosterRead
    roster: Roster
    works: tuple[Sighted, ...]
    refs: Mapping[str, str]
    prefix: str

    def tips(self) -> dict[str, str]:
        """Return the tips of records and archive, for a revocation to name."""
        found = {s.work: s.counts for s in self.works if s.counts}
        start, looked_at = f"{self.prefix}/lease/", {s.ref for s in self.works}
        for ref, tip in self.refs.items():  # very many refs are not all looked at
            work = work_of(ref.removeprefix(start)) if ref.startswith(start) else None
            if work is not None and ref not in looked_at:
                found[work] = tip
        archive = self.refs.get(f"{self.prefix}/archive", "")
        return found | ({REVOKED_AT: archive} if archive else {})

    def parcels(self) -> dict[str, dict[str, str]]:
        """Return the refs of the parcels that wait, and their tips, by work component."""
        found: dict[str, dict[str, str]] = {}
        start = f"{self.prefix}/snap/"
        for ref, tip in self.refs.items():
            component, _, parcel = ref.removeprefix(start).partition("/")
            if ref.startswith(start) and is_parcel_id(parcel):
                found.setdefault(component, {})[ref] = tip
        return found


def overview(desk: Desk, *more: str) -> Overview:
    """Return what the remote has: all of ours, and the refs that match ``more``."""
    shared = desk.shared
    desk.need_pin()
    found = survey(desk)
    refs = shared.tips(f"{shared.prefix}/*", *more)
    read = desk.local_roster_read() or RosterRead()
    works = tuple(_sighted(found.roster, standing) for standing in found.works.values())
    return Overview(read=read, roster=read.trusted(), works=works, refs=refs, prefix=shared.prefix)


def _sighted(roster: Roster, standing: Standing) -> Sighted:
    record, tip = standing.record, standing.tip
    if record is not None:
        problem, counts = record.behind, tip
    else:
        record = Record(roster=roster, work=standing.work)
        problem, counts = str(standing.trouble), standing.seen or tip
    return Sighted(
        work=standing.work,
        ref=standing.ref,
        tip=tip,
        counts=counts,
        record=record,
        problem=problem,
    )


def waiting_in(top: Path) -> Iterator[str]:
    """Yield the components of works about which the clone at ``top`` has something to send."""
    store = open_checkout(top).store_dir
    yield from (path.name.removesuffix(".json") for path in store.glob("pending/*.json"))
    for path in store.glob("notes/*.json"):
        kept = files.read_json(path)
        if kept and kept.get("tip") != kept.get("sent"):
            yield path.name.removesuffix(".json")
