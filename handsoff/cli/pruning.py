"""The command prune, and what it tells."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli import layout
from handsoff.cli.talk import DryRun, Json, Yes, confirm, say, show, show_json
from handsoff.core.plain import plain
from handsoff.edge import tongue

if TYPE_CHECKING:
    from handsoff.flows.audit.prune import Item, Pruned

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
    from handsoff.flows.audit.prune import prune_remote
    from handsoff.flows.desk import open_desk

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
    rows = [
        row
        for item in plan.works
        for row in (
            [plain(item.work, limit=_COLUMN), tongue.said(_action(item))],
            ["", tongue.said(plain(item.reason))],
        )
    ]
    widths = layout.widest(rows)
    for row in rows:
        yield layout.padded(row, widths)


def _action(item: "Item") -> str:
    many = item.parcels
    parcels = "1 parcel" if many == 1 else f"{many} parcels"
    match item.action:
        case "close":
            how = f"close as {item.outcome}"
            return f"{how}, delete {parcels}" if item.parcels else how
        case "clear":
            return f"delete {parcels}"
        case "forget":
            return f"delete the record and {parcels}" if item.parcels else "delete the record"
        case _:
            return tongue.word("fate", "stays")


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
