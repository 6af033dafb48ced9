"""The commands of a receiver: listen, receive, inbox."""

import json as json_of
import os
import select
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli import render
from handsoff.cli.talk import Json, Quiet, progress_wanted, say, show, show_as_is, show_json
from handsoff.core.parcels.room import COUNT, PARCEL, Limits
from handsoff.core.parcels.welcome import Welcome
from handsoff.core.plain import plain
from handsoff.edge import tongue
from handsoff.errors import UsageError

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.flows.receiving.happening import Happening, Moving
    from handsoff.flows.receiving.listening import Stopping

_ANSWER_IN = 300.0
"""Seconds for an answer, after which it is no."""

_WIDTH = 80
"""Columns of a terminal that does not say."""

Port = Annotated[
    int, typer.Option(min=0, max=65535, metavar="PORT", help="Port to listen on; 0 takes any.")
]
Accept = Annotated[
    Welcome,
    typer.Option(
        metavar="WHOSE",
        help="Whose parcels: all (of the roster), mine (my person's machines), ask (each time).",
    ),
]
MaxParcel = Annotated[
    int, typer.Option(min=0, metavar="BYTES", help="Bytes that a parcel may have.")
]
MaxInbox = Annotated[
    int, typer.Option(min=0, metavar="COUNT", help="Parcels that may wait here uncaught.")
]
MaxInboxBytes = Annotated[
    int | None,
    typer.Option(min=0, metavar="BYTES", help="Their bytes in all (default: half of the disk)."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (listen, receive, inbox):
        app.command()(command)


def listen(
    port: Port = 0,
    bind: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "",
    once: Annotated[bool, typer.Option("--once", help="Stop after one parcel.")] = False,
    accept: Accept = Welcome.ALL,
    max_parcel: MaxParcel = PARCEL,
    max_inbox: MaxInbox = COUNT,
    max_inbox_bytes: MaxInboxBytes = None,
    address_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write HOST:PORT here when ready.")
    ] = None,
    no_announce: Annotated[
        bool, typer.Option("--no-announce", help="Say nothing of this machine by mDNS.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document a line for what happens.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Take parcels of other machines into the inbox of this one, until it is stopped."""
    from handsoff.flows.receiving.listen import Rules
    from handsoff.flows.receiving.listening import Plan, Stopping, run

    if accept is Welcome.ASK and not sys.stdin.isatty():
        raise UsageError(
            "--accept ask needs a terminal to ask on", hint="--accept mine, or --accept all"
        )
    stop = Stopping()
    board = Board(json=json, quiet=quiet)
    rules = Rules(accept, Limits(max_parcel, max_inbox, max_inbox_bytes), asker(board, stop))
    plan = Plan(
        port=port, bind=bind, once=once, address_file=address_file, announce=not no_announce,
        rules=rules,
    )  # fmt: skip
    run(plan, stop, board.tell, board.watch)


class Board:
    """What a listener says, by many threads: lines, and on a terminal how far each parcel is."""

    def __init__(self, *, json: bool, quiet: bool) -> None:
        self._json = json
        self._quiet = quiet
        self._shows = progress_wanted() and not json and not quiet
        self._moving: dict[str, str] = {}
        self._drawn = 0.0
        self._lock = threading.RLock()
        self._question = threading.Lock()
        self._asks = False

    def tell(self, what: "Happening") -> None:
        """Say what happened."""
        with self._lock:
            if what.event not in ("arriving", "giving"):
                self._moving.pop(what.parcel, None)
            self._wipe()
            if self._json:
                show_as_is(json_of.dumps(what.document(), sort_keys=True))
            else:
                for line in render.happened(what):
                    say(line, quiet=self._quiet)

    def watch(self, moving: "Moving") -> None:
        """Show how far a parcel has come; the newest of many are shown."""
        if not self._shows or self._asks:
            return
        with self._lock:
            self._moving[moving.key] = render.moving(moving)
            if time.monotonic() - self._drawn > 0.1:  # noqa: PLR2004 - ten times a second
                self._drawn = time.monotonic()
                width = os.get_terminal_size(sys.stderr.fileno()).columns or _WIDTH
                line = " | ".join(self._moving.values())[: width - 1]
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def ask(self, question: str, answer: Callable[[], bool]) -> bool:
        """Put a question, one at a time; what moves meanwhile is not shown."""
        with self._question:
            with self._lock:
                self._wipe()
                self._asks = True
                _forget_typed()
                print(f"{tongue.said(plain(question))} [y/N] ", end="", file=sys.stderr, flush=True)
            try:
                return answer()
            finally:
                self._asks = False

    def _wipe(self) -> None:
        if self._shows:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _forget_typed() -> None:
    """Throw away what was typed before a question stood there: it answers another one."""
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def asker(board: Board, stop: "Stopping") -> Callable[[str], bool]:
    """Return what asks the person at the terminal, until the listener is to stop."""

    def answer() -> bool:
        # not readline: nothing else ends that, and the listener must be able to stop
        until = time.monotonic() + _ANSWER_IN
        while time.monotonic() < until and not stop.wanted.is_set():
            if select.select([sys.stdin], [], [], 0.2)[0]:
                said = os.read(sys.stdin.fileno(), 1024)
                return said.strip().lower() in (b"y", b"yes")
        say("no answer: it is not taken")
        return False

    return lambda question: board.ask(question, answer)


def receive(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A parcel, from send --to-file.")
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="For ssh: serve one send on standard input and output.")
    ] = False,
    json: Json = False,
) -> None:
    """Take a parcel from a file into the inbox."""
    if (file is None) is not stdio or (stdio and json):
        raise UsageError("receive takes a file, or --stdio alone", hint="handsoff receive --help")
    if file is None:
        from handsoff.flows.receiving.stdio import serve_one

        serve_one()
        return
    from handsoff.edge import keys
    from handsoff.edge.home import Home
    from handsoff.flows.receiving.listen import receive_file

    folder = keys.home_folder()
    parcel = receive_file(Home(folder), keys.need(folder), file)
    if json:
        show_json({"parcel": parcel.manifest.parcel, "work": parcel.manifest.work})
    say(f"received {render.clean(parcel.manifest.work)}", quiet=json)
    say(f"next: {render.catch_command(parcel.manifest.work)}", quiet=json)


def inbox(json: Json = False) -> None:
    """List the parcels that arrived here and are not caught yet."""
    from handsoff.edge import keys
    from handsoff.edge.home import Home
    from handsoff.flows.shown.status import inbox as run

    folder = keys.home_folder()
    arrived = run(Home(folder), keys.need(folder))
    if json:
        show_json({"parcels": [asdict(item) for item in arrived]})
        return
    if not arrived:
        say("nothing waits here to be caught")
    for line in render.arrived(arrived):
        show(line)
