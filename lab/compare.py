"""What a checkout holds, as plain data, and how two of them differ.

    compare.py look CHECKOUT                        prints the data as JSON
    compare.py row WAY BEFORE AFTER BYTES REVIEWS   prints one row as JSON: BEFORE is m1's data
    compare.py table ROWS                           prints the rows of a JSON-lines file

It only reads: files are hashed as they lie on the disk, the rest is asked of git without
its optional locks. It shares no code with handsoff.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Look = dict[str, Any]

STAYS = (".env.local", "cache/rates.bin")
"""What must not arrive: a secret and a cache."""

NOTES = ".wip/notes.md"
COLUMNS = "{:<25} {:>7} {:<5} {:<6} {:<7} {:<5} {:<5} {:<11} {:>9} {:>7} {}"
HEADS = (
    *("way", "files", "index", "staged", "removal", "stash"),
    *("notes", "secrets", "bytes", "reviews", "same"),
)


def git(checkout: Path, *words: str, check: bool = True) -> str:
    """Return what git prints in ``checkout``; names come with surrogate escapes."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.fsmonitor=false", *words]
    run = subprocess.run(command, check=False, cwd=checkout, env=env, capture_output=True)
    if check and run.returncode:
        raise SystemExit(f"git {' '.join(words)}: {os.fsdecode(run.stderr).strip()}")
    return os.fsdecode(run.stdout)


def walk(top: Path) -> Iterator[tuple[str, str]]:
    """Yield each file and link under ``top`` but .git, with its kind, mode and content."""
    for folder, inner, names in os.walk(top):
        if Path(folder) == top and ".git" in inner:
            inner.remove(".git")
        links = [name for name in inner if (Path(folder) / name).is_symlink()]
        for name in [*names, *links]:
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                told = f"link {path.readlink()}"
            elif stat.S_ISREG(mode):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                told = f"{'exec' if mode & 0o100 else 'file'} {digest}"
            else:
                told = f"special {stat.S_IFMT(mode):o}"
            yield str(path.relative_to(top)), told


def look(checkout: Path) -> Look:
    """Return everything in ``checkout`` that a hand-over should keep."""
    branch = git(checkout, "symbolic-ref", "-q", "--short", "HEAD", check=False).strip()
    ignored = git(checkout, "ls-files", "-o", "-i", "--exclude-standard", "-z")
    removed = git(checkout, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=D")
    # A name with two entries (stages of a conflict) keeps both: the key holds the stage.
    entries = (line.split("\t", 1) for line in _records(git(checkout, "ls-files", "-s", "-z")))
    return {
        "branch": branch,
        "head": git(checkout, "rev-parse", "HEAD").strip(),
        "files": dict(sorted(walk(checkout))),
        "index": {f"{name}#{facts[-1]}": facts for facts, name in entries},
        "flags": {
            line[2:]: line[0]
            for line in _records(git(checkout, "ls-files", "-v", "-z"))
            if line[0] != "H"
        },
        "status": sorted(
            _records(git(checkout, "status", "--porcelain=v2", "-z", "-uall", "--no-renames"))
        ),
        "removed": sorted(removed.splitlines()),
        "stash": git(checkout, "stash", "list", "--format=%H %gs").splitlines(),
        "ignored": sorted(_records(ignored)),
    }


def differences(before: Look, after: Look, absent: tuple[str, ...] = STAYS) -> dict[str, list[str]]:
    """Return where ``after`` is not ``before`` without the files of ``absent``."""
    want = {**before, "files": {k: v for k, v in before["files"].items() if k not in absent}}
    want["ignored"] = [name for name in before["ignored"] if name not in absent]
    found = {}
    for part, value in want.items():
        got = after[part]
        if got == value:
            continue
        if isinstance(value, dict):
            names = sorted(value.keys() | got.keys())
            found[part] = [
                f"{name}: {value.get(name, 'none')} -> {got.get(name, 'none')}"
                for name in names
                if value.get(name) != got.get(name)
            ]
        else:
            found[part] = [f"{value} -> {got}"]
    return found


def row(way: str, before: Look, after: Look, size: int, reviews: int) -> Mapping[str, Any]:
    """Return what the table says of one way, and the differences behind it."""
    wanted = {k: v for k, v in before["files"].items() if k not in STAYS}
    arrived = sum(after["files"].get(name) == told for name, told in wanted.items())
    stash = sum(entry in after["stash"] for entry in before["stash"])
    unlike = differences(before, after)
    return {
        "way": way,
        "files": f"{arrived}/{len(wanted)}",
        "index": _word(before["index"] == after["index"] and before["head"] == after["head"]),
        "staged": _word(before["status"] == after["status"]),
        "removal": _word(set(before["removed"]) <= set(after["removed"])),
        "stash": f"{stash}/{len(before['stash'])}",
        "notes": _word(after["files"].get(NOTES) == before["files"][NOTES]),
        "secrets": " ".join(n for n in after["files"] if n.startswith(".env.l")) or "none",
        "bytes": size,
        "reviews": reviews,
        "same": _word(not unlike and not reviews),
        "differences": unlike,
    }


def table(rows: list[Mapping[str, Any]]) -> str:
    """Return ``rows`` as lines of at most 100 columns."""
    lines = [COLUMNS.format(*HEADS)]
    for each in rows:
        cells = [f"{each['bytes']:,}" if head == "bytes" else each[head] for head in HEADS]
        lines.append(COLUMNS.format(*cells))
    return "\n".join(lines)


def _records(text: str) -> list[str]:
    return [record for record in text.split("\0") if record]


def _word(yes: bool) -> str:  # noqa: FBT001 - a cell of the table
    return "yes" if yes else "no"


def _read(path: str) -> Look:
    loaded: Look = json.loads(Path(path).read_text())
    return loaded


def main() -> None:
    """Do what the first word says."""
    match sys.argv[1:]:
        case ["look", checkout]:
            print(json.dumps(look(Path(checkout)), indent=1))
        case ["row", way, before, after, size, reviews]:
            print(json.dumps(row(way, _read(before), _read(after), int(size), int(reviews))))
        case ["table", path]:
            print(table([json.loads(line) for line in Path(path).read_text().splitlines()]))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
