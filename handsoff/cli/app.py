"""The commands put together, and the one place where an error becomes an exit code."""

import errno
import gc
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from handsoff import __version__
from handsoff.cli import (
    adapter,
    agents,
    completion,
    identity,
    listening,
    ops,
    pairing,
    peers,
    reading,
    record,
    roster,
    schemas,
    tour,
    web,
    work,
)
from handsoff.cli.talk import fail, say, show
from handsoff.core.phrases import language
from handsoff.core.plain import plain
from handsoff.edge import ending, tongue
from handsoff.errors import HandsoffError, UnfitError, UsageError, reason

INTERRUPTED = 130
_YES = ("1", "true", "t", "yes", "y", "on")
_MACHINE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE
)  # fmt: skip
"""What the system says that is so of this machine, and no bug, wherever it is met."""
_OBJECTS = 20_000

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,  # it imports all of this at each TAB; see cli/completion.py
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"auto_envvar_prefix": "HANDSOFF", "help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 done, 2 usage, 3 refused, 4 carried elsewhere, 5 lost the race, "
        "6 unreachable, 7 trust, 8 this checkout is not fit, 9 damaged, 130 interrupted."
    ),
)


def _version(wanted: bool) -> None:
    if wanted:
        show(f"handsoff {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hand half-finished git work to another machine, whole, to one carrier at a time."""


identity.add_to(app)
pairing.add_to(app)
roster.add_to(app)
work.add_to(app)
agents.add_to(app)
listening.add_to(app)
record.add_to(app)
ops.add_to(app)
peers.add_to(app)
adapter.add_to(app)
tour.add_to(app)
completion.add_to(app)
schemas.add_to(app)
web.add_to(app)


def run() -> None:
    """Be the program: run handsoff, and end the process."""
    ending.complete()
    with ending.last():
        main()


def main(argv: Sequence[str] | None = None) -> None:
    """Run handsoff, and leave with the right exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    # what is imported stays until the end: to look through it for cycles again and again takes long
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    try:
        # on its own, Typer would print its errors in another voice, and Ctrl-C in none
        code = _commands(language(os.environ))(
            args=words or ["--help"], prog_name="handsoff", standalone_mode=False
        )
    except HandsoffError as error:
        code = _failed(error, words)
    except typer.TyperException as error:
        # a check of ours, as Typer's own reader of values puts it
        said = plain(error.format_message()).rstrip(".").replace("Value error, ", "")
        code = _failed(UsageError(said[:1].lower() + said[1:], hint=_usage(words)), words)
    except OSError as error:
        if error.errno not in _MACHINE:
            raise
        what = os.fsdecode(error.filename) if error.filename else "a file"
        hint = "check that the place is there, is yours, and has room"
        code = _failed(UnfitError(f"{what} cannot be used: {reason(error)}", hint=hint), words)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        say("handsoff: interrupted")
        say("hint: type the same command again to go on")
    sys.exit(code)


@cache
def _commands(wanted: str) -> Any:
    # it reads the signatures of all commands, which takes longer than some of them do
    found = typer.main.get_command(app)
    _name_alike(found, "HANDSOFF")
    known = tongue.phrases(wanted)
    if known is not None:
        from handsoff.cli.help import translate

        translate(found, known)
    return found


def _name_alike(command: Any, prefix: str) -> None:
    """Let each option have the name in the environment that it has in the line, and spare it."""
    reading.spare(command)
    for option in command.params:
        names = [name[2:].replace("-", "_") for name in option.opts if name.startswith("--")]
        if names and option.name not in names:  # as ``all`` and ``as`` are words of Python
            option.envvar = f"{prefix}_{names[0]}".upper()
        if option.is_eager:  # whoever pins HANDSOFF_VERSION somewhere asks no command for it
            option.allow_from_autoenv = False
    for name, below in getattr(command, "commands", {}).items():
        _name_alike(below, f"{prefix}_{name.replace('-', '_')}")


def page() -> str:
    """Return the man page."""
    from handsoff.cli.manpage import page as written
    from handsoff.cli.shape import shape

    return written(shape(_commands("en")), app.info.epilog or "")


def _failed(error: HandsoffError, words: Sequence[str]) -> int:
    fail(error, as_json=_wants_json(words))
    return error.exit_code


def _wants_json(words: Sequence[str]) -> bool:
    """Say whether a document was asked for, in the line or in the environment."""
    options = words[: words.index("--")] if "--" in words else words
    name = "_".join(["HANDSOFF", *_command(words), "JSON"]).upper().replace("-", "_")
    return "--json" in options or os.environ.get(name, "").lower() in _YES


def _usage(words: Sequence[str]) -> str:
    """Return the command whose help says more."""
    return " ".join(["handsoff", *_command(words), "--help"])


def _command(words: Sequence[str]) -> list[str]:
    """Return the names, in ``words``, of the command and of the group that it is in."""
    command: Any = _commands("en")
    known = []
    for word in (word for word in words if not word.startswith("-")):
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        known.append(word)
    return known
