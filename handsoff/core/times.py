"""Times as people type and read them: lengths such as 45s, 30m, 4h, 2d; moments in UTC."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from handsoff.errors import UsageError

LONGEST: Final = timedelta(days=366)
"""How long a hold or an offer may be: longer, and a lost machine keeps the work for good."""

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_READ: Final = (("days", 86400), ("hours", 3600), ("minutes", 60))
_FORM: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])")


def parse_duration(text: str, what: str = "") -> timedelta:
    """Return the length that ``text`` spells; UsageError naming ``what`` if it spells none."""
    found = _FORM.fullmatch(text.strip().lower())
    length = timedelta(seconds=int(found[1]) * _UNITS[found[2]]) if found else None
    if length is not None and length > LONGEST:
        raise UsageError(
            f"{text!r} is too long{f' for {what}' if what else ''}",
            hint=f"at most {LONGEST.days}d: a machine that is lost keeps the work until then",
        )
    if length is None:
        raise UsageError(
            f"{text!r} is no length of time{f' for {what}' if what else ''}",
            hint="such as 45s, 30m, 4h or 2d",
        )
    return length


def spell_length(length: timedelta) -> str:
    """Return a length as people read it, in the largest unit that it has two of: ``3 days``."""
    seconds = max(0, int(length.total_seconds()))
    for unit, size in _READ:
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


def moment(at: datetime | None) -> str:
    """Return a time as people read it, in UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if at else "ever"
