"""Whether a parcel may come in: limits on its size, and on what waits here uncaught.

Asked before the first byte. What is under way counts with its whole size, so that transfers that
begin together cannot fill the disk together; and one machine may take up half of the room only,
so that it cannot keep the others out.
"""

from dataclasses import dataclass
from typing import Final

from handsoff.errors import HandsoffError, RefusedError, UnfitError

PARCEL: Final = 8 << 30
"""Bytes that a parcel may have, unless asked otherwise."""
COUNT: Final = 50
"""Parcels that may wait here, unless asked otherwise."""
_SHARE: Final = 2
"""What waits here uncaught may fill half of the disk, unless asked otherwise."""

COPIES: Final = 3
"""A parcel is there sealed, opened and indexed before the first two go away."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a parcel may be, how many may wait, and how many bytes they may have in all."""

    parcel: int = PARCEL
    count: int = COUNT
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What is here and what is under way, all of it and of one sender; and the disk."""

    count: int
    total: int
    count_of_one: int
    total_of_one: int
    free: int
    disk: int


def no_room(limits: Limits, stock: Stock, size: int, here: int, name: str) -> HandsoffError | None:
    """Return why the machine ``name`` takes no parcel of ``size`` bytes, of which it has ``here``.

    ``stock`` counts without that parcel.
    """
    if size > limits.parcel:
        return RefusedError(
            f"{name} takes parcels of at most {limits.parcel} bytes, and this has {size}",
            hint=f"on {name}: handsoff listen --max-parcel {size}; or go by file or --via remote",
        )
    if stock.free < COPIES * size - here:
        said = f"{name} has {stock.free} bytes free, too few for a parcel of {size}"
        return UnfitError(said, hint=f"make room on {name}")
    total = stock.disk // _SHARE if limits.total is None else limits.total
    tidy = f"on {name}: catch what waits there (handsoff inbox), or listen with higher limits"
    if stock.count >= limits.count or stock.total + size > total:
        said = f"{name} has {stock.count} parcels waiting ({stock.total} bytes), and takes no more"
        return UnfitError(said, hint=tidy)
    if stock.count_of_one >= max(1, limits.count // 2) or stock.total_of_one + size > total // 2:
        said = f"{name} has {stock.count_of_one} parcels of this sender waiting"
        return UnfitError(f"{said} ({stock.total_of_one} bytes), and takes no more", hint=tidy)
    return None
