"""What an agent is told of a page: the next action and the traps, as plain lines, cut short."""

from typing import Any, Final

from handsoff.core.pages.page import Page
from handsoff.core.plain import plain

NEXT_LIMIT: Final = 600
TRAP_LIMIT: Final = 200
MOST_TRAPS: Final = 5


def told_of(page: Page) -> dict[str, Any]:
    """Return what is told of a page: the next action, and the traps."""
    steps = page.next_steps
    numbered = steps if len(steps) == 1 else [f"{n}. {s}" for n, s in enumerate(steps, start=1)]
    return {
        "next": plain(" ".join(numbered), limit=NEXT_LIMIT),
        "traps": [plain(trap, limit=TRAP_LIMIT) for trap in page.traps[:MOST_TRAPS]],
    }
