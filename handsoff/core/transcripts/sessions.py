"""Sessions of agents, as far as names and a few lines tell: whose they are, and what is theirs.

What Claude Code and Codex CLI keep below their home folders, and which of it belongs to one
session. ``belongs`` is the one rule of what may travel, and of what a parcel may write there:
what it does not know is never carried, so neither are keys, trust, settings and registries.

The name of a project's folder is lossy (``a_b``, ``a-b`` and ``a.b`` are one), so it is never
decoded: the ``cwd`` that a session has in it decides whose it is.

Sources: both formats are internal to their vendors and change without notice; the shapes are
those of Claude Code 1.0 to 2.1.332 and of Codex CLI 0.104 to 0.171, as their files show them, and
``claude_agent_sdk/_internal/sessions.py`` for names over 200 characters.
"""

import json
import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from handsoff.core.checkout.paths import is_spelled, path_problem
from handsoff.core.guard.masking import mask
from handsoff.core.plain import plain

CLAUDE: Final = "claude"
CODEX: Final = "codex"
AGENTS: Final = (CLAUDE, CODEX)
PROMPT_LIMIT: Final = 200
"""Characters of a first prompt that are kept."""
NAME_LIMIT: Final = 200
"""Characters of a project folder's name before its hash."""

BESIDE: Final = ".handsoff-new"
"""The end of the name of a file that is being written: what a killed run left is nobody's."""

_UUID: Final = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_ID: Final = re.compile(_UUID)
_PROJECT: Final = r"[A-Za-z0-9_-]{1,220}"
_REST: Final = r"[^\x00-\x1f\x7f\\:]+"
_ROLLOUT: Final = rf"rollout-[0-9T-]{{1,32}}-(?P<id>{_UUID})\.jsonl(?:\.zst)?"
_SHAPES: Final = {
    CLAUDE: re.compile(
        rf"projects/{_PROJECT}/(?:(?P<main>{_UUID})\.jsonl|(?P<part>{_UUID})/{_REST})"
        rf"|file-history/(?P<past>{_UUID})/[^/\x00-\x1f\x7f\\:]+"
        rf"|tasks/(?P<task>{_UUID})/{_REST}"
    ),
    CODEX: re.compile(
        rf"(?:sessions/[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}}|archived_sessions)/{_ROLLOUT}"
    ),
}
_CHOSEN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def project_name(cwd: str) -> str:
    """Return the name of the folder in which Claude Code keeps the sessions of ``cwd``.

    ``cwd`` is a real path. JavaScript counts and hashes in units of UTF-16.
    """
    units = _units(cwd)
    name = "".join(chr(unit) if _is_plain(unit) else "-" for unit in units)
    if len(name) <= NAME_LIMIT:
        return name
    hashed = 0
    for unit in units:
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >> 31 else hashed
    return f"{name[:NAME_LIMIT]}-{_base36(abs(signed))}"


def _units(text: str) -> list[int]:
    # bytes that are no text are shown to JavaScript as U+FFFD; other lone surrogates are units
    with suppress(UnicodeEncodeError):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    raw = unicodedata.normalize("NFC", text).encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)]


def _is_plain(unit: int) -> bool:
    return unit < 0x80 and chr(unit).isalnum()  # noqa: PLR2004 - the end of ASCII


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def chosen_name(environ: Mapping[str, str]) -> str | None:
    """Return the name that the person gave the folder of all projects, None if none counts."""
    name = environ.get("CLAUDE_CODE_PROJECT_DIR_NAME", "")
    fits = _CHOSEN.fullmatch(name) and not _DEVICE.fullmatch(name)
    return name if fits and environ.get("CLAUDE_CONFIG_DIR") else None


def may_hold(name: str, tops: Collection[str]) -> bool:
    """Say whether a project folder of this name may have sessions of a checkout at ``tops`` in it.

    Of its top or of a folder below; longer names end in a hash, and older releases had another.
    """
    for top in tops:
        exact = project_name(top)
        if name == exact or name.startswith(f"{exact[:NAME_LIMIT]}-"):
            return True
    return False


def tail_below(cwd: str, tops: Collection[str]) -> str | None:
    """Return the path from the top of a checkout to ``cwd`` ("" is the top), None if outside."""
    if not cwd.startswith("/") or "\0" in cwd or not is_spelled(cwd):
        return None
    here = _spelled(cwd)
    for top in map(_spelled, tops):
        if here == top:
            return ""
        above = top.rstrip("/") + "/"
        if here.startswith(above):
            return here[len(above) :]
    return None


def _spelled(path: str) -> str:
    return unicodedata.normalize("NFC", posixpath.normpath("/" + path.lstrip("/")))


def is_session_id(text: str) -> bool:
    """Say whether ``text`` has the shape of a session's id."""
    return _ID.fullmatch(text) is not None


def belongs(agent: str, name: str) -> str | None:
    """Return the id of the session that a file of this name, below the agent's home, belongs to.

    None for whatever is never carried: not of a known shape, not safe to write, or secret.
    """
    shape = _SHAPES.get(agent)
    found = shape.fullmatch(name) if shape else None
    if found is None or name.lower().endswith((".key", BESIDE)):
        return None
    if not is_spelled(name) or path_problem(name.encode("utf-8", "surrogateescape")):
        return None
    return next(filter(None, found.groupdict().values()), None)


def is_main(agent: str, name: str) -> bool:
    """Say whether this file of a session is its transcript, and not something beside it."""
    if belongs(agent, name) is None:
        return False
    return agent == CODEX or (name.startswith("projects/") and name.count("/") == 2)  # noqa: PLR2004


class Told(NamedTuple):
    """What a session says of itself."""

    cwd: str = ""
    version: str = ""
    prompt: str = ""
    """The first thing that the person asked, as one safe line, secrets masked, cut short."""


def told_by_claude(head: bytes, tail: bytes = b"") -> Told:
    """Return what the first and last bytes of a transcript of Claude Code say.

    The last ``relocated`` line counts, else the first ``cwd``, as in Claude Code's own list.
    """
    first, last = list(_records(head)), list(_records(tail))
    moved = [
        cwd for line in last if line.get("type") == "relocated"
        and (cwd := _text(line.get("relocatedCwd")))
    ]  # fmt: skip
    cwds = [cwd for line in first if (cwd := _text(line.get("cwd")))]
    torn = _torn(head, "cwd") if not cwds else ""
    late = [cwd for line in last if (cwd := _text(line.get("cwd")))]
    versions = [v for line in (*first, *last) if (v := _text(line.get("version")))]
    asked = [(line, text) for line in first if (text := _asked_claude(line))]
    mine = [text for line, text in asked if not line.get("isSidechain")]
    prompt = next(iter(mine), "") or _begun(head) or next((text for _, text in asked), "")
    return Told(
        next(iter([*moved[-1:], *cwds, *([torn] if torn else []), *late]), ""),
        plain(versions[-1], limit=40) if versions else "",
        _shown(prompt),
    )


def told_by_codex(head: bytes) -> Told:
    """Return what the first bytes of a rollout of Codex say."""
    cwd = version = prompt = ""
    for record in _records(head):
        payload = record.get("payload")
        if not isinstance(payload, dict):
            continue
        if record.get("type") == "session_meta" and not cwd:
            cwd, version = _text(payload.get("cwd")), _text(payload.get("cli_version"))
        prompt = prompt or _asked_codex(record.get("type"), payload)
    if not cwd and b'"session_meta"' in head[:_META]:
        cwd, version = _torn(head, "cwd"), _torn(head, "cli_version")
    return Told(cwd, plain(version, limit=40), _shown(prompt))


def _shown(prompt: str) -> str:
    # masked before it is cut: half a secret is none to the rules
    return plain(mask(prompt.strip()), limit=PROMPT_LIMIT)


_META: Final = 200
_MACHINE_MADE: Final = re.compile(
    r"<(?:command-|local-command-|bash-|system-reminder|task-notification|user-memory|ide_)"
    r"|Caveat: The messages below|\[Request interrupted"
)
_INSTRUCTIONS: Final = re.compile(r"<[a-z_]+>|# AGENTS\.md instructions|\[Request interrupted")


def _asked_claude(line: dict[str, Any]) -> str:
    """Return what a line has of the person's own words."""
    message = line.get("message")
    if line.get("type") != "user" or not isinstance(message, dict):
        return ""
    if any(line.get(key) for key in ("isMeta", "isCompactSummary", "toolUseResult")):
        return ""
    text = _joined(message.get("content"), ("text",))
    return "" if _MACHINE_MADE.match(text.lstrip()) else text


def _asked_codex(kind: Any, payload: dict[str, Any]) -> str:
    if kind == "event_msg" and payload.get("type") == "user_message":
        return _text(payload.get("message"))
    if kind == "response_item" and payload.get("role") == "user":
        text = _joined(payload.get("content"), ("input_text", "text"))
        return "" if _INSTRUCTIONS.match(text.lstrip()) else text
    return ""


def _joined(content: Any, kinds: tuple[str, ...]) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [b for b in content if isinstance(b, dict) and b.get("type") in kinds]
    return next((text for part in parts if (text := _text(part.get("text"))).strip()), "")


def _records(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the lines that are whole JSON objects; whatever else stands there is passed over."""
    for line in data.split(b"\n"):
        if line.lstrip()[:1] != b"{":
            continue
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _torn(data: bytes, key: str) -> str:
    """Return the first string under ``key`` in a line that may be cut off; "" if there is none.

    Within a string of JSON the quotes around the key would be escaped.
    """
    found = re.search(rb'(?<!\\)"%s":("(?:[^"\\]|\\.)*")' % key.encode(), data)
    return _unquoted(found[1]) if found else ""


def _begun(head: bytes) -> str:
    """Return the beginning of a first prompt that goes on beyond ``head``."""
    line = head.rpartition(b"\n")[2]
    if line.endswith(b"}") or b'"role":"user"' not in line:
        return ""
    found = re.search(rb'(?<!\\)"(?:content|text)":("(?:[^"\\]|\\[^u]|\\u[0-9A-Fa-f]{4})+)', line)
    text = _unquoted(found[1][: 8 * PROMPT_LIMIT].rstrip(b"\\") + b'"') if found else ""
    return "" if _MACHINE_MADE.match(text.lstrip()) else text


def _unquoted(raw: bytes) -> str:
    try:
        return _text(json.loads(raw.decode("utf-8", "replace")))
    except ValueError:
        return ""
