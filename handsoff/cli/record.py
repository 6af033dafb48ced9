"""The commands that write on the record of a work, and read it."""

from dataclasses import asdict
from typing import Annotated

import typer

from handsoff.cli import tables
from handsoff.cli.deliver import tell_let
from handsoff.cli.talk import DryRun, Json, Quiet, fail, queued, say, show, show_as_is, show_json
from handsoff.cli.words import Allow, As, Hold, MaxSize, length, work_named
from handsoff.core.guard.guard import DEFAULT_LIMIT
from handsoff.errors import UnreachableError, UsageError

SomeWork = Annotated[
    str | None,
    typer.Argument(metavar="[WORK]", help="The work; by default that of this checkout."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (save, offer, withdraw, drop, close, note, history, pending):
        app.command()(command)


def save(
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Save the page, and leave no parcel.")
    ] = False,
    hold: Hold = None,
    named: As = None,
    max_size: MaxSize = DEFAULT_LIMIT,
    allow: Allow = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Save a revision: the page, and a parcel on the remote for whoever comes after a drop."""
    from handsoff.cli.deliver import deliver
    from handsoff.flows.desk import open_desk
    from handsoff.flows.sending.wishes import Wishes
    from handsoff.flows.works.letting import save_page

    if page_only:
        let = save_page(open_desk(), named, hold=length(hold), dry_run=dry_run)
        tell_let(let, json=json, quiet=quiet)
        return
    wishes = Wishes(
        verb="save", hold=length(hold), named=named, dry_run=dry_run, limit=max_size,
        allow=allow or (),
    )  # fmt: skip
    deliver(wishes, json=json, quiet=quiet)


def offer(
    to: Annotated[
        str, typer.Option("--to", metavar="NAME", help="A machine, or a person: any of theirs.")
    ] = "",
    anyone: Annotated[bool, typer.Option("--anyone", help="Any machine of the roster.")] = False,
    deadline: Annotated[
        str, typer.Option(metavar="LENGTH", help="How long it waits, such as 4h.")
    ] = "24h",
    hold: Hold = None,
    named: As = None,
    max_size: MaxSize = DEFAULT_LIMIT,
    allow: Allow = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Offer the work, as it stands here, by way of the remote; whoever it is for may catch it."""
    from handsoff.cli.deliver import deliver
    from handsoff.flows.sending.wishes import Wishes

    if bool(to) == anyone:
        raise UsageError("whom is it for?", hint="handsoff offer --to NAME, or --anyone")
    wishes = Wishes(
        verb="offer", to=to, within=length(deadline), hold=length(hold), named=named,
        dry_run=dry_run, limit=max_size, allow=allow or (),
    )  # fmt: skip
    deliver(wishes, json=json, quiet=quiet)


def withdraw(
    work: SomeWork = None,
    hold: Hold = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take an offer back that nobody has caught yet, and carry on."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works import letting

    let = letting.withdraw(open_desk(), work_named(work), hold=length(hold), dry_run=dry_run)
    tell_let(let, json=json, quiet=quiet)


def drop(
    work: SomeWork = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for whoever is next.")] = "",
    blocked: Annotated[
        bool, typer.Option("--blocked", help="Nobody can tell how to go on; say why.")
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Stop carrying a work; anyone may catch it from the last save."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works import letting

    let = letting.drop(open_desk(), work_named(work), reason, blocked=blocked, dry_run=dry_run)
    tell_let(let, json=json, quiet=quiet)


def close(
    work: SomeWork = None,
    outcome: Annotated[
        str | None, typer.Option(metavar="HOW", help="How it ended: merged or abandoned.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """End a work; its record stays, and its branch may be pushed by anyone again."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works import letting

    if outcome not in ("merged", "abandoned"):
        said = f"no outcome called {outcome}" if outcome else "nobody said how the work ended"
        raise UsageError(said, hint="handsoff close --outcome merged, or --outcome abandoned")
    let = letting.close(open_desk(), work_named(work), outcome, dry_run=dry_run)
    tell_let(let, json=json, quiet=quiet)


def note(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What others should know.")],
    work: Annotated[
        str | None,
        typer.Option("--work", metavar="WORK", help="The work; by default that of this checkout."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Note something on a work's record; any machine may, and the lease does not move."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works.note import note as run

    noted = run(open_desk(), work_named(work), text)
    if json:
        show_json(asdict(noted))
    for line in tables.noted(noted):
        say(line, quiet=quiet or json)
    queued(noted.pending)


def history(
    work: SomeWork = None,
    revision: Annotated[
        str | None, typer.Argument(metavar="[rN]", help="Print the page of this revision.")
    ] = None,
    json: Json = False,
) -> None:
    """Tell all that happened to a work, or (r2) print a page as it was saved."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works import history as flow

    desk = open_desk()
    named = work_named(work) or desk.work()
    if revision is not None:
        page = flow.saved_page(desk, named, revision)
        show_json(asdict(page)) if json else show_as_is(page.page.rstrip("\n"))
        return
    found = flow.history(desk, named)
    if json:
        show_json(asdict(found))
        return
    for line in tables.history(found):
        show(line)


def pending(
    send: Annotated[
        bool, typer.Option("--send", help="Send it now, signing anew what is over a day old.")
    ] = False,
    json: Json = False,
) -> None:
    """List what was written without the remote and waits for it."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.works.pending import pending as run

    found = run(open_desk(), send=send)
    if json:
        show_json(asdict(found))
    else:
        for line in tables.pending(found):
            show(line)
    if found.away:
        # not raised: with --json the list is the one document
        fail(UnreachableError(found.away, hint="it waits here; nothing is lost"), as_json=False)
        queued(waits=True)
