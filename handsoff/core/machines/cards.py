"""A card: what one machine tells about itself, signed by its own key.

A file is canonical JSON, ``{"card":{...},"signature":"<SSHSIG>"}``; the signature is over
the canonical JSON of the inner object, with namespace ``handsoff-card``. It proves that the
sender has the key, never that it is whose it says: people compare fingerprints for that.
"""

import binascii
import re
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core import canon
from handsoff.core.chain import LATEST, VERSION, Sign
from handsoff.core.ids import check_name, fingerprint, machine_id
from handsoff.core.sshwire import KEY_BYTES, openssh_public, signer
from handsoff.errors import DamagedError, TrustError, UsageError

NAMESPACE: Final = "handsoff-card"
LIMIT: Final = 4 << 10
"""Bytes of a card file."""

_AGE_KEY: Final = re.compile(r"age1[02-9ac-hj-np-z]{58}")
_FIELDS: Final = {"v", "name", "person", "sign_key", "age_key", "at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A machine's names and keys: raw Ed25519 to sign, age X25519 to be sealed to."""

    name: str
    person: str
    sign_key: bytes
    age_key: str
    at: int
    signature: str

    @property
    def id(self) -> str:
        """The id of the machine, which is worked out from its signing key."""
        return machine_id(self.sign_key)

    @property
    def fingerprint(self) -> str:
        """The signing key's fingerprint, for people to compare."""
        return fingerprint(self.sign_key)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as it stands in a file and in a roster entry."""
        inner = _inner(self.name, self.person, self.sign_key, self.age_key, self.at)
        return {"card": inner, "signature": self.signature}


def make_card(
    *, name: str, person: str, sign_key: bytes, age_key: str, at: int, sign: Sign
) -> Card:
    """Return the signed card of a machine; raise UsageError for names that will not do."""
    inner = _inner(check_name(name), check_name(person, "person"), sign_key, age_key, at)
    signature = sign(canon.encode(inner), NAMESPACE).strip("\n")
    return read_card({"card": inner, "signature": signature})


def encode_card(card: Card) -> bytes:
    """Return the content of a card file."""
    return canon.encode(card.as_dict())


def parse_card(data: bytes) -> Card:
    """Return the card in a file; raise DamagedError, or TrustError if it is not self-signed."""
    try:
        document = canon.decode(data.strip(b"\n"), limit=LIMIT)
    except DamagedError as error:
        said = f"this is no card: {error}" if data.strip() else "this card file is empty"
        raise DamagedError(
            said, hint="there: handsoff card > FILE, and look that it worked"
        ) from error
    return read_card(document)


def read_card(document: object) -> Card:
    """Return the card in a decoded document, after checking all of it."""
    match document:
        case {"card": dict(inner), "signature": str(signature), **rest} if not rest:
            pass
        case _:
            raise DamagedError("not a card")
    typed = [type(inner.get(field)) for field in ("v", "at")] == [int, int]
    if inner.keys() != _FIELDS or not typed or inner["v"] != VERSION:
        raise DamagedError(f"not a card of format {VERSION}")
    if not 0 < inner["at"] <= LATEST:
        raise DamagedError("a card of no time that we can read")
    try:
        name, person = check_name(inner["name"]), check_name(inner["person"], "person")
    except (UsageError, TypeError) as error:
        raise DamagedError(f"a card with a name that will not do: {error}") from error
    if not isinstance(inner["age_key"], str) or not _AGE_KEY.fullmatch(inner["age_key"]):
        raise DamagedError(f"the card of {name} has no age key")
    key = _public_key(inner["sign_key"])
    if signer(signature, NAMESPACE, canon.encode(inner)) != key:
        raise TrustError(f"the card of {name} is not signed by its own key")
    return Card(
        name=name,
        person=person,
        sign_key=key,
        age_key=inner["age_key"],
        at=inner["at"],
        signature=signature,
    )


def _inner(name: str, person: str, sign_key: bytes, age_key: str, at: int) -> dict[str, Any]:
    key = openssh_public(sign_key)
    fields = {"name": name, "person": person, "sign_key": key, "age_key": age_key, "at": at}
    return {"v": VERSION, **fields}


def _public_key(text: object) -> bytes:
    try:
        raw = b64decode(str(text).rpartition(" ")[2], validate=True)[-KEY_BYTES:]
    except (binascii.Error, ValueError) as error:
        raise DamagedError("a card without a signing key") from error
    if len(raw) != KEY_BYTES or openssh_public(raw) != text:
        raise DamagedError("a card without an Ed25519 signing key")
    return raw
