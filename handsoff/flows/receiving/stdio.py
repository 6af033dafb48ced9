"""``handsoff receive --stdio``: one exchange for an ssh that started us, and nothing more.

No listener need run. Standard output is the exchange's alone, after one line that tells it from
what login scripts print. sshd has let an account in, not a machine: see flows/receiving/listen.py.
"""

import os
import sys

from handsoff.core.plain import plain
from handsoff.core.reach.sshtalk import GREETING
from handsoff.edge import keys
from handsoff.edge.home import Home
from handsoff.edge.ssh import pipes
from handsoff.errors import UsageError
from handsoff.flows.receiving.listen import House


def serve_one() -> None:
    """Take what one sender brings; raise what went wrong, once the sender was told."""
    if sys.stdin.isatty():
        raise UsageError("--stdio is for an ssh to run", hint="elsewhere: handsoff send USER@HOST")
    stream = pipes.own_streams()
    folder = keys.home_folder()
    house = House(Home(folder), keys.need(folder))
    address = os.environ.get("SSH_CONNECTION", "").partition(" ")[0]
    try:
        stream.send(GREETING)
        house.exchange("", f"ssh from {plain(address, limit=80) or 'here'}", stream)
    finally:
        stream.close()
