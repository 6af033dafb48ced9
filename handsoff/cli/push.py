"""The command push."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.talk import DryRun, Json, Quiet, queued, say, show_json
from handsoff.cli.words import As
from handsoff.core.plain import plain
from handsoff.edge import tongue

if TYPE_CHECKING:
    from handsoff.flows.sending.push import Done


def push(
    named: As = None,
    force: Annotated[
        bool,
        typer.Option("--force", "-f", help="Replace what the remote's branch has, as seen now."),
    ] = False,
    dry_run: DryRun = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Push this work's branch and an entry of its record, both or none.

    A machine that lost the work meanwhile is refused by the remote itself. Goes to the branch's
    upstream on the shared remote (else the same name, which becomes the upstream), after your own
    pre-push hook. Not done: tags along (push.followTags), submodules first
    (push.recurseSubmodules), push options, a signed push (push.gpgSign), other remotes.
    """
    from handsoff.flows.desk import open_desk
    from handsoff.flows.sending.push import push as run

    done = run(open_desk(), named=named, force=force, dry_run=dry_run)
    if json:
        show_json(asdict(done))
    for line in _lines(done):
        say(line, quiet=quiet or json)
    queued(done.pending)


def _lines(done: "Done") -> list[str]:
    work, to = plain(done.work), f"{plain(done.branch)} on {plain(done.remote)}"
    lines = [f"note: {plain(done.notice)}; it is caught again"] if done.notice else []
    if done.moved == "nothing":
        return [f"nothing to push: {to} is at {done.new[:10]} already"]
    if done.pending:
        return [f"the remote does not answer: the push of {to} waits here, with its entry"]
    would = "would have " if done.dry_run else ""
    if done.moved == "record":
        said = "would say" if would else "says"
        return [*lines, f"{to} had arrived; the record {said} so now"]
    span = f"{done.old[:10]}..{done.new[:10]}" if done.old else f"new, at {done.new[:10]}"
    many = done.commits
    counted = "1 commit" if many == 1 else f"{many} commits"
    count = f", {counted}" if done.commits else ""
    caught = f"; {work} was free, and is carried here now" * (done.caught and not done.notice)
    pushed = tongue.told(
        "{would}pushed {to} ({span}{count}), leg {leg}{caught}",
        would=would, to=to, span=span, count=count, leg=str(done.leg), caught=caught,
    )  # fmt: skip
    lines.append(pushed)
    if done.moved == "branch":
        lines.append("the record said so already: an earlier push was cut off")
    return lines
