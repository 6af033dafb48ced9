"""A parcel arrives: nothing of it is believed before its end, and nothing is kept half.

    staging file -> lengths and digests -> signature and roster -> git's own gate in quarantine
    -> every path -> fsync -> rename into the inbox -> fsync of the folder

In the inbox it still cannot be caught: only the record makes it a hand-over.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from handsoff.core.checkout.state import State
from handsoff.core.machines.roster import Roster
from handsoff.core.parcels import bounds, manifest
from handsoff.core.parcels.manifest import MAGIC, NAMESPACE, Manifest
from handsoff.core.sshwire import signer
from handsoff.edge import aside, files, seal
from handsoff.edge.git import clone, quarantine
from handsoff.edge.git.local import check_filters
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.home import MANIFEST, SIGNATURE, Home, Parcel
from handsoff.edge.keys import Machine
from handsoff.edge.seal import Opened
from handsoff.edge.steps import step
from handsoff.errors import DamagedError, RefusedError, TrustError, UnfitError
from handsoff.flows import cached
from handsoff.flows.capture.judging import judge
from handsoff.flows.clones import clone_of
from handsoff.flows.desk import Desk


def accept(home: Home, machine: Machine, sealed: Path, desk: Desk | None = None) -> Parcel:
    """Open the parcel at ``sealed``, verify all of it, and put it into the inbox.

    ``desk`` is a clone of its repository; if None, one that is registered here is taken.
    A parcel that is there already is returned as it is. No part of it stays that nobody holds.
    """
    home.sweep()
    parcel = _accepted(home, machine, sealed, desk)
    home.keep_only_whole(parcel.manifest.parcel)
    return parcel


def _accepted(home: Home, machine: Machine, sealed: Path, desk: Desk | None) -> Parcel:
    with home.receiving() as name:
        staging = home.incoming / f"{name}.open"
        try:
            opened = seal.unseal(sealed, staging, machine.sealing)
            step("listen.unseal.after")
            claims = manifest.decode(opened.manifest)
            present = home.parcel(claims.parcel)
            if present is not None:
                return _same(present, claims)
            desk = desk or clone_of(home, machine, claims.repository)
            _check_claims(claims, opened, desk, machine)
            return _check_in(home.incoming / name, home, claims, opened, desk)
        except DamagedError as error:
            error.hint = error.hint or "nothing of it was kept; have it sent again"
            raise
        except RefusedError as error:
            error.hint = error.hint or "nothing of it was kept; ask its sender about it"
            raise
        finally:
            staging.unlink(missing_ok=True)


def _same(present: Parcel, claims: Manifest) -> Parcel:
    if present.manifest != claims:
        raise DamagedError("another parcel of the same id is in the inbox")
    return present


def _check_claims(claims: Manifest, opened: Opened, desk: Desk, machine: Machine) -> None:
    if machine.id not in claims.receivers:
        raise TrustError("this parcel names other receivers", hint="ask its sender to send it here")
    if claims.repository != desk.pin:
        raise UnfitError(
            "this parcel is of another repository", hint="cd into a clone of that repository"
        )
    roster = _roster_with(desk, claims.sender)
    sender = roster.member(claims.sender)
    if sender is None and claims.sender in roster.everyone:
        record = desk.history(desk.view(claims.work).record)
        sender = roster.everyone[claims.sender] if manifest.is_vouched(claims, record) else None
    if sender is None:
        raise TrustError(
            f"this parcel is from a stranger ({claims.sender})",
            hint="if you know it, let it in: handsoff admit CARD",
        )
    if signer(opened.signature, NAMESPACE, opened.manifest) != sender.card.sign_key:
        raise DamagedError(f"the parcel's signature is not that of {sender.name}")
    size = opened.path.stat().st_size - len(MAGIC)
    if size != claims.pack_size or seal.digest(opened.path, len(MAGIC)) != claims.pack_sha256:
        raise DamagedError("the parcel's objects are not those that its manifest names")


def _roster_with(desk: Desk, machine: str) -> Roster:
    roster = desk.local_roster()
    if roster is not None and roster.member(machine) is not None:
        return roster
    return desk.fresh_roster()


def _check_in(folder: Path, home: Home, claims: Manifest, opened: Opened, desk: Desk) -> Parcel:
    try:
        return _verified(folder, home, claims, opened, desk)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        cached.write(desk, None)


def _verified(folder: Path, home: Home, claims: Manifest, opened: Opened, desk: Desk) -> Parcel:
    with files.saying("cannot keep the parcel"):
        files.ensure_folder(folder)
        alternate = desk.checkout.objects_dir
        complete(desk, claims)
        whole = desk.checkout.promisor is None
        with opened.path.open("rb", buffering=0) as pack:
            pack.seek(len(MAGIC))
            most = bounds.most(claims.pack_size, claims.counts)
            objects = quarantine.check_in(folder, pack, alternate, most=most, whole=whole)
        if not whole:
            _fetch_promised(desk.checkout, folder, claims)
        step("listen.quarantine.after")
        arrived = Objects(objects, alternate)
        with _linked(folder, arrived, claims, whole=whole):
            check_filters(desk.checkout, arrived, _check_state(claims, arrived))
        files.write(folder / SIGNATURE, opened.signature.encode("ascii"))
        files.write(folder / MANIFEST, opened.manifest)
        files.sync_folder(objects / "pack")
        step("listen.keep.before")
        try:
            folder.rename(home.inbox / claims.parcel)
        except FileExistsError:  # another run was as fast with the same parcel
            return _same(Parcel(home.inbox / claims.parcel, claims), claims)
        files.sync_folder(home.inbox)
    step("listen.keep.after")
    return Parcel(home.inbox / claims.parcel, claims)


@contextmanager
def _linked(folder: Path, arrived: Objects, claims: Manifest, *, whole: bool) -> Iterator[None]:
    """Have git walk the links while the state is looked at in the block, unless it did so before.

    What is wrong with the state is said first. Either way the folder is git's until it is done.
    """
    if not whole:
        yield
        return
    check = partial(quarantine.check_links, folder, arrived, claims.envelope, claims.bases)
    walk = aside.begin(check, "links")
    try:
        yield
    finally:
        walk.exception()
    walk.result()


def complete(desk: Desk, claims: Manifest) -> None:
    """Bring what the parcel builds on, and this clone lacks, from the shared remote.

    UnfitError if it is not there either: then nobody could restore the parcel here.
    """
    checkout, shared = desk.checkout, desk.shared
    lacking = clone.lacking(checkout, claims.bases)
    if not lacking:
        return
    # a clone that has an older state of the branch must see that the new one goes on from it;
    # to another one, whose owner wanted no history, none is brought
    tracked = (f"refs/heads/{claims.work}", f"refs/remotes/{shared.name}/{claims.work}")
    clone.fetch_commits(shared, lacking, alone=not any(map(checkout.commit, tracked)))
    lacking = clone.lacking(checkout, lacking)
    if lacking:
        raise UnfitError(
            f"the parcel builds on {lacking[0][:10]}, which is neither here nor on the remote "
            f"{shared.name}",
            hint="on the sender: git fetch --unshallow, or push what it builds on; then send again",
        )


def _fetch_promised(checkout: Checkout, folder: Path, claims: Manifest) -> None:
    """Bring what a partial clone cannot do without to check and to restore what is in ``folder``.

    That is the trees that the parcel builds on, and what its sender left out as well, itself a
    partial clone: both had it from a remote, and only what came from there is promised here.
    """
    clone.fetch_trees(checkout, claims.bases)
    clone.fetch_promised(checkout, quarantine.absent(folder, claims.envelope, claims.bases))
    quarantine.check_promised(folder, claims.envelope, claims.bases)


def _check_state(claims: Manifest, objects: Objects) -> State:
    try:
        state = judge(objects, claims.envelope, claims.counts)
    except DamagedError as error:
        raise DamagedError(f"the parcel is not complete: {error}") from error
    if state.work != claims.work:
        raise DamagedError("the parcel's manifest and its snapshot do not agree")
    return state


def manifest_digest(parcel: Parcel) -> str:
    """Return the SHA-256 of the parcel's manifest, which a receipt is for."""
    return hashlib.sha256((parcel.folder / MANIFEST).read_bytes()).hexdigest()
