"""What the hooks of agents are told of the works here: ``<store>/state.json``, a format of our own.

A hook has no time to verify a record, so whoever did puts down here what it came to. Times are
seconds and an entry needs no clock: who reads it later works out from ``until`` what has run out,
and finds beside each answer the one that holds from then on. All that others wrote is one plain
line, cut short.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from handsoff.core.plain import plain
from handsoff.core.times import parse_duration
from handsoff.core.works.holding import is_offered_to
from handsoff.core.works.lease import Caught, How, Lease, Saved, State
from handsoff.core.works.record import Record
from handsoff.errors import HandsoffError

VERSION: Final = 1
MOST: Final = 1000
"""Works that are told of: the hook reads the file before each tool that an agent uses."""

EDITS: Final = ("deny", "warn", "off")
"""What becomes of edits where the work is elsewhere; the first if nothing is said."""
SAVE_EVERY: Final = 600

_NEVER: Final = frozenset({"off", "false", "no", "0"})
_REASON_LIMIT: Final = 200
_NAME_LIMIT: Final = 100
_LOST: Final = frozenset({How.DROP, How.LAPSE, How.OFFER_LAPSE})
_INSTANT: Final = timedelta(seconds=1)


def entry_of(
    records: Sequence[Record], *, machine: str, now: datetime, told: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is told of a work by ``records``, which must all allow a push of its branch.

    ``told`` is what ``told_of`` says of the page of the last revision, and what else goes along.
    """
    denying = [r for r in records if not r.may_push(machine, now).allowed]
    record = denying[0] if denying else records[0]
    lease, roster = record.lease, record.roster
    before = lease.until - _INSTANT if lease.until is not None else now
    to = lease.to
    return {
        "state": lease.state.value,
        "carrier": {"id": lease.carrier, "name": _short(roster.name_of(lease.carrier))},
        "here": lease.state is State.HELD and lease.carrier == machine,
        "last_here": lease.carrier == machine,
        "leg": lease.leg,
        "revision": lease.revision,
        "since": _seconds(lease.since),
        "until": _seconds(lease.until),
        "to": _short(roster.named_text(to.shown())) if to is not None else "",
        "offered_to_me": is_offered_to(lease, machine, roster.person_of(machine)),
        "may_push": _all_allow(records, machine, before),
        "may_push_then": _all_allow(records, machine, lease.until or now),
        "drop": _drop(lease, roster.name_of(lease.carrier)),
        "next": "",
        "traps": [],
        **told,
    }


def taken_of(record: Record) -> dict[str, Any] | None:
    """Return who let the work go before this leg, without handing it over, None if nobody did.

    ``record`` has all its entries. Once the new carrier has saved, the page is its own.
    """
    event = next(
        (e.event for e in reversed(record.good) if isinstance(e.event, Caught | Saved)), None
    )
    if not isinstance(event, Caught) or event.found.how not in _LOST:
        return None
    if not event.found.by or event.found.by == event.by:
        return None
    by = record.roster.name_of(event.found.by)
    return {"by": _short(by), "how": event.found.how.value, "since": _seconds(event.found.since)}


def waits(
    works: Mapping[str, Mapping[str, Any]], arrived: Iterable[tuple[str, str, int]]
) -> list[dict[str, Any]]:
    """Return the offers that wait for this machine.

    Those that the record tells of, and of what ``arrived`` (work, sender's name, revision) what
    the record, as it was seen here, has not come to yet.
    """
    found = {
        work: {"work": work, "from": entry["carrier"]["name"], "revision": entry["revision"],
               "until": entry["until"]}
        for work, entry in works.items()
        if entry["offered_to_me"]
    }  # fmt: skip
    for work, sender, revision in arrived:
        known = works.get(work)
        if work not in found and (known is None or revision > known["revision"]):
            found[work] = {"work": work, "from": _short(sender), "revision": revision, "until": 0}
    return list(found.values())[:MOST]


def kept(works: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the works that are told of, where they are too many: those that moved last."""
    latest = sorted(works.items(), key=lambda item: (item[1]["here"], item[1]["since"]))
    return dict(latest[-MOST:])


def settings_of(edits: str, save_every: str) -> dict[str, Any]:
    """Return what the user set for hooks; what cannot be read is as if it was not set."""
    seconds = 0 if save_every.lower() in _NEVER else SAVE_EVERY
    if seconds and save_every:
        with suppress(HandsoffError):
            seconds = int(parse_duration(save_every.lower()).total_seconds())
    return {"edits": edits.lower() if edits.lower() in EDITS else EDITS[0], "save_every": seconds}


def _all_allow(records: Iterable[Record], machine: str, now: datetime) -> bool:
    return all(not r.behind and r.may_push(machine, now).allowed for r in records)


def _drop(lease: Lease, by: str) -> dict[str, Any] | None:
    if lease.state is not State.DROPPED or lease.how is not How.DROP:
        return None
    return {
        "by": _short(by),
        "reason": plain(lease.reason, limit=_REASON_LIMIT),
        "since": _seconds(lease.since),
        "blocked": lease.blocked,
    }


def _short(text: str) -> str:
    return plain(text, limit=_NAME_LIMIT)


def _seconds(at: datetime | None) -> int:
    return int(at.timestamp()) if at is not None else 0
