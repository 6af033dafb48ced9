"""The one place that asks what time it is."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time, in UTC, to the second (entries and manifests hold seconds)."""
    return datetime.now(UTC).replace(microsecond=0)


def monotonic() -> float:
    """Return seconds on a clock that only goes forward; for measuring, never for records."""
    return time.monotonic()
