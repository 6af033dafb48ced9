"""The rules for a team's AGENTS.md or CLAUDE.md, as a block that handsoff keeps up to date.

The block stands between two marks, each alone on its line. Everything outside keeps its bytes,
and a file with CRLF gets the block with CRLF.
"""

import re
from typing import Final

from handsoff.errors import UnfitError

BEGIN: Final = "<!-- handsoff:begin -->"
END: Final = "<!-- handsoff:end -->"

RULES: Final = """\
## Handing half-finished work to another machine

One machine at a time carries a branch; handsoff keeps who on the git remote.

- Half-finished work never travels as a "WIP" commit: whatever watches branches would review it.
- To hand over: stop, fill in `.wip/HANDOFF.md` (Next, Tried and failed, Do not touch; no TODO
  left), then `handsoff send MACHINE`. From then on nothing of the task is changed here.
- If it refuses (a secret, a large file, an empty section), mend the cause. Do not raise a limit
  or allow a finding on your own: ask the person.
- Ignored notes that should travel are named in `.wip/carry`, in the syntax of .gitignore. `.env*`
  never travels.
- To take work up: `handsoff catch BRANCH` in a clean clone. Read the page that it prints before
  any edit. If it says that contact was lost, look of each step whether it was done already.
- If a push or an edit is refused because another machine carries the branch, stop working on it.
  Do not use `--no-verify`, and leave the record (refs/wip) and the hooks alone.
- `handsoff status` says who carries what; `handsoff save` now and then keeps what you have.
"""

_MARK: Final = re.compile(r"<!--\s*handsoff:(begin|end)\s*-->")


def put(text: str | None, name: str) -> str:
    """Return ``text`` with the block as it should be; None is a file that is not there."""
    if not text:
        return _block("\n") + "\n"
    place = _place(text, name)
    newline = _newline(text, place)
    if place is not None:
        return text[: place[0]] + _block(newline) + text[place[1] :]
    return f"{text}{newline}{_block(newline)}{newline}"


def remove(text: str | None, name: str) -> str | None:
    """Return ``text`` without the block; None if nothing else is in it."""
    place = _place(text, name) if text is not None else None
    if text is None or place is None:
        return text
    newline = _newline(text, place)
    before, after = text[: place[0]], text[place[1] :].removeprefix(newline)
    if not after:  # it was put at the end, behind a line's end of ours
        before = before.removesuffix(newline)
    return before + after or None


def is_there(text: str | None, name: str) -> bool:
    """Say whether the file has a block, of this or an older form."""
    return text is not None and _place(text, name) is not None


def _newline(text: str, place: tuple[int, int] | None) -> str:
    """Return how lines end: in the block, if there is one, else in the file."""
    block = text[slice(*place)] if place else ""
    return "\r\n" if "\r\n" in (block if "\n" in block else text) else "\n"


def _block(newline: str) -> str:
    return f"{BEGIN}\n{RULES}{END}".replace("\n", newline)


def _place(text: str, name: str) -> tuple[int, int] | None:
    """Return where the block stands; UnfitError if its marks are not one begin and one end."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    if [mark[1] for mark in marks] == ["begin", "end"]:
        return marks[0].start(), marks[1].end()
    lines = ", ".join(
        f"{mark[1]} in line {text.count(chr(10), 0, mark.start()) + 1}" for mark in marks
    )
    raise UnfitError(
        f"{name}: the marks of handsoff's block do not fit together: {lines}",
        hint=f"leave one {BEGIN} and one {END} behind it, or none; nothing was changed",
    )
