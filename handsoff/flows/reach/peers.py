"""``handsoff peers``: which machines are near by, each proved by its key.

What mDNS says and what is remembered gives addresses; a handshake at each says who is there. It
shows nothing of this machine but that somebody connected.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from handsoff.core.checkup.earshot import NOBODY
from handsoff.core.machines.roster import Member
from handsoff.core.reach import nearby
from handsoff.core.reach.address import format_address, parse_address
from handsoff.core.reach.discovery import MACHINES
from handsoff.core.reach.nearby import Answer, Nearby, Place, Presence
from handsoff.core.times import moment
from handsoff.core.works.entry import time_of
from handsoff.edge import clock, keys
from handsoff.edge.home import Home
from handsoff.edge.lan import mdns
from handsoff.edge.ssh import ssh
from handsoff.errors import HandsoffError, TrustError, UsageError
from handsoff.flows.clones import desks_of, rosters_of

_LOOK: Final = 1.2
_PROVE: Final = 1.2
"""Seconds; with what it takes to start, all of it stays under three."""
_OF_A_STRANGER: Final = 2
"""Addresses of a machine in no roster that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """Who is near by, and what kept us from looking."""

    nearby: Nearby
    trouble: str

    @property
    def nobody(self) -> str:
        """What to say where nobody is here; "" if somebody is."""
        if any(peer.presence is Presence.HERE for peer in self.nearby.peers):
            return ""
        return self.trouble or NOBODY

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        peers = [
            {
                "name": peer.name or None,
                "machine": peer.machine,
                "person": peer.person or None,
                "state": peer.presence.value,
                "verified": peer.presence is Presence.HERE,
                "address": peer.address or None,
                "claimed_at": list(peer.claimed),
                "last_seen": last_seen(peer.seen) or None,
            }
            for peer in self.nearby.peers
        ]
        return {"peers": peers, "unproved": self.nearby.unproved, "trouble": self.trouble or None}


def last_seen(seconds: int | None) -> str:
    """Return when a machine was last there, for people; "" if never."""
    return moment(time_of(seconds)) if seconds is not None else ""


@dataclass
class _Look:
    home: Home
    known: Mapping[str, Member]
    own: str
    trouble: str = ""
    places: dict[Place, None] = field(default_factory=dict)

    def run(self) -> Peers:
        """Look, and have everybody prove who they are, all at once."""
        loading = threading.Thread(target=ssh.preload, daemon=True)
        loading.start()  # half a second, beside the look
        self._announced()
        for machine in self.known:
            last = self.home.address_of(machine)
            with suppress(UsageError):  # of a file that somebody edited
                if last is not None and parse_address(last):
                    self.places.setdefault((machine, last))
        # those whose names we know go first: strangers may be many
        places = sorted(self.places, key=lambda place: place[0] not in self.known)
        loading.join()
        answers = self._answers(places)
        now = int(clock.now().timestamp())
        for (machine, address), answer in reversed(answers):
            if machine in self.known and answer is Answer.PROVED:
                self.home.remember_address(machine, address, now)
        names = {machine: (m.name, m.person) for machine, m in self.known.items()}
        seen = {m: at for m in self.known if (at := self.home.met(m)) is not None}
        return Peers(nearby=nearby.judge(names, answers, seen, now), trouble=self.trouble)

    def _announced(self) -> None:
        def troubled(text: str) -> None:
            self.trouble = text

        found = mdns.browse(MACHINES, seconds=_LOOK, known=[*self.known], trouble=troubled)
        for one in found:
            if one.instance == self.own:
                continue
            most = None if one.instance in self.known else _OF_A_STRANGER
            for host in one.addresses[:most]:
                self.places.setdefault((one.instance, format_address(host, one.port)))

    @staticmethod
    def _answers(places: list[Place]) -> list[tuple[Place, Answer]]:
        if not places:
            return []
        asked = [(*parse_address(address), machine) for machine, address in places]
        results = ssh.prove(asked, timeout=_PROVE)
        return list(zip(places, map(_answer, results), strict=True))


def _answer(result: HandsoffError | None) -> Answer:
    if result is None:
        return Answer.PROVED
    return Answer.ANOTHER if isinstance(result, TrustError) else Answer.SILENT


def look_around() -> Peers:
    """Return who is near by; of any repository that has a clone on this machine."""
    folder = keys.home_folder()
    machine, home = keys.load(folder), Home(folder)
    if machine is None:
        return _Look(home, {}, "").run()
    known: dict[str, Member] = {}
    for roster in rosters_of(desks_of(home, machine)):
        known = {**{m.id: m for m in roster.members()}, **known}
    known.pop(machine.id, None)
    return _Look(home, known, machine.id).run()
