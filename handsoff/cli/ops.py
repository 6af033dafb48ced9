"""The commands of those who keep the remote and its records in order."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from handsoff.cli import render
from handsoff.cli.audit import audit
from handsoff.cli.pruning import prune
from handsoff.cli.push import push
from handsoff.cli.talk import DryRun, Json, say, show, show_json
from handsoff.errors import RefusedError, UsageError


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    commands: tuple[Callable[..., Any], ...] = (push, doctor, audit, prune)
    for command in commands:
        app.command()(command)


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Push back what the remote lost of the records.")
    ] = False,
    no_probe: Annotated[
        bool, typer.Option("--no-probe", help="Make no refs on the remote to try it out.")
    ] = False,
    of: Annotated[
        str | None, typer.Option(metavar="REF", help="The record (or roster) that --keep settles.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="SIDE", help="Which history counts: here or remote.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Find out what is wrong here and on the remote, and what to do; exit code 3 if anything is."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.doctor.doctor import check_up
    from handsoff.flows.remote.mending import keep as settle

    if (of is None) != (keep is None) or (keep and (repair or dry_run)):
        raise UsageError("--of and --keep go together, and alone", hint="handsoff doctor --help")
    if of is not None and keep is not None:
        say(settle(open_desk(), of, keep))
    found = check_up(probe=not (no_probe or dry_run), repair=repair, dry_run=dry_run)
    if json:
        show_json(found.as_dict())
    else:
        for line in render.health(found):
            show(line)
    if not found.healthy:
        raise typer.Exit(RefusedError.exit_code)
