"""Messages: what two machines say to each other, and how it is spelled.

Every message is one frozen class here; on the wire it is canonical JSON with its name under
"kind". Nothing outside this file knows that. ``decode`` takes exactly the fields of the kind,
each of its type and within its bounds. Hello and Refuse keep their shape in every version of
the protocol, so that two machines that share no version can still say so.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias

from handsoff.core import canon, fields
from handsoff.core.ids import check_oid, is_machine_id, is_parcel_id, machine_id
from handsoff.core.plain import plain
from handsoff.core.sshwire import signer
from handsoff.core.talk import frames
from handsoff.errors import DamagedError

VERSIONS: Final = (1, 2, 3)
"""Versions of the protocol that this program speaks; 2 is 1 and fetching, 3 is 2 and Got."""

FETCHING: Final = 2
"""The first version in which a machine may ask for a parcel."""

TELLING: Final = 3
"""The first version in which a receiver says how far it has got."""

RECEIPT_NAMESPACE: Final = "handsoff-receipt"
"""What a receipt is signed for; no other signature can be shown as one."""

COMMITS_LIMIT: Final = 5000
TEXT_LIMIT: Final = 2000
_WORK_LIMIT: Final = 1024
_SIGNATURE_LIMIT: Final = 4096
_VERSIONS_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Hello:
    """The first thing each side says. Who it is was settled by its key, not by this."""

    versions: tuple[int, ...]
    machine: str
    software: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The sender names the repository (its roster's founding id), the work, and its tips."""

    repository: str
    work: str
    roster: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class Want:
    """The receiver asks for a parcel: by its id, or ("") for what is offered of the work now."""

    repository: str
    work: str
    parcel: str = ""
    roster: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class Have:
    """The receiver says what it need not be sent, whether it has a clone, and its tips."""

    commits: tuple[str, ...]
    clone: bool
    roster: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """In place of any message that is due: no, and why. It ends the exchange."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """The sender names the sealed parcel it is about to send."""

    parcel: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Accept:
    """The receiver takes it, from this byte on: what came before is here already."""

    offset: int


@dataclass(frozen=True, slots=True)
class Got:
    """While the parcel is on its way: so much of it is written there, and need not come again."""

    offset: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receiver has the parcel, verified and on disk, and signs for its manifest."""

    parcel: str
    manifest: str
    by: str
    at: int
    signature: str


@dataclass(frozen=True, slots=True)
class Told:
    """The sender has moved the record: this is its tip now."""

    record: str


@dataclass(frozen=True, slots=True)
class Bye:
    """The receiver has heard it; nothing is left to say."""


Message: TypeAlias = (
    Hello | Ask | Want | Have | Refuse | Offer | Accept | Got | Receipt | Told | Bye
)


def encode(message: Message) -> bytes:
    """Return the bytes of ``message``, which must be one that ``decode`` takes."""
    body = canon.encode({"kind": _NAMES[type(message)], **asdict(message)})
    try:
        assert decode(body) == message, f"our own message comes back changed: {message!r}"
    except DamagedError as error:
        raise AssertionError(f"our own message breaks the rules: {error}") from error
    return body


def decode(body: bytes) -> Message:
    """Return the message in ``body``; raise DamagedError for anything that is not one."""
    said = canon.decode(body, limit=frames.LIMIT)
    name = said.pop("kind", None)
    if not isinstance(name, str) or name not in _KINDS:
        raise DamagedError(f"not a message: kind {str(name)[:40]!r}")
    kind, checks = _KINDS[name]
    if said.keys() != checks.keys():
        odd = ", ".join(plain(field, limit=40) for field in sorted(said.keys() ^ checks.keys()))
        raise DamagedError(f"a {name} message lacks or adds fields: {odd[:200]}")
    return kind(**{field: check(said[field], f"{name}.{field}") for field, check in checks.items()})


def receipt_payload(*, parcel: str, manifest: str, by: str, at: int) -> bytes:
    """Return the bytes that a receipt's signature is made over."""
    return canon.encode(
        {"at": at, "by": by, "kind": "receipt", "manifest": manifest, "parcel": parcel}
    )


def receipt_key(receipt: Receipt) -> bytes | None:
    """Return the raw public key that signed ``receipt``, None if its signature does not hold.

    The key is that of the machine the receipt names. Whether that machine is the one we sent
    to, and is let in, the roster must say.
    """
    payload = receipt_payload(
        parcel=receipt.parcel, manifest=receipt.manifest, by=receipt.by, at=receipt.at
    )
    key = signer(receipt.signature, RECEIPT_NAMESPACE, payload)
    return key if key is not None and machine_id(key) == receipt.by else None


def check_receipt(receipt: Receipt, *, manifest: str, key: bytes, name: str) -> None:
    """Raise DamagedError unless ``receipt`` is for ``manifest`` (a SHA-256), and holds by ``key``.

    ``key`` is the raw public key of the machine ``name``, as the roster has it.
    """
    if receipt.manifest != manifest or receipt_key(receipt) != key:
        raise DamagedError(f"the receipt of {name} does not hold", hint="update handsoff there")


_CODE: Final = re.compile(r"[a-z][a-z-]{0,31}")

_KINDS: Final[Mapping[str, tuple[type[Message], Mapping[str, fields.Check]]]] = {
    "hello": (
        Hello,
        {
            "versions": fields.list_of(fields.number(0), _VERSIONS_LIMIT, empty=False),
            "machine": fields.name,
            "software": fields.text(100, control=False),
        },
    ),
    "ask": (
        Ask,
        {
            "repository": check_oid,
            "work": fields.text(_WORK_LIMIT, empty=False, control=False),
            "roster": fields.tip,
            "record": fields.tip,
        },
    ),
    "want": (
        Want,
        {
            "repository": check_oid,
            "work": fields.text(_WORK_LIMIT, empty=False, control=False),
            "parcel": fields.shape(lambda value: not value or is_parcel_id(value)),
            "roster": fields.tip,
            "record": fields.tip,
        },
    ),
    "have": (
        Have,
        {
            "commits": fields.list_of(check_oid, COMMITS_LIMIT),
            "clone": fields.flag,
            "roster": fields.tip,
            "record": fields.tip,
        },
    ),
    "refuse": (
        Refuse,
        {
            "code": fields.shape(_CODE.fullmatch),
            "message": fields.text(TEXT_LIMIT),
            "hint": fields.text(TEXT_LIMIT),
        },
    ),
    "offer": (Offer, {"parcel": fields.parcel, "size": fields.number(1), "sha256": fields.digest}),
    "accept": (Accept, {"offset": fields.number(0)}),
    "got": (Got, {"offset": fields.number(1)}),
    "receipt": (
        Receipt,
        {
            "parcel": fields.parcel,
            "manifest": fields.digest,
            "by": fields.shape(is_machine_id),
            "at": fields.number(0),
            "signature": fields.text(_SIGNATURE_LIMIT, empty=False),
        },
    ),
    "told": (Told, {"record": fields.tip}),
    "bye": (Bye, {}),
}
_NAMES: Final = {kind: name for name, (kind, _) in _KINDS.items()}
