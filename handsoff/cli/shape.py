"""The commands as data: what completion, the man page and tests of documents are made from.

``shape(command)`` reads them off the program itself, as ``--help`` does: nothing is said twice.
What a value may be is told by the word that stands for it in the help (``WORK``, ``FILE``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from handsoff.cli.schemas import names
from handsoff.core.reach.routes import ROUTES
from handsoff.core.transcripts.baggage import MODES
from handsoff.core.transcripts.sessions import AGENTS

FILES: Final = "files"
FOLDERS: Final = "folders"
WORKS: Final = "works"
MACHINES: Final = "machines"
TARGETS: Final = "targets"
PEOPLE: Final = "people"
SHELLS: Final = ("bash", "zsh", "fish")

_KINDS: Final[Mapping[str, str | Sequence[str]]] = {
    "WORK": WORKS,
    "MACHINE": TARGETS,
    "FILE": FILES,
    "DIR": FOLDERS,
    "AGENT": AGENTS,
    "ROUTE": ROUTES,
    "MODE": MODES,
    "HOW": ("merged", "abandoned"),
    "SIDE": ("here", "remote"),
    "SHELL": SHELLS,
    "COMMAND": sorted(names()),
}
"""What a word of the help stands for: a kind of names, or the words themselves."""

_NAMES: Final = {"roster revoke name": MACHINES, "roster rename old": MACHINES, "offer to": PEOPLE}
"""The same of words that stand for other things elsewhere, by their command."""


@dataclass(frozen=True, slots=True)
class Word:
    """An option with its spellings, or an argument (which has none)."""

    names: tuple[str, ...]
    metavar: str
    """What stands for its value; "" if it takes none."""
    help: str
    default: str
    kind: str
    """What its value may be: a kind of names, or "" for anything, or for one of ``choices``."""
    choices: tuple[str, ...]
    required: bool
    many: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """A command, or (``verbs``) a group of them; ``path`` is its words behind ``handsoff``."""

    path: str
    help: str
    options: tuple[Word, ...]
    arguments: tuple[Word, ...]
    verbs: tuple["Verb", ...]
    hidden: bool

    @property
    def name(self) -> str:
        """Its own word."""
        return self.path.rpartition(" ")[2]

    @property
    def title(self) -> str:
        """What it does, in one line."""
        return self.help.partition("\n\n")[0].replace("\n", " ")

    def all(self) -> Iterator["Verb"]:
        """Yield this, and every command below it."""
        yield self
        for verb in self.verbs:
            yield from verb.all()


def shape(command: Any) -> Verb:
    """Return the root of all commands; ``command`` is what Typer makes of them."""
    return _verb(command, "")


def _verb(command: Any, path: str) -> Verb:
    inner = getattr(command, "commands", {})
    words = [_word(p, path) for p in command.params if not getattr(p, "hidden", False)]
    return Verb(
        path=path,
        help=(command.help or "").strip(),
        options=(*(w for w in words if w.names), _HELP),
        arguments=tuple(w for w in words if not w.names),
        verbs=tuple(_verb(c, f"{path} {name}".strip()) for name, c in inner.items()),
        hidden=command.hidden,
    )


def _word(param: Any, path: str) -> Word:
    is_flag = getattr(param, "is_flag", False)
    spelled = () if param.param_type_name == "argument" else (*param.opts, *param.secondary_opts)
    metavar = "" if is_flag else (param.metavar or param.name.upper()).strip("[]")
    kind = _NAMES.get(f"{path} {param.name}") or _KINDS.get(metavar, "")
    declared = param.type_descriptor.annotation
    if isinstance(declared, type) and issubclass(declared, Enum):
        kind = [choice.value for choice in declared]
    shown = None if is_flag or param.default in (None, "") else param.default
    return Word(
        names=spelled,
        metavar=metavar,
        help=param.help or "",
        default="" if shown is None else str(getattr(shown, "value", shown)),
        kind=kind if isinstance(kind, str) else "",
        choices=() if isinstance(kind, str) else tuple(kind),
        required=bool(param.required),
        many=param.nargs == -1 or getattr(param, "multiple", False),
    )


_HELP: Final = Word(
    ("-h", "--help"), "", "Show this message and exit.", "", "", (), required=False, many=False
)
