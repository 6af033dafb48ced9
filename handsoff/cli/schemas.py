"""The command schema: what ``--json`` prints, said in JSON Schema (draft 2020-12).

One file a command in ``schemas/``; ``error.json`` is what any command prints that failed, and each
line of ``listen`` is one document.
"""

from functools import cache
from importlib import resources
from typing import Annotated

import typer

from handsoff.cli.talk import show
from handsoff.errors import UsageError

_ENDING = ".json"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(schema)


def schema(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]", help="The command, or error; without it: a list."),
    ] = None,
) -> None:
    """Print the JSON Schema of what a command prints with --json."""
    if not command:
        show("\n".join(name.replace("-", " ") for name in sorted(names())))
        return
    name = "-".join(command)
    if name not in names():
        raise UsageError(f"no schema for {' '.join(command)}", hint="handsoff schema lists them")
    show(text(name).rstrip("\n"))


@cache
def names() -> frozenset[str]:
    """Return the names of all schemas."""
    folder = resources.files("handsoff").joinpath("schemas")
    found = (entry.name for entry in folder.iterdir())
    return frozenset(n.removesuffix(_ENDING) for n in found if n.endswith(_ENDING))


def text(name: str) -> str:
    """Return a schema."""
    folder = resources.files("handsoff").joinpath("schemas")
    return folder.joinpath(name + _ENDING).read_text("utf-8")
