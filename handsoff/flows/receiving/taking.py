"""A parcel comes in over a connection, whoever dialled: room, the part that is here, bytes, inbox.

    limits -> part (held by this connection alone) -> Accept -> bytes -> digest -> accept

A cut one leaves its part, and the next connection goes on from there.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.fields import SIZE_LIMIT
from handsoff.core.parcels.room import Limits, Stock, no_room
from handsoff.core.talk.messages import RECEIPT_NAMESPACE, Accept, Offer, Receipt, receipt_payload
from handsoff.edge import clock, files, parts, seal
from handsoff.edge.home import Home, Parcel
from handsoff.edge.keys import Machine
from handsoff.edge.ssh.talk import Talk
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, RefusedError, TrustError
from handsoff.flows.desk import Desk
from handsoff.flows.receiving.accept import accept, manifest_digest

WANTED: Final = Limits(parcel=SIZE_LIMIT, count=SIZE_LIMIT)
"""For what this machine's own person asked for: the disk alone sets a limit."""

_STOPPED: Final = 3
"""Parts that one machine may leave here; when it begins another, the oldest goes."""

_WAIT: Final = 60.0
"""Seconds for a connection that is dying, or still verifies, to let go of its part."""


@dataclass
class Room:
    """The room for parcels here, shared by all connections of one process."""

    home: Home
    name: str
    limits: Limits = WANTED
    _under_way: dict[str, tuple[str, int]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @contextmanager
    def kept_for(self, machine: str, part: parts.Part, size: int) -> Iterator[None]:
        """Keep room for a parcel of ``machine``; raise what says why there is none."""
        with self._lock:
            busy = {*self._under_way, part.path.name}
            parts.leave(self.home.incoming, machine, _STOPPED, besides=busy)
            problem = no_room(
                self.limits, self._stock(machine, part.path.name), size, part.size, self.name
            )
            if problem is not None:
                raise problem
            self._under_way[part.path.name] = (machine, size)
        try:
            yield
        finally:
            with self._lock:
                del self._under_way[part.path.name]

    def _stock(self, machine: str, besides: str) -> Stock:
        parcels = self.home.parcels()
        # what is under way counts as a whole, whatever of it is here
        coming = parts.sizes(self.home.incoming) | self._under_way
        coming.pop(besides, None)
        waiting = [(p.manifest.sender, p.size) for p in parcels] + [*coming.values()]
        of_one = [size for whose, size in waiting if whose == machine]
        disk = shutil.disk_usage(self.home.incoming)
        return Stock(
            count=len(waiting), total=sum(size for _, size in waiting),
            count_of_one=len(of_one), total_of_one=sum(of_one), free=disk.free, disk=disk.total,
        )  # fmt: skip


def take(
    talk: Talk,
    offer: Offer,
    desk: Desk,
    *,
    room: Room,
    sender: str,
    ready: Callable[[int], None],
    progress: Callable[[int], None],
) -> Parcel:
    """Take the parcel that ``sender`` offers, and return it from the inbox.

    ``ready`` hears how much of it is here, before it is accepted, and may raise a refusal;
    ``progress`` the position reached.
    """
    held = parts.part_of(desk.home.incoming, sender, offer.parcel, offer.sha256, wait=_WAIT)
    with held as part:
        present = desk.home.parcel(offer.parcel)
        if present is not None:
            part.empty()
            desk.home.keep_only_whole(offer.parcel)
            if present.manifest.sender != sender:
                raise DamagedError("a parcel of this id, but of another machine, is in the inbox")
            ready(offer.size)
            talk.say(Accept(offer.size))
            return present
        if part.size > offer.size:
            part.empty()
        with room.kept_for(sender, part, offer.size):
            ready(part.size)
            talk.say(Accept(part.size))
            step("listen.accept.after")
            with files.saying("cannot keep the parcel"):
                talk.receive_parcel(part.write, progress)
            step("listen.bytes.after")
            return _opened(part, offer, desk)


def _opened(part: parts.Part, offer: Offer, desk: Desk) -> Parcel:
    """Return the parcel of which all bytes are here, verified; the part goes with it.

    What fails for another reason than its bytes, such as a full disk, leaves it: it need not come
    again.
    """
    try:
        parcel = _verified(part, offer, desk)
    except (DamagedError, RefusedError, TrustError):
        part.empty()
        raise
    part.empty()
    return parcel


def _verified(part: parts.Part, offer: Offer, desk: Desk) -> Parcel:
    if seal.digest(part.path) != offer.sha256:
        raise DamagedError("the parcel did not arrive as it was sent", hint="send it again")
    parcel = accept(desk.home, desk.machine, part.path, desk)
    if parcel.manifest.parcel != offer.parcel:
        raise DamagedError("the parcel is not the one that was offered")
    return parcel


def receipt_for(parcel: Parcel, machine: Machine) -> Receipt:
    """Return this machine's word that the parcel is verified and on disk."""
    at = int(clock.now().timestamp())
    claims = {"parcel": parcel.manifest.parcel, "manifest": manifest_digest(parcel)}
    payload = receipt_payload(**claims, by=machine.id, at=at)
    signature = machine.sign(payload, RECEIPT_NAMESPACE)
    return Receipt(**claims, by=machine.id, at=at, signature=signature)
