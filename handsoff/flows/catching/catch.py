"""``handsoff catch WORK``: become the carrier, and have the work here, to the last byte.

    preflight -> restore point -> Caught by compare-and-swap -> apply -> compare -> page

Everything that could be overwritten, wrong or busy is found before the first write. The journal
says what was begun, so that a run that was killed anywhere is finished by the next.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from handsoff.flows.desk import Desk
from handsoff.flows.phases import Phases

if TYPE_CHECKING:
    from handsoff.flows.catching.catching import CatchResult


def catch(
    desk: Desk,
    work: str,
    phases: Phases,
    *,
    dry_run: bool = False,
    hold: timedelta | None = None,
) -> "CatchResult":
    """Catch ``work`` into the checkout of ``desk``."""
    with desk.checkout.lock(), desk.shared.reader.open(), desk.asking(work, expect_news=True):
        # the remote takes a while: what goes on from here is imported meanwhile
        from handsoff.flows.catching.catcher import Catcher  # noqa: PLC0415

        return Catcher(desk, work, phases, dry_run, hold=hold).run()
