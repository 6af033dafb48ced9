"""The commands of those who keep the remote and its records in order."""

from collections.abc import Callable
from typing import Any

import typer


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    commands: tuple[Callable[..., Any], ...] = ()
    for command in commands:
        app.command()(command)
