"""This machine's own chain of notes on a work: written here, and on the remote at the next contact.

    <store>/notes/<work>.json   {"work", "tip": the last link here, "sent": the last one there}

Nobody else writes to the chain. Two clones of one machine may: then what waits here is signed
anew on what the other wrote.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from handsoff.core.chain import Draft
from handsoff.core.ids import work_component
from handsoff.core.machines.roster import Roster
from handsoff.core.works import notes
from handsoff.core.works.lease import Event
from handsoff.core.works.notes import Note, Notes
from handsoff.edge import files
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.git.repo import Checkout
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, HandsoffError, LostRaceError, RefusedError
from handsoff.flows.desk import Desk, View

Make: TypeAlias = Callable[[Notes], Draft | None]
"""Makes the next link of a chain, or None if it has that already."""

_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Notebook:
    """What this machine noted on one work."""

    desk: Desk
    roster: Roster
    work: str

    @property
    def ref(self) -> str:
        """Where they stand on the remote."""
        return self.desk.shared.notes_ref(self.work, self.desk.machine.id)

    @property
    def tip(self) -> str:
        """The last of them that is here, "" if there is none."""
        return str((files.read_json(self._path) or {}).get("tip", ""))

    def waits(self) -> bool:
        """Say whether there are notes here that the remote has not got yet."""
        kept = files.read_json(self._path) or {}
        return bool(kept) and kept["tip"] != kept["sent"]

    def write(self, make: Make | None, *, away: bool) -> bool:
        """Add what ``make`` makes, send what waits, and say whether the remote has it all."""
        for _ in range(_TRIES):
            there = self._sent() if away else self._ask()
            read = self._with_what_waits(self._read(there))
            draft = make(read) if make is not None else None
            if draft is not None:
                read = self._add(read, draft)
            make = None
            self._keep(read.git_tip or "", there)
            if away or (read.git_tip or "") == there:
                return not self.waits()
            step("note.push.before")
            if self.desk.shared.push(Move(self.ref, read.git_tip or "", there)) is Outcome.MOVED:
                self._keep(read.git_tip or "", read.git_tip or "")
                return True
        raise LostRaceError(f"{_TRIES} times another clone of this machine noted first")

    def _ask(self) -> str:
        tips = self.desk.shared.tips(self.ref)
        self.desk.shared.bring(tips)
        return tips.get(self.ref, "")

    def _read(self, tip: str) -> Notes:
        empty = Notes(roster=self.roster, work=self.work, machine=self.desk.machine.id)
        try:
            return empty.extend(self.desk.shared.chains.line(tip) or [])
        except DamagedError:  # rubbish that somebody put there: ours goes in its place
            return empty

    def _with_what_waits(self, read: Notes) -> Notes:
        """Return the chain of the remote with what only this clone has on top."""
        there = {entry.oid for entry in read.entries}
        tip = self.tip
        if not tip or tip in there:
            return read
        ahead = self.desk.shared.chains.line(tip, read.git_tip or "")
        if ahead:
            return read.extend(ahead)
        for entry in self._read(tip).entries:
            if entry.oid not in there and entry.good and entry.entry is not None:
                read = self._add(read, again(read, entry.entry, self.desk))
        return read

    def _add(self, read: Notes, draft: Draft) -> Notes:
        shared = self.desk.shared
        store_of(shared).write_drafts([draft])
        return read.extend([(draft.oid, draft.data)])

    def _sent(self) -> str:
        return str((files.read_json(self._path) or {}).get("sent", ""))

    def _keep(self, tip: str, sent: str) -> None:
        kept = {"work": self.work, "tip": tip, "sent": sent}
        if kept != files.read_json(self._path):
            files.sync_filesystem(self.desk.checkout.store_dir)
            files.write_json(self._path, kept)

    def kept(self) -> Any:
        """Return what is kept of them here, for ``put_back``; None if that is nothing."""
        return files.read_json(self._path)

    def put_back(self, kept: Any) -> None:
        """Be as when ``kept`` was all of it."""
        if kept is None:
            self._path.unlink(missing_ok=True)
        else:
            files.write_json(self._path, kept)

    @property
    def _path(self) -> Path:
        folder = files.ensure_folder(self.desk.checkout.store_dir / "notes")
        return folder / f"{work_component(self.work)}.json"


def unsent(checkout: Checkout) -> list[str]:
    """Return the works on which notes wait in a clone."""
    paths = sorted((checkout.store_dir / "notes").glob("*.json"))
    kept = [files.read_json(path) for path in paths]
    return [str(item["work"]) for item in kept if item and item["tip"] != item["sent"]]


def again(read: Notes, note: Note, desk: Desk) -> Draft:
    """Return a note of this machine, signed anew on ``read``."""
    at, sign = int(desk.now.timestamp()), desk.machine.sign
    if not note.tried:
        return notes.noted(read, note.text, saw=note.saw, at=at, sign=sign)
    return notes.refused(
        read, tried=note.tried, leg=note.leg, revision=note.revision, reason=note.text,
        winner=note.winner, saw=note.saw, at=at, sign=sign,
    )  # fmt: skip


def write(desk: Desk, view: View, text: str) -> bool:
    """Note ``text`` on a work; False if it waits for the remote."""
    at = int(desk.now.timestamp())

    def make(read: Notes) -> Draft:
        return notes.noted(read, text, saw=view.tip, at=at, sign=desk.machine.sign)

    own = Notebook(desk, view.roster, view.record.work)
    before = own.kept()
    try:
        return own.write(make, away=bool(view.away))
    except RefusedError:  # a "no" of the remote: it does not wait, and is typed again
        own.put_back(before)
        raise


def refuse(desk: Desk, view: View, tried: Sequence[tuple[str, int, int]], reason: str) -> None:
    """Put refusals on the record: of entries of these kinds, on their legs and revisions.

    A refusal is no reason to fail: what cannot be written now is left out.
    """
    at, winner = int(desk.now.timestamp()), view.record.lease.carrier
    own = Notebook(desk, view.roster, view.record.work)
    for kind, leg, revision in tried:

        def make(
            read: Notes, kind: str = kind, leg: int = leg, revision: int = revision
        ) -> Draft | None:
            said = (kind, leg, revision, reason)
            if said in [(n.tried, n.leg, n.revision, n.text) for n in read.good]:
                return None  # typed again, or refused by a run that was killed: once is enough
            return notes.refused(
                read, tried=kind, leg=leg, revision=revision, reason=reason, saw=view.tip,
                winner="" if winner == desk.machine.id else winner, at=at, sign=desk.machine.sign,
            )  # fmt: skip

        with suppress(HandsoffError):
            own.write(make, away=bool(view.away))


def tried(events: Sequence[Event]) -> list[tuple[str, int, int]]:
    """Return what ``refuse`` keeps of entries that were refused."""
    return [(type(event).__name__, event.leg, event.revision) for event in events]
