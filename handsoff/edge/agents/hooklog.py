"""What the hooks of agents keep: the journal of sessions, what each was told, what was begun when.

    <store>/sessions.jsonl   one line an event; beside it .1, from when it had grown too large
    <store>/hook.log         what went wrong, and what programs in the background said
    <store>/told.json        {session: [key, seconds]}
    <own>/hooked-<chore>     touched when a chore was last begun

All of it may be lost at any time. Nothing here waits for a disk or a lock: a hook has no time.
"""

from __future__ import annotations

import os
import sys

from handsoff.core.hooks import quickjson
from handsoff.core.loose import as_object
from handsoff.edge.git.place import at_once

TYPE_CHECKING = False  # importing typing takes 4 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

BACKGROUND = "HANDSOFF_BACKGROUND"
"""Set in the environment of our own programs: a hook that they come to does nothing."""

_JOURNAL_LIMIT = 1024 * 1024
_LOG_LIMIT = 256 * 1024
_STATE_LIMIT = 8 * 1024 * 1024
_MOST_TOLD = 200
_RUN = """
import json, sys
sys.path.insert(0, sys.argv.pop(1))
from handsoff.cli.app import main
for words in json.loads(sys.argv.pop(1)):
    try:
        main(words)
    except SystemExit:
        pass
"""


def read_object(path: str) -> Mapping[str, Any]:
    """Return the JSON object that ``path`` holds; empty if there is none, or it is none."""
    try:
        with open(path, "rb", opener=at_once) as file:
            return as_object(quickjson.loads(file.read(_STATE_LIMIT)))
    except (OSError, ValueError, RecursionError):
        return {}


def journal(store: str, line: Mapping[str, Any]) -> None:
    """Note an event of a session."""
    _append(os.path.join(store, "sessions.jsonl"), quickjson.dumps(line), _JOURNAL_LIMIT)


def log(store: str, line: str) -> None:
    """Note what went wrong."""
    _append(os.path.join(store, "hook.log"), line, _LOG_LIMIT)


def _append(path: str, line: str, most: int) -> None:
    handle = _open(path, most)
    try:
        os.write(handle, line.encode("utf-8", "backslashreplace") + b"\n")
    finally:
        os.close(handle)


def _open(path: str, most: int) -> int:
    """Open a file to append to, in place of the one before if that is too large."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o600)
    if os.fstat(handle).st_size < most:
        return handle
    os.close(handle)
    os.replace(path, path + ".1")
    return os.open(path, flags, 0o600)


def told(store: str, session: str) -> str | None:
    """Return what a session was told last, None if nothing."""
    found = read_object(os.path.join(store, "told.json")).get(session)
    return found[0] if isinstance(found, list) and found and isinstance(found[0], str) else None


def tell(store: str, session: str, key: str, now: int) -> None:
    """Note what a session was told."""
    path = os.path.join(store, "told.json")
    kept = [item for item in read_object(path).items() if item[0] != session]
    after = {**dict(kept[1 - _MOST_TOLD :]), session: [key, now]}
    beside = f"{path}.{os.getpid()}"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(quickjson.dumps(after))
    os.replace(beside, path)


def is_due(own: str, chore: str, every: int, now: int) -> bool:
    """Say whether ``chore`` was begun in the last ``every`` seconds; if not, it is begun now."""
    os.makedirs(own, 0o700, exist_ok=True)
    path = os.path.join(own, f"hooked-{chore}")
    try:
        if 0 <= now - int(os.stat(path).st_mtime) < every:
            return False
    except FileNotFoundError:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(path, (now, now))
    return True


def start(store: str, top: str, home: str, commands: Sequence[Sequence[str]]) -> None:
    """Run handsoff's ``commands`` in the background, one after the other, and do not wait."""
    import subprocess  # noqa: PLC0415 - 10 ms that most events need not pay

    # what is exported for the agent's own git must not lead ours elsewhere
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_DIR", "GIT_WORK_TREE",
           "GIT_INDEX", "GIT_COMMON", "GIT_OBJECT"))}  # fmt: skip
    env[BACKGROUND] = "1"
    if home:
        env.setdefault("HANDSOFF_HOME", home)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    said = _open(os.path.join(store, "hook.log"), _LOG_LIMIT)
    try:
        # -P: nothing is imported from the checkout, which is the folder that it runs in
        subprocess.Popen(
            [sys.executable, "-P", "-c", _RUN, root, quickjson.dumps([list(c) for c in commands])],
            cwd=top,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
    finally:
        os.close(said)
