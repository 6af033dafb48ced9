"""JSON without the json module, whose import takes as long as all the rest of a hook.

It is the same scanner and the same encoder of strings, which CPython has in C; json itself imports
re, and that enum, functools and collections. Where an interpreter has no such parts, json is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANKS = " \t\r\n"


class _Ways:
    """What the scanner asks about how to read."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(data: bytes) -> Any:
    """Return the value that UTF-8 ``data`` holds; ValueError if it is no JSON."""
    text = data.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    try:
        from _json import make_scanner  # noqa: PLC0415 - see above
    except ImportError:
        from json import loads as slow  # noqa: PLC0415 - as above

        return slow(text)
    start = len(text) - len(text.lstrip(_BLANKS))
    try:
        value, end = make_scanner(_Ways())(text, start)  # type: ignore[arg-type]
    except StopIteration as error:
        raise ValueError(f"no JSON at {error.value}") from None
    if text[end:].strip(_BLANKS):
        raise ValueError(f"more than one JSON value, at {end}")
    return value


def dumps(value: object) -> str:
    """Return objects, lists, strings, whole numbers and truth values as JSON, all ASCII."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_spelled(str(k))}: {dumps(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(dumps, value)) + "]"
    if isinstance(value, str):
        return _spelled(value)
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(int(str(value)))


def _spelled(text: str) -> str:
    try:
        from _json import encode_basestring_ascii  # noqa: PLC0415 - see above
    except ImportError:
        from json import dumps as slow  # noqa: PLC0415 - as above

        return slow(text)
    return str(encode_basestring_ascii(text))
