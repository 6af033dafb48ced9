"""Names that were checked once, and how each is spelled where it is stored.

A *machine id* is what signatures and records name: it is worked out from the signing key
and never changes. A *machine name* (m1) is what people type, and can be changed.
"""

import hashlib
import re
from base64 import b32encode, b64encode
from functools import lru_cache
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from handsoff.core.sshwire import public_blob
from handsoff.errors import DamagedError, UsageError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_OID: Final = re.compile(r"[0-9a-f]{40}")
_PARCEL: Final = re.compile(r"[0-9a-f]{32}")
_MACHINE_ID: Final = re.compile(r"[a-z2-7]{26}")
_RESERVED: Final = frozenset({"anyone", "remote", "all", "mine"})

COMPONENT_LIMIT: Final = 200
"""Bytes of one path component of a ref; file systems stop at 255, and locks add some."""

"""How git writes "no object"."""


def check_name(text: str, what: str = "machine") -> str:
    """Return ``text`` if it can name a machine or a person; raise UsageError if not."""
    if not _NAME.fullmatch(text) or text.lower() in _RESERVED:
        raise UsageError(
            f"{text!r} cannot name a {what}",
            hint="letters, digits, dot, dash and underscore, starting with a letter or digit",
        )
    return text


def is_oid(text: object) -> bool:
    """Say whether ``text`` is a full SHA-1 object id in lower case."""
    return isinstance(text, str) and _OID.fullmatch(text) is not None


def is_machine_id(text: object) -> bool:
    """Say whether ``text`` has the shape of a machine id."""
    return isinstance(text, str) and _MACHINE_ID.fullmatch(text) is not None


def is_parcel_id(text: object) -> bool:
    """Say whether ``text`` has the shape of a parcel id."""
    return isinstance(text, str) and _PARCEL.fullmatch(text) is not None


@lru_cache(maxsize=1024)
def machine_id(public_key: bytes) -> str:
    """Return the id of the machine that signs with the raw 32-byte Ed25519 ``public_key``.

    The first 26 characters (130 bits) of the lower-case base32 SHA-256 of the key's SSH
    wire form (RFC 4253 section 6.6), so that no two keys are taken for one another.
    """
    digest = hashlib.sha256(public_blob(public_key)).digest()
    return b32encode(digest).decode("ascii").lower()[:26]


def fingerprint(public_key: bytes) -> str:
    """Return the OpenSSH fingerprint of a raw Ed25519 key, as ``ssh-keygen -l`` prints it."""
    digest = hashlib.sha256(public_blob(public_key)).digest()
    return "SHA256:" + b64encode(digest).decode("ascii").rstrip("=")


def work_component(work: str) -> str:
    """Return ``work`` (a branch name) as one path component of a ref.

    ``/``, ``%``, control characters, non-ASCII bytes and whatever git forbids in a ref are
    percent-encoded, so that a left-over ``feat`` never blocks ``feat/x``. Names that come out
    over 200 bytes are cut and completed with a hash; these cannot be decoded again, and the
    work's own name is in each entry.
    """
    raw = work.encode("utf-8", "surrogateescape")
    text = quote_from_bytes(raw, safe="+=,@!()").replace("~", "%7E")
    text = re.sub(r"^\.|(?<=\.)\.|\.$|(?<=\.)lock$", _percent, text)
    if len(text) > COMPONENT_LIMIT:
        digest = hashlib.sha256(raw).hexdigest()[:32]
        return f"{text[: COMPONENT_LIMIT - 34]}%%{digest}"
    return text


def work_of(component: str) -> str | None:
    """Return the work that ``component`` encodes, or None if it was cut or is not ours."""
    if "%%" in component:
        return None
    raw = component.encode("utf-8", "surrogateescape")  # a ref's name need not be text
    work = unquote_to_bytes(raw).decode("utf-8", "surrogateescape")
    return work if work and work_component(work) == component else None


def check_oid(text: object, what: str) -> str:
    """Return ``text`` if it is an object id; raise DamagedError naming ``what`` if not."""
    if not is_oid(text):
        raise DamagedError(f"{what} is not an object id: {str(text)[:60]!r}")
    return str(text)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{ord(c):02X}" for c in match.group(0))
