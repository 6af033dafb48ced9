"""What two machines say to each other while they pair, and how it is spelled: canonical JSON.

``read`` takes exactly the fields of a kind, each of its type and within its bounds. Who may say
what when, and how it is proved and sealed, is pairing.py's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias

from handsoff.core import canon
from handsoff.core.fields import Check, flag, list_of, shape, text, tip, wrong
from handsoff.core.ids import is_oid
from handsoff.core.machines.cards import Card, parse_card
from handsoff.core.machines.joining import Claims
from handsoff.core.talk import refusals
from handsoff.errors import DamagedError, HandsoffError, RefusedError

VERSION: Final = 1
ROOTS_LIMIT: Final = 64
_TEXT_LIMIT: Final = 500
_PAKE_BYTES: Final = 33


@dataclass(frozen=True, slots=True)
class Hi:
    """A message of the PAKE. It keeps its shape in every version."""

    pake: bytes
    v: int = VERSION


@dataclass(frozen=True, slots=True)
class Trust:
    """The gate's person agreed: this roster is the one; ``waits`` if the remote lacks it yet."""

    founding: str
    waits: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """The guest's keys are on disk, and nothing it can see speaks against that roster."""


@dataclass(frozen=True, slots=True)
class Let:
    """The guest is in the roster; or it will be, once the gate's remote answers (``waits``)."""

    waits: bool


@dataclass(frozen=True, slots=True)
class Bye:
    """The guest has heard it."""


@dataclass(frozen=True, slots=True)
class No:
    """In place of any sealed message: it ends here, and why."""

    code: str
    message: str
    hint: str


Message: TypeAlias = Hi | Claims | Trust | Ready | Let | Bye | No


def no(error: HandsoffError) -> No:
    """Return ``error`` as the message that tells the other end."""
    return No(*refusals.told(error, _TEXT_LIMIT))


def as_error(said: No, who: str) -> HandsoffError:
    """Return the error that ``who`` told us of."""
    return refusals.raised(said.code, said.message, said.hint, who=who)


def spell(message: Message) -> dict[str, Any]:
    """Return the document that says ``message``."""
    told = {f.name: getattr(message, f.name) for f in fields(message)}
    match message:
        case Hi():
            told["pake"] = message.pake.hex()
        case Claims():
            told |= {"card": message.card.as_dict(), "roots": list(message.roots)}
        case _:
            pass
    return {"kind": _NAMES[type(message)], **told}


def read(said: dict[str, Any]) -> Message:
    """Return the message that a document says; raise DamagedError for anything else."""
    name = said.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        raise DamagedError(f"not a message of a pairing: {str(name)[:40]!r}")
    kind, checks = _KINDS[name]
    if said.keys() != {"kind", *checks}:
        raise DamagedError(f"a message {name!r} that lacks or adds fields")
    return kind(**{field: check(said[field], f"{name}.{field}") for field, check in checks.items()})


def _version(value: object, what: str) -> int:
    if type(value) is not int:
        raise wrong(what, value)
    if value != VERSION:
        raise RefusedError(
            f"the other machine speaks version {value} of pairing, and this one {VERSION}",
            hint="install the same release of handsoff on both machines",
        )
    return value


def _pake(value: object, what: str) -> bytes:
    try:
        pake = bytes.fromhex(value if isinstance(value, str) else "")
    except ValueError as error:
        raise wrong(what, value) from error
    if len(pake) != _PAKE_BYTES or pake.hex() != value:
        raise wrong(what, value)
    return pake


def _card(value: object, what: str) -> Card:
    del what  # a card says itself what is wrong with it
    return parse_card(canon.encode(value))


_founding: Final = shape(is_oid)
_text: Final = text(_TEXT_LIMIT)

_KINDS: Final[Mapping[str, tuple[type[Message], Mapping[str, Check]]]] = {
    "hi": (Hi, {"v": _version, "pake": _pake}),
    "claims": (
        Claims,
        {
            "card": _card,
            "trusts": tip,
            "sees": tip,
            "away": flag,
            "member": flag,
            "roots": list_of(_founding, ROOTS_LIMIT),
        },
    ),
    "trust": (Trust, {"founding": _founding, "waits": flag}),
    "ready": (Ready, {}),
    "let": (Let, {"waits": flag}),
    "bye": (Bye, {}),
    "no": (No, {"code": _text, "message": _text, "hint": _text}),
}
_NAMES: Final = {kind: name for name, (kind, _) in _KINDS.items()}
