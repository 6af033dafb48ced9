"""The one place that asks what time it is, and lets some pass."""

import time
from datetime import UTC, datetime, timedelta


def now() -> datetime:
    """Return the current time, in UTC, to the second (entries and manifests hold seconds)."""
    return datetime.now(UTC).replace(microsecond=0)


def monotonic() -> float:
    """Return seconds on a clock that only goes forward; for measuring, never for records."""
    return time.monotonic()


def sleep(length: timedelta) -> None:
    """Let time pass."""
    time.sleep(length.total_seconds())
