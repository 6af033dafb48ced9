"""The program that shells call at TAB: names to complete with, one a line, from what is cached.

    handsoff-complete works|machines|targets|people

Rules of the room: those of ``hook.py``. It reads ``roster.json`` and ``state.json`` of the clone
and ``ssh.json`` of the machine, asks nobody and starts nothing. Whatever goes wrong, it prints less
and ends with 0: a shell must not be kept waiting, and has no place for an error.

A name that is not one plain line, or that starts like an option, is not offered: what was put into
the command line would be another word than the one shown. Quoting is the shell's part.
"""

from __future__ import annotations

import os
import sys

from handsoff.core.loose import as_object
from handsoff.edge.agents import hooklog
from handsoff.edge.git.place import Place, place_of

TYPE_CHECKING = False  # importing typing takes 4 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

KINDS = ("works", "machines", "targets", "people")
"""Works; machines; what ``send`` takes; whom ``offer`` takes."""

MOST = 1000
_LONGEST = 250
"""Characters of a name: what is longer is no branch that git could keep in a file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print what completes a word of the kind that is named; always 0."""
    words = sys.argv[1:] if argv is None else argv
    try:
        place = place_of(os.getcwd())
        if place is None or len(words) != 1:
            return 0
        lines = "".join(f"{name}\n" for name in offered(names(words[0], place)))
        os.write(1, lines.encode("utf-8", "surrogateescape"))
    except Exception:  # noqa: BLE001, S110 - see the rules of the room
        pass
    return 0


def names(kind: str, place: Place) -> Iterator[str]:
    """Yield the names of a kind that are known in a clone."""
    if kind not in KINDS:
        return
    state = hooklog.read_object(os.path.join(place.store, "state.json"))
    if kind == "works":
        waits = state.get("waits")
        yield from as_object(state.get("works"))
        for wait in waits if isinstance(waits, list) else ():
            yield str(as_object(wait).get("work", ""))
        return
    members = as_object(
        hooklog.read_object(os.path.join(place.store, "roster.json")).get("members")
    )
    own = str(as_object(state.get("machine")).get("id", ""))
    for machine, member in members.items():
        if machine != own or kind == "machines":
            yield str(as_object(member).get("name", ""))
        if kind == "people":
            yield str(as_object(member).get("person", ""))
    if kind == "targets":
        yield from _destinations(state)


def _destinations(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield where ssh led to a machine before."""
    home = os.environ.get("HANDSOFF_HOME") or str(state.get("home", ""))
    for way in hooklog.read_object(os.path.join(home, "ssh.json")).values() if home else ():
        yield str(as_object(way).get("to", ""))


def offered(found: Iterable[str]) -> list[str]:
    """Return the names that a command line can take as they are, each once, in order."""
    from handsoff.core.plain import plain  # noqa: PLC0415 - it takes 5 ms, and often nothing is found

    kept = {
        name
        for name in found
        if name and not name.startswith("-") and plain(name, limit=_LONGEST) == name
    }
    return sorted(kept)[:MOST]


if __name__ == "__main__":
    sys.exit(main())
