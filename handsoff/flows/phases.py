"""Where a verb is, for whoever watches: the name of the phase, how far, and how long it took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from handsoff.edge import clock
from handsoff.edge.steps import step

Tell: TypeAlias = Callable[[str, int, int], None]
"""Hears the phase, how much is done, and of how much (0 if nobody knows)."""


def nobody(phase: str, done: int, total: int) -> None:
    """Hear and forget."""


@dataclass
class Phases:
    """The phases of one run of a verb; ``spent`` has milliseconds by name."""

    verb: str
    tell: Tell = nobody
    spent: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure a phase; the lab can stop the verb on either side of it."""
        self.tell(name, 0, 0)
        step(f"{self.verb}.{name}.before")
        began = clock.monotonic()
        try:
            yield
        finally:
            took = round((clock.monotonic() - began) * 1000)
            self.spent[name] = self.spent.get(name, 0) + took
        step(f"{self.verb}.{name}.after")
