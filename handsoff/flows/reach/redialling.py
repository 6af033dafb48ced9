"""A connection that was lost is made again, as long as its person has patience (--retry).

What is tried again, and how soon, is core/talk/patience.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from handsoff.core.talk.patience import USUAL, is_worth_another, pause_before
from handsoff.edge import clock
from handsoff.errors import CutError, UnreachableError

T = TypeVar("T")


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

    def persist(
        self,
        work: Callable[[], T],
        *,
        met: Callable[[], bool],
        anew: Callable[[], None] = lambda: None,
        asked: bool = False,
    ) -> T:
        """Return what ``work`` does, tried again where the connection was lost.

        ``met`` says whether somebody answered in the try that has just failed, ``anew`` makes
        another connection, ``asked`` is for a person who said how long to try.
        """
        met_ever = False
        while True:
            try:
                return work()
            except UnreachableError as error:
                met_now = met()
                met_ever = met_ever or met_now
                cut = isinstance(error, CutError)
                if not is_worth_another(met=met_now, met_ever=met_ever, cut=cut, asked=asked):
                    raise
                self._wait(error)
                anew()

    def _wait(self, error: UnreachableError) -> None:
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
