"""Lines laid out for a terminal: tables, and sentences that go on below.

What is laid out is said in the reader's language before, since its length counts; and a letter of
Chinese is as wide as two others (UAX #11). The one door to wcwidth, which takes longer to import
than some commands take: only what lays something out pays for it.
"""

from typing import Final

from handsoff.edge import tongue

WIDTH: Final = 80


def width(text: str) -> int:
    """Return how many columns a text takes."""
    import wcwidth

    return wcwidth.width(text)


def ljust(text: str, columns: int, fill: str = " ") -> str:
    """Return a text that takes ``columns``, with what is missing on its right."""
    import wcwidth

    return wcwidth.ljust(text, columns, fill)


def rjust(text: str, columns: int) -> str:
    """Return a text that takes ``columns``, with what is missing on its left."""
    import wcwidth

    return wcwidth.rjust(text, columns)


def wrapped(text: str, *, room: int = WIDTH, first: str = "", rest: str = "") -> list[str]:
    """Return a sentence in lines of ``room`` columns; at least one."""
    import wcwidth

    return wcwidth.wrap(
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
