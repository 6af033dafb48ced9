"""What there is to say of agents: the command sessions, and who is at work after a hand-over."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from handsoff.cli.render import clean
from handsoff.cli.talk import Json, say, show, show_json
from handsoff.core.sizes import spell_size
from handsoff.edge import tongue

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.flows.agents.sessions import AtWork, Listed, Listing
    from handsoff.flows.agents.stopping import Stopped, Stopping

StopAgent = Annotated[
    bool,
    typer.Option("--stop-agent", help="Ask agents at work here to end, once it is handed over."),
]

_PROMPT: Final = 70
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"))
_OUTCOMES: Final = {
    "named": "is at work here and goes on until it is stopped",
    "process unknown": "was written to a moment ago; nobody can tell by which process",
    "record waits": "is at work here; not asked to end, as the record waits for the remote",
    "works elsewhere too": "has it open and works in other folders too; not asked to end",
    "asked last": "runs this command; it is asked to end now",
    "gone": "had ended by itself",
    "ended": "was asked to end, and did",
    "terminated": "was asked to end twice, and did",
    "stays": "was asked to end and is still at work",
    "refused": "is at work here and could not be asked to end",
}
_DONE: Final = ("gone", "ended", "terminated", "asked last")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(sessions)


def sessions(
    everywhere: Annotated[
        bool, typer.Option("--all", help="Those of every folder of this machine.")
    ] = False,
    json: Json = False,
) -> None:
    """List the sessions of agents in this checkout, newest first, and who is at work in them."""
    from handsoff.flows.agents.sessions import list_sessions

    found = list_sessions(everywhere=everywhere)
    if json:
        show_json(found.as_dict())
        return
    for line in listing(found):
        show(line)
    if not found.sessions:
        say(f"no session of Claude Code or Codex in {clean(found.top) or 'any folder'}")


def listing(found: "Listing") -> Iterator[str]:
    """Yield what was found."""
    for session in found.sessions:
        yield from _session(session, folder=not found.top)
    told = {(one.agent, one.id) for one in found.sessions}
    for one in found.at_work:
        if (one.agent, one.id) not in told:
            yield f"{_who(one)} is at work, and its session is not written down yet"
    for other in found.others:
        yield f"{other['agent']}: {other['said']}: {clean(other['path'])}"
    for path in found.unread:
        yield f"codex: compressed, and not looked into without zstandard: {clean(path)}"


def _session(session: "Listed", *, folder: bool) -> Iterator[str]:
    work = f"at work, pid {session.pid}" if session.pid else "at work" * session.at_work
    cells = [
        session.agent.ljust(6),
        session.id,
        f"{_age(session.age):>6}",
        spell_size(session.size),
        work,
    ]
    yield "  ".join(cells).rstrip()
    if folder and session.cwd:
        yield f"        in {clean(session.cwd)}"
    said = "(compressed)" if session.compressed and not session.prompt else session.prompt
    if said:
        yield f"        {said if len(said) <= _PROMPT else said[: _PROMPT - 1] + '…'}"


def _age(seconds: int) -> str:
    step = next((step for step in _STEPS if seconds >= step[0]), None)
    return f"{seconds // step[0]} {step[1]}" if step else f"{seconds} s"


def _who(one: "AtWork") -> str:
    pid = f"pid {one.pid}" if one.pid else ""
    more = ", ".join(filter(None, (one.id, pid, one.status)))
    return f"{one.agent} ({more})" if more else one.agent


def stopped(found: "Stopping") -> Iterator[str]:
    """Yield who is at work after a hand-over, and what became of each."""
    if found.trouble:
        yield f"warning: it cannot be told whether an agent is at work here: {found.trouble}"
    for one in found.found:
        yield f"{'' if one.outcome in _DONE else 'warning: '}{outcome(one)}"
    left = [one.at_work.pid for one in found.found if one.outcome not in _DONE and one.at_work.pid]
    if left:
        yield f"next: end it yourself: kill {' '.join(map(str, left))}"


def outcome(one: "Stopped") -> str:
    """Return what became of one agent."""
    return tongue.told("{who} {outcome}", who=_who(one.at_work), outcome=_OUTCOMES[one.outcome])
