"""Which sealed parcels a sender keeps, so that they can be sent again, or fetched from it.

One that waits for the remote, or that a chain which lost has named, is not asked about here: it
stays.
"""

from datetime import datetime, timedelta
from typing import Final

from handsoff.core.works.lease import Lease, State

LONGEST: Final = timedelta(days=30)
"""However a work stands, a parcel of it is not kept for longer."""

UNDER_WAY: Final = timedelta(days=7)
"""How long one is kept that no record names: a transfer that was cut, and may be gone on with."""


def may_go(lease: Lease, *, named: bool, ours: bool, made: datetime, now: datetime) -> bool:
    """Say whether nobody can want a parcel any more that was ``made`` here.

    ``named`` is whether it is the last one that the record names, ``ours`` whether this machine
    carried the work last.
    """
    age = now - made
    if age > LONGEST or not named:
        return age > UNDER_WAY
    return lease.state is State.CLOSED or (lease.state is State.HELD and not ours)


def may_be_given(
    lease: Lease, to: str, person: str | None, *, giver: str, named: bool, given: str
) -> bool:
    """Say whether the machine ``to`` may have the last parcel of the work under ``lease``.

    ``named`` says that it asks for it by its id: then it knows the record, which may be newer than
    ``lease``. But without the remote only the giver knows that it took an offer back, and of many
    that may catch the first one alone (``given``) gets it, or each would carry the work.
    """
    if lease.state in (State.OFFERED, State.DROPPED) and given and given != to:
        return False
    if named:
        return lease.state not in (State.HELD, State.CLOSED) or lease.carrier != giver
    if lease.state is State.OFFERED:
        return lease.to is not None and lease.to.admits(to, person)
    return lease.state is State.DROPPED
