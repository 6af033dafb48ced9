"""A machine comes for a parcel that waits here for it: the listening end of a fetch.

Given is only what a clone here has made, what the record names as the last to be had of the work,
and only to a machine that the parcel is sealed to; nothing that this machine took back, and what
many may catch to the first that comes. Once it was promised, the offer counts as one whose parcel
has arrived: while the remote is away, it is not taken back.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import BinaryIO, Final

from handsoff.core.machines.roster import Member
from handsoff.core.parcels.keeping import may_be_given
from handsoff.core.talk.messages import Accept, Bye, Offer, Receipt, Want, check_receipt
from handsoff.edge import clock, files
from handsoff.edge.ssh.talk import Talk
from handsoff.edge.steps import step
from handsoff.errors import RefusedError, UnfitError
from handsoff.flows.desk import Desk
from handsoff.flows.waiting import last_known
from handsoff.flows.works.shelf import Kept, Shelf

_PATIENCE: Final = 3.0
_TICK: Final = timedelta(milliseconds=50)


def give(
    talk: Talk,
    want: Want,
    desks: Sequence[Desk],
    to: Member,
    begin: Callable[[Kept, int], Callable[[int], None]],
) -> Kept:
    """Give ``to`` what it wants of the clones at ``desks``, and return what that was.

    ``begin`` hears what is about to go and how much of it is there, and gives what hears of the
    progress. RefusedError where there is nothing for this machine.
    """
    desk, _, unused = _find(want, desks, to)
    unused.close()
    with _free(desk):
        # again, since a withdrawal may have come in between; from here on none can unseen
        desk, kept, file = _find(want, [desk], to)
        Shelf(desk).set_given(kept.parcel, to.id)
    with file, files.saying(f"cannot read {Shelf(desk).path(kept.parcel)}"):
        talk.say(Offer(kept.parcel, kept.size, kept.sha256))
        here = talk.hear(Accept).offset
        step("listen.give.before")
        talk.send_parcel(file, kept.size, begin(kept, here))
    receipt = talk.hear(Receipt)
    check_receipt(receipt, manifest=kept.manifest, key=to.card.sign_key, name=to.name)
    step("listen.give.after")
    talk.say(Bye())
    return kept


@contextmanager
def _free(desk: Desk) -> Iterator[None]:
    """Wait until no verb is at work in the clone of ``desk``, and keep others out."""
    until = clock.monotonic() + _PATIENCE
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(desk.checkout.lock())
                break
            except UnfitError:
                if clock.monotonic() > until:
                    raise
                clock.sleep(_TICK)
        yield


def _find(want: Want, desks: Sequence[Desk], to: Member) -> tuple[Desk, Kept, BinaryIO]:
    for desk in desks:
        view = last_known(desk, want.work)
        named = view.record.kept.parcel if view is not None and view.record.kept else ""
        if view is None or not named or want.parcel not in (named, ""):
            continue
        shelf, lease = Shelf(desk), view.record.lease.as_of(desk.now)
        kept = shelf.get(named)
        if kept is None or to.id not in kept.receivers or view.roster.member(to.id) is None:
            continue
        may = may_be_given(
            lease, to.id, to.person,
            giver=desk.machine.id, named=bool(want.parcel), given=kept.given,
        )  # fmt: skip
        if may and (file := shelf.open(kept)) is not None:
            return desk, kept, file
    raise RefusedError(
        f"no parcel of {want.work} waits here for {to.name}", hint="it is on the remote, or nowhere"
    )
