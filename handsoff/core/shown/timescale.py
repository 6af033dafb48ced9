"""Where a moment stands on a time line that people can read.

Time is drawn to scale while a work is carried. Waiting (an offer, a drop, a lapse, a closed work)
may last a thousand times as long, and is cut where it is longer than a share of the carrying: a
break in the line says so, with its length.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from handsoff.core.audit.legs import Kind, Stretch

_SHARE: Final = 0.2
"""How long waiting may be drawn, beside all the carrying."""

_LEAST: Final = 0.004
"""How short any stretch may be drawn, beside all the carrying: one that is seen."""

_APART: Final = 0.16
"""How far two labels stand apart."""


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the line is cut: where (0 to 1), and how long it was."""

    at: float
    length: timedelta


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from 0 to 1: knots in time, where each stands, and the breaks between."""

    times: tuple[datetime, ...]
    places: tuple[float, ...]
    breaks: tuple[Break, ...] = ()

    def place(self, at: datetime) -> float:
        """Return where ``at`` stands; at an end if it is beyond."""
        if not self.times or at <= self.times[0]:
            return 0.0
        if at >= self.times[-1]:
            return 1.0
        after = bisect_right(self.times, at)
        begin, end = self.times[after - 1], self.times[after]
        low, high = self.places[after - 1], self.places[after]
        return low + (high - low) * ((at - begin) / (end - begin))


def scale(parts: Sequence[Stretch]) -> Scale:
    """Return the line on which ``parts`` of a work's time are drawn."""
    if not parts:
        return Scale((), ())
    carried = sum((_length(part) for part in parts if part.kind is Kind.HELD), 0.0)
    whole = carried or max(map(_length, parts)) or 1.0
    drawn = [_drawn(part, whole) for part in parts]
    total = sum(drawn)
    times, places, breaks = [parts[0].begin], [0.0], list[Break]()
    for part, width in zip(parts, drawn, strict=True):
        places.append(min(1.0, places[-1] + width / total))
        times.append(part.end)
        if width < _length(part):
            breaks.append(Break((places[-2] + places[-1]) / 2, part.end - part.begin))
    places[-1] = 1.0
    return Scale(tuple(times), tuple(places), tuple(breaks))


def _drawn(part: Stretch, whole: float) -> float:
    length = max(_length(part), _LEAST * whole)
    return length if part.kind is Kind.HELD else min(length, _SHARE * whole)


def _length(part: Stretch) -> float:
    return (part.end - part.begin).total_seconds()


def ticks(line: Scale, wanted: Iterable[datetime]) -> tuple[tuple[float, datetime], ...]:
    """Return those of the ``wanted`` moments that can be labelled without touching, and where."""
    found: list[tuple[float, datetime]] = []
    for at in wanted:
        place = line.place(at)
        if not found or place - found[-1][0] >= _APART:
            found.append((place, at))
    return tuple(found)
