"""Arguments and options that several commands share, and what they spell."""

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, overload

import typer

from handsoff.core.times import parse_duration
from handsoff.errors import UsageError

As = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Name the work of a detached HEAD.")
]
Work = Annotated[str, typer.Argument(metavar="WORK", help="The work: the name of its branch.")]
Hold = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH", help="How long the lease is, such as 2h (default: 30m, or handsoff.hold)."
    ),
]
Allow = Annotated[
    list[str] | None, typer.Option(metavar="FINGERPRINT", help="Let this finding pass.")
]
MaxSize = Annotated[int, typer.Option(min=0, metavar="BYTES", help="Bytes that a file may have.")]

Retry = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        help="How long a lost connection is dialled again, such as 10m (default: 30s; 0: not).",
    ),
]

Transcript = Annotated[
    str,
    typer.Option(
        metavar="MODE", help="Take the agent's transcript along, raw, or to rewrite its paths."
    ),
]
SessionIds = Annotated[
    list[str] | None,
    typer.Option("--session", metavar="ID", help="Which session, or all (default: the newest)."),
]
LiveOk = Annotated[
    bool, typer.Option("--live-ok", help="Take a session that is in use, as far as it is written.")
]
Redact = Annotated[
    bool, typer.Option("--redact", help="Put a marker in place of each secret in a transcript.")
]


def mode(transcript: str, sessions: Sequence[str] | None, *, live_ok: bool, redact: bool) -> str:
    """Return how transcripts go along, "" for none; UsageError for what says nothing without."""
    if not (transcript or sessions or live_ok or redact):
        return ""
    from handsoff.core.transcripts.baggage import MODES

    if transcript not in ("", *MODES):
        ways = " or ".join(MODES)
        raise UsageError(
            f"a transcript is taken along {ways}, not {transcript!r}", hint=f"--transcript {ways}"
        )
    if not transcript:
        raise UsageError(
            "--session, --live-ok and --redact are about a transcript",
            hint=f"--transcript {' or '.join(MODES)} takes one along",
        )
    return transcript


def patience(text: str | None) -> timedelta | None:
    """Return how long to try again, as an option spells it."""
    return timedelta(0) if text == "0" else length(text)


@overload
def typed(text: str) -> str: ...
@overload
def typed(text: None) -> None: ...
def typed(text: str | None) -> str | None:
    """Return an argument as git spells names, also in a locale that is not UTF-8."""
    return None if text is None else os.fsencode(text).decode("utf-8", "surrogateescape")


@overload
def work_named(work: str) -> str: ...
@overload
def work_named(work: None) -> None: ...
def work_named(work: str | None) -> str | None:
    """Return a work as it was typed; UsageError for a name that is empty.

    That is what a script types whose variable is unset: it means none, and never the one here.
    """
    if work == "":
        raise UsageError("the name of the work is empty", hint="handsoff status lists the works")
    return typed(work)


@overload
def length(text: str) -> timedelta: ...
@overload
def length(text: None) -> None: ...
def length(text: str | None) -> timedelta | None:
    """Return the length of time that an option spells."""
    return None if text is None else parse_duration(text)
