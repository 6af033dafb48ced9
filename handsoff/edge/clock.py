"""The one place that asks what time it is, and lets some pass."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # hooks of agents ask for the seconds alone, and datetime takes 2 ms
if TYPE_CHECKING:
    from datetime import datetime, timedelta


def now() -> datetime:
    """Return the current time, in UTC, to the second (entries and manifests hold seconds)."""
    from datetime import UTC, datetime  # noqa: PLC0415 - see above

    return datetime.now(UTC).replace(microsecond=0)


def seconds() -> int:
    """Return the current time as whole seconds since 1970."""
    return int(time.time())


def monotonic() -> float:
    """Return seconds on a clock that only goes forward; for measuring, never for records."""
    return time.monotonic()


def sleep(length: timedelta) -> None:
    """Let time pass."""
    time.sleep(length.total_seconds())
