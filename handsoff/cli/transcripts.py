"""What is said of transcripts: which go along, and what became of those that came."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from handsoff.core.plain import plain
from handsoff.core.sizes import spell_size

_SAID: Final = {
    "new": "installed",
    "same": "was here already, byte for byte",
    "extension": "goes on where it stood here",
    "shorter": "has grown here: what is here stays",
    "comes": "comes along",
    "refused": "not installed",
    "aside": "not installed",
}


def going(sessions: Sequence[Mapping[str, Any]], redacted: int) -> Iterator[str]:
    """Yield a line for each session that goes along, and how many secrets do not."""
    for one in sessions:
        prompt = f": {plain(one['prompt'], limit=60)}" if one["prompt"] else ""
        counted = "1 file" if one["files"] == 1 else f"{one['files']} files"
        size = spell_size(one["size"])
        yield f"  transcript of {one['agent']} {one['id'][:8]} ({counted}, {size}){prompt}"
    if redacted:
        yield f"    redacted: {redacted} secrets" if redacted > 1 else "    redacted: 1 secret"


def came(sessions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what became of each session that came along."""
    for one in sessions:
        why = f": {plain(one['why'])}" if one["why"] else ""
        said = f"transcript of {one['name']}: {_SAID[one['result']]}{why}"
        yield f"warning: the {said}" if one["why"] else f"  {said}"
        if one["aside"]:
            yield f"    it is kept in {plain(one['aside'], limit=4096)}"
        if one["resume"]:
            back = all(file["returns"] for file in one["files"])
            whole = "" if back else "  (turned back, not every path would be as it was sent)"
            yield f"    to go on with it: {one['resume']}{whole}"
