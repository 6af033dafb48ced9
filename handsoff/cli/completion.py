"""The commands completion and man: what shells and man(1) are told of the commands.

The scripts in ``shells/`` say how a shell asks and quotes; ``@TABLE@`` in them becomes what there
is to complete. So verbs and options need no program at TAB, and names a light one, ``complete.py``.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Final

import typer

from handsoff.cli.talk import show
from handsoff.errors import UsageError

if TYPE_CHECKING:  # no other command pays for the shape of all
    from handsoff.cli.shape import Verb, Word

_ANY: Final = "@any"

Row = tuple[str, Sequence[tuple[str, str]]]
"""A place in the command line, and the words that may stand there, each with what it does."""


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(completion)
    app.command()(man)


def completion(
    asked: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes handsoff in a shell: verbs, options, machines and works."""
    from handsoff.cli.shape import SHELLS, shape

    if shell not in SHELLS:
        raise UsageError(f"no completion for {shell}", hint=f"handsoff completion {SHELLS[0]}")
    show(script(shell, shape(asked.find_root().command)).rstrip("\n"))


def man(asked: typer.Context) -> None:
    """Print the man page, handsoff(1): handsoff man | man -l -."""
    from handsoff.cli import manpage
    from handsoff.cli.shape import shape

    root = asked.find_root().command
    show(manpage.page(shape(root), root.epilog or "").rstrip("\n"))


def script(shell: str, root: "Verb") -> str:
    """Return the script for ``shell``."""
    body = resources.files("handsoff.cli").joinpath("shells", f"handsoff.{shell}").read_text()
    return body.replace("@TABLE@\n", "".join(map(_SPELLED[shell], rows(root))))


def rows(root: "Verb") -> Iterator[Row]:
    """Yield what may stand where."""
    for verb in root.all():
        at = verb.path
        if verb.verbs:
            yield f"{at}|", [(v.name, v.title) for v in verb.verbs if not v.hidden]
        yield f"{at}|-", [(name, word.help) for word in verb.options for name in word.names]
        for word in verb.options:
            if word.metavar:
                for name in word.names:
                    yield f"{at}|{name}", _values(word)
        for number, word in enumerate(verb.arguments, 1):
            yield f"{at}|{number}", _values(word)


def _values(word: "Word") -> Sequence[tuple[str, str]]:
    if word.choices:
        return [(choice, "") for choice in word.choices]
    return [(f"@{word.kind}" if word.kind else _ANY, "")]


def _bash(row: Row) -> str:
    names = " ".join(name for name, _ in row[1])
    return f"    {shlex.quote(row[0])}) REPLY={shlex.quote(names)} ;;\n"


def _zsh(row: Row) -> str:
    words = " ".join(
        shlex.quote(f"{name.replace(':', chr(92) + ':')}:{said}" if said else name)
        for name, said in row[1]
    )
    return f"    ({shlex.quote(row[0])}) reply=({words}) ;;\n"


def _fish(row: Row) -> str:
    lines = " ".join(_fish_quoted(f"{name}\t{said}" if said else name) for name, said in row[1])
    return f"        case {_fish_quoted(row[0])}\n            printf '%s\\n' {lines}\n"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SPELLED: Final[dict[str, Callable[[Row], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
