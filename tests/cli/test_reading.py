"""Reading values from the command line: what Typer would return as it is, it is not asked for."""

import enum
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from handsoff.cli import reading
from handsoff.cli.app import _commands


class Way(enum.Enum):
    """A choice."""

    ONE = "one"
    TWO = "two"


def check(  # noqa: PLR0917
    word: str,
    more: list[str] | None = None,
    path: Annotated[Path | None, typer.Option()] = None,
    number: Annotated[int, typer.Option(min=2)] = 3,
    way: Annotated[Way, typer.Option()] = Way.ONE,
    twice: Annotated[int | None, typer.Option(parser=lambda text: 2 * int(text))] = None,
    each: Annotated[list[int] | None, typer.Option()] = None,
    flag: Annotated[bool, typer.Option("--flag/--no-flag")] = False,
) -> tuple[Any, ...]:
    """Return what was typed."""
    return word, more, path, number, way, twice, each, flag


LINES = [
    ["a"], ["a", "b", "c"], ["a", "--path", "x/y"], ["a", "--number", "7"], ["a", "--number", "1"],
    ["a", "--number", "x"], ["a", "--way", "two"], ["a", "--way", "three"], ["a", "--twice", "4"],
    ["a", "--each", "1", "--each", "2"], ["a", "--each", "x"], ["a", "--flag"], [], [""],
    ["a", "--no-flag", "--help-me"],
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_what_is_spared_reads_as_it_does_with_typer_alone(line: list[str]) -> None:
    def said(*, spared: bool) -> object:
        app = typer.Typer(add_completion=False)
        app.command()(check)
        command: Any = typer.main.get_command(app)
        if spared:
            reading.spare(command)
        try:
            return command(args=line, prog_name="x", standalone_mode=False)
        except typer.TyperException as error:
            return type(error), error.format_message()

    assert said(spared=True) == said(spared=False)


def test_a_usual_line_is_read_without_the_library_that_typer_reads_with(tmp_path: Path) -> None:
    code = (
        "import sys; from handsoff.cli.app import main\n"
        "try: main(['send', 'm2', '--at', 'host:1', '--json'])\n"
        "finally: print('pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.endswith("False\n")
    assert "not in a git checkout" in done.stderr


def test_the_options_of_all_commands_can_be_spared() -> None:
    root = _commands("en")
    assert all(hasattr(o, "type_descriptor") for c in root.commands.values() for o in c.params)
