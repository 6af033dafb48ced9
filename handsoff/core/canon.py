r"""Canonical JSON: one value has one spelling, so that a signature covers a meaning.

Keys sorted, no blanks, ASCII only (other characters as \u escapes, so that undecodable
bytes of a path travel as lone surrogates), integers but never floats.

``decode`` takes exactly what ``encode`` gives and nothing else. That one comparison turns
away duplicate keys, NaN, blanks, trailing bytes and every second spelling of a number.
"""

import json
from typing import Any, Final, NoReturn

from handsoff.errors import DamagedError

LIMIT: Final = 1 << 20
"""Bytes a document may have, unless the caller says otherwise."""
MOST_NESTED: Final = 400_000
"""Lists and objects that one may have: each takes twenty times its bytes in memory."""


def encode(value: Any) -> bytes:
    """Return the one spelling of ``value``."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def decode(body: bytes, *, limit: int = LIMIT) -> dict[str, Any]:
    """Return the object that ``body`` spells; raise DamagedError for anything else."""
    if len(body) > limit:
        raise DamagedError(f"a document of {len(body)} bytes is over the limit of {limit}")
    if _nested(body) > MOST_NESTED:
        raise DamagedError(f"a document of over {MOST_NESTED} lists and objects")
    try:
        value = json.loads(body, parse_float=_no_float, parse_constant=_no_float)
        # json.loads takes nesting that json.dumps refuses, and the reverse: both end here
        canonical = isinstance(value, dict) and encode(value) == body
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"not canonical JSON: {body[:60]!r}") from error
    if not canonical:
        raise DamagedError(f"not canonical JSON: {body[:60]!r}")
    return value  # type: ignore[no-any-return]


def _nested(body: bytes) -> int:
    return body.count(b"[") + body.count(b"{")


def _no_float(text: str) -> NoReturn:
    raise ValueError(text)
