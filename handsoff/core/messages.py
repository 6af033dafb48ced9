"""Messages: what two machines say to each other, and how it is spelled.

Every message is one frozen class here; on the wire it is canonical JSON with its name under
"kind". Nothing outside this file knows that. ``decode`` takes exactly the fields of the kind,
each of its type and within its bounds. Hello and Refuse keep their shape in every version of
the protocol, so that two machines that share no version can still say so.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from handsoff.core import canon, frames
from handsoff.core.ids import (
    check_name,
    check_oid,
    is_machine_id,
    is_oid,
    is_parcel_id,
    machine_id,
)
from handsoff.core.plain import plain
from handsoff.core.sshwire import signer
from handsoff.errors import DamagedError, UsageError

VERSIONS: Final = (1,)
"""Versions of the protocol that this program speaks."""

RECEIPT_NAMESPACE: Final = "handsoff-receipt"
"""What a receipt is signed for; no other signature can be shown as one."""

COMMITS_LIMIT: Final = 5000
SIZE_LIMIT: Final = 1 << 60
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


Message: TypeAlias = Hello | Ask | Have | Refuse | Offer | Accept | Receipt | Told | Bye


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
    fields = canon.decode(body, limit=frames.LIMIT)
    name = fields.pop("kind", None)
    if not isinstance(name, str) or name not in _KINDS:
        raise DamagedError(f"not a message: kind {str(name)[:40]!r}")
    kind, checks = _KINDS[name]
    if fields.keys() != checks.keys():
        odd = ", ".join(plain(field, limit=40) for field in sorted(fields.keys() ^ checks.keys()))
        raise DamagedError(f"a {name} message lacks or adds fields: {odd[:200]}")
    return kind(
        **{field: check(fields[field], f"{name}.{field}") for field, check in checks.items()}
    )


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


# --- checks: each returns the value as the message keeps it, or raises DamagedError

_Check: TypeAlias = Callable[[object, str], Any]

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_CODE: Final = re.compile(r"[a-z][a-z-]{0,31}")
_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")


def _wrong(what: str, value: object) -> DamagedError:
    return DamagedError(f"{what} is not what it should be: {repr(value)[:60]}")


def _number(lowest: int) -> _Check:
    def check(value: object, what: str) -> int:
        # bool is an int to isinstance, and `true` is not a number to us
        if type(value) is not int or not lowest <= value <= SIZE_LIMIT:
            raise _wrong(what, value)
        return value

    return check


def _text(limit: int, *, empty: bool = True, control: bool = True) -> _Check:
    def check(value: object, what: str) -> str:
        if not isinstance(value, str) or len(value) > limit or not (value or empty):
            raise _wrong(what, value)
        if not control and _CONTROL.search(value):
            raise _wrong(what, value)
        return value

    return check


def _shape(fits: Callable[[str], object]) -> _Check:
    def check(value: object, what: str) -> str:
        if not isinstance(value, str) or not fits(value):
            raise _wrong(what, value)
        return value

    return check


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, value)
    return value


def _name(value: object, what: str) -> str:
    try:
        return check_name(value if isinstance(value, str) else "")
    except UsageError as error:
        raise _wrong(what, value) from error


def _list(check: _Check, limit: int, *, empty: bool = True) -> _Check:
    def check_list(value: object, what: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > limit or not (value or empty):
            raise _wrong(what, value)
        return tuple(check(item, what) for item in value)

    return check_list


_tip: Final = _shape(lambda text: not text or is_oid(text))
_digest: Final = _shape(_SHA256.fullmatch)
_parcel: Final = _shape(is_parcel_id)

_KINDS: Final[Mapping[str, tuple[type[Message], Mapping[str, _Check]]]] = {
    "hello": (
        Hello,
        {
            "versions": _list(_number(0), _VERSIONS_LIMIT, empty=False),
            "machine": _name,
            "software": _text(100, control=False),
        },
    ),
    "ask": (
        Ask,
        {
            "repository": check_oid,
            "work": _text(_WORK_LIMIT, empty=False, control=False),
            "roster": _tip,
            "record": _tip,
        },
    ),
    "have": (
        Have,
        {
            "commits": _list(check_oid, COMMITS_LIMIT),
            "clone": _flag,
            "roster": _tip,
            "record": _tip,
        },
    ),
    "refuse": (
        Refuse,
        {"code": _shape(_CODE.fullmatch), "message": _text(TEXT_LIMIT), "hint": _text(TEXT_LIMIT)},
    ),
    "offer": (Offer, {"parcel": _parcel, "size": _number(1), "sha256": _digest}),
    "accept": (Accept, {"offset": _number(0)}),
    "receipt": (
        Receipt,
        {
            "parcel": _parcel,
            "manifest": _digest,
            "by": _shape(is_machine_id),
            "at": _number(0),
            "signature": _text(_SIGNATURE_LIMIT, empty=False),
        },
    ),
    "told": (Told, {"record": _tip}),
    "bye": (Bye, {}),
}
_NAMES: Final = {kind: name for name, (kind, _) in _KINDS.items()}
