"""Sizes as people read them: SI units, as ls --si and every shop that sells disks."""

from typing import Final

_STEP: Final = 1000
_UNITS: Final = ("kB", "MB", "GB")


def spell_size(count: int) -> str:
    """Return ``count`` bytes as people read it: ``512 B``, ``3.1 MB``."""
    if count < _STEP:
        return f"{count} B"
    number, units = count / _STEP, iter(_UNITS)
    unit = next(units)
    while number >= _STEP and unit != _UNITS[-1]:
        number, unit = number / _STEP, next(units)
    return f"{number:.1f} {unit}"
