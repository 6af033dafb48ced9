"""Lines laid out for a terminal: tables, and sentences that go on below.

What is laid out is said in the reader's language before, since its length counts; and a letter of
Chinese is as wide as two others (UAX #11).
"""

from typing import Final

from wcwidth import ljust, width, wrap

from handsoff.edge import tongue

WIDTH: Final = 80


def wrapped(text: str, *, room: int = WIDTH, first: str = "", rest: str = "") -> list[str]:
    """Return a sentence in lines of ``room`` columns; at least one."""
    return wrap(
        tongue.said(text), room, initial_indent=first, subsequent_indent=rest,
        break_on_hyphens=False, propagate_sgr=False,
    ) or [first]  # fmt: skip


def padded(cells: list[str], widths: list[int], *, trim: bool = True) -> str:
    """Return the cells of a row, each as wide as its column."""
    row = "  ".join(map(ljust, cells, widths))
    return row.rstrip() if trim else row


def widest(rows: list[list[str]]) -> list[int]:
    """Return how wide each column is."""
    return [max(map(width, column)) for column in zip(*rows, strict=True)]
