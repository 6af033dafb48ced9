"""The command peers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from handsoff.cli import layout
from handsoff.cli.talk import Json, say, show, show_json
from handsoff.core.plain import plain
from handsoff.edge import tongue

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.flows.reach.peers import Peers

_UNKNOWN = "unknown"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(peers)


def peers(json: Json = False) -> None:
    """List the machines near by that listen, each verified by its key."""
    from handsoff.flows.reach.peers import look_around

    found = look_around()
    if json:
        show_json(found.as_dict())
    else:
        for line in _lines(found):
            show(line)
    if found.nobody:
        say(f"nobody is here: {found.nobody}")
        say("next: handsoff doctor; handsoff send MACHINE --at HOST:PORT works all the same")


def _lines(found: "Peers") -> Iterator[str]:
    from handsoff.flows.reach.peers import last_seen

    rows = []
    for peer in found.nearby.peers:
        name = plain(peer.name, limit=63) or _UNKNOWN
        seen = f"last seen {last_seen(peer.seen)}" if peer.seen is not None else ""
        more = seen if peer.name else peer.machine
        presence = tongue.said(peer.presence.value)
        rows.append([name, peer.address or "-", presence, tongue.said(more)])
    widths = layout.widest(rows) if rows else []
    for row in rows:
        yield layout.padded(row, widths)
    for peer in found.nearby.peers:
        if peer.claimed:
            where = ", ".join(peer.claimed[:3])
            name = plain(peer.name, limit=63) or peer.machine
            yield f"warning: at {where} another machine answers in the name of {name}"
    if found.nearby.unproved:
        yield f"announced and not proved to be there: {found.nearby.unproved} more"
