"""The routes without a connection: a sealed parcel rests on the shared remote, or in a file.

On the remote it lies under ``refs/wip/snap/<work>/<parcel id>``, as a commit whose tree holds it
in pieces of at most 48 MB (hosts refuse large blobs). It is pushed before the record names it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from handsoff.core.ids import work_component
from handsoff.core.objects import FILE, Commit, TreeEntry, encode_commit, encode_tree, parse_tree
from handsoff.core.works.lease import Saved
from handsoff.core.works.record import Record
from handsoff.edge import files, parts, seal
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import store_of
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, LostRaceError, UsageError
from handsoff.flows.desk import Desk

PIECE: Final = 48_000_000
_PIECES: Final = 10_000
_KEPT: Final = 3
_WAIT: Final = 60.0
"""Seconds for another run that brings the same parcel, and verifies it, to end."""
_WHO: Final = "handsoff <parcel@handsoff.invalid> 0 +0000"


def push_parcel(desk: Desk, work: str, parcel: str, sealed: Path) -> None:
    """Leave the sealed parcel on the remote; a second push of the same one changes nothing."""
    shared = desk.shared
    objects = store_of(shared)
    entries: list[TreeEntry] = []
    with sealed.open("rb") as file:
        while data := file.read(PIECE):
            name = b"%05d" % len(entries)
            entries.append(TreeEntry(name, FILE, objects.write("blob", data)))
    tree = objects.write("tree", encode_tree(entries))
    message = f"handsoff parcel {parcel}\n"
    commit = objects.write("commit", encode_commit(Commit(tree, (), _WHO, _WHO, message)))
    step("send.relay.push.before")
    if shared.push(Move(shared.parcel_ref(work, parcel), commit, "")) is Outcome.LOST:
        raise LostRaceError(f"the remote has another parcel called {parcel}", hint="send again")
    step("send.relay.push.after")


@contextmanager
def fetched(desk: Desk, work: str, parcel: str) -> Iterator[Path | None]:
    """Give a sealed parcel from the remote, for the block; None if it is not there."""
    shared = desk.shared
    ref = shared.parcel_ref(work, parcel)
    tip = shared.tips(ref).get(ref)
    if tip is None:
        yield None
        return
    shared.fetch([ref], most=None)
    objects = store_of(shared)
    entries = parse_tree(objects.tree(objects.commit(tip).tree))
    if not 0 < len(entries) <= _PIECES or any(entry.mode != FILE for entry in entries):
        raise DamagedError(
            f"the parcel {parcel} on the remote is not one of handsoff's",
            hint="somebody changed it there: have it sent again",
        )
    with parts.part_from_remote(desk.home.incoming, parcel, wait=_WAIT) as part:
        with files.saying("cannot keep the parcel"):
            for entry in entries:
                part.write(objects.blob(entry.oid, PIECE))
        yield part.path


def sweep_parcels(desk: Desk, record: Record) -> None:
    """Delete from the remote what this work left there before its last three parcels.

    Only parcels that the record names go: another may be on its way to be named.
    """
    shared, prefix = desk.shared, f"{desk.shared.prefix}/snap/{work_component(record.work)}/"
    saved = [e.event.parcel for e in record.good if isinstance(e.event, Saved) and e.event.parcel]
    old = set(dict.fromkeys(saved)) - set([*dict.fromkeys(reversed(saved))][:_KEPT])
    if not old:
        return
    there = shared.tips(f"{prefix}*")
    gone = [(ref, tip) for ref, tip in there.items() if ref.removeprefix(prefix) in old]
    for ref, tip in gone:
        shared.push(Move(ref, "", tip))


def copy_parcel(source: Path, target: Path) -> None:
    """Write the sealed parcel to a file of the user's; one that is there and differs stays."""
    with files.saying(f"cannot write {target}"):
        if target.exists() and seal.digest(target) != seal.digest(source):
            raise UsageError(f"{target} exists already", hint="name a new file")
        with source.open("rb") as data, files.replacing(target.absolute()) as file:
            shutil.copyfileobj(data, file, 1 << 20)
