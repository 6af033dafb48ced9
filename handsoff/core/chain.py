"""One link of a chain of signed commits: how it is written, and what is wrong with it.

Roster and record are such chains. A link is a commit on top of the last one, whoever made
that; its message is a subject, a blank line, and one line of canonical JSON:

    tree <empty, or what the chain allows>
    parent <the tip of the ref before>
    author <name> <machine id@handsoff.invalid> <at> +0000
    committer <the same>
    gpgsig <SSHSIG, namespace git>

Rule of the room: nothing here decides what a link may say. It tells a link that is what it
seems (``Link``) from one that is not (``Flaw``), and never raises for what others wrote,
except when the commits given are no chain at all.

Source: git-commit(1), gitformat-signature(5), PROTOCOL.sshsig of OpenSSH.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeAlias, TypeVar

from handsoff.core import canon
from handsoff.core.ids import machine_id
from handsoff.core.objects import Commit, encode_commit, oid_of, parse_commit
from handsoff.core.sshwire import signer
from handsoff.errors import DamagedError

LIMIT: Final = 8 << 10
"""Bytes a link may have, unless its chain says otherwise."""

NAMESPACE: Final = "git"
VERSION: Final = 1
LATEST: Final = 1 << 37
"""The last second a link may name: far enough off for any clock, near enough to add to."""

_PERSON: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62} <([a-z2-7]{26})@handsoff\.invalid> (0|[1-9][0-9]*) \+0000"
)
_SUBJECT_LIMIT: Final = 300
_FIXED: Final = frozenset({"v", "kind", "seq", "prev", "by", "at"})

Sign: TypeAlias = Callable[[bytes, str], str]
"""Signs a message for a namespace, and returns the armored SSHSIG."""

Commits: TypeAlias = Sequence[tuple[str, bytes]]
"""Object ids and raw commits along the first parents, oldest first."""


class Word(Enum):
    """What can be said of the signature of a link."""

    SIGNED = "signed"
    UNKNOWN = "unknown signer"
    BAD = "bad"
    UNSIGNED = "unsigned"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link whose signature holds and which is what it says about itself."""

    oid: str
    tree: str
    subject: str
    body: dict[str, Any]
    key: bytes
    size: int

    @property
    def by(self) -> str:
        """The machine that signed, which is the one that the body names."""
        return str(self.body["by"])

    @property
    def at(self) -> int:
        """When, in seconds since 1970, by the clock of the machine that signed."""
        return int(self.body["at"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """A link that is void whatever its chain allows; ``key`` is set if the signature holds."""

    oid: str
    word: Word
    reason: str
    key: bytes | None = None


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Generic[T]):
    """A link and what its chain makes of it; it is good if there is no reason against it."""

    oid: str
    word: Word
    reason: str = ""
    entry: T | None = None

    @property
    def good(self) -> bool:
        """Whether the entry counts; one that does not is void: shown, skipped, stood upon."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A link that was written here; ``tree`` are the bytes of the tree object that it names."""

    oid: str
    data: bytes
    tree: bytes = b""


def compose(
    subject: str,
    body: dict[str, Any],
    *,
    parent: str | None,
    tree: str,
    name: str,
    machine: str,
    at: int,
    sign: Sign,
) -> tuple[str, bytes]:
    """Return the id and the bytes of a signed link; ``machine`` and ``at`` go into its body."""
    who = f"{name} <{machine}@handsoff.invalid> {at} +0000"
    line = canon.encode({**body, "v": VERSION, "by": machine, "at": at}).decode("ascii")
    commit = Commit(
        tree=tree,
        parents=() if parent is None else (parent,),
        author=who,
        committer=who,
        message=f"{subject}\n\n{line}\n",
    )
    data = encode_commit(commit)
    armored = sign(data, NAMESPACE).strip("\n")
    at_message = data.index(b"\n\n")
    header = b"\ngpgsig " + armored.replace("\n", "\n ").encode("ascii")
    data = data[:at_message] + header + data[at_message:]
    return oid_of("commit", data), data


def open_link(oid: str, data: bytes, *, limit: int = LIMIT) -> Link | Flaw:
    """Return the link that ``data`` spells, or what is wrong with it."""
    if len(data) > limit:
        return Flaw(oid=oid, word=Word.BAD, reason=f"{len(data)} bytes, over the limit of {limit}")
    try:
        data.decode("utf-8")
        commit = parse_commit(data)
    except UnicodeDecodeError:
        return Flaw(oid=oid, word=Word.BAD, reason="not UTF-8")
    except DamagedError as error:
        return Flaw(oid=oid, word=Word.BAD, reason=str(error))
    if not commit.signatures:
        return Flaw(oid=oid, word=Word.UNSIGNED, reason="not signed")
    try:
        key = _signer(commit)
    except DamagedError as error:
        return Flaw(oid=oid, word=Word.BAD, reason=str(error))
    try:
        _check_frame(commit, data)
        subject, body = _read_message(commit, limit)
        _check_agrees(commit, body, machine_id(key))
    except DamagedError as error:
        return Flaw(oid=oid, word=Word.SIGNED, reason=str(error), key=key)
    return Link(oid=oid, tree=commit.tree, subject=subject, body=body, key=key, size=len(data))


def check_chain(commits: Commits, *, after: str | None = None) -> None:
    """Raise DamagedError unless each commit has its own id and stands on the one before."""
    for oid, data in commits:
        if oid_of("commit", data) != oid:
            raise DamagedError(f"the bytes of commit {oid} are not its own")
        parents = parents_of(data)
        if (parents[0] if parents else None) != after:
            stands_on = parents[0] if parents else "nothing"
            raise DamagedError(f"commit {oid} stands on {stands_on}, not on {after or 'nothing'}")
        after = oid


def parents_of(data: bytes) -> tuple[str, ...]:
    """Return the parents of a raw commit, however large or malformed the rest of it is."""
    found = []
    for line in data.split(b"\n", 64)[1:64]:
        if not line.startswith(b"parent "):
            break
        found.append(line[7:].decode("ascii", "replace"))
    return tuple(found)


def line_of(below: Mapping[str, str], tip: str, known: str) -> list[str]:
    """Return the ids from after ``known`` up to ``tip``, oldest first; none if there is a gap."""
    found = []
    while tip != known:
        if tip not in below:
            return []
        found.append(tip)
        tip = below[tip]
    return found[::-1]


class Tips(Enum):
    """How a chain on the remote stands to the one seen before."""

    SAME = "same"
    AHEAD = "ahead"
    REWOUND = "rewound"
    FORKED = "forked"
    DELETED = "deleted"


def compare_tips(seen: Sequence[str], found: Sequence[str]) -> Tips:
    """Compare two chains of ids, oldest first; of ``seen`` the last id alone will do.

    Only same and ahead are honest. Without the ids below the seen tip, a rewound chain
    cannot be told from a forked one, and reads as forked.
    """
    if not seen:
        return Tips.AHEAD if found else Tips.SAME
    if not found:
        return Tips.DELETED
    if seen[-1] == found[-1]:
        return Tips.SAME
    if seen[-1] in found:
        return Tips.AHEAD
    return Tips.REWOUND if found[-1] in seen else Tips.FORKED


def _signer(commit: Commit) -> bytes:
    if len(commit.signatures) > 1:
        raise DamagedError(f"{len(commit.signatures)} signatures, where one is expected")
    armored = commit.signatures[0]
    key = signer(armored, NAMESPACE, encode_commit(commit, signed=False))
    if key is None:
        raise DamagedError("the signature does not hold")
    # the armor is not signed itself: a second spelling would be the same entry by another id
    lines = armored.split("\n")
    blob = "".join(lines[1:-1])
    folded = [blob[i : i + 70] for i in range(0, len(blob), 70)]
    if folded != lines[1:-1] or b64encode(b64decode(blob)).decode("ascii") != blob:
        raise DamagedError("the signature is spelled in another way than ours")
    return key


def _check_frame(commit: Commit, data: bytes) -> None:
    if len(commit.parents) > 1:
        raise DamagedError(f"a merge of {len(commit.parents)} parents")
    if commit.others:
        raise DamagedError(f"a header too many: {commit.others[0][0][:40]}")
    if encode_commit(commit) != data:
        raise DamagedError("headers in another order than ours")


def _read_message(commit: Commit, limit: int) -> tuple[str, dict[str, Any]]:
    match commit.message.split("\n"):
        case [subject, "", line, ""]:
            body = canon.decode(line.encode(), limit=limit)
        case _:
            raise DamagedError("the message is not a subject and one line")
    if not 0 < len(subject) <= _SUBJECT_LIMIT or not subject.isprintable():
        raise DamagedError("the subject is not one printable line")
    if not body.keys() >= _FIXED or body["v"] != VERSION or type(body["v"]) is not int:
        raise DamagedError(f"not an entry of format {VERSION}")
    if type(body["at"]) is not int or not 0 < body["at"] <= LATEST:
        raise DamagedError(f"no time that we can read: {str(body['at'])[:40]}")
    if type(body["seq"]) is not int or not isinstance(body["kind"], str):
        raise DamagedError("not an entry: its number or its kind is of another type")
    return subject, body


def _check_agrees(commit: Commit, body: dict[str, Any], signed_by: str) -> None:
    """Git shows author and committer, which anybody can write: they must be the signer."""
    if body["by"] != signed_by:
        raise DamagedError(f"signed by {signed_by} in the name of {str(body['by'])[:40]}")
    shown = _PERSON.fullmatch(commit.author)
    if commit.committer != commit.author or shown is None or shown[1] != signed_by:
        raise DamagedError("author and committer are not the machine that signed")
    if shown[2] != str(body["at"]):
        raise DamagedError("the time of the commit is not the time that was signed")
