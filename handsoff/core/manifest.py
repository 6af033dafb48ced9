"""The manifest: what a parcel claims to be, signed by the machine that made it.

A parcel is ``age( magic || pack || manifest || signature || lengths )``: the pack first, so that
it is written in one pass, then the canonical JSON, the armored SSHSIG over it (namespace
``handsoff-parcel``), and eight bytes with the lengths of both, big-endian. age keeps the bytes
whole and secret but says nothing of the sender: the signature does.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any, Final

from handsoff.core import canon
from handsoff.core.ids import check_oid, is_machine_id, is_parcel_id
from handsoff.errors import DamagedError

MAGIC: Final = b"handsoff-parcel-1\n"
NAMESPACE: Final = "handsoff-parcel"
TRAILER: Final = 8
LIMIT: Final = 1 << 24
VERSION: Final = 1

_MOST: Final = 253_402_300_799
"""The last second that a calendar has (of the year 9999); no size or count comes near it."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
# no controls, and of the surrogates only those that stand for bytes that are no text
_WORK: Final = re.compile(r"[^\0-\x1f\x7f\ud800-\udc7f\udd00-\udfff]{1,1024}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The claims. Sizes are bytes; times are seconds since 1970."""

    parcel: str
    sender: str
    receivers: tuple[str, ...]
    repository: str
    roots: tuple[str, ...]
    work: str
    leg: int
    revision: int
    record: str
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
    return _checked(fields)


def _checked(fields: dict[str, Any]) -> Manifest:
    for name in ("receivers", "roots", "bases", "waivers"):
        if not isinstance(fields[name], list):
            raise DamagedError(f"the manifest's {name} are not a list")
        fields[name] = tuple(fields[name])
    for name in ("pack_size", "leg", "revision", "at"):
        if not _is_number(fields[name]):
            raise DamagedError(f"the manifest's {name} is not a number")
    for name in ("roots", "bases"):
        for oid in fields[name]:
            check_oid(oid, f"one of the manifest's {name}")
    for name in ("repository", "envelope"):
        check_oid(fields[name], f"the manifest's {name}")
    if fields["record"] != "":
        check_oid(fields["record"], "the manifest's record")
    if not is_parcel_id(fields["parcel"]) or not all(
        map(is_machine_id, (fields["sender"], *fields["receivers"]))
    ):
        raise DamagedError("the manifest names no parcel or no machine")
    if not all(isinstance(waiver, str) for waiver in fields["waivers"]):
        raise DamagedError("the manifest's waivers are not texts")
    if not isinstance(fields["pack_sha256"], str) or not _SHA256.fullmatch(fields["pack_sha256"]):
        raise DamagedError("the manifest's pack_sha256 is not a digest")
    if not isinstance(fields["work"], str) or not _WORK.fullmatch(fields["work"]):
        raise DamagedError("the manifest's work is not the name of a branch")
    counts = fields["counts"]
    if not isinstance(counts, dict) or not all(map(_is_number, counts.values())):
        raise DamagedError("the manifest's counts are not numbers")
    return Manifest(**fields)


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST
