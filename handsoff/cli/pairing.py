"""The command pair."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from handsoff.cli.identity import Name, Person
from handsoff.cli.talk import Json, confirm, queued, say, show, show_json
from handsoff.core.machines.codes import Code, parse_code
from handsoff.edge import tongue
from handsoff.errors import TrustError, UsageError

if TYPE_CHECKING:
    from handsoff.flows.machines.admitting import Paired

_TRIES: Final = 3
_AGAIN: Final = "handsoff pair again, on both machines"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(pair)


def pair(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", help="What the other machine shows; - asks for it."),
    ] = None,
    name: Name = None,
    person: Person = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where the other machine shows its code."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="Port to wait at; 0 takes any.")
    ] = 0,
    bind: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to wait at.")] = "",
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask. For scripts: nobody compares the words then, and whoever proves the "
            "code is let in.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Let two machines trust each other: one shows a code, on the other one it is typed.

    Without CODE this machine shows one, unless another one shows one near by: that is asked for.
    """
    from handsoff.flows.machines import claiming
    from handsoff.flows.machines import pair as flow

    own = claiming.look(name, person)
    voice = flow.Voice(say, _asker(yes=yes), may_ask=yes or sys.stdin.isatty())
    typed = _typed(code, at, waits=bool(port or bind), near=flow.near_by)
    if typed is not None:
        done = flow.enter(own, typed, at=at, voice=voice)
    else:
        done = flow.show(own, bind=bind, port=port, shown=_shower(json=json), voice=voice)
    if json:
        show_json(done.as_dict())
    else:
        _tell(done)
    queued(done.waits)


def _asker(*, yes: bool) -> Callable[[str], None]:
    def ask(question: str) -> None:
        if not yes and not sys.stdin.isatty():
            raise TrustError(
                f"{question} nobody is here to answer",
                hint="type it at a terminal; in a script, where nobody compares words: --yes",
            )
        confirm(question, yes=yes, instead=_AGAIN)

    return ask


def _typed(
    given: str | None, at: str | None, *, waits: bool, near: Callable[[], list[str]]
) -> Code | None:
    """Return the code that was given or is typed now; None if this machine is to show one."""
    if given is not None and given != "-":
        return parse_code(given)
    if given == "-" or at is not None:
        return _prompt("the code that the other machine shows: ", needed=True)
    if waits or not sys.stdin.isatty() or not (numbers := near()):
        return None
    named = " and ".join(numbers[:_TRIES])
    return _prompt(
        f"near by, the code {named}-... is shown; type it, or Enter to show one here: ",
        needed=False,
    )


def _prompt(question: str, *, needed: bool) -> Code | None:
    """Return the code that a person types; a slip may be typed again.

    None for an empty line where none is ``needed``.
    """
    asks = sys.stdin.isatty()
    for left in range(_TRIES if asks else 1, 0, -1):
        if asks:
            print(tongue.said(question), end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline(1000)
        if needed and not line:
            raise UsageError("no code was typed", hint="handsoff pair CODE")
        try:
            return parse_code(line) if line.strip() or needed else None
        except UsageError as error:
            if left == 1:
                raise
            say(f"{error}; {error.hint}")
    return None


def _shower(*, json: bool) -> Callable[[Code, str], None]:
    def shown(code: Code, where: str) -> None:
        (say if json else show)(code.spelled)
        say(f"next: on the other machine, in its clone: handsoff pair {code.spelled}")
        say(f"      if this one is not found there: the same with --at {where}")
        say("waiting for ten minutes (stop with Ctrl-C); the code can be tried once")

    return shown


def _tell(done: "Paired") -> None:
    set_up = done.set_up
    for line in (*set_up.done, *(f"warning: {w}" for w in set_up.warnings)) if set_up else ():
        say(line)
    other, own = done.other.name, done.own.name
    if done.already:
        say(f"{own} and {other} are in the roster already; nothing was changed")
    elif done.gate and done.waits:
        say(f"the remote does not answer: letting {other} in waits here; see: handsoff pending")
    elif done.gate:
        say(f"{other} of {done.other.person} is in: {done.other.fingerprint}")
    elif done.waits:
        say(f"{other} agreed; this machine is in once the remote answers")
    else:
        say(f"{own} is in the roster, let in by {other}")
    show(f"roster {done.founding}")
    say(f"next: {done.todo or _next(done)}")


def _next(done: "Paired") -> str:
    if done.gate or done.already:
        return "handsoff page"
    return "handsoff listen"
