"""A connection that was lost is made again, as long as its person has patience (--retry).

Only what went wrong on the way is tried again: a no of the other machine is an answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from handsoff.core.patience import USUAL, pause_before
from handsoff.edge import clock
from handsoff.errors import UnreachableError


@dataclass
class Redialling:
    """The tries of one transfer; ``length`` counts from the loss after the last progress."""

    length: float = USUAL
    tell: Callable[[], None] = lambda: None
    """Called before each wait, for whoever watches."""
    lost: int = 0
    """How many times the connection was lost."""
    _tries: int = field(default=0, init=False)
    _best: int = field(default=-1, init=False)
    _since: float | None = field(default=None, init=False)

    def reached(self, position: int) -> None:
        """Note how far the transfer has come; only further than ever is progress."""
        if position > self._best:
            self._best, self._since, self._tries = position, None, 0

    def wait(self, error: UnreachableError) -> None:
        """Wait before the next try; raise ``error`` if there is to be none."""
        now = clock.monotonic()
        self._since = now if self._since is None else self._since
        pause = pause_before(self._tries + 1, idle=now - self._since, length=self.length)
        if pause is None:
            raise error
        self._tries += 1
        self.lost += 1
        self.tell()
        clock.sleep(timedelta(seconds=pause))
