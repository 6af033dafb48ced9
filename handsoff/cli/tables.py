"""The record as lines for people: verbs of one entry, the history, and what waits.

Pure, like ``render``: a result in, lines out. Tables fit 80 columns; what does not fit in a row
goes on below it. Everything that another machine wrote passes ``clean``.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from handsoff.cli import layout
from handsoff.cli.render import clean
from handsoff.core.loose import quoted
from handsoff.core.phrases import Said
from handsoff.core.times import spell_length
from handsoff.edge import tongue

if TYPE_CHECKING:
    from handsoff.core.works.history import Line
    from handsoff.flows.works.history import History
    from handsoff.flows.works.letting import Let
    from handsoff.flows.works.note import WroteNote
    from handsoff.flows.works.pending import PendingList

_WHO: Final = 16
_WAITS: Final = "the remote does not answer: it waits here, and is sent at the next contact"


def let(result: "Let") -> Iterator[str]:
    """Yield what to say of an entry that was written."""
    work = clean(result.work)
    yield from (f"warning: {clean(warning)}" for warning in result.warnings)
    until = f" until {result.until}" if result.until else ""
    number = f"leg {result.leg}, r{result.revision}"
    if result.check_first:
        yield "check before you repeat:"
        yield from (f"  {clean(line)}" for line in result.check_first)
    standing = tongue.word("state", result.state)
    if result.reason:
        standing += tongue.word("sign", ", ") + tongue.word("outcome", clean(result.reason))
    yield tongue.told(
        "{verb}: would leave {work} {standing}{until} ({number})"
        if result.dry_run else "{verb}: left {work} {standing}{until} ({number})",
        verb=result.verb, work=Said(work), standing=Said(standing), until=until, number=number,
    )  # fmt: skip
    if result.pending:
        yield _WAITS
    elif result.dry_run:
        yield "nothing was changed"
    else:
        yield f"next: {_NEXT[result.verb].format(work=quoted(work))}"


_NEXT: Final = {
    "withdraw": "go on here; then handsoff save, or handsoff send MACHINE",
    "drop": "whoever goes on: handsoff catch {work}",
    "close": "handsoff history {work}",
    "catch": "read the page below; the checkout is as it was",
    "save": "go on; handsoff send MACHINE hands it over",
}


def noted(result: "WroteNote") -> Iterator[str]:
    """Yield what to say of a note."""
    yield from (f"warning: {clean(warning)}" for warning in result.warnings)
    yield f"noted on {clean(result.work)}"
    yield _WAITS if result.pending else f"next: handsoff history {quoted(clean(result.work))}"


def history(found: "History") -> Iterator[str]:
    """Yield a table of all that happened to a work."""
    state = tongue.word("state", found.state)
    standing = state
    if found.carrier:
        standing = tongue.told("{state} by {who}", state=state, who=clean(found.carrier))
    yield tongue.told(
        "{work}: {standing} (leg {leg}, r{revision})",
        work=clean(found.work), standing=standing,
        leg=str(found.leg), revision=str(found.revision),
    )  # fmt: skip
    if found.away:
        yield f"{clean(found.away)}; as last seen:"
    rows = [_cells(line) for line in found.lines]
    heads = [tongue.word("column", head) for head in ("when (UTC)", "leg", "rev", "who", "what")]
    heads[1:3] = layout.rjust(heads[1], 3), layout.rjust(heads[2], 4)
    widths = layout.widest([*(cells for cells, _ in rows), heads[:-1]])
    for cells, what in [(heads[:-1], heads[-1]), *rows]:
        start = layout.padded(cells, widths, trim=False) + "  "
        first, *rest = layout.wrapped(what, room=layout.WIDTH - layout.width(start))
        yield Said(start + first)
        yield from (Said(" " * layout.width(start) + more) for more in rest)


def _cells(line: "Line") -> tuple[list[str], str]:
    at = datetime.fromtimestamp(line.at, UTC).strftime("%Y-%m-%d %H:%M") if line.at else "-"
    revision = f"r{line.revision}" if line.revision else "-"
    cells = [at, f"{line.leg or '-':>3}", f"{revision:>4}", clean(line.by)[:_WHO]]
    what: str = Said(tongue.word("entry", line.what))
    if line.detail:
        detail = tongue.detail(line.what, clean(line.detail))
        what = tongue.told("{what} {detail}", what=what, detail=detail)
    if line.void:
        word = tongue.word("signature", line.word)
        what = tongue.told(
            "VOID ({word}: {void}) {what}", word=word, void=clean(line.void), what=what
        )
    if line.pending:
        what = tongue.told("{what} [waits for the remote]", what=what)
    return cells, what


def pending(found: "PendingList") -> Iterator[str]:
    """Yield what waits, with its age and what it was made against."""
    yield from (clean(line) for line in found.news)
    for item in found.verbs:
        age = spell_length(timedelta(seconds=item.age))
        made = f"made on leg {item.leg}, r{item.revision}"
        parcel = ", with its parcel" if item.parcel else ""
        yield tongue.told(
            "{work}: {verb}, {age} old, {made}{parcel}",
            work=clean(item.work), verb=item.verb, age=age, made=made, parcel=parcel,
        )  # fmt: skip
    yield from (f"roster: {clean(change)}" for change in found.roster)
    yield from (f"{clean(work)}: notes" for work in found.notes)
    yield from (f"interrupted, never sent by itself: {clean(c)}" for c in found.unfinished)
    yield from (f"refused, and kept: {clean(reason)}" for reason in found.lost)
    if found.verbs or found.notes or found.roster:
        yield "next: handsoff pending --send, or any command that reaches the remote"
    elif not found.unfinished:
        yield "nothing waits"
