"""Machines that come and go, for models: clocks, recipients, and what an outsider pushes."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import strategies as st

from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.works.lease import Caught, Found, How, Recipient
from handsoff.core.works.record import Record
from tests.kit.signing import M1, M2, M3, OUTSIDER, Machine, forged

MACHINES = st.sampled_from([M1, M2, M3])
SKEWS = st.sampled_from(
    [timedelta(0), timedelta(0), timedelta(seconds=-90), timedelta(days=-900)]
) | st.integers(min_value=-10, max_value=10).map(lambda years: timedelta(days=365 * years))
OFTEN = st.sampled_from([True, True, True, False])
RECIPIENTS = st.sampled_from(
    [
        Recipient(machine=M1.id),
        Recipient(machine=M2.id),
        Recipient(machine=M3.id),
        Recipient(person="lin"),
        Recipient(),
    ]
)
RUBBISH = st.sampled_from(["rubbish", "replayed", "forged", "stale"])


def rubbish(kind: str, record: Record, who: Machine, now: datetime) -> tuple[str, bytes] | None:
    """Return a void commit on top of ``record``; None if there is none of that kind."""
    lease = record.lease.as_of(now)
    found, old = lease.found(), max(0, lease.leg - 1)
    caught = Caught(by=who.id, at=now, leg=lease.leg, revision=lease.revision, found=found)
    match kind:
        case "rubbish":
            parent = f"parent {record.git_tip}\n" if record.git_tip else ""
            data = f"tree {EMPTY_TREE}\n{parent}author x\ncommitter y\n\nhello".encode()
            return oid_of("commit", data), data
        case "replayed":
            return forged(record, caught, who, work="feat/other")
        case "forged":
            return forged(record, caught, OUTSIDER)
        case _:
            stale = replace(caught, leg=old, found=Found(how=How.FREE))
            # on an empty record it is as good as any first entry
            return forged(record, stale, who, seq=1, prev="") if record.tip else None
