"""Arguments and options that several commands share, and what they spell."""

import os
from datetime import timedelta
from typing import Annotated, overload

import typer

from handsoff.core.times import parse_duration

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
def length(text: str) -> timedelta: ...
@overload
def length(text: None) -> None: ...
def length(text: str | None) -> timedelta | None:
    """Return the length of time that an option spells."""
    return None if text is None else parse_duration(text)
