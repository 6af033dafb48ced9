"""What several commands end with: a parcel that was made, or an entry that was written."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from handsoff.cli import tables
from handsoff.cli.agents import stopped
from handsoff.cli.render import progress, sent
from handsoff.cli.talk import queued, say, show_as_is, show_json

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.flows.sending.wishes import Wishes
    from handsoff.flows.works.letting import Let


def deliver(wishes: "Wishes", *, json: bool, quiet: bool, stop_agent: bool = False) -> None:
    """Run what hands over or saves, and say what came of it; then who is at work here still."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.phases import Phases
    from handsoff.flows.sending.send import send

    desk = open_desk()
    with progress(quiet=quiet or json) as tell:
        done = send(desk, wishes, Phases("send", tell))
    for line in sent(done):
        say(line, quiet=quiet or json)
    from handsoff.flows.agents import stopping  # only now: the remote was asked the sooner

    around = stopping.Stopping()
    if wishes.verb != "save":
        asked = stop_agent and not wishes.dry_run
        around = stopping.look(desk.checkout, asked=asked, stands=not done.pending)
    tell_agent = partial(say, quiet=json or (quiet and not stop_agent))
    around.end_others(tell_agent)
    for line in stopped(around):
        tell_agent(line)
    if json:
        show_json({**asdict(done), "agents": [one.as_dict() for one in around.found]})
    around.end_last()
    queued(done.pending)


def tell_let(let: "Let", *, json: bool, quiet: bool) -> None:
    """Say what came of a verb of one entry; a page that came with it is data."""
    if json:
        show_json(asdict(let))
    for line in tables.let(let):
        say(line, quiet=quiet or json)
    if let.page and not json:
        show_as_is(let.page.rstrip("\n"))
    queued(let.pending)
