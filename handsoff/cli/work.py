"""The commands of a work: page, send, catch, status, undo."""

import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from handsoff.cli import render
from handsoff.cli.agents import StopAgent
from handsoff.cli.deliver import tell_let
from handsoff.cli.talk import DryRun, Json, Quiet, queued, say, show, show_as_is, show_json
from handsoff.cli.words import (
    Allow,
    As,
    Hold,
    LiveOk,
    MaxSize,
    Redact,
    Retry,
    SessionIds,
    Transcript,
    Work,
    length,
    mode,
    patience,
    work_named,
)
from handsoff.core.guard.guard import DEFAULT_LIMIT
from handsoff.errors import UsageError

At = Annotated[
    str | None,
    typer.Option(metavar="PLACE", help="Where it listens, HOST:PORT; for ssh USER@HOST or alias."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (page, send, catch, status, undo):
        app.command()(command)
    app.command("take", hidden=True)(catch)


def page(
    no_edit: Annotated[bool, typer.Option("--no-edit", help="Do not open an editor.")] = False,
    named: As = None,
) -> None:
    """Create the page of this work, .wip/HANDOFF.md, and open it in your editor."""
    from handsoff.flows.capture.pages import ensure_page
    from handsoff.flows.desk import open_desk

    desk = open_desk()
    created = ensure_page(desk.checkout, desk.work(named))
    page = desk.checkout.page
    say(f"wrote the template of {page}" if created else f"the page is {page}")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not no_edit and editor and sys.stdin.isatty():
        try:
            subprocess.run([*shlex.split(editor), str(desk.checkout.page)], check=False)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"cannot start the editor {editor}: {str(error).lower()}",
                hint="set VISUAL or EDITOR, or edit the page by yourself",
            ) from error
    say("next: fill it in, then: handsoff send MACHINE")


def send(
    to: Annotated[
        str, typer.Argument(metavar="MACHINE", help="The machine, or USER@HOST or an ssh alias.")
    ],
    at: At = None,
    via: Annotated[
        str, typer.Option(metavar="ROUTE", help="The route: auto, direct, ssh or remote.")
    ] = "auto",
    remote_command: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="Where handsoff is there, for ssh.")
    ] = None,
    to_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the parcel to a file.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Pack all history, for a clone that has none of it.")
    ] = False,
    named: As = None,
    hold: Hold = None,
    deadline: Annotated[
        str, typer.Option(metavar="LENGTH", help="How long the offer waits, such as 4h.")
    ] = "24h",
    retry: Retry = None,
    max_size: MaxSize = DEFAULT_LIMIT,
    allow: Allow = None,
    stop_agent: StopAgent = False,
    transcript: Transcript = "",
    session: SessionIds = None,
    live_ok: LiveOk = False,
    redact: Redact = False,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hand this checkout's work over to another machine, whole."""
    from handsoff.cli.deliver import deliver
    from handsoff.flows.sending.wishes import Wishes

    wishes = Wishes(
        to=to,
        at=at,
        via=via,
        remote_command=remote_command,
        named=named,
        to_file=to_file,
        whole=whole,
        hold=length(hold),
        within=length(deadline),
        retry=patience(retry),
        dry_run=dry_run,
        limit=max_size,
        allow=allow or (),
        transcript=mode(transcript, session, live_ok=live_ok, redact=redact),
        sessions=session or (),
        live_ok=live_ok,
        redact=redact,
    )
    deliver(wishes, json=json, quiet=quiet, stop_agent=stop_agent)


def catch(
    work: Work,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Catch into a new worktree at DIR.")
    ] = None,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Carry on with what stands here; get no bytes.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until its carrier's time has run out.")
    ] = False,
    hold: Hold = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Become the carrier of a work, and restore it here to the last byte."""
    from handsoff.flows.catching import catch as flow
    from handsoff.flows.desk import open_desk
    from handsoff.flows.phases import Phases

    if into is not None and (dry_run or page_only):
        other = "--dry-run" if dry_run else "--page-only"
        raise UsageError(f"--into and {other} do not go together", hint="leave one of them out")
    desk = open_desk()
    if wait:
        from handsoff.flows.works.outwaiting import wait_out

        desk = wait_out(desk, work_named(work), lambda text: say(text, quiet=quiet or json))
    if page_only:
        from handsoff.flows.works.letting import catch_page

        let = catch_page(desk, work_named(work), hold=length(hold), dry_run=dry_run)
        tell_let(let, json=json, quiet=quiet)
        return
    with render.progress(quiet=quiet or json) as tell:
        phases = Phases("catch", tell)
        if into is None:
            caught = flow.catch(desk, work_named(work), phases, dry_run=dry_run, hold=length(hold))
        else:
            from handsoff.flows.catching.into import catch_into

            caught = catch_into(desk, work_named(work), into, phases, length(hold))
    if json:
        show_json(asdict(caught))
    else:
        for line in render.caught(caught):
            say(line, quiet=quiet)
        show_as_is((caught.saved_page or caught.page).rstrip("\n"))
    queued(caught.provisional)


def status(json: Json = False) -> None:
    """Say who carries the works of this clone, and what waits."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.shown.status import status as run

    found = run(open_desk())
    if json:
        show_json(asdict(found))
        return
    for line in render.status(found):
        show(line)


def undo(dry_run: DryRun = False, json: Json = False) -> None:
    """Go back to what was here before the last catch."""
    from handsoff.flows.catching.undo import undo as run
    from handsoff.flows.desk import open_desk
    from handsoff.flows.phases import Phases

    undone = run(open_desk(), Phases("undo"), dry_run=dry_run)
    if json:
        show_json(asdict(undone))
        return
    for line in render.undone(undone):
        say(line)
