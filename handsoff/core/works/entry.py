"""What an entry of the record says, as the dictionary that is signed, and back.

Every entry has v, kind, repo, roster, work, seq, prev, by, at, leg and revision; each kind
adds the fields of its event in ``lease``. Reading is strict: a field too many, too few or
of another type raises DamagedError. Times are whole seconds since 1970.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from handsoff.core.chain import LATEST
from handsoff.core.ids import is_machine_id, is_oid, is_parcel_id
from handsoff.core.objects import EMPTY_TREE, FILE, TreeEntry, encode_tree, oid_of
from handsoff.core.times import LONGEST
from handsoff.core.works.lease import (
    Caught,
    Closed,
    Dropped,
    Event,
    Found,
    How,
    Offered,
    Pushed,
    Recipient,
    Saved,
    Withdrawn,
)
from handsoff.errors import DamagedError

ROUTES: Final = frozenset({"", "direct", "ssh", "file", "remote"})
OUTCOMES: Final = frozenset({"merged", "abandoned"})
KINDS: Final[dict[str, type[Event]]] = {
    kind.__name__: kind for kind in (Caught, Saved, Pushed, Offered, Withdrawn, Dropped, Closed)
}
PAGE: Final = b"page.md"

_EVENT: Final = frozenset({"by", "at", "leg", "revision"})
_CHAIN: Final = frozenset({"v", "kind", "repo", "roster", "work", "seq", "prev"})

_Codec: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any], Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the record that is what it says; whether it counts is for the record."""

    oid: str
    work: str
    repo: str
    roster: str
    seq: int
    prev: str
    subject: str
    tree: str
    event: Event

    @property
    def kind(self) -> str:
        """The name of what happened, such as Saved."""
        return type(self.event).__name__


def encode_event(event: Event) -> dict[str, Any]:
    """Return the fields of ``event`` as they are signed, without those of the chain."""
    body: dict[str, Any] = {"kind": type(event).__name__}
    body |= {"leg": event.leg, "revision": event.revision}
    for field in fields(event):
        if field.name not in _EVENT:
            body[field.name] = _CODECS[field.name][0](getattr(event, field.name))
    return body


def decode_event(body: dict[str, Any]) -> Event:
    """Return the event that a signed body tells."""
    kind = KINDS.get(body["kind"])
    if kind is None:
        raise DamagedError(f"not an entry of a record: {body['kind'][:40]}")
    own = {field.name for field in fields(kind)} - _EVENT
    if body.keys() != _CHAIN | _EVENT | own:
        odd = sorted(body.keys() ^ (_CHAIN | _EVENT | own))
        raise DamagedError(f"fields that do not belong to {body['kind']}: {', '.join(odd)[:80]}")
    values = {name: _decoded(name, body[name]) for name in own}
    return kind(
        by=body["by"],
        at=time_of(body["at"]),
        leg=_count(body["leg"]),
        revision=_count(body["revision"]),
        **values,
    )


def seconds(at: datetime) -> int:
    """Return a time as it is signed."""
    return int(at.timestamp())


def time_of(at: int) -> datetime:
    """Return a signed time as a datetime."""
    return datetime.fromtimestamp(at, UTC)


def page_tree(page: str) -> bytes:
    """Return the tree object with the blob ``page`` as its only file, or the empty one."""
    return encode_tree([TreeEntry(PAGE, FILE, page)]) if page else b""


def tree_for(event: Event) -> str:
    """Return the id of the only tree that an entry about ``event`` may have."""
    page = event.page if isinstance(event, Saved) else ""
    return oid_of("tree", page_tree(page)) if page else EMPTY_TREE


def _decoded(name: str, value: Any) -> Any:
    try:
        return _CODECS[name][1](value)
    except (DamagedError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"a field that does not read: {name}") from error


def _when(at: object) -> datetime:
    if type(at) is not int or not 0 < at <= LATEST:
        raise DamagedError("not a time")
    return time_of(at)


def _count(number: object) -> int:
    if type(number) is not int or not 0 <= number <= LATEST:
        raise DamagedError("a leg or revision that is no number")
    return number


def _hold(length: object) -> timedelta:
    if type(length) is not int or not 0 < length <= LONGEST.total_seconds():
        raise DamagedError("not a length of time")
    return timedelta(seconds=length)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise DamagedError("not a text")
    return value


def _said(value: object) -> str:
    if not _text(value):
        raise DamagedError("an empty text")
    return str(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise DamagedError("neither true nor false")
    return value


def _one_of(allowed: frozenset[str]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in allowed:
            raise DamagedError("not one of the words")
        return str(value)

    return read


def _oid_or_nothing(value: object) -> str:
    if value != "" and not is_oid(value):
        raise DamagedError("not an object id")
    return str(value)


def _oid(value: object) -> str:
    if not is_oid(value):
        raise DamagedError("not an object id")
    return str(value)


def _parcel(value: object) -> str:
    if value != "" and not is_parcel_id(value):
        raise DamagedError("not a parcel id")
    return str(value)


def _spell_recipient(to: Recipient) -> dict[str, Any]:
    if to.machine:
        return {"machine": to.machine}
    return {"person": to.person} if to.person else {"anyone": True}


def _recipient(value: object) -> Recipient:
    match value:
        case {"machine": str(machine), **rest} if not rest and is_machine_id(machine):
            return Recipient(machine=machine)
        case {"person": str(person), **rest} if not rest and person:
            return Recipient(person=person)
        case {"anyone": True, **rest} if not rest:
            return Recipient()
        case _:
            raise DamagedError("nobody that an offer could be for")


def _spell_found(found: Found) -> dict[str, Any]:
    since = None if found.since is None else seconds(found.since)
    return {"how": found.how.value, "by": found.by, "since": since}


def _found(value: object) -> Found:
    match value:
        case {"how": str(how), "by": str(by), "since": since, **rest} if not rest:
            return Found(how=How(how), by=by, since=None if since is None else _when(since))
        case _:
            raise DamagedError("not what a catch could find")


def _as_it_is(value: Any) -> Any:
    return value


def _spell_hold(length: timedelta) -> int:
    return int(length.total_seconds())


_CODECS: Final[dict[str, _Codec]] = {
    "found": (_spell_found, _found),
    "hold": (_spell_hold, _hold),
    "page": (_as_it_is, _oid_or_nothing),
    "envelope": (_as_it_is, _oid_or_nothing),
    "parcel": (_as_it_is, _parcel),
    "branch": (_as_it_is, _said),
    "old": (_as_it_is, _oid),
    "new": (_as_it_is, _oid),
    "to": (_spell_recipient, _recipient),
    "deadline": (seconds, _when),
    "route": (_as_it_is, _one_of(ROUTES)),
    "reason": (_as_it_is, _text),
    "blocked": (_as_it_is, _flag),
    "outcome": (_as_it_is, _one_of(OUTCOMES)),
}
