"""The manifest: what a parcel claims to be, signed by the machine that made it.

A parcel is ``age( magic || pack || manifest || signature || lengths )``: the pack first, so that
it is written in one pass, then the canonical JSON, the armored SSHSIG over it (namespace
``handsoff-parcel``), and eight bytes with the lengths of both, big-endian. age keeps the bytes
whole and secret but says nothing of the sender: the signature does.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias

from handsoff.core import canon
from handsoff.core.ids import is_machine_id, is_oid, is_parcel_id
from handsoff.core.works.lease import Saved
from handsoff.core.works.record import Record
from handsoff.errors import DamagedError

MAGIC: Final = b"handsoff-parcel-1\n"
NAMESPACE: Final = "handsoff-parcel"
TRAILER: Final = 8
LIMIT: Final = 4 << 20
VERSION: Final = 1

_Check: TypeAlias = Callable[[object], bool]

_MOST: Final = 253_402_300_799
"""The last second that a calendar has (of the year 9999); no size or count comes near it."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# no controls, and of the surrogates only those that stand for bytes that are no text
_WORK: Final = re.compile(r"[^\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]{1,1024}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The claims. Sizes are bytes; times are seconds since 1970.

    ``record`` is the tip of the record that the sender stood on, and ``chain`` the blob in the
    pack that has the record as this hand-over makes it (``luggage``).
    """

    parcel: str
    sender: str
    receivers: tuple[str, ...]
    repository: str
    roots: tuple[str, ...]
    work: str
    leg: int
    revision: int
    record: str
    chain: str
    envelope: str
    bases: tuple[str, ...]
    pack_size: int
    pack_sha256: str
    counts: dict[str, int]
    waivers: tuple[str, ...]
    at: int
    version: int = VERSION


def encode(manifest: Manifest) -> bytes:
    """Return the canonical bytes, which are what is signed."""
    return canon.encode(asdict(manifest))


def decode(data: bytes) -> Manifest:
    """Return the manifest that ``data`` spells.

    DamagedError for anything malformed, and for a newer format, which says so.
    """
    fields = canon.decode(data, limit=LIMIT)
    version = fields.get("version")
    if type(version) is not int or version != VERSION:
        raise DamagedError(
            f"this parcel has format {str(version)[:20]}; this handsoff reads format {VERSION}",
            hint="install a newer handsoff here, or send with the older one",
        )
    if fields.keys() != set(Manifest.__dataclass_fields__):
        raise DamagedError("the manifest has missing or unknown fields")
    for name, (fits, what) in _FIELDS.items():
        if not fits(fields[name]):
            raise DamagedError(f"the manifest's {name} is not {what}: {str(fields[name])[:60]!r}")
        if isinstance(fields[name], list):
            fields[name] = tuple(fields[name])
    return Manifest(**fields)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _is_work(value: object) -> bool:
    return isinstance(value, str) and _WORK.fullmatch(value) is not None


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _list(fits: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(fits, value))


_FIELDS: Final[Mapping[str, tuple[_Check, str]]] = {
    "parcel": (is_parcel_id, "a parcel id"),
    "sender": (is_machine_id, "a machine id"),
    "receivers": (_list(is_machine_id), "a list of machine ids"),
    "repository": (is_oid, "an object id"),
    "roots": (_list(is_oid), "a list of object ids"),
    "work": (_is_work, "the name of a branch"),
    "leg": (_is_number, "a number"),
    "revision": (_is_number, "a number"),
    "record": (lambda value: value == "" or is_oid(value), "an object id or empty"),
    "chain": (lambda value: value == "" or is_oid(value), "an object id or empty"),
    "envelope": (is_oid, "an object id"),
    "bases": (_list(is_oid), "a list of object ids"),
    "pack_size": (_is_number, "a number"),
    "pack_sha256": (_is_digest, "a digest"),
    "counts": (
        lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
        "a set of numbers",
    ),
    "waivers": (_list(lambda value: isinstance(value, str)), "a list of texts"),
    "at": (_is_number, "a time"),
}


def is_vouched(claims: Manifest, record: Record) -> bool:
    """Say whether a good entry of its sender names this very parcel.

    Then it is to be believed though the sender's key was revoked since: what it signed before
    stays good, and the envelope's id binds all that is in it. ``record`` has all its entries.
    """
    want = (claims.sender, claims.parcel, claims.envelope)
    events = (entry.event for entry in record.good if entry.work == claims.work)
    return any(isinstance(e, Saved) and (e.by, e.parcel, e.envelope) == want for e in events)
