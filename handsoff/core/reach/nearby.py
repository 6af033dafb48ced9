"""Which machines are near by, judged by who proved to be there.

A name is said of a machine of a roster only, and that it is here only after its key proved it at
that address. Whoever announces a machine that it is not is shown beside that machine's name;
announcements of strangers count when they are proved, and are counted when they are not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

Place = tuple[str, str]
"""A machine's id, and an address at which it may be."""


class Answer(Enum):
    """What came of a handshake."""

    PROVED = "proved"
    ANOTHER = "another machine"
    SILENT = "no answer"


class Presence(Enum):
    """Whether a machine is here."""

    HERE = "here"
    ANOTHER = "not who it says"
    SILENT = "no answer"
    UNHEARD = "not heard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A machine, and whether it is here."""

    machine: str
    name: str
    """As a roster calls it, "" for a stranger."""
    person: str
    presence: Presence
    address: str
    """Where it is; else where it was looked for; "" if nowhere."""
    claimed: tuple[str, ...]
    """Where another machine answers in its name."""
    seen: int | None
    """When it last proved to be there, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """All that are near by; ``unproved`` strangers were announced, and did not prove it."""

    peers: tuple[Peer, ...]
    unproved: int


def judge(
    known: Mapping[str, tuple[str, str]],
    answers: Sequence[tuple[Place, Answer]],
    seen: Mapping[str, int],
    now: int,
) -> Nearby:
    """Return who is near by; ``known`` has name and person of each machine of a roster."""
    heard = dict.fromkeys(machine for (machine, _), _ in answers)
    peers = []
    for machine in {**dict.fromkeys(known), **heard}:
        there = [(address, answer) for (m, address), answer in answers if m == machine]
        proved = [address for address, answer in there if answer is Answer.PROVED]
        claimed = [address for address, answer in there if answer is Answer.ANOTHER]
        name, person = known.get(machine, ("", ""))
        peer = Peer(
            machine=machine,
            name=name,
            person=person,
            presence=_presence(proved, claimed, there),
            address=[*proved, *(address for address, _ in there), ""][0],
            claimed=tuple(claimed),
            seen=now if proved else seen.get(machine),
        )
        peers.append(peer)
    shown = [p for p in peers if p.machine in known or p.presence is Presence.HERE]
    shown.sort(key=lambda p: (not p.name, p.name.casefold(), p.machine))
    return Nearby(peers=tuple(shown), unproved=len(peers) - len(shown))


def _presence(proved: Sequence[str], claimed: Sequence[str], there: Sequence[object]) -> Presence:
    if proved:
        return Presence.HERE
    if claimed:
        return Presence.ANOTHER
    return Presence.SILENT if there else Presence.UNHEARD
