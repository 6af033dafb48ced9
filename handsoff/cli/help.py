"""What --help says, in the reader's language.

Typer puts the English texts together; here each is said anew, and laid out by how wide its letters
are. Where English is wanted nothing of this is done.
"""

import re
from collections.abc import Sequence
from typing import Any

from handsoff.cli import layout
from handsoff.core.phrases import Phrases

_BRACKETS = re.compile(r"(?<=  \[).*(?=\]$)")
"""What Typer adds to the help of an option: ``[env var: NAME; default: VALUE; required]``."""


def translate(command: Any, known: Phrases) -> None:
    """Have a command, and all below it, explain themselves in the language of ``known``."""
    command.context_class = _speaking(command.context_class, known)
    command.help = _paragraphs(command.help, known)
    command.short_help = known.say(command.get_short_help_str(limit=1000))
    command.epilog = _paragraphs(command.epilog, known)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = known.say(parameter.help)
    for below in getattr(command, "commands", {}).values():
        translate(below, known)


def _each(found: re.Match[str], known: Phrases) -> str:
    return "; ".join(known.say(part) for part in found[0].split("; "))


def _paragraphs(text: str | None, known: Phrases) -> str | None:
    parts = (text or "").split("\n\n")
    return "\n\n".join(known.say(" ".join(part.split())) for part in parts) or None


def _speaking(context: Any, known: Phrases) -> Any:
    class Formatter(context.formatter_class):  # type: ignore[misc]
        """Headings are translated, and lines end where they are full on the screen."""

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            usage = known.say("Usage:") if prefix is None else prefix
            blank = " " if usage.endswith(":") else ""  # a full-width colon brings its own
            said = f"{usage}{blank}{prog} "
            self._write(args, first=said, rest=" " * layout.width(said))

        def write_heading(self, heading: str) -> None:
            self.write(f"{' ' * self.current_indent}{known.say(f'{heading}:')}\n")

        def write_text(self, text: str) -> None:
            indent = " " * self.current_indent
            for part in text.split("\n\n"):
                self._write(part, first=indent, rest=indent)

        def write_dl(
            self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
        ) -> None:
            indent = " " * self.current_indent
            column = min(max(layout.width(name) for name, _ in rows), col_max) + col_spacing
            for name, text in rows:
                first = indent + name
                if layout.width(name) > column - col_spacing:
                    self.write(f"{first}\n")
                    first = indent
                start = layout.ljust(first, column + len(indent))
                said = _BRACKETS.sub(lambda found: _each(found, known), text)
                self._write(said, first=start, rest=" " * (column + len(indent)))

        def _write(self, text: str, *, first: str, rest: str) -> None:
            self.write("\n".join(layout.wrapped(text, room=self.width, first=first, rest=rest)))
            self.write("\n")

    class Context(context):  # type: ignore[misc]
        formatter_class = Formatter

    return Context
