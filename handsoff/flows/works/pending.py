"""``handsoff pending``: what waits here for the remote, and sending it when that is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from handsoff.core.ids import work_component
from handsoff.edge.git.repo import open_checkout
from handsoff.errors import HandsoffError, UnreachableError
from handsoff.flows import cached
from handsoff.flows.desk import Desk
from handsoff.flows.memory import Memory, finishing
from handsoff.flows.roster import changes
from handsoff.flows.waiting import Pending
from handsoff.flows.works import landing, notebook


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
        notes=tuple(notebook.unsent(desk.checkout)),
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
                view = landing.flush(desk, desk.view(work), asked=True)
                news += view.news
                cached.write(desk, view.roster, [work])
            except UnreachableError:
                raise
            except HandsoffError as error:
                news.append(f"{work}: {error}")
        for work in notebook.unsent(desk.checkout):
            notebook.Notebook(desk, desk.view(work).roster, work).write(None, away=False)
    return news


def _unfinished(desk: Desk) -> list[str]:
    memory = Memory(desk.checkout)
    journal, sending = memory.journal(), memory.sending()
    found = [f"handsoff {finishing(journal)}"] if journal else []
    if sending is not None:
        verb = f"send {sending.to}" if sending.route != "remote" else "send, or save"
        found.append(f"handsoff {verb}")
    return found


def waiting_in(top: Path) -> Iterator[str]:
    """Yield the components of works about which the clone at ``top`` has something to send."""
    checkout = open_checkout(top)
    paths = checkout.store_dir.glob("pending/*.json")
    yield from (path.name.removesuffix(".json") for path in paths)
    yield from map(work_component, notebook.unsent(checkout))
