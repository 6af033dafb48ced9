"""Move every transcript below a folder to other places and back: is each byte back, is none left?

Run from the repository root: python lab/transcripts.py DIR [-v]

For each *.jsonl and *.json below DIR the places are found in it (``cwd`` and the like, and the
folders that occur most), and mapped to others: longer, shorter, with blanks, Chinese, Windows.
Each map goes there and back with ``rewrite`` of ``core/transcripts/transcript.py``, in chunks of
odd sizes. Asserted: bytes are back; as many lines, of the same shape, ids and numbers; no old
place is left outside of what must stay. The last is judged by a checker of this file, which knows
only ``json`` and the table of boundaries. Prints failures, and how many moves there were; exit
code: failures, at most 100.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.transcript import rewrite

PLACES = {
    "longer": "/Users/li/Documents/src/{}-moved-here",
    "shorter": "/w{}",
    "blanks": "/srv/my work/{} copy",
    "chinese": "/home/李/项目/{}号",
    "windows": "D:\\Users\\li\\src\\{}",
    "windows, blanks": "C:\\My Work\\{} copy",
}
BEFORE = re.compile(r"[A-Za-z0-9_.\-/\\~@%+]")
AFTER = re.compile(r"$|[/\s\"'`:;,)\]}>|&<]|[.!](?:$|[\s\"'`])")
FOLDER = re.compile(r"(?<![A-Za-z0-9_.\-/\\~@%+])(?:/[A-Za-z0-9_.~-]+){2,6}")
STAYS = {"signature", "thinking", "encrypted_content"}


def decoded(value: Any, key: str = "", kind: str = "") -> Iterator[str]:
    """Yield each string and key that may change, JSON inside strings included."""
    if key in STAYS or (key == "data" and kind in ("base64", "redacted_thinking")):
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from decoded(inner, name, str(value.get("type", "")))
    elif isinstance(value, list):
        for inner in value:
            yield from decoded(inner)
    elif isinstance(value, str) and not value.startswith("data:"):
        try:
            inside = json.loads(value)
        except (ValueError, RecursionError):
            inside = None
        if isinstance(inside, (dict, list)):
            yield from decoded(inside)
        else:
            yield value


def objects(body: bytes) -> Iterator[Any]:
    """Yield what the lines are that are objects, or the one document."""
    try:
        yield json.loads(body)
    except ValueError:
        for line in body.split(b"\n"):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            hashed = isinstance(value, dict) and str(value.get("type")).startswith("api-request")
            if isinstance(value, dict) and not hashed:
                yield value


def left(body: bytes, place: str) -> list[str]:
    """Return where ``place`` still stands, by the table of boundaries alone."""
    found = []
    for value in objects(body):
        for text in decoded(value):
            for said in {text, unquote(text)} if "file:" in text else {text}:
                at = said.find(place)
                while at >= 0:
                    before, after = said[:at][-1:], said[at + len(place) :]
                    uri = said[:at].endswith("file://")
                    if (uri or not BEFORE.match(before)) and AFTER.match(after):
                        found.append(said[max(0, at - 30) : at + len(place) + 30])
                    at = said.find(place, at + 1)
    return found


def places(body: bytes) -> list[str]:
    """Return the places to move: where the session says it is, and folders it names often."""
    said: Counter[str] = Counter()
    known: set[str] = set()
    for value in objects(body):
        for text in decoded(value):
            said.update(FOLDER.findall(text))
        known |= set(re.findall(r'"(?:cwd|project|gitRoot)": "(/[^"\\]+)"', json.dumps(value)))
    folders: Counter[str] = Counter()
    for path, times in said.items():
        parts = path.split("/")
        for size in range(2, len(parts)):
            folders["/".join(parts[: size + 1])] += times
    often = [path for path, times in folders.most_common(8) if times > 1]
    return sorted((known | set(often)) - {"/"})


def shape(value: Any) -> Any:
    """Return ``value`` without its strings and keys."""
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return "" if isinstance(value, str) else value


def ids(value: Any) -> list[Any]:
    return [value.get(k) for k in ("uuid", "parentUuid", "sessionId", "timestamp", "id", "type")]


def moved(body: bytes, mapping: PathMap, size: int) -> bytes:
    return b"".join(rewrite((body[i : i + size] for i in range(0, len(body), size)), mapping))


def check(body: bytes, pairs: list[tuple[str, str]]) -> list[str]:
    """Return what is wrong."""
    mapping = PathMap.of(pairs)
    there = moved(body, mapping, 1 << 20)
    wrong = []
    if moved(body, mapping, 4093) != there:
        wrong.append("cut otherwise, it comes out otherwise")
    if moved(there, mapping.inverse(), 65521) != body:
        wrong.append("there and back it is another file")
    if there.count(b"\n") != body.count(b"\n"):
        wrong.append("another number of lines")
    before, after = list(objects(body)), list(objects(there))
    if [shape(v) for v in before] != [shape(v) for v in after]:
        wrong.append("another shape")
    pairs_of_lines = zip(before, after, strict=False)
    if any(isinstance(a, dict) and ids(a) != ids(b) for a, b in pairs_of_lines):
        wrong.append("other ids")
    new = {new for _, new in pairs}
    for old, _ in pairs:
        if not any(place == old or place.startswith(old + "/") for place in new):
            wrong += [f"left: {text!r}" for text in left(there, old)[:5]]
    return wrong


def main() -> None:
    """Print a line for each file and kind of place; fail if any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-v", action="store_true", dest="more")
    wanted = parser.parse_args()
    failures = tried = hits = 0
    for file in sorted(p for p in wanted.folder.rglob("*") if p.suffix in {".jsonl", ".json"}):
        body = file.read_bytes()
        found = places(body)
        hits += sum(len(left(body, place)) for place in found)
        for kind, pattern in PLACES.items():
            single = [[(old, pattern.format(1))] for old in found]
            every = [(old, pattern.format(n)) for n, old in enumerate(found)]
            for pairs in [*single, every] if every else []:
                tried += 1
                wrong = check(body, pairs)
                failures += bool(wrong)
                if wrong or wanted.more:
                    name = file.relative_to(wanted.folder)
                    print(f"{name}: {kind}, {pairs[0]}...: {'; '.join(wrong) or 'good'}")
    print(f"{tried} moves there and back, {hits} places named, {failures} failed")
    sys.exit(min(failures, 100))


if __name__ == "__main__":
    main()
