"""The group ``adapter``: what agents are told of handsoff."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.talk import DryRun, Json, say, show, show_as_is, show_json
from handsoff.core.phrases import Said
from handsoff.core.plain import plain
from handsoff.edge import tongue
from handsoff.errors import UsageError

if TYPE_CHECKING:
    from handsoff.flows.agents.adapter import Changed, Told

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="claude or codex.")]
Project = Annotated[
    bool, typer.Option("--project", help="The settings of this checkout, for all who work in it.")
]

group = typer.Typer(invoke_without_command=True, no_args_is_help=False)


def add_to(app: typer.Typer) -> None:
    """Register the group."""
    for command in (install, uninstall, status, rules):
        group.command()(command)
    app.add_typer(group, name="adapter")


@group.callback()
def adapter(asked: typer.Context, project: Project = False, json: Json = False) -> None:
    """Make agents ask handsoff who carries a work; without a word: how that stands."""
    if asked.invoked_subcommand is None:
        status(None, project, json)
    elif project or json:
        raise UsageError(
            f"options stand behind {asked.invoked_subcommand}", hint="handsoff adapter --help"
        )


def install(
    agent: Agent, project: Project = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Put handsoff's hooks into an agent's settings; all else in them keeps its bytes."""
    from handsoff.flows.agents import adapter as flow

    _told(flow.install(flow.known(agent), project=project, dry_run=dry_run), json=json)


def uninstall(
    agent: Agent, project: Project = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Take handsoff's hooks out of an agent's settings again."""
    from handsoff.flows.agents import adapter as flow

    _told(flow.uninstall(flow.known(agent), project=project, dry_run=dry_run), json=json)


def status(
    agent: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="claude or codex; both by default.")
    ] = None,
    project: Project = False,
    json: Json = False,
) -> None:
    """Say for each agent whether its hooks are installed, up to date, found and trusted."""
    from handsoff.core.transcripts.sessions import AGENTS
    from handsoff.flows.agents import adapter as flow

    found = flow.status([flow.known(agent)] if agent else AGENTS, project=project)
    if json:
        show_json({"adapters": [told.as_dict() for told in found]})
        return
    for told in found:  # what is wrong with one is said after the other
        for line in _standing(told):
            show(line)


def rules(
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="AGENTS.md, CLAUDE.md or another.")
    ] = "AGENTS.md",
    remove: Annotated[bool, typer.Option("--remove", help="Take the rules out again.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Keep handsoff's rules for a team in a file that agents read, between two marks."""
    from handsoff.flows.agents import adapter as flow

    _told(flow.rules(file, remove=remove, dry_run=dry_run), json=json)


def _told(result: "Changed", *, json: bool) -> None:
    if json:
        show_json(result.as_dict())
        return
    if result.dry_run and result.diff:
        show_as_is(result.diff)
    for line in _lines(result):
        say(line)


def _lines(result: "Changed") -> Iterator[str]:
    yield from (f"warning: {plain(warning)}" for warning in result.warnings)
    file = plain(str(result.file))
    if not result.changed:
        yield f"{file} is as it should be; nothing changed"
        return
    if result.made:
        yield f"would create {file}" if result.dry_run else f"created {file}"
    elif result.gone:
        yield f"would remove {file}" if result.dry_run else f"removed {file}"
    else:
        yield f"would change {file}" if result.dry_run else f"changed {file}"
    if result.backup:
        yield f"  as it was: {plain(str(result.backup))}"
    if result.dry_run:
        yield "nothing was changed"
    elif result.then:
        yield f"next: {result.then}: until then Codex skips them without a word"
    elif result.verb == "install":
        yield "sessions that run already take the hooks up, too"


def _standing(told: "Told") -> Iterator[str]:
    from handsoff.core.settings.adapters import FIND_IT, TITLES, TRUST_IT
    from handsoff.core.transcripts.sessions import CODEX

    standing, facts = told.standing, told.facts
    words = [tongue.word("adapter", word) for word in standing.words.split(", ")]
    yield tongue.told(
        "{agent}: {words}" if facts.there or facts.project
        else "{agent}: {words} (the agent has no folder here)",
        agent=Said(TITLES[facts.agent]), words=Said(tongue.word("sign", ", ").join(words)),
    )  # fmt: skip
    yield f"  {plain(facts.file)}"
    project = " --project" if facts.project else ""
    said = {
        "not as this handsoff has them": standing.stale,
        "cannot be found": standing.missing,
        "skipped until trusted": standing.untrusted,
        "changed since they were trusted, as it seems": standing.changed,
        "switched off": standing.disabled,
        "called twice, also by the plugin": (facts.twice,) if facts.twice else (),
        "no hook runs": (standing.off,) if standing.off else (),
    }
    for what, items in said.items():
        if items:
            yield f"  {what}: {plain(', '.join(items))}"
    if standing.missing and not standing.stale and facts.agent == CODEX:
        yield f"  next: {FIND_IT}"
    elif not standing.installed or standing.stale or standing.missing:
        yield f"  next: handsoff adapter install {facts.agent}{project}"
    elif standing.untrusted or standing.changed:
        yield f"  next: {TRUST_IT}"
