"""Values out of a JSON that may be anything, and a word for a shell: what a hook needs first."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SAFE = frozenset("_@%+=:,./-")


def as_object(value: object) -> Mapping[str, Any]:
    """Return ``value`` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    """Return ``value`` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_number(value: object) -> int:
    """Return ``value`` if it is a whole number, else 0."""
    return value if isinstance(value, int) else 0


def quoted(word: str) -> str:
    """Return ``word`` as a shell takes it."""
    safe = word.isascii() and all(c.isalnum() or c in _SAFE for c in word)
    return word if word and safe else "'" + word.replace("'", "'\\''") + "'"
