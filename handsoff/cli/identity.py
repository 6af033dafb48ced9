"""Who is who: init, card, admit."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.talk import DryRun, Json, Yes, confirm, say, show, show_as_is, show_json
from handsoff.edge import tongue
from handsoff.errors import UsageError

if TYPE_CHECKING:
    from handsoff.flows.machines.init import SetUp

Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="This machine's name (default: MACHINE_ID, git's wip.machine)."
    ),
]
Person = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Whose machine this is (default: git's user.name)."),
]


def init(
    name: Name = None,
    person: Person = None,
    trust: Annotated[
        str | None, typer.Option(metavar="FOUNDING", help="Trust this roster without asking.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option(metavar="NAME", help="The remote that is shared, if not origin.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Found a roster that waits, if the remote is away.")
    ] = False,
    json: Json = False,
) -> None:
    """Set this checkout up: keys, the roster, and the hook that guards a push."""
    from handsoff.flows.machines.init import set_up

    def ask(question: str) -> None:
        named = "".join(f" --{w} {v}" for w, v in (("name", name), ("person", person)) if v)
        confirm(question, yes=False, instead=f"handsoff init{named} --trust FOUNDING-ID")

    done = set_up(name=name, person=person, trust=trust, remote=remote, ask=ask, offline=offline)
    if json:
        show_json(done.as_dict())
    else:
        _tell(done)


def card(name: Name = None, person: Person = None) -> None:
    """Print this machine's card, for a member to admit."""
    from handsoff.edge import clock
    from handsoff.flows.machine import print_card

    show_as_is(print_card(name=name, person=person, now=clock.now()))


def admit(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A card file; - for standard input.")
    ],
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Let another machine in, once you compared its fingerprint."""
    from handsoff.core.machines.cards import parse_card
    from handsoff.flows.desk import open_desk
    from handsoff.flows.roster import changes, roster

    def ask(question: str) -> None:
        confirm(question, yes=yes, instead=f"handsoff admit {file} --yes")

    desk, given = open_desk(), _read(file)
    card = parse_card(given)

    def run() -> roster.Admission:
        return roster.admit(desk, given, ask=ask, dry_run=dry_run)

    def ask_for_it(question: str) -> None:
        ask(f"{card.name} of {card.person}, {card.fingerprint}: {question}")

    words = (given.decode("ascii"),)
    done = run() if dry_run else changes.or_later(desk, "admit", words, run, ask=ask_for_it)
    if json:
        show_json(done.as_dict())
        return
    said = "is a member already" if done.already else "would be in" if dry_run else "is in"
    name = f"{done.card.name} of {done.card.person}"
    say(tongue.told("{name} {said}: {key}", name=name, said=said, key=done.card.fingerprint))
    if dry_run:
        say("nothing was changed")
        return
    say("next: handsoff init  (there)" if not done.already else "next: handsoff roster")


def add_to(app: typer.Typer) -> None:
    """Register these commands."""
    for command in (init, card, admit):
        app.command()(command)


def _tell(done: "SetUp") -> None:
    machine = done.machine
    for line in (*done.done, *(f"warning: {warning}" for warning in done.warnings)):
        say(line)
    if not done.done:
        say("nothing to do: this checkout is set up")
    show(f"{machine.name} of {machine.person}, {machine.fingerprint}")
    show(f"roster {done.roster.founding} on {done.remote}")
    if done.member:
        say("next: handsoff page")
    elif done.revoked:
        say(f"{machine.name} was revoked: it needs new keys, in another HANDSOFF_HOME")
    else:
        say(f"{machine.name} is not in the roster yet: {' or '.join(done.doors)} must let it in")
        say("next: here, handsoff pair, and there, handsoff pair CODE; or, without a network,")
        say(f"      here, handsoff card > ~/{machine.name}.card")
        say(f"      there, handsoff admit {machine.name}.card")


def _read(file: Path) -> bytes:
    from handsoff.core.machines.cards import LIMIT

    try:
        if str(file) == "-":
            return sys.stdin.buffer.read(LIMIT + 1)
        with file.open("rb") as opened:
            return opened.read(LIMIT + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {(error.strerror or '').lower()}") from error
