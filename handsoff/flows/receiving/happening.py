"""What a listener tells: one thing that happened, for a terminal, a journal or a program.

All of it that another machine chose is as that wrote it: whoever prints it makes it plain.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "listening", "arriving", "arrived", "finished", "giving", "gave", "refused", "failed", "doubt",
    "news", "stopping", "stopped",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that happened. What does not apply is "" or 0."""

    event: Kind
    machine: str = ""
    """The name of the other machine."""
    person: str = ""
    peer: str = ""
    """The address that it came from."""
    work: str = ""
    revision: int = 0
    parcel: str = ""
    size: int = 0
    offset: int = 0
    """How many of the bytes were here before."""
    text: str = ""
    hint: str = ""
    address: str = ""
    pid: int = 0

    def document(self) -> dict[str, Any]:
        """Return what applies, for a program."""
        return {name: value for name, value in asdict(self).items() if value not in ("", 0)}


Told: TypeAlias = Callable[[Happening], None]


@dataclass(frozen=True, slots=True)
class Moving:
    """A parcel that moves, for whoever watches: its work, whose it is, and how far it has come."""

    key: str
    work: str
    machine: str
    done: int
    size: int


def nobody(_: object) -> None:
    """Hear and forget."""
