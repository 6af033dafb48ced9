"""The voice of the command line.

Rules: data goes to standard output, talk and progress to standard error. A line of talk is short
and says what is so; a step that worked ends with the next command to type (``next: ...``).
Text that another machine wrote passes ``plain`` before it gets here. ``--json`` prints one
document, errors too.
"""

import json
import os
import sys
from typing import Annotated, Any, Final

import typer

from handsoff.core.plain import plain_block
from handsoff.edge import tongue
from handsoff.errors import HandsoffError, UnfitError, UnreachableError, UsageError, reason

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Say what would happen; change nothing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless it fails.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

UNREAD: Final = 141
"""Whoever read our output has gone: what shells say of programs that SIGPIPE ended."""


def show(text: str) -> None:
    """Print data, in the language of whoever reads it."""
    _print(tongue.said(text), sys.stdout)


def show_as_is(text: str) -> None:
    """Print data that somebody wrote, or that programs read."""
    _print(text, sys.stdout)


def say(text: str, *, quiet: bool = False) -> None:
    """Print a line of talk."""
    if not quiet:
        _print(tongue.said(text), sys.stderr)


def show_json(document: Any) -> None:
    """Print a document; bytes of names that are no text come as escapes."""
    show_as_is(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True, default=str))


def confirm(question: str, *, yes: bool, instead: str) -> None:
    """Ask the person; UsageError if nobody is there to answer, or the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{question} nobody is here to answer", hint=instead)
    print(_safe(f"{tongue.said(question)} [y/N] ", sys.stderr), end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes", "是"):
        raise UsageError("not confirmed; nothing was changed", hint=instead)


def queued(waits: bool) -> None:
    """End with the exit code of an unreachable remote if what was written waits for it."""
    if waits:
        raise typer.Exit(UnreachableError.exit_code)


def fail(error: HandsoffError, *, as_json: bool) -> None:
    """Print an error."""
    if as_json:
        named = {"code": error.code, "message": str(error), "hint": error.hint}
        show_json({"error": named})
    say(f"handsoff: {error}")
    if error.hint:
        say(f"hint: {error.hint}")


def progress_wanted() -> bool:
    """Say whether somebody watches."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _print(text: str, stream: Any) -> None:
    try:
        print(_safe(text, stream), file=stream, flush=True)
    except OSError as error:
        # nothing more is to be said there, by Python's own flush at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stderr:
            return  # talk that nobody hears ends no verb in its middle
        if isinstance(error, BrokenPipeError):
            sys.exit(UNREAD)  # Typer would make that a 1, which is a bug
        raise UnfitError(
            f"what there is to print cannot be written: {reason(error)}",
            hint="make room there; what the command does is done: handsoff status",
        ) from error


def _safe(text: str, stream: Any) -> str:
    """Return ``text`` as it may be shown, whoever wrote it and whether that was thought of or not.

    What comes from elsewhere passed ``plain`` long before; this is the last place to notice that
    something did not, such as words of git's or of a library in an error.
    """
    spelled = text.encode("utf-8", "backslashreplace").decode("utf-8")  # bytes that are no text
    spelled = plain_block(spelled, limit=len(spelled) + 1)
    # an ASCII locale must not turn a message into a crash
    encoding = stream.encoding or "utf-8"
    return spelled.encode(encoding, "backslashreplace").decode(encoding)
