"""The commands of those who keep the remote and its records in order."""

from collections.abc import Callable
from typing import Any

import typer

from handsoff.cli.push import push


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    commands: tuple[Callable[..., Any], ...] = (push,)
    for command in commands:
        app.command()(command)
