"""How long a connection may stay: who has not signed in has ten seconds, and makes room.

Any program of this computer, also of another user, can connect to the port and say nothing. So a
connection that never brought a session ends soon, whatever it waits for or does not read; and where
all room is taken, the oldest of them goes for the next one. uvicorn has no such limits.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from handsoff.edge import clock

CROWD: Final = 64
"""Connections at once: one browser opens six, and one for each page that is open."""

PATIENCE: Final = 10.0
"""Seconds that a connection without a session is kept."""

_KNOWN: Final = "handsoff.known"


def welcome(scope: Scope) -> None:
    """Note that the request of this scope came with a session."""
    scope[_KNOWN] = True


class Guest(H11Protocol):
    """A connection that ends in time."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.began = clock.monotonic()
        self._ending: asyncio.TimerHandle | None = None

    @property
    def is_known(self) -> bool:
        """Whether its last request came with a session."""
        scope: Mapping[str, object] | None = self.scope  # None until it has asked something
        return scope is not None and _KNOWN in scope

    def connection_made(  # type: ignore[explicit-override, override]  # 3.12 has it
        self, transport: asyncio.Transport
    ) -> None:
        """Take a connection in, in place of a stranger's if there are too many."""
        others = [one for one in self.connections if isinstance(one, Guest) and not one.is_known]
        if len(self.connections) >= CROWD and others:
            min(others, key=lambda one: one.began).end()
        super().connection_made(transport)
        self._ending = self.loop.call_later(PATIENCE, self._look)

    def connection_lost(  # type: ignore[explicit-override]
        self, exc: Exception | None
    ) -> None:
        """Forget a connection that has ended."""
        if self._ending is not None:
            self._ending.cancel()
        super().connection_lost(exc)

    def end(self) -> None:
        """Close it, whatever is under way."""
        self.connections.discard(self)  # it is told so only in the next turn of the loop
        self.transport.abort()

    def _look(self) -> None:
        if not self.is_known:
            self.end()
