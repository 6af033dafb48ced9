"""The command prune, and what it tells."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.talk import DryRun, Json, Yes, confirm, say, show, show_json
from handsoff.core.plain import plain

if TYPE_CHECKING:
    from handsoff.flows.prune import Item, Pruned

_COLUMN = 30


def prune(
    keep_records: Annotated[
        int,
        typer.Option(min=0, max=36500, metavar="DAYS", help="How long closed works keep records."),
    ] = 30,
    branch: Annotated[
        str | None,
        typer.Option(
            metavar="BRANCH", help="What works are merged into, if not the remote's HEAD."
        ),
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Close works whose branch is merged or gone, and delete what closed ones left behind."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.prune import prune_remote

    def ask(question: str) -> None:
        confirm(question, yes=yes, instead="handsoff prune --yes; or --dry-run, to look only")

    def tell(plan: "Pruned") -> None:
        for line in () if json else _table(plan):
            show(line)

    keep = timedelta(days=keep_records)
    done = prune_remote(open_desk(), branch=branch, keep=keep, dry_run=dry_run, ask=ask, show=tell)
    if json:
        show_json(done.as_dict())
        return
    if dry_run or not done.todo:
        tell(done)
    for line in _pruned(done):
        say(line)


def _table(plan: "Pruned") -> Iterator[str]:
    if not plan.works:
        return
    width = max(len(plain(item.work, limit=_COLUMN)) for item in plan.works)
    for item in plan.works:
        yield f"{plain(item.work, limit=_COLUMN):<{width}}  {_action(item)}"
        yield f"{'':<{width}}  {plain(item.reason)}"


def _action(item: "Item") -> str:
    parcels = f"{item.parcels} parcel{'' if item.parcels == 1 else 's'}"
    match item.action:
        case "close":
            return f"close as {item.outcome}" + (f", delete {parcels}" if item.parcels else "")
        case "clear":
            return f"delete {parcels}"
        case "forget":
            return "delete the record" + (f" and {parcels}" if item.parcels else "")
        case _:
            return "stays"


def _pruned(done: "Pruned") -> Iterator[str]:
    if not done.todo:
        yield "nothing to do: every work stays" if done.works else "nothing to do: no works"
        return
    if done.dry_run:
        yield "nothing was changed"
        yield "next: handsoff prune"
        return
    for item in done.works:
        if item.action != "keep":
            yield f"{plain(item.work)}: {_action(item)}: done"
        elif item.raced:
            yield f"{plain(item.work)} stays: {item.reason}; type it again"
