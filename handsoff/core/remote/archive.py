"""Which records were deleted on purpose: a chain of signed entries that name them, with the tip.

A ref that is gone looks the same whether somebody tidied up or took a history away. So each
deletion is first named in ``<prefix>/archive``:

    Archived   refs: the name of each ref without the prefix, and the ids of its whole chain

Rule of the room: the archive alone deletes nothing. A reader that saw the record lets it go only
if what it saw is in a chain that is named, and was closed there, if it saw the end; one that saw
an earlier state, if nobody carries the work by that (``lets_go``). So a member who names a work
that somebody carries gains nothing by it, nor does who rewinds a record before it is tidied away.

Entries are judged like those of a record. A revocation names the archive's tip under ``""``,
which is the name of no work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias

from handsoff.core.chain import (
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
from handsoff.core.ids import is_oid, machine_id
from handsoff.core.machines.roster import Member, Roster
from handsoff.core.objects import EMPTY_TREE
from handsoff.core.works.lease import State
from handsoff.core.works.record import Record
from handsoff.errors import RefusedError, TrustError

LIMIT: Final = 1 << 20
"""Bytes of an entry, which may name many refs."""

AT_ONCE: Final = 15_000
"""Ids that one entry is to name at most, a name of a ref counting as six: well below the limit."""

REVOKED_AT: Final = ""
"""Under what a revocation names the tip of the archive."""

_FIELDS: Final = frozenset({"v", "kind", "seq", "prev", "by", "at", "repo", "roster", "refs"})
_ROOMS: Final = ("lease/", "notes/")

ArchiveEntry: TypeAlias = Judged[Link]


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The archive as far as it was read; ``refs`` has the chains that were let go, by ref."""

    roster: Roster
    entries: tuple[ArchiveEntry, ...] = ()
    refs: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    tip: str = ""
    git_tip: str | None = None
    seq: int = 0
    at: int = 0
    under: int = 0
    passed: frozenset[str] = frozenset()

    def names(self, ref: str, seen: str) -> bool:
        """Say whether ``ref`` (without the prefix) was let go with the entry ``seen`` in it."""
        return any(seen in chain for chain in self.refs.get(ref, ()))

    def ends(self, ref: str, tip: str) -> bool:
        """Say whether ``ref`` was let go when it stood at ``tip``."""
        return any(chain[-1] == tip for chain in self.refs.get(ref, ()))

    def extend(self, commits: Commits) -> "Archive":
        """Return the archive after further commits; raise DamagedError if they do not follow."""
        check_chain(commits, after=self.git_tip)
        read = self
        for oid, data in commits:
            read = _read(read, open_link(oid, data, limit=LIMIT))
        return read


def lets_go(archive: Archive, ref: str, seen: Record, now: datetime) -> bool:
    """Say whether the record that was ``seen`` may be gone from ``ref``."""
    tip = seen.git_tip or ""
    if seen.behind or not archive.names(ref, tip):
        return False
    if archive.ends(ref, tip):
        return seen.lease.state is State.CLOSED
    return seen.lease.until is None or seen.has_lapsed(now)


def read_after(empty: Record, commits: Commits, ref: str, archive: Callable[[], Archive]) -> Record:
    """Return the record that ``commits`` add up to, after one of the same name or not.

    A revocation may name a tip of a record that was archived since. It is not waited for then: the
    revoked machine had its last word there, and has none in the new record. ``archive`` is asked
    only where that may be so.
    """
    record = empty.extend(commits)
    gone = [(m.id, m.revoked) for m in record.roster.everyone.values() if m.revoked is not None]
    tips = {machine: by.tips[record.work] for machine, by in gone if record.work in by.tips}
    if not record.behind or not tips:
        return record
    read = archive()
    passed = frozenset(machine for machine, tip in tips.items() if read.names(ref, tip))
    return replace(empty, passed=passed).extend(commits)


def archived(
    read: Archive, refs: Mapping[str, Sequence[str]], *, by: str, at: int, sign: Sign
) -> Draft:
    """Return the entry that names ``refs``, each with its chain, before they are deleted."""
    roster = read.roster
    if roster.member(by) is None:
        raise TrustError(f"{roster.name_of(by)} is not in the roster")
    body = {
        "kind": "Archived",
        "repo": roster.founding,
        "roster": roster.tip,
        "seq": read.seq + 1,
        "prev": read.tip,
        "refs": {ref: list(chain) for ref, chain in refs.items()},
    }
    oid, data = compose(
        f"{roster.name_of(by)} archived {len(refs)} {'ref' if len(refs) == 1 else 'refs'}",
        body,
        parent=read.git_tip,
        tree=EMPTY_TREE,
        name=roster.name_of(by),
        machine=by,
        at=max(at, read.at),
        sign=sign,
    )
    verdict = read.extend([(oid, data)]).entries[-1]
    if not verdict.good:
        raise RefusedError(verdict.reason, hint="handsoff prune, again")
    return Draft(oid=oid, data=data)


def _read(read: Archive, link: Link | Flaw) -> Archive:
    """Return the archive after one more link."""
    judged = _judge(read, link)
    after = replace(
        read,
        entries=(*read.entries, judged),
        git_tip=link.oid,
        passed=read.passed | _passing(read.roster, link.oid),
    )
    if not judged.good or judged.entry is None:
        return after
    body = judged.entry.body
    named = {ref: (*read.refs.get(ref, ()), tuple(ids)) for ref, ids in body["refs"].items()}
    return replace(
        after,
        refs={**read.refs, **named},
        tip=link.oid,
        seq=body["seq"],
        at=judged.entry.at,
        under=read.roster.numbers[body["roster"]],
    )


def _judge(read: Archive, link: Link | Flaw) -> ArchiveEntry:
    signer = None if link.key is None else read.roster.everyone.get(machine_id(link.key))
    word = _word(read, link, signer)
    if isinstance(link, Flaw):
        return Judged(oid=link.oid, word=word, reason=link.reason)
    if word is not Word.SIGNED:
        return Judged(oid=link.oid, word=word, reason=f"{link.by}: {word.value}")
    reason = next((said for check in CHECKS if (said := check(read, link))), "")
    return Judged(oid=link.oid, word=word, reason=reason, entry=link)


def _word(read: Archive, link: Link | Flaw, signer: Member | None) -> Word:
    if isinstance(link, Flaw) and link.key is None:
        return link.word
    if signer is None:
        return Word.UNKNOWN
    if signer.revoked is None:
        return Word.SIGNED
    late = signer.id in read.passed or REVOKED_AT not in signer.revoked.tips
    if isinstance(link, Link):
        under = read.roster.numbers.get(str(link.body.get("roster")), 0)
        late = late or under >= signer.revoked.seq
    return Word.REVOKED if late else Word.SIGNED


def _passing(roster: Roster, oid: str) -> frozenset[str]:
    """Return the revoked machines whose last word in the archive is ``oid``."""
    gone = (m for m in roster.everyone.values() if m.revoked is not None)
    return frozenset(
        m.id for m in gone if m.revoked is not None and m.revoked.tips.get(REVOKED_AT) == oid
    )


def _shape(_: Archive, link: Link) -> str:
    body = link.body
    if body["kind"] != "Archived" or body.keys() != _FIELDS:
        return f"not an entry of the archive: {body['kind'][:40]}"
    refs = body["refs"]
    if not isinstance(refs, dict) or not refs:
        return "it names no refs"
    if not all(ref.startswith(_ROOMS) and _is_chain(ids) for ref, ids in refs.items()):
        return "it names what is no record and no notes, or a chain that is none"
    return ""


def _is_chain(ids: object) -> bool:
    return isinstance(ids, list) and bool(ids) and all(map(is_oid, ids))


def _place(read: Archive, link: Link) -> str:
    return "" if link.body["repo"] == read.roster.founding else "an entry of another repository"


def _order(read: Archive, link: Link) -> str:
    if (link.body["prev"], link.body["seq"]) != (read.tip, read.seq + 1):
        return "out of turn: it does not follow the last good entry"
    return "" if link.at >= read.at else "dated before the entry that it follows"


def _admitted(read: Archive, link: Link) -> str:
    under = read.roster.numbers.get(str(link.body["roster"]))
    if under is None:
        return "made under a roster that is not known here"
    if under < read.under:
        return "made under an older roster than the entry that it follows"
    if read.roster.everyone[link.by].admitted > under:
        return "signed by a machine that was not admitted yet"
    return ""


def _no_files(_: Archive, link: Link) -> str:
    return "" if link.tree == EMPTY_TREE else "an entry of the archive has no files"


CHECKS: Final[tuple[Callable[[Archive, Link], str], ...]] = (
    _shape,
    _place,
    _order,
    _admitted,
    _no_files,
)
"""What an entry must pass; each returns a reason against it, or ""."""
