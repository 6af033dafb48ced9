"""Baggage: sessions of agents that travel beside a work, from one machine of a person to another.

    envelope's tree ── transcript/ ── list         who, from where, which files, canonical JSON
                                   ├─ 00000/       a file: 00000000, 00000001, ...
                                   └─ 00001/ ...

What travels is raw: only the receiver knows its own places, so that it rewrites. A file is cut
after lines, so that one that has grown shares its first pieces with what was sent before, and so
that nobody holds a whole one. All of it is hostile when it comes from another machine: counts,
sizes and names are judged here, before the record moves.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from handsoff.core import canon
from handsoff.core.checkout import paths
from handsoff.core.checkout.paths import is_spelled
from handsoff.core.plain import plain
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.sessions import CLAUDE, belongs, is_main, is_session_id
from handsoff.errors import DamagedError, RefusedError

TREE: Final = b"transcript"
LIST: Final = b"list"
MODES: Final = ("raw", "rewrite")

LIMIT: Final = 2 << 30
"""Bytes that all files together may have."""
SESSIONS: Final = 200
FILES: Final = 20_000
PIECES: Final = 60_000
LIST_LIMIT: Final = 16 << 20
TEXT: Final = 4096
"""Characters of a path or of a version."""
SPELLINGS: Final = 16

PIECE: Final = 1 << 20
"""A piece ends with the first line that ends here, or later."""
LONGEST: Final = 4 << 20
"""Bytes of the longest piece: a line that is longer is cut."""
WHOLE: Final = 64 << 20
"""Bytes of the longest line that is looked at as one."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PIECES: Final = re.compile(r"|[0-9]{5}")
_ANYWHERE: Final = "/any/where"
_LAST_SECOND: Final = 253_402_300_799
_PLATFORMS: Final = ("posix", "windows")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a session: its name below the agent's home, and what it is."""

    name: str
    size: int
    sha256: str
    mtime: int
    pieces: str
    """The tree that has its pieces, "" of an empty file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A session as it travels: its files, and the places on the sender that they speak of."""

    agent: str
    id: str
    version: str
    main: int
    """Which of its files is the transcript itself."""
    cwd: str
    """Where the agent ran: the checkout, or a folder of it."""
    top: str
    spellings: tuple[str, ...]
    """Other spellings of ``top``."""
    home: str
    """The agent's folder on the sender."""
    platform: str
    project: str
    """What Claude Code calls ``cwd`` in ``projects/``, "" of another agent."""
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return sum(file.size for file in self.files)

    @property
    def short(self) -> str:
        """Its name for people."""
        return f"{self.agent} {self.id[:8]}"


@dataclass(frozen=True, slots=True)
class Baggage:
    """All sessions that travel in one envelope, and whether the receiver is to rewrite them."""

    mode: str
    sessions: tuple[Packed, ...]


def encode(baggage: Baggage) -> bytes:
    """Return the bytes of ``list``."""
    return canon.encode(asdict(baggage))


def decode(data: bytes) -> Baggage:
    """Return what ``data`` spells; DamagedError for what no sender of ours writes."""
    fields = canon.decode(data, limit=LIST_LIMIT)
    if fields.keys() != {"mode", "sessions"} or fields["mode"] not in MODES:
        raise DamagedError("the list of transcripts is malformed")
    listed = _items(fields["sessions"], SESSIONS)
    found = Baggage(fields["mode"], tuple(map(_packed, listed)))
    _check_together(found)
    return found


def _check_together(baggage: Baggage) -> None:
    """Raise an error if the sessions, each in order by itself, are too much or collide."""
    every = [file for session in baggage.sessions for file in session.files]
    trees = [file.pieces for file in every if file.pieces]
    names = {(session.agent, session.id) for session in baggage.sessions}
    if len(every) > FILES:
        raise RefusedError(f"the transcripts have {len(every)} files, and {FILES} is the most")
    if sum(file.size for file in every) > LIMIT:
        raise RefusedError(f"the transcripts have more than {LIMIT} bytes")
    if len({*trees}) != len(trees) or len(names) != len(baggage.sessions):
        raise DamagedError("the list of transcripts has something twice")


def _packed(value: object) -> Packed:
    fields = _fields(value, Packed)
    agent, session, project = _text(fields["agent"]), _text(fields["id"]), _text(fields["project"])
    files = tuple(_file(item) for item in _items(fields["files"], FILES))
    if not is_session_id(session) or fields["platform"] not in _PLATFORMS:
        raise DamagedError("a session in the list of transcripts is malformed")
    if type(fields["main"]) is not int or not 0 <= fields["main"] < len(files):
        raise DamagedError("a session in the list of transcripts has no main file")
    for file in files:
        check_name(agent, session, project, file.name)
    mains = [number for number, file in enumerate(files) if is_main(agent, file.name)]
    if mains != [fields["main"]]:  # of two no agent would find either
        raise DamagedError("a session in the list of transcripts has not one main file")
    spelled = tuple(map(_text, _items(fields["spellings"], SPELLINGS)))
    PathMap.of(
        [(place, _ANYWHERE) for place in (_text(fields["top"]), *spelled, _text(fields["home"]))]
    )
    folded = [paths.fold(file.name.encode("utf-8", "surrogateescape")) for file in files]
    if len({*folded}) != len(folded):
        raise DamagedError(f"a session has two files of one name: {plain(session)}")
    return Packed(
        agent=agent, id=session, project=project, files=files, main=fields["main"],
        version=_text(fields["version"]), cwd=_text(fields["cwd"]), top=_text(fields["top"]),
        spellings=spelled,
        home=_text(fields["home"]), platform=fields["platform"],
    )  # fmt: skip


def check_name(agent: str, session: str, project: str, name: str) -> None:
    """Raise RefusedError unless a parcel may write a file of this name for this session."""
    problem = paths.path_problem(name.encode("utf-8", "surrogateescape"))
    parts = name.split("/")
    elsewhere = agent == CLAUDE and parts[0] == "projects" and parts[1:2] != [project]
    if problem or elsewhere or "\\" in name or belongs(agent, name) != session:
        raise RefusedError(f"a transcript may not bring the file {plain(name)}")


def _file(value: object) -> File:
    fields = _fields(value, File)
    size, mtime, pieces = fields["size"], fields["mtime"], _text(fields["pieces"])
    numbers = type(size) is int and type(mtime) is int
    if not numbers or not 0 <= size <= _LAST_SECOND or not 0 <= mtime <= _LAST_SECOND:
        raise DamagedError("a file in the list of transcripts is malformed")
    digest = _text(fields["sha256"])
    if not _SHA256.fullmatch(digest) or not _PIECES.fullmatch(pieces) or bool(size) != bool(pieces):
        raise DamagedError("a file in the list of transcripts is malformed")
    return File(_text(fields["name"]), size, digest, mtime, pieces)


def _fields(value: object, kind: type) -> Mapping[str, Any]:
    if not isinstance(value, dict) or value.keys() != {*kind.__dataclass_fields__}:  # type: ignore[attr-defined]
        raise DamagedError("the list of transcripts is malformed")
    return value


def _items(value: object, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise DamagedError("the list of transcripts is malformed")
    if len(value) > most:
        raise RefusedError(f"a list of transcripts has {len(value)} items, and {most} is the most")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > TEXT or "\0" in value or not is_spelled(value):
        raise DamagedError("the list of transcripts is malformed")
    return value


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a file in blocks of whole lines: the first that end at ``PIECE`` bytes or later.

    A line that is longer than ``WHOLE`` is cut there.
    """
    held = bytearray()
    searched = PIECE - 1
    for chunk in chunks:
        held += chunk
        while len(held) > searched:
            at = held.find(b"\n", searched)
            if at < 0 and len(held) < WHOLE:
                searched = len(held)
                break
            end = at + 1 if 0 <= at < WHOLE else WHOLE
            yield bytes(held[:end])
            del held[:end]
            searched = PIECE - 1
    if held:
        yield bytes(held)


def cut(block: bytes) -> Iterator[bytes]:
    """Yield a block in pieces as they travel."""
    for at in range(0, len(block), LONGEST):
        yield block[at : at + LONGEST]


def piece_name(number: int) -> bytes:
    """Return the name of a piece in the tree of its file."""
    return b"%08d" % number


def check_pieces(file: File, found: Iterable[tuple[bytes, bool, int]]) -> None:
    """Raise DamagedError unless ``found`` (name, whether it is a file, size) is all of ``file``."""
    pieces = list(found)
    wanted = [piece_name(number) for number in range(len(pieces))]
    sizes = [size for _, is_file, size in pieces if is_file]
    fits = [name for name, _, _ in pieces] == wanted and len(sizes) == len(pieces)
    if not fits or not all(0 < size <= LONGEST for size in sizes) or sum(sizes) != file.size:
        raise DamagedError(f"the pieces of the transcript {plain(file.name)} are not its file")


def person_problem(mine: str | None, theirs: str | None) -> str:
    """Return why a transcript does not pass between machines of these persons, or ""."""
    if mine is not None and mine == theirs:
        return ""
    whose = f"{plain(theirs)}'s" if theirs else "of nobody that is known"
    return f"a transcript goes only between machines of one person, and that machine is {whose}"


def chosen(ids: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return which of ``ids``, newest first, are ``wanted``: by id, its beginning, or ``all``.

    The newest if nothing is said; RefusedError where a word names none of them, or several.
    """
    if not wanted:
        return [0]
    if "all" in wanted:
        return [*range(len(ids))]
    found = {}
    for word in wanted:
        fits = [n for n, session in enumerate(ids) if word and session.startswith(word.lower())]
        fits = [n for n in fits if ids[n] == word.lower()] or fits
        if len(fits) != 1:
            many = f"{len(fits)} sessions of this checkout begin" if fits else "no session begins"
            raise RefusedError(
                f"{many} with {plain(word)}", hint="handsoff sessions lists them; type more of it"
            )
        found[fits[0]] = True
    return sorted(found)


def sending_problem(verb: str, receivers: int, mine: str | None, theirs: str | None) -> str:
    """Return why a parcel of ``verb`` for so many receivers takes no transcript along, or ""."""
    if verb != "send" or receivers != 1:
        return "a transcript goes only to one machine that is named, with send"
    return person_problem(mine, theirs)
