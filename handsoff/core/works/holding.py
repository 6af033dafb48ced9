"""Questions about a lease: who has it, has it run out, who may push, which time to write.

The answers guard; they never judge an entry. That is ``lease.advance``, which looks at no
clock but the signed ones.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from handsoff.core.times import moment
from handsoff.core.works.lease import How, Lease, State

SKEW: Final = timedelta(minutes=5)
"""How far a signed time may be ahead of the clock here before it is worth a word."""

_NOBODY_WAITED: Final = timedelta(0)
_LET_GO: Final = {
    How.LAPSE: "its lease ran out",
    How.OFFER_LAPSE: "its offer ran out",
    How.DROP: "it dropped the work",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a machine may push the branch of a work, and what to say about it."""

    allowed: bool
    reason: str = ""
    notice: str = ""


def may_push(lease: Lease, machine: str, now: datetime) -> Verdict:
    """Say whether ``machine`` may push the branch of the work under ``lease``.

    The answer for a held work is the same before and after it lapses (one has a notice),
    so a wrong clock locks no carrier out and lets nobody else in.
    """
    lease = lease.as_of(now)
    since = moment(lease.since)
    to = lease.to.shown() if lease.to else ""
    if lease.state in (State.FREE, State.CLOSED):
        return Verdict(allowed=True)
    if lease.carrier != machine:
        if lease.state is State.OFFERED:
            said = f"{lease.carrier} offered this work to {to} at {since}"
        elif lease.state is State.HELD:
            said = f"{lease.carrier} carries this work since {since}"
        else:
            said = f"{lease.carrier} carried this work last; {_LET_GO[lease.how]} at {since}"
        return Verdict(allowed=False, reason=said)
    if lease.state is State.OFFERED:
        said = f"this machine offered the work to {to} at {since}"
        return Verdict(allowed=False, reason=said)
    if lease.state is State.DROPPED:
        said = f"nobody has caught this work since {_LET_GO[lease.how]} at {since}"
        return Verdict(allowed=True, notice=said)
    return Verdict(allowed=True)


def is_carried_by(lease: Lease, machine: str) -> bool:
    """Say whether ``machine`` carries the work, also while its offer of it stands."""
    return lease.carrier == machine and lease.state in (State.HELD, State.OFFERED)


def is_offered_to(lease: Lease, machine: str, person: str | None) -> bool:
    """Say whether ``machine``, which belongs to ``person``, is asked to catch the work.

    Whoever made the offer is not, also where it is for anyone; nor is "", which is nobody.
    """
    to = lease.to if lease.state is State.OFFERED else None
    return to is not None and machine not in ("", lease.carrier) and to.admits(machine, person)


def may_take_back(lease: Lease, route: str, *, given: str | None, away: bool) -> str:
    """Return why what was let go, an offer that left by ``route``, may not be taken back, or "".

    While the remote does not answer (``away``), whoever has the parcel may have caught the work
    where nobody here could see it. ``given`` is the machine that came for it, "" if none did, None
    if another clone of this machine made the offer and would know.
    """
    offered = lease.state is State.OFFERED and route in ("direct", "ssh", "file")
    let_go = lease.state is State.OFFERED or lease.how is How.DROP
    unsure = given is None and lease.state is State.OFFERED
    if not away or not (offered or unsure or (given and let_go)):
        return ""
    if given is None and not offered:
        return "another clone of this machine offered it, and may have given its parcel away"
    to = given or (lease.to.shown() if lease.to else "anyone")
    return f"{to} has the parcel, and the remote cannot say whether the work was caught"


def taken_up(lease: Lease) -> str:
    """Return what to say when a work under ``lease`` is caught on the way to something else."""
    if lease.state is State.CLOSED:
        return f"it was closed ({lease.reason}) at {moment(lease.since)}, and is caught again"
    if lease.state is State.DROPPED:
        return f"{_LET_GO[lease.how]} at {moment(lease.since)}, and it is caught again"
    return ""


def clamp(now: datetime, before: datetime | None) -> datetime:
    """Return the time to sign: ``now`` in whole seconds, but never before the predecessor's."""
    now = now.replace(microsecond=0)
    return now if before is None else max(now, before)


def has_lapsed(
    lease: Lease, now: datetime, *, latest: datetime | None, waited: timedelta = _NOBODY_WAITED
) -> bool:
    """Say whether it is safe to treat ``lease`` as run out.

    The wall clock is past the end, and no signed time (``latest``) shows that this clock is
    wrong; or a whole lease was ``waited`` out on the monotonic clock while nothing moved.
    """
    if lease.until is None:
        return False
    contradicted = latest is not None and latest > now
    return (now >= lease.until and not contradicted) or waited >= lease.length
