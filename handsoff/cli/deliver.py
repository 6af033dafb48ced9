"""What send, offer and save have in common: from wishes to a flow to lines."""

from dataclasses import asdict

from handsoff.cli.render import progress, sent
from handsoff.cli.talk import queued, say, show_json
from handsoff.flows.plan import Wishes


def deliver(wishes: Wishes, *, json: bool, quiet: bool) -> None:
    """Run what hands over or saves, and say what came of it."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.phases import Phases
    from handsoff.flows.send import send

    with progress(quiet=quiet or json) as tell:
        done = send(open_desk(), wishes, Phases("send", tell))
    if json:
        show_json(asdict(done))
    for line in sent(done):
        say(line, quiet=quiet or json)
    queued(done.pending)
