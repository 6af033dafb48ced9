"""``handsoff send m2``: save this checkout's work and offer it to another machine, in one go.

    page -> record -> look -> capture + guard -> seal -> route -> receipt -> record

``save`` and ``offer`` are the same for other receivers: a save is sealed to the whole roster and
offered to nobody, an offer rests on the remote for whom it is for.

The push of the record is the hand-over: before it this machine is the carrier, after it the
receiver may catch. A run that was killed is taken up by typing the same command again: the
parcel is recognised by what is in it, and the record tells whether the push had landed.
"""

from typing import TYPE_CHECKING

from handsoff.core.reach import routes
from handsoff.edge.git import clone
from handsoff.edge.home import cache_folder
from handsoff.edge.scan import Scanner
from handsoff.flows.desk import Desk
from handsoff.flows.phases import Phases
from handsoff.flows.sending.wishes import Wishes

if TYPE_CHECKING:
    from handsoff.flows.sending.plan import Sent


def send(desk: Desk, wishes: Wishes, phases: Phases) -> "Sent":
    """Hand this checkout's work over as ``wishes`` say."""
    with desk.checkout.lock():
        work = desk.work(wishes.named)
        early = clone.questions(desk.shared) if _builds_on_branches(wishes) else ()
        with desk.shared.reader.open(), desk.asking(work, *early):
            scanner = Scanner(cache_folder())
            # the remote and the scanner take a while: what goes on from here is imported meanwhile
            from handsoff.flows.sending.sender import Sender  # noqa: PLC0415

            return Sender(desk, wishes, phases, work, scanner).run()


def _builds_on_branches(wishes: Wishes) -> bool:
    """Say whether what the remote has is what the other end can get, which decides what goes."""
    words = routes.in_order(
        wishes.via, at=wishes.at, to_file=wishes.to_file is not None, known=("direct",)
    )
    straight = wishes.verb == "send" and words[0] in ("direct", "ssh")
    return not (straight or wishes.whole)
