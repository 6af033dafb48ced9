"""Machines with real keys, and chains made by them, without a disk."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handsoff.core.chain import Draft, compose
from handsoff.core.ids import machine_id
from handsoff.core.machines.admission import RosterRead, admit, found, read_roster
from handsoff.core.machines.cards import Card, make_card
from handsoff.core.machines.roster import Roster
from handsoff.core.sshwire import armor, message_to_sign
from handsoff.core.works.entry import encode_event, tree_for
from handsoff.core.works.lease import Event
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record, read_record

START = datetime(2030, 1, 7, 16, tzinfo=UTC)
AGE_KEY = "age1" + "q" * 58


class Signs(Protocol):
    """Whoever can sign an entry."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str: ...
    def sign(self, message: bytes, namespace: str) -> str: ...


@dataclass(frozen=True)
class Machine:
    """A machine: a name, a person, and a key that is worked out from the name."""

    name: str
    person: str = "lin"
    secret: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate, repr=False)

    @property
    def key(self) -> bytes:
        return self.secret.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        return machine_id(self.key)

    def sign(self, message: bytes, namespace: str) -> str:
        raw = self.secret.sign(message_to_sign(message, namespace))
        return armor(self.key, namespace, raw)

    def card(self, at: datetime = START) -> Card:
        return make_card(
            name=self.name,
            person=self.person,
            sign_key=self.key,
            age_key=AGE_KEY,
            at=int(at.timestamp()),
            sign=self.sign,
        )

    def pen(self, record: Record, now: datetime = START) -> Pen:
        return Pen(record=record, by=self.id, sign=self.sign, now=now)


@cache
def machine(name: str, person: str = "lin") -> Machine:
    """Return the machine of this name; the same name has the same key each time."""
    seed = f"{name}/{person}".encode().ljust(32, b".")[:32]
    return Machine(name, person, Ed25519PrivateKey.from_private_bytes(seed))


M1 = machine("m1")
M2 = machine("m2")
M3 = machine("m3", "kim")
OUTSIDER = machine("m9", "mallory")


def pairs(*drafts: Draft) -> list[tuple[str, bytes]]:
    """Return drafts as the commits of a chain."""
    return [(draft.oid, draft.data) for draft in drafts]


def founded(*machines: Machine) -> RosterRead:
    """Return the roster's chain in which the first machine lets the others in."""
    first, *others = machines or (M1, M2, M3)
    at = int(START.timestamp())
    read = read_roster(pairs(found(RosterRead(), first.card(), at=at, sign=first.sign)), None)
    for other in others:
        draft = admit(read, other.card(), by=first.id, at=at, sign=first.sign)
        read = read.extend(pairs(draft))
    return read


@cache
def roster() -> Roster:
    """Return the roster of m1 and m2, who are lin's, and m3, who is kim's."""
    return founded().trusted()


def empty(work: str = "feat/x") -> Record:
    """Return a record without entries."""
    return read_record([], roster(), work)


def forged(
    record: Record, event: Event, by: Signs, *, tree: str | None = None, **changes: Any
) -> tuple[str, bytes]:
    """Return an entry that nobody checked, signed by ``by``, with fields as given."""
    body = {
        **encode_event(event),
        "repo": record.repo,
        "roster": record.roster.tip,
        "work": record.work,
        "seq": record.seq + 1,
        "prev": record.tip,
        **changes,
    }
    return compose(
        "forged",
        body,
        parent=record.git_tip,
        tree=tree_for(event) if tree is None else tree,
        name=by.name,
        machine=event.by,
        at=int(event.at.timestamp()),
        sign=by.sign,
    )
