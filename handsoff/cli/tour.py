"""The command tour."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from handsoff.cli import layout
from handsoff.cli.talk import Json, fail, say, show, show_as_is, show_json
from handsoff.edge import tongue

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.core.tour.tour import Step
    from handsoff.flows.tour import Outcome

_RULE: Final = 78
_OPENING: Final = (
    "Monday, 4 p.m. A task is half done on machine m1, and its person has to go: m2 goes on.",
    "",
    "Both machines are folders on this computer, with a git remote and real SSH between them.",
    "They see nothing of yours; ~ is the home of a machine, and lines in brackets are the tour's.",
    "After m1$ and m2$ stands what is typed there, and below it what is answered.",
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(tour)


def tour(
    no_wait: Annotated[
        bool, typer.Option("--no-wait", "--yes", "-y", help="Do not wait for Enter between steps.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Play in this new folder, and leave it, to play on with."),
    ] = None,
    steps: Annotated[bool, typer.Option("--list", help="List the steps; play nothing.")] = False,
    json: Json = False,
) -> None:
    """Play a hand-over between two machines on this one alone, step by step; nothing stays.

    Everything happens in a temporary folder. Nothing of yours is read or changed.
    """
    from handsoff.core.tour.story import STORY
    from handsoff.flows.tour import play

    if steps:
        _list(STORY, json=json)
        return
    done = play(STORY, Teller(quiet=json, waits=not (no_wait or json) and sys.stdin.isatty()), keep)
    if json:
        show_json(done.as_dict())
    else:
        _close(done)
    if done.error is not None:
        fail(done.error, as_json=False)
        raise typer.Exit(done.error.exit_code)


def _list(story: "Sequence[Step]", *, json: bool) -> None:
    if json:
        named = [{"number": n, "title": step.title} for n, step in enumerate(story, 1)]
        show_json({"steps": named})
        return
    for number, step in enumerate(story, 1):
        show_as_is(f"{number:>2}  {tongue.said(step.title)}")


def _close(done: "Outcome") -> None:
    commands = sum(len(played.commands) for played in done.played)
    facts = sum(len(played.facts) for played in done.played)
    show("")
    if done.whole:
        show(f"That was all: {commands} commands, and {facts} facts, each of them checked.")
    if not done.folder:
        if done.error is not None:
            return
        show("The folder is gone, and so is all that ran in it.")
        say("next: on two machines, each in its clone of your repository: handsoff pair")
        return
    show(f"All of it stays in {done.folder}. To play on as one of the two machines:")
    show(f"  {shlex.quote(done.folder + '/bin/m1')}                  a shell as m1, in its clone")
    show(f"  {shlex.quote(done.folder + '/bin/m2')} handsoff status  one command as m2")
    say(f"next: when you have seen enough: rm -rf {shlex.quote(done.folder)}")


class Teller:
    """Tells a tour at a terminal, or in a log."""

    def __init__(self, *, quiet: bool, waits: bool) -> None:
        self._quiet = quiet
        self._waits = waits
        self._looks = False

    def opens(self, folder: str) -> bool:
        """Say what is going to happen."""
        self._show(*_OPENING, f"All of it lies in {folder}.")
        return self._on()

    def begins(self, number: int, of: int, step: "Step") -> None:
        """Show what a step is about."""
        head = tongue.told(
            "== {number} of {of}: {title}", number=str(number), of=str(of), title=step.title
        )
        self._show("", layout.ljust(f"{head} ", _RULE, "="), *step.why)
        self._looks = False

    def typed(self, machine: str, line: str) -> None:
        """Show a command behind the prompt of its machine."""
        self._show("")
        self.output([f"{machine}$ {line}"])

    def output(self, lines: Sequence[str]) -> None:
        """Show what a command said."""
        if not self._quiet:
            show_as_is("\n".join(lines))

    def goes_on(self, machine: str, *, waits: bool) -> None:
        """Show that a command waits, or comes to its end."""
        self._show(f"({machine} waits)" if waits else f"\n({machine}, which waited:)")

    def writes(self, text: str) -> None:
        """Show that somebody writes a file."""
        self._show("", tongue.told("({text})", text=text))

    def compares(self, lines: Sequence[str]) -> None:
        """Show both ends."""
        self._show("", "look at both ends:")
        for line in lines:
            cells, blank, verdict = line.rpartition("  ")
            self.output([f"  {cells}{blank}{tongue.word('verdict', verdict)}"])

    def fact(self, text: str, *, ok: bool) -> None:
        """Show something to look at."""
        if not self._looks:
            self._looks = True
            self._show("", "look at:")
        self._show(f"  {'ok' if ok else 'NO'}  {tongue.said(text)}")

    def skips(self, why: str) -> None:
        """Show that a step is left out."""
        self._show("", tongue.told("(left out: {why})", why=why))

    def ended(self) -> bool:
        """Wait for the reader; say whether to go on."""
        return self._on()

    def _show(self, *lines: str) -> None:
        if not self._quiet:
            for line in lines:
                show(line)

    def _on(self) -> bool:
        if not self._waits:
            return True
        say("")
        say("Enter goes on, q and Enter stops:")
        line = sys.stdin.readline()
        return bool(line) and line.strip().lower() not in ("q", "quit")
