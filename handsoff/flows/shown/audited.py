"""What an audit verified, put together as the pages of the file that it writes.

Needs what the audit needs: no keys, no home. Nothing is verified again, and the pages are those
blobs that the signed entries name.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from handsoff.core.ids import work_component
from handsoff.core.loose import quoted
from handsoff.core.plain import plain
from handsoff.core.shown.overview import (
    Card,
    Overview,
    card_of,
    finding_rows,
    in_order,
    machines_of,
)
from handsoff.core.shown.workview import WorkView, work_view
from handsoff.core.works.notes import NoteEntry
from handsoff.edge.git.objects import store_of
from handsoff.edge.git.remote import open_shared
from handsoff.edge.git.repo import Checkout
from handsoff.errors import HandsoffError, RefusedError
from handsoff.flows.audit.audit import Audit
from handsoff.flows.shown.overview import left_of, texts_of

PAGES: Final = 3 << 20
"""Characters of pages that one file shows, the newest of each work; of the others it says so."""

_LEAST: Final = 8 << 10
"""Characters of pages that each work may show, however many there are."""


def overview_of(audit: Audit) -> Overview:
    """Return all works at a glance, as they stood at the time of the audit."""
    report, roster = audit.report, audit.report.read.trusted()
    cards = in_order(card_of(row.record, audit.at) for row in report.works)
    return Overview(
        at=audit.at,
        remote=plain(audit.remote),
        founding=report.founding,
        founder=plain(report.founder),
        cards=cards,
        machines=machines_of(roster, cards),
        asked=audit.at,
        findings=finding_rows(report.findings),
        audited=audit.at,
        known=report.known,
    )


def views_of(checkout: Checkout, audit: Audit, cards: Iterable[Card]) -> Iterator[WorkView]:
    """Yield the work of each card, with its pages as far as there is room."""
    objects = store_of(open_shared(checkout, audit.remote))
    notes: dict[str, list[NoteEntry]] = {}
    for told in audit.report.notes:
        notes.setdefault(told.work, []).extend(told.notes.entries)
    share = max(_LEAST, PAGES // max(1, len(audit.report.works)))
    records = {work_component(row.work): row.record for row in audit.report.works}
    for card in cards:
        record = records[card.component]
        texts = texts_of(objects, record)
        room = share
        for oid in list(reversed(texts))[1:]:  # the newest is shown in any case
            text = texts[oid]
            room -= len(text) if isinstance(text, str) else 0
            if room < 0 and isinstance(text, str):
                texts[oid] = _no_room(record.work)
        yield work_view(
            card, record, notes.get(record.work, ()), audit.at,
            texts=texts, left=left_of(record, objects),
        )  # fmt: skip


def _no_room(work: str) -> HandsoffError:
    return RefusedError(f"there was no room for it here; handsoff history {quoted(work)} shows it")
