"""``catch --wait``: until the time of whoever has a work has run out, also where clocks disagree.

A lapse that a clock alone tells is none if signed times contradict that clock, and a carrier whose
clock is years ahead would never lapse at all. So one whole lease is waited out on this machine's
own count, in which nothing may move; the end of the lease is then taken for the present.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from handsoff.core.plain import plain
from handsoff.edge import clock
from handsoff.flows.desk import Desk

_LOOK: Final = timedelta(seconds=20)
"""How often the remote is asked whether the work has moved."""


def wait_out(desk: Desk, work: str, tell: Callable[[str], None]) -> Desk:
    """Return the desk at a time at which ``work`` is there for the catching, or is not awaited.

    It is not where it was let go already, or is offered to this machine: catch says the rest.
    """
    seen, began, told = "", clock.monotonic(), False
    while True:
        desk = replace(desk, now=clock.now())
        view = desk.view(work)
        lease = view.record.lease
        person = view.roster.person_of(desk.machine.id)
        mine = lease.carrier == desk.machine.id
        if lease.until is None or mine or (lease.to and lease.to.admits(desk.machine.id, person)):
            return desk
        if view.tip != seen:
            seen, began = view.tip, clock.monotonic()
        waited = timedelta(seconds=clock.monotonic() - began)
        if view.record.has_lapsed(desk.now, waited=waited):
            return replace(desk, now=max(desk.now, lease.until))
        if not told:
            name = plain(view.roster.name_of(lease.carrier))
            tell(f"waiting for {name}: {lease.length} from now, if nothing moves (Ctrl-C ends it)")
            told = True
        clock.sleep(min(_LOOK, max(lease.length - waited, timedelta(seconds=1))))
