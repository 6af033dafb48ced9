"""What a tour is made of: steps of things typed and facts, and when two checkouts are the same.

A step shows commands as they are typed on a machine, with the exit code that each must have, and
then says facts about what is there. A fact is a line for a shell that ends with 0 if it is so. A
tour that ends well is a test of all it said; it reads no words of any program, since these come
in the user's language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from handsoff.core.plain import plain

DIGEST: Final = 8
"""How many digits of a checksum are shown; all of them are compared."""


@dataclass(frozen=True, slots=True)
class Types:
    """A command is typed, and must end with ``code``."""

    machine: str
    line: str
    code: int = 0


@dataclass(frozen=True, slots=True)
class Starts:
    """A command is typed that goes on; what it says matches ``until`` once it is ready.

    The named groups of ``until`` stand for what they matched in later lines, as ``{name}``.
    """

    machine: str
    line: str
    until: str


@dataclass(frozen=True, slots=True)
class Ends:
    """What went on there comes to its end by itself."""

    machine: str


@dataclass(frozen=True, slots=True)
class Writes:
    """Somebody at a machine writes a file, and ``said`` says so; "" is not told."""

    machine: str
    path: str
    text: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something happens behind the scene: the story needs it, the reader does not."""

    machine: str
    script: str


@dataclass(frozen=True, slots=True)
class Compares:
    """Both checkouts are compared; the files of ``stays`` are on the first only."""

    first: str
    second: str
    stays: Mapping[str, str]
    """File -> why it stays."""
    brief: bool = False
    """Whether a line is enough, if they are the same."""


Act = Types | Starts | Ends | Writes | Hidden | Compares


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to look at, and the line for a shell on ``machine`` that finds it so."""

    text: str
    machine: str
    check: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tour."""

    title: str
    why: tuple[str, ...]
    acts: tuple[Act, ...]
    facts: tuple[Fact, ...] = ()
    needs: str = ""
    """A program without which the step is left out."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a checkout holds."""

    files: Mapping[str, str]
    """Every file but git's -> its kind and checksum."""
    git: Mapping[str, str]
    """What git says of it, by what was asked."""


@dataclass(frozen=True, slots=True)
class Sameness:
    """Two checkouts side by side, as lines, and whether they are the same."""

    lines: tuple[str, ...]
    same: bool
    count: int
    """How many files both hold."""


def compare(
    names: tuple[str, str], first: Look, second: Look, stays: Mapping[str, str]
) -> Sameness:
    """Compare two checkouts; the files of ``stays`` must be in the first only."""
    files = sorted(first.files.keys() | second.files.keys() | stays.keys())
    rows = [_file(name, first, second, stays.get(name)) for name in files]
    rows += [_asked(what, first, second) for what in first.git]
    table = [("", *names, "")] + [row for row, _ in rows]
    both = len(first.files.keys() & second.files.keys())
    return Sameness(tuple(_lines(table)), all(good for _, good in rows), both)


Row = tuple[str, str, str, str]


def _file(name: str, first: Look, second: Look, stays: str | None) -> tuple[Row, bool]:
    here, there = first.files.get(name), second.files.get(name)
    good = here is not None and there == (None if stays else here)
    verdict = (stays or "same") if good else "NOT AS IT SHOULD BE"
    return (plain(name), _short(here), _short(there), verdict), good


def _asked(what: str, first: Look, second: Look) -> tuple[Row, bool]:
    here, there = first.git[what], second.git[what]
    verdict = "same" if here == there else "NOT THE SAME"
    return (what, _short(here), _short(there), verdict), here == there


def _short(told: str | None) -> str:
    return "-" if told is None else told.rpartition(" ")[2][:DIGEST]


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()


def filled(line: str, values: Mapping[str, str]) -> str:
    """Return ``line`` with ``{name}`` for each value put in, and nothing else changed."""
    return re.sub(r"\{([a-z]+)\}", lambda m: values.get(m[1], m[0]), line)


def shown(output: str, home: str) -> tuple[str, ...]:
    """Return what a command said as lines to show; the machine's ``home`` is ``~`` in them."""
    return tuple(
        plain(line) for line in output.replace(home, "~").rstrip().split("\n") if output.strip()
    )
