"""What may be shown of a text that somebody typed: no secret of a kind that our rules know.

The rules are the guard's own (``core/guard/patterns.py``), the marker is that of
``send --redact``. They are tried on the beginning only, since no more than that is shown; the
engine behind ``edge/scan.py`` costs too much for a list, so what only it knows is shown.
"""

from typing import Final

from handsoff.core.guard import patterns

READ: Final = 4096
"""Characters that are looked at: a secret may begin where what is shown ends."""


def marker(kind: str) -> str:
    """Return what stands in place of a secret of ``kind``."""
    return f"[redacted: {kind}]"


def mask(text: str) -> str:
    """Return the beginning of ``text`` with a marker in place of each secret in it."""
    data = text[:READ].encode("utf-8", "surrogatepass")
    out, end = b"", 0
    for hit in patterns.find(data):
        out += data[end : hit.at] + marker(hit.kind).encode()
        end = hit.at + len(hit.secret)
    return (out + data[end:]).decode("utf-8", "replace") if end else text[:READ]
