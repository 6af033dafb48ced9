"""Parcels taken apart and put together again, honestly or not."""

import json
from pathlib import Path
from typing import Any

import pyrage

from handsoff.core import canon
from handsoff.core.parcels.manifest import MAGIC, NAMESPACE, TRAILER
from handsoff.edge.keys import Machine as Keys


def take_apart(file: Path, reader: Keys) -> tuple[bytes, dict[str, Any]]:
    """Return the pack and the claims of the sealed parcel ``file``."""
    key = pyrage.x25519.Identity.from_str(reader.sealing)
    plain: bytes = pyrage.decrypt(file.read_bytes(), [key])
    lengths = plain[-TRAILER:]
    claims, signature = (int.from_bytes(lengths[at : at + 4], "big") for at in (0, 4))
    end = len(plain) - TRAILER - claims - signature
    return plain[len(MAGIC) : end], json.loads(plain[end : end + claims])


def put_together(
    file: Path,
    pack: bytes,
    claims: dict[str, Any],
    *,
    by: Keys,
    to: Keys,
    magic: bytes = MAGIC,
    trailer: bytes | None = None,
) -> None:
    """Write a parcel with any claims at all, signed by ``by`` and sealed to ``to``."""
    body = canon.encode(claims)
    signature = by.sign(body, NAMESPACE).encode()
    lengths = len(body).to_bytes(4, "big") + len(signature).to_bytes(4, "big")
    plain = magic + pack + body + signature + (lengths if trailer is None else trailer)
    file.write_bytes(pyrage.encrypt(plain, [pyrage.x25519.Recipient.from_str(to.age_key)]))
