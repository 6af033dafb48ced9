"""Sealed parcels that were made in this clone, kept to be sent again or to be fetched.

<store>/parcels/<id>.handsoff   the parcel, sealed
<store>/parcels/<id>.json       what it is, since nobody here can open it
"""

import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from handsoff.core.ids import is_parcel_id
from handsoff.core.parcels.keeping import may_go
from handsoff.core.works.entry import time_of
from handsoff.core.works.holding import may_take_back
from handsoff.edge import files
from handsoff.errors import DamagedError, HandsoffError, RefusedError
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Memory, Sending
from handsoff.flows.waiting import Pending, last_known

SEALED: Final = ".handsoff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A sealed parcel, and who can open it."""

    parcel: str
    work: str
    receivers: tuple[str, ...]
    size: int
    sha256: str
    manifest: str
    """The SHA-256 of its manifest, which a receipt is for."""
    at: int
    given: str = ""
    """The machine that came for it and was promised it, "" if none did."""


class Shelf:
    """The sealed parcels of one clone, whichever of its worktrees they were made in."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.folder = desk.checkout.store_dir / "parcels"

    def path(self, parcel: str) -> Path:
        """Return where a parcel lies, if it does."""
        assert is_parcel_id(parcel), parcel
        return self.folder / f"{parcel}{SEALED}"

    def put(self, kept: Kept) -> None:
        """Note what lies at the path of a parcel."""
        files.write_json(self._note(kept.parcel), asdict(kept))

    def get(self, parcel: str) -> Kept | None:
        """Return what is known of a parcel that lies here."""
        if not is_parcel_id(parcel):
            return None
        try:
            known = files.read_json(self._note(parcel))
            return Kept(**{**known, "receivers": tuple(known["receivers"])}) if known else None
        except (DamagedError, KeyError, TypeError):
            return None

    def open(self, kept: Kept) -> BinaryIO | None:
        """Return a parcel to be read, None if it does not lie here as it was made."""
        try:
            handle = os.open(self.path(kept.parcel), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size != kept.size:
            os.close(handle)
            return None
        return os.fdopen(handle, "rb")

    def set_given(self, parcel: str, to: str) -> None:
        """Note that the machine ``to`` may have it now, whatever the remote shows."""
        if (kept := self.get(parcel)) is not None:
            self.put(replace(kept, given=to))

    def remove(self, parcel: str) -> None:
        """Throw a parcel away."""
        self.path(parcel).unlink(missing_ok=True)
        self._note(parcel).unlink(missing_ok=True)

    def make_room(self, work: str) -> None:
        """Throw away earlier parcels of ``work``, and what cannot be told: another is made."""
        for parcel in self._idle():
            kept = self.get(parcel)
            if kept is None or kept.work == work:
                self.remove(parcel)

    def superfluous(self) -> list[str]:
        """Return what nobody can want any more, by what this clone knows without asking."""
        now, found = self._desk.now, []
        for parcel in self._idle():
            kept = self.get(parcel)
            view = last_known(self._desk, kept.work) if kept is not None else None
            if kept is None or view is None:
                continue
            named, lease = view.record.kept, view.record.lease.as_of(now)
            last = named is not None and named.parcel == parcel
            ours = lease.carrier == self._desk.machine.id
            if may_go(lease, named=last, ours=ours, made=time_of(kept.at), now=now):
                found.append(parcel)
        return found

    def _idle(self) -> list[str]:
        """Return the parcels that do not wait for the remote, and are not all that is left."""
        waiting = Pending(self._desk.checkout).parcels()
        return [p.stem for p in self.folder.glob(f"*{SEALED}") if str(p) not in waiting]

    def _note(self, parcel: str) -> Path:
        return self.folder / f"{parcel}.json"


def put_away(desk: Desk, sending: Sending) -> None:
    """Forget the parcel under way: the record has moved to it."""
    # a stick can be lost: only a receiver that has signed for it makes the file superfluous
    if sending.path and sending.route in ("direct", "ssh"):
        Shelf(desk).remove(sending.parcel)
    Memory(desk.checkout).set_sending(None)


def tidy(desk: Desk) -> None:
    """Tidy the shelf of ``desk``, unless a verb is at work in that clone."""
    shelf = Shelf(desk)
    with suppress(HandsoffError, OSError):
        if shelf.superfluous():  # else no verb that somebody types is to find the clone busy
            with desk.checkout.lock():
                for parcel in shelf.superfluous():
                    shelf.remove(parcel)


def refuse_given(desk: Desk, view: View) -> None:
    """Raise RefusedError if this machine let the work go, and somebody may have caught it unseen.

    Asked by each verb that would take it up again, or let it go in another way.
    """
    lease, kept = view.record.lease.as_of(desk.now), view.record.kept
    if lease.carrier != desk.machine.id or kept is None:
        return
    known = Shelf(desk).get(kept.parcel)
    given = known.given if known is not None else None if kept.by == desk.machine.id else ""
    if problem := may_take_back(lease, view.record.route, given=given, away=bool(view.away)):
        raise RefusedError(
            view.roster.named_text(problem), hint="once the remote answers again, it can be done"
        )
