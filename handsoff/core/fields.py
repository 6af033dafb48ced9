"""Checks of single fields that another machine wrote, such as those of a message.

Each check returns the value as we keep it, or raises DamagedError naming the field.
"""

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from handsoff.core.ids import check_name, is_oid, is_parcel_id
from handsoff.errors import DamagedError, UsageError

Check: TypeAlias = Callable[[object, str], Any]

SIZE_LIMIT: Final = 1 << 60
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")


def wrong(what: str, value: object) -> DamagedError:
    """Return what to raise of a ``value`` that the field ``what`` cannot have."""
    return DamagedError(f"{what} is not what it should be: {repr(value)[:60]}")


def number(lowest: int) -> Check:
    """Return a check for an integer from ``lowest`` on."""

    def check(value: object, what: str) -> int:
        # bool is an int to isinstance, and `true` is not a number to us
        if type(value) is not int or not lowest <= value <= SIZE_LIMIT:
            raise wrong(what, value)
        return value

    return check


def text(limit: int, *, empty: bool = True, control: bool = True) -> Check:
    """Return a check for text of at most ``limit`` characters."""

    def check(value: object, what: str) -> str:
        if not isinstance(value, str) or len(value) > limit or not (value or empty):
            raise wrong(what, value)
        if not control and _CONTROL.search(value):
            raise wrong(what, value)
        return value

    return check


def shape(fits: Callable[[str], object]) -> Check:
    """Return a check for text that ``fits``."""

    def check(value: object, what: str) -> str:
        if not isinstance(value, str) or not fits(value):
            raise wrong(what, value)
        return value

    return check


def flag(value: object, what: str) -> bool:
    """Check that it is true or false."""
    if not isinstance(value, bool):
        raise wrong(what, value)
    return value


def name(value: object, what: str) -> str:
    """Check that it is a name of a machine or person."""
    try:
        return check_name(value if isinstance(value, str) else "")
    except UsageError as error:
        raise wrong(what, value) from error


def list_of(check: Check, limit: int, *, empty: bool = True) -> Check:
    """Return a check for a list of what passes ``check``."""

    def check_list(value: object, what: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > limit or not (value or empty):
            raise wrong(what, value)
        return tuple(check(item, what) for item in value)

    return check_list


tip: Final = shape(lambda value: not value or is_oid(value))
digest: Final = shape(_SHA256.fullmatch)
parcel: Final = shape(is_parcel_id)
