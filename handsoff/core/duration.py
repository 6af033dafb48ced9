"""Lengths of time as people type them: 45s, 30m, 4h, 2d."""

import re
from datetime import timedelta
from typing import Final

from handsoff.errors import UsageError

LONGEST: Final = timedelta(days=366)
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FORM: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])")


def parse_duration(text: str, what: str = "a length of time") -> timedelta:
    """Return the length that ``text`` spells; UsageError naming ``what`` if it spells none."""
    found = _FORM.fullmatch(text.strip().lower())
    length = timedelta(seconds=int(found[1]) * _UNITS[found[2]]) if found else None
    if length is None or length > LONGEST:
        raise UsageError(
            f"{text!r} is no length of time for {what}", hint="such as 45s, 30m, 4h or 2d"
        )
    return length
