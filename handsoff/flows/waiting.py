"""What was written here and waits for the remote, and what lost against others.

    <store>/pending/<work>.json   the chain that waits: its tip, and the verbs that made it
    <store>/lost/<tip>.json       a chain that did not land: its entries were refused, none is lost

Only a verb that has ended waits here. One that was killed left its own notes in its checkout, and
is taken up by typing it again. The rules of what becomes of a chain are in ``core.works.landing``.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from handsoff.core.ids import work_component
from handsoff.core.works.record import Record
from handsoff.edge import files
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.flows.desk import Desk, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb that waits: when it was typed, the leg and revision it was made against, its bytes."""

    name: str
    at: int
    leg: int
    revision: int
    entries: tuple[str, ...]
    parcel: str = ""
    path: str = ""
    """The sealed parcel that is to be left on the remote first, "" if there is none."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A chain that waits: ``tip`` is its last entry."""

    work: str
    tip: str
    verbs: tuple[Verb, ...]

    @property
    def since(self) -> int:
        """When the oldest of its verbs was typed."""
        return min(verb.at for verb in self.verbs)

    @property
    def parcels(self) -> Sequence[tuple[str, Path]]:
        """The parcels that are to be left on the remote before the entries that name them."""
        return [(verb.parcel, Path(verb.path)) for verb in self.verbs if verb.path]


class Pending:
    """What waits in one clone, whichever of its worktrees it was typed in."""

    def __init__(self, checkout: Checkout) -> None:
        self._store = checkout.store_dir

    def works(self) -> list[str]:
        """Return the works of which something waits."""
        folder = self._store / "pending"
        kept = [files.read_json(path) for path in sorted(folder.glob("*.json"))]
        return [str(item["work"]) for item in kept if item]

    def of(self, work: str) -> Waiting | None:
        """Return what waits of ``work``."""
        kept = files.read_json(self._path(work))
        if kept is None:
            return None
        verbs = [Verb(**{**verb, "entries": tuple(verb["entries"])}) for verb in kept["verbs"]]
        return Waiting(kept["work"], kept["tip"], tuple(verbs))

    def add(self, work: str, tip: str, verb: Verb) -> None:
        """Let a verb wait whose entries, the last one being ``tip``, are in the store."""
        before = self.of(work)
        self.put(Waiting(work, tip, (*(before.verbs if before else ()), verb)))

    def put(self, waiting: Waiting) -> None:
        """Let this wait in place of what waited of the same work."""
        # what the file names must last before the file does
        files.sync_filesystem(self._store)
        step("pending.write.before")
        files.write_json(self._path(waiting.work), asdict(waiting))
        step("pending.write.after")

    def landed(self, work: str) -> None:
        """Forget what waited of ``work``: the remote has it."""
        step("pending.landed.before")
        self._path(work).unlink(missing_ok=True)

    def lost(self, waiting: Waiting, reason: str) -> None:
        """Keep a chain that did not land where nothing sends it any more."""
        kept = {**asdict(waiting), "reason": reason}
        folder = files.ensure_folder(self._store / "lost")
        files.write_json(folder / f"{waiting.tip}.json", kept)
        self._path(waiting.work).unlink(missing_ok=True)

    def refused(self) -> list[str]:
        """Return why chains were refused that are kept here, oldest first."""
        paths = sorted((self._store / "lost").glob("*.json"), key=lambda p: p.stat().st_mtime)
        kept = [files.read_json(path) for path in paths]
        return [f"{item['work']}: {item['reason']}{_parcels_of(item)}" for item in kept if item]

    def parcels(self) -> set[str]:
        """Return the paths of sealed parcels that must not be thrown away."""
        found = [item for work in self.works() if (item := self.of(work))]
        here = {str(path) for item in found for _, path in item.parcels}
        lost = [files.read_json(path) for path in (self._store / "lost").glob("*.json")]
        return here | {str(verb["path"]) for item in lost if item for verb in item["verbs"]}

    def _path(self, work: str) -> Path:
        folder = files.ensure_folder(self._store / "pending")
        return folder / f"{work_component(work)}.json"


def _parcels_of(kept: dict[str, Any]) -> str:
    """Return where the sealed parcels of a chain that lost are, for people."""
    paths = [str(verb["path"]) for verb in kept["verbs"] if verb["path"]]
    return f"; sealed, and kept: {', '.join(paths)}" if paths else ""


def extended(desk: Desk, record: Record) -> Record:
    """Return a record of the remote with what waits here on top, where it follows from it."""
    waiting = Pending(desk.checkout).of(record.work)
    tip = record.git_tip or ""
    if waiting is None or waiting.tip == tip:
        return record
    return record.extend(desk.shared.chains.line(waiting.tip, tip) or [])


def overlaid(desk: Desk, view: View) -> View:
    """Return what the remote said of a work, and on top what waits here and follows from it."""
    return replace(view, record=extended(desk, view.record))


def last_known(desk: Desk, work: str) -> View | None:
    """Return what this clone knows of a work without asking anybody; None if it has no roster."""
    read = desk.local_roster_read()
    if read is None or read.roster is None:
        return None
    seen = desk.seen_tip(work)
    # of a work never seen nothing is remembered: that would be a word on what the remote has
    empty = Record(roster=read.roster, work=work)
    record = desk.read_record(work, read.roster, seen) if seen else empty
    return overlaid(desk, View(read.roster, read, record, remote_tip=seen))


def judging(desk: Desk, record: Record) -> list[Record]:
    """Return the records that must all allow a push of the branch.

    The remote's, with what waits here on top; and where that does not follow from it, also the one
    that this machine left: what it gave away counts, also where the remote has not heard of it.
    """
    waiting, shared = Pending(desk.checkout).of(record.work), desk.shared
    record = extended(desk, record)
    tip = record.git_tip or ""
    if (
        waiting is None
        or waiting.tip == tip
        or (tip and shared.chains.line(tip, waiting.tip) is not None)
    ):
        return [record]
    return [record, desk.history_to(record.roster, record.work, waiting.tip)]
