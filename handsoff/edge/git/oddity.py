"""Something in a checkout that is not carried."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that is not carried: what it is, and the way out."""

    what: str
    hint: str
