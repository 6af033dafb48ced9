"""``handsoff note``: something that others should know, on the record of a work."""

from dataclasses import dataclass

from handsoff.flows.desk import Desk
from handsoff.flows.naming import need_work
from handsoff.flows.works import ledger, notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteNote:
    """A note that was written."""

    work: str
    text: str
    pending: bool
    """Whether it waits for the remote."""
    warnings: tuple[str, ...] = ()


def note(desk: Desk, work: str | None, text: str) -> WroteNote:
    """Note ``text`` on ``work``, by default that of this checkout."""
    named = work or desk.work()
    own = desk.shared.notes_ref(named, desk.machine.id)
    with desk.checkout.lock(), desk.asking(named, (own,)):
        view = ledger.look(desk, named)
        desk.need_admitted(view.roster)
        if work:
            need_work(desk.checkout, work, known=bool(view.tip or view.away))
        landed = notebook.write(desk, view, text)
    return WroteNote(work=named, text=text, pending=not landed, warnings=view.news)
