"""What a verified record adds up to, small enough to keep: so that the chain is read once.

A cache is kept in the private store, is as trusted as the keys there, and holds for one
roster only: another roster may revoke what was good, so it is then worth nothing.
"""

from datetime import timedelta
from typing import Any, Final, TypeVar

from handsoff.core.machines.roster import Roster
from handsoff.core.works.entry import decode_event, encode_event, seconds, time_of
from handsoff.core.works.lease import Event, How, Lease, Pushed, Recipient, Saved, State
from handsoff.core.works.record import Record
from handsoff.errors import DamagedError

FORMAT: Final = 3
_Kind = TypeVar("_Kind", bound=Event)
_PLAIN: Final = ("tip", "git_tip", "seq", "at", "latest", "under", "route")
_LEASE_PLAIN: Final = ("carrier", "leg", "revision", "reason", "blocked")


def to_cache(record: Record) -> dict[str, Any]:
    """Return the record without its entries, as canonical JSON can have it."""
    return {
        "format": FORMAT,
        "repo": record.repo,
        "roster": record.roster.tip,
        "work": record.work,
        "passed": sorted(record.passed),
        "behind": record.behind,
        "saved": record.saved and _spell(record.saved),
        "kept": record.kept and _spell(record.kept),
        "pushed": [_spell(event) for event in record.pushed],
        "lease": _spell_lease(record.lease),
        **{name: getattr(record, name) for name in _PLAIN},
    }


def from_cache(document: dict[str, Any], roster: Roster, work: str) -> Record | None:
    """Return the record that was kept, or None if it is another one's or does not read."""
    try:
        wanted = (FORMAT, roster.founding, roster.tip, work, "")
        named = ("format", "repo", "roster", "work", "behind")
        if tuple(document[name] for name in named) != wanted:
            return None
        return Record(
            roster=roster,
            work=work,
            lease=_read_lease(document["lease"]),
            saved=_read_saved(document["saved"]),
            kept=_read_saved(document["kept"]),
            pushed=tuple(_read(kept, Pushed) for kept in document["pushed"]),
            passed=frozenset(document["passed"]),
            **{name: document[name] for name in _PLAIN},
        )
    except (DamagedError, KeyError, TypeError, ValueError):
        return None


def _spell_lease(lease: Lease) -> dict[str, Any]:
    to = None if lease.to is None else [lease.to.machine, lease.to.person]
    return {
        "state": lease.state.value,
        "how": lease.how.value,
        "since": lease.since and seconds(lease.since),
        "until": lease.until and seconds(lease.until),
        "length": int(lease.length.total_seconds()),
        "to": to,
        **{name: getattr(lease, name) for name in _LEASE_PLAIN},
    }


def _read_lease(kept: dict[str, Any]) -> Lease:
    since, until, to = kept["since"], kept["until"], kept["to"]
    return Lease(
        state=State(kept["state"]),
        how=How(kept["how"]),
        since=None if since is None else time_of(since),
        until=None if until is None else time_of(until),
        length=timedelta(seconds=kept["length"]),
        to=None if to is None else Recipient(machine=to[0], person=to[1]),
        **{name: kept[name] for name in _LEASE_PLAIN},
    )


def _spell(event: Event) -> dict[str, Any]:
    return {**encode_event(event), "by": event.by, "at": seconds(event.at)}


def _read_saved(kept: dict[str, Any] | None) -> Saved | None:
    return None if kept is None else _read(kept, Saved)


def _read(kept: dict[str, Any], kind: type[_Kind]) -> _Kind:
    chain = dict.fromkeys(("v", "repo", "roster", "work", "seq", "prev"))
    event = decode_event({**chain, **kept})
    if not isinstance(event, kind):
        raise DamagedError(f"not an event of the kind {kind.__name__}")
    return event
