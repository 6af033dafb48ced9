"""After a drop, check before you repeat: what the next carrier has to know.

A carrier may have stopped in the middle of a step, after its last save, and it may have done more
than one. So nothing that the page calls next, or in flight, is known to be undone.
"""

import shlex
from collections.abc import Callable, Sequence
from datetime import datetime

from handsoff.core.pages.page import Page
from handsoff.core.times import moment
from handsoff.core.works.lease import How, Lease, State


def check_before(
    lease: Lease,
    *,
    work: str,
    name_of: Callable[[str], str],
    saved: datetime | None,
    page: Page | None,
) -> list[str]:
    """Return what to tell whoever catches a work under ``lease``; nothing unless it was dropped.

    ``saved`` is when the last revision was accepted, and ``page`` the one that it left.
    """
    if lease.state is not State.DROPPED:
        return []
    who = name_of(lease.carrier)
    lines = [f"contact with {who} was lost: {_how(lease)} at {moment(lease.since)}"]
    if saved is None:
        lines.append(f"{who} saved nothing: all that it did is unknown")
    else:
        lines.append(f"the last accepted save is r{lease.revision}, of {moment(saved)}")
    if page is not None:
        lines += [f"was in flight, check it first: {step}" for step in page.in_flight]
        lines += [f"may be done already: {step}" for step in page.next_steps]
        lines += [f"check through: {reference}" for reference in page.references]
    return [*lines, *_advice(who, work)]


def _how(lease: Lease) -> str:
    if lease.how is How.DROP:
        quoted = lease.reason
        return f"it {'blocked' if lease.blocked else 'dropped'} the work ({quoted})"
    return "its lease ran out" if lease.how is How.LAPSE else "its offer ran out, uncaught,"


def _advice(who: str, work: str) -> Sequence[str]:
    return (
        f"{who} may have done more than one step after that save: every step of the next action, "
        "and any step in flight, may be done already, not only the first",
        "before you do a step, check its outcome through the references, even if it looks safe to "
        "repeat: skip it if it was done, and do only the rest if it was partly done",
        "if you cannot tell for a step, stop and block the work: handsoff drop "
        f"{shlex.quote(work)} --blocked --reason WHY",
    )
