"""``handsoff pending``: what waits here for the remote, and sending it when that is asked for."""

from dataclasses import dataclass
from pathlib import Path

from handsoff.edge import files
from handsoff.errors import HandsoffError, UnreachableError
from handsoff.flows import changes, landing, noting
from handsoff.flows.catching import finishing
from handsoff.flows.desk import Desk
from handsoff.flows.notes import Notes
from handsoff.flows.pending import Pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """A verb that waits."""

    work: str
    verb: str
    at: int
    age: int
    """Seconds since it was typed."""
    leg: int
    """With ``revision``, what it was made against."""
    revision: int
    parcel: str
    """The parcel that is left on the remote with it, "" if none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingList:
    """What waits here."""

    verbs: tuple[Waits, ...]
    roster: tuple[str, ...]
    """Changes of the roster that were asked for."""
    notes: tuple[str, ...]
    """Works on which notes wait."""
    unfinished: tuple[str, ...]
    """Commands that take up what was interrupted: it is never sent by itself."""
    lost: tuple[str, ...]
    """Chains that were refused, and why."""
    news: tuple[str, ...] = ()
    away: str = ""


def pending(desk: Desk, *, send: bool = False) -> PendingList:
    """Return what waits here; with ``send``, after sending all that still fits, however old."""
    news: list[str] = []
    away = ""
    if send:
        try:
            news = _send(desk)
        except UnreachableError as error:
            away = str(error)
    here = Pending(desk.checkout)
    waiting = [w for work in here.works() if (w := here.of(work)) is not None]
    now = int(desk.now.timestamp())
    return PendingList(
        verbs=tuple(
            Waits(
                work=item.work, verb=verb.name, at=verb.at, age=max(0, now - verb.at), leg=verb.leg,
                revision=verb.revision, parcel=verb.parcel if verb.path else "",
            )
            for item in waiting
            for verb in item.verbs
        ),
        roster=tuple(change.said for change in changes.waiting(desk)),
        notes=tuple(_noted(desk)),
        unfinished=tuple(_unfinished(desk)),
        lost=tuple(here.refused()),
        news=tuple(news),
        away=away,
    )  # fmt: skip


def _send(desk: Desk) -> list[str]:
    news: list[str] = []
    with desk.checkout.lock():
        desk.live_roster()  # an error here says that the remote does not answer
        news += changes.make(desk, asked=True)
        for work in Pending(desk.checkout).works():
            try:
                news += landing.flush(desk, desk.view(work), asked=True).news
            except UnreachableError:
                raise
            except HandsoffError as error:
                news.append(f"{work}: {error}")
        for work in _noted(desk):
            noting.Own(desk, desk.view(work).roster, work).write(None, away=False)
    return news


def _noted(desk: Desk) -> list[str]:
    folder = desk.checkout.store_dir / "notes"
    kept = [files.read_json(path) for path in sorted(Path(folder).glob("*.json"))]
    return [str(item["work"]) for item in kept if item and item["tip"] != item["sent"]]


def _unfinished(desk: Desk) -> list[str]:
    notes = Notes(desk.checkout)
    journal, sending = notes.journal(), notes.sending()
    found = [f"handsoff {finishing(journal)}"] if journal else []
    if sending is not None:
        verb = f"send {sending.to}" if sending.route != "remote" else "send, or save"
        found.append(f"handsoff {verb}")
    return found
