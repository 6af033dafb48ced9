"""What one machine says about a work without changing it: notes, and the refusals it was given.

A note must not move the chain that others stand on, so each machine keeps a chain of its own for
each work, which nobody else writes. Links are like those of a record (``chain``), with the tip of
the record that was seen (``saw``):

    Noted     text
    Refused   tried (the kind of entry), leg, revision, reason, winner (a machine id, or "")

A link that breaks a rule is void: shown, skipped, and stood upon. What a revoked machine noted
is good up to the tip of its chain that the revocation names, under ``revoked_at``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from handsoff.core.chain import (
    LATEST,
    Commits,
    Draft,
    Flaw,
    Judged,
    Link,
    Sign,
    Word,
    check_chain,
    compose,
    open_link,
)
from handsoff.core.ids import is_machine_id, is_oid, machine_id
from handsoff.core.machines.roster import Roster
from handsoff.core.objects import EMPTY_TREE
from handsoff.errors import DamagedError, RefusedError, TrustError

TEXT_LIMIT: Final = 4000
"""Characters of a note, or of the reason of a refusal."""

_FIXED: Final = frozenset({"v", "kind", "seq", "prev", "by", "at", "repo", "roster", "work", "saw"})

_Check: TypeAlias = Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note or a refusal. ``saw`` is the tip of the record that the machine had before it."""

    by: str
    at: int
    seq: int
    saw: str
    text: str
    """The note, or the reason of the refusal."""
    tried: str = ""
    """The kind of entry that was refused, such as Saved; "" of a note."""
    leg: int = 0
    revision: int = 0
    winner: str = ""


NoteEntry: TypeAlias = Judged[Note]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The chain of ``machine`` about ``work``, as far as it was read."""

    roster: Roster
    work: str
    machine: str
    entries: tuple[NoteEntry, ...] = ()
    tip: str = ""
    git_tip: str | None = None
    seq: int = 0
    at: int = 0
    past: bool = False
    """Whether the last link was read that a revoked machine is believed about."""

    @property
    def good(self) -> list[Note]:
        """The notes that count, oldest first."""
        return [e.entry for e in self.entries if e.good and e.entry is not None]

    def extend(self, commits: Commits) -> "Notes":
        """Return the chain after further commits; raise DamagedError if they do not follow."""
        check_chain(commits, after=self.git_tip)
        read = self
        for oid, data in commits:
            verdict = _judge(read, open_link(oid, data))
            past = read.past or oid == _last_word(read)
            read = replace(read, entries=(*read.entries, verdict), git_tip=oid, past=past)
            if verdict.good and verdict.entry is not None:
                read = replace(read, tip=oid, seq=verdict.entry.seq, at=verdict.entry.at)
        return read


def noted(read: Notes, text: str, *, saw: str, at: int, sign: Sign) -> Draft:
    """Return the link that adds a note to ``read``."""
    if not text.strip():
        raise RefusedError("an empty note says nothing", hint='handsoff note "what is so"')
    if len(text) > TEXT_LIMIT:
        said = f"a note of {len(text)} characters, over the limit of {TEXT_LIMIT}"
        raise RefusedError(said, hint="put it on the page, and note where it is")
    return _write(read, "Noted", {"text": text}, saw=saw, at=at, sign=sign)


def refused(
    read: Notes,
    *,
    tried: str,
    leg: int,
    revision: int,
    reason: str,
    winner: str,
    saw: str,
    at: int,
    sign: Sign,
) -> Draft:
    """Return the link that adds a refusal to ``read``."""
    fields = {
        "tried": tried,
        "leg": leg,
        "revision": revision,
        "reason": reason[:TEXT_LIMIT],
        "winner": winner,
    }
    return _write(read, "Refused", fields, saw=saw, at=at, sign=sign)


def _write(
    read: Notes, kind: str, fields: dict[str, Any], *, saw: str, at: int, sign: Sign
) -> Draft:
    roster = read.roster
    if roster.member(read.machine) is None:
        raise TrustError(f"{roster.name_of(read.machine)} is not in the roster")
    body = {
        **fields,
        "kind": kind,
        "repo": roster.founding,
        "roster": roster.tip,
        "work": read.work,
        "seq": read.seq + 1,
        "prev": read.tip,
        "saw": saw,
    }
    oid, data = compose(
        f"{roster.name_of(read.machine)} {'noted' if kind == 'Noted' else 'was refused'}",
        body,
        parent=read.git_tip,
        tree=EMPTY_TREE,
        name=roster.name_of(read.machine),
        machine=read.machine,
        at=max(at, read.at),
        sign=sign,
    )
    verdict = read.extend([(oid, data)]).entries[-1]
    if not verdict.good:
        raise RefusedError(verdict.reason)
    return Draft(oid=oid, data=data)


def revoked_at(work: str) -> str:
    """Return under what a revocation names the tip of the machine's notes: no work is called so."""
    return f"/{work}"


def _last_word(read: Notes) -> str:
    """Return the last link that the machine of this chain is believed about, if it is revoked."""
    member = read.roster.everyone.get(read.machine)
    revoked = member.revoked if member is not None else None
    return revoked.tips.get(revoked_at(read.work), "") if revoked is not None else ""


def _judge(read: Notes, link: Link | Flaw) -> NoteEntry:
    signer = None if link.key is None else read.roster.everyone.get(machine_id(link.key))
    word = Word.SIGNED
    if isinstance(link, Flaw) and link.key is None:
        word = link.word
    elif signer is None:
        word = Word.UNKNOWN
    elif signer.revoked is not None and (read.past or not _last_word(read)):
        word = Word.REVOKED
    if isinstance(link, Flaw):
        return Judged(oid=link.oid, word=word, reason=link.reason)
    if word is not Word.SIGNED:
        return Judged(oid=link.oid, word=word, reason=f"{link.by}: {word.value}")
    try:
        note = _note(link)
    except DamagedError as error:
        return Judged(oid=link.oid, word=word, reason=str(error))
    reason = next((said for check in CHECKS if (said := check(read, link))), "")
    return Judged(oid=link.oid, word=word, reason=reason, entry=note)


def _note(link: Link) -> Note:
    body, kind = link.body, link.body["kind"]
    fits = _KINDS.get(kind)
    if fits is None:
        raise DamagedError(f"not a note: {kind[:40]}")
    if body.keys() != _FIXED | fits.keys():
        odd = sorted(body.keys() ^ (_FIXED | fits.keys()))
        raise DamagedError(f"fields that do not belong to {kind}: {', '.join(odd)[:80]}")
    wrong = [name for name, check in (_COMMON | fits).items() if not check(body[name])]
    if wrong:
        raise DamagedError(f"a field that does not read: {wrong[0]}")
    own = {name: body[name] for name in ("tried", "leg", "revision", "winner") if name in body}
    text = body["text"] if kind == "Noted" else body["reason"]
    return Note(by=link.by, at=link.at, seq=body["seq"], saw=body["saw"], text=text, **own)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= TEXT_LIMIT


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= LATEST


def _is_oid_or_nothing(value: object) -> bool:
    return value == "" or is_oid(value)


_COMMON: Final[dict[str, _Check]] = {
    "saw": _is_oid_or_nothing,
    "repo": is_oid,
    "roster": is_oid,
    "prev": _is_oid_or_nothing,
    "work": lambda value: isinstance(value, str),
}
_KINDS: Final[dict[str, dict[str, _Check]]] = {
    "Noted": {"text": _is_text},
    "Refused": {
        "tried": lambda value: isinstance(value, str) and value.isalpha() and len(value) <= 20,  # noqa: PLR2004
        "leg": _is_count,
        "revision": _is_count,
        "reason": _is_text,
        "winner": lambda value: value == "" or is_machine_id(value),
    },
}


def _writer(read: Notes, link: Link) -> str:
    return "" if link.by == read.machine else "in the chain of another machine"


def _place(read: Notes, link: Link) -> str:
    if link.body["repo"] != read.roster.founding:
        return "a note of another repository"
    return "" if link.body["work"] == read.work else "a note on another work"


def _order(read: Notes, link: Link) -> str:
    if (link.body["prev"], link.body["seq"]) != (read.tip, read.seq + 1):
        return "out of turn: it does not follow the last good note"
    return "" if link.at >= read.at else "dated before the note that it follows"


def _admitted(read: Notes, link: Link) -> str:
    under = read.roster.numbers.get(link.body["roster"])
    if under is None:
        return "made under a roster that is not known here"
    member = read.roster.everyone[link.by]
    if member.admitted > under:
        return "signed by a machine that was not admitted yet"
    if member.revoked is not None and under >= member.revoked.seq:
        return "signed by a machine that was revoked by then"
    return ""


def _no_files(_: Notes, link: Link) -> str:
    return "" if link.tree == EMPTY_TREE else "a note has no files"


CHECKS: Final[tuple[Callable[[Notes, Link], str], ...]] = (
    _writer,
    _place,
    _order,
    _admitted,
    _no_files,
)
"""What a note must pass; each returns a reason against it, or ""."""
