"""Conflicts that were resolved already: what git keeps so that one can go back to them.

The index has them in an extension of its own (``REUC``, gitformat-index(5)); ``git checkout -m``
and ``git update-index --unresolve`` read it.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from handsoff.core.checkout.index import Entry
from handsoff.errors import DamagedError

MARK: Final = b"REUC"
_STAGES: Final = (1, 2, 3)
_LINE: Final = re.compile(rb"([0-7]{6}) ([0-9a-f]{40}) ([123])\t([^\0]+)")


def parse_resolved(listed: Iterable[bytes]) -> list[Entry]:
    """Return the entries that ``git ls-files --resolve-undo -z`` printed, as records."""
    found = []
    for record in listed:
        match = _LINE.fullmatch(record)
        if match is None:
            raise DamagedError(f"git ls-files --resolve-undo printed {record[:60]!r}")
        mode, oid, stage, path = match.groups()
        found.append(Entry(path, int(mode, 8), oid.decode(), int(stage)))
    return sorted(found, key=lambda entry: (entry.path, entry.stage))


def encode_resolved(entries: Sequence[Entry]) -> bytes:
    """Return the extension that holds ``entries``, sorted by path and stage; empty for none."""
    body = bytearray()
    for path, group in groupby(entries, lambda entry: entry.path):
        stages = {entry.stage: entry for entry in group}
        body += path + b"\0"
        for stage in _STAGES:
            body += b"%o\0" % (stages[stage].mode if stage in stages else 0)
        for stage in _STAGES:
            body += bytes.fromhex(stages[stage].oid) if stage in stages else b""
    return MARK + len(body).to_bytes(4, "big") + bytes(body) if body else b""
