"""How long this machine holds a work that it saves or catches."""

from datetime import timedelta

from handsoff.core.times import parse_duration
from handsoff.core.works.lease import HOLD
from handsoff.edge.git.repo import Checkout


def hold_of(checkout: Checkout, asked: timedelta | None) -> timedelta:
    """Return the length that was asked for, or that ``git config handsoff.hold`` says, or ours."""
    if asked is not None:
        return asked
    kept = checkout.setting("handsoff.hold")
    return HOLD if kept is None else parse_duration(kept, "git config handsoff.hold")
