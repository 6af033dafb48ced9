"""The program that git calls on a server of one's own, to hear whether a push is let in.

    python -m handsoff.prereceive < lines of "<old> <new> <ref>"

Rules of the room: the rules are those of ``core/remote/gate.py``; no key is needed here, and no SSH
library or libgit2 is imported. What cannot be verified is refused, for our refs and for branches
with a record; other pushes, and a server without a roster, are none of its business.

Source: githooks(5).
"""

import os
import sys
from functools import cached_property
from typing import Final

from handsoff.core.chain import LIMIT, Commits
from handsoff.core.ids import work_component
from handsoff.core.machines.admission import REVOKED_LIMIT, RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.core.objects import parse_commit
from handsoff.core.pages import page
from handsoff.core.plain import plain, plain_block
from handsoff.core.remote import archive, gate
from handsoff.core.remote.archive import Archive
from handsoff.core.remote.gate import Chapter, Update
from handsoff.core.remote.places import PREFIX, check_prefix
from handsoff.core.remote.pushcert import Certificate, read_certificate
from handsoff.core.remote.pushing import NOTHING_THERE
from handsoff.core.remote.refs import HEADS, Kind, Ref, read_ref
from handsoff.core.works.lease import Saved
from handsoff.core.works.notes import Notes
from handsoff.core.works.record import Record
from handsoff.edge import clock, tongue
from handsoff.edge.git.bare import Bare, open_bare
from handsoff.edge.git.repo import decode
from handsoff.errors import DamagedError, HandsoffError, RefusedError

_WORDS: Final = 3


class Door:
    """One push at the door of one repository."""

    def __init__(self, bare: Bare, updates: list[Update]) -> None:
        self.bare = bare
        self.prefix = check_prefix(bare.setting("handsoff.refs") or PREFIX)
        self.updates = {update.ref: update for update in updates}
        self.refs = {name: read_ref(name, self.prefix) for name in self.updates}
        self.chapters: dict[str, Chapter] = {}

    def judge(self) -> None:
        """Raise for the first thing that may not be let in."""
        founding = self.bare.setting("handsoff.founding")
        roster = f"{self.prefix}/roster"
        if not founding and roster not in self.updates and not self._tip(roster):
            return
        first = (Kind.ROSTER, Kind.ARCHIVE, Kind.RECORD)  # the rest is judged by what these become
        for kind in (*first, *(k for k in Kind if k not in (*first, Kind.OTHER))):
            self._judge_all(kind)
        for chapter in self.chapters.values():
            gate.check_claims(chapter, {e.branch: self._branch(e.branch) for e in chapter.pushed})

    def _judge_all(self, kind: Kind) -> None:
        for update, ref in zip(self.updates.values(), self.refs.values(), strict=True):
            if ref.kind is not kind:
                continue
            if not update.new and kind is not Kind.BRANCH:
                allowed = self.bare.switch("handsoff.allowdeletion")
                archived = not allowed and self._is_archived(update, ref)
                gate.check_deleted(update, kind, archived=archived, allowed=allowed)
            else:
                self._judge(update, ref)

    def _judge(self, update: Update, ref: Ref) -> None:
        match ref.kind:
            case Kind.ROSTER:
                _, fresh = self._chain(update, REVOKED_LIMIT)
                gate.check_fresh(update, self._read.entries, fresh)
                self._read.trusted()
            case Kind.RECORD:
                self.chapters[ref.component] = self._chapter(ref.component, update)
            case Kind.NOTES:
                self._judge_notes(update, ref)
            case Kind.PARCEL:
                kind, size = self.bare.sizes([update.new])[0]
                if kind != "commit" or size > LIMIT:
                    raise RefusedError(f"{plain(update.ref)} is no parcel")
                gate.check_parcel(update, parse_commit(self.bare.read(update.new)))
            case Kind.ARCHIVE:
                _, fresh = self._chain(update, archive.LIMIT)
                gate.check_fresh(update, self._archive.entries, fresh)
            case Kind.PROBE:
                ids = self.bare.ids(update.new)[-gate.PROBES - 1 :]
                gate.check_probe(update, self.bare.commits(ids, len(ids), LIMIT))
            case Kind.BRANCH:
                self._judge_branch(update, ref.work)
            case _:
                raise RefusedError(
                    f"{plain(update.ref)} is no ref that handsoff knows",
                    hint="if the pusher's handsoff makes it, update the one on the server",
                )

    def _chapter(self, component: str, update: Update) -> Chapter:
        commits, fresh = self._chain(update, LIMIT)
        work, name = gate.work_named(component, commits), f"lease/{component}"
        record = self._record(work, name, commits)
        gate.check_new(update, self._archive, name, [oid for oid, _ in commits])
        gate.check_fresh(update, record.entries, fresh)
        gate.check_behind(record)
        for entry in record.entries[len(record.entries) - fresh :]:
            event = entry.entry.event if entry.entry is not None else None
            if isinstance(event, Saved) and event.page:
                kind, size = self.bare.sizes([event.page])[0]
                if kind != "blob" or size > page.LIMIT:
                    raise RefusedError(f"a page of {size} bytes, over the limit of {page.LIMIT}")
        return Chapter(record, fresh)

    def _judge_notes(self, update: Update, ref: Ref) -> None:
        commits, fresh = self._chain(update, LIMIT)
        work = gate.work_named(ref.component, commits)
        notes = Notes(roster=self._roster, work=work, machine=ref.last).extend(commits)
        gate.check_fresh(update, notes.entries, fresh)

    def _judge_branch(self, update: Update, branch: str) -> None:
        component = work_component(branch)
        if component not in self.chapters:
            ref = f"{self.prefix}/lease/{component}"
            tip = self._tip(ref)
            if not tip:
                return
            if len(self.chapters) >= gate.WORKS:
                raise RefusedError(f"a push of more than {gate.WORKS} works", hint="push fewer")
            self.chapters[component] = self._chapter(component, Update(ref, tip, tip))
        record = self.chapters[component].record
        signed, unsigned = self._certificate
        vouching = gate.vouchers(update, record, self.chapters.values(), signed)
        gate.check_branch(record, vouching, clock.now(), unsigned=unsigned)

    def _chain(self, update: Update, limit: int) -> tuple[Commits, int]:
        """Return the whole chain as it would be, and how many of its entries are new."""
        before = self.bare.ids(update.old) if update.old else []
        after = self.bare.ids(update.new)
        fresh = gate.check_goes_on(update, before, after)
        return self.bare.commits(after, fresh, limit), fresh

    @cached_property
    def _read(self) -> RosterRead:
        tip = self._tip(f"{self.prefix}/roster")
        ids = self.bare.ids(tip) if tip else []
        pinned = self.bare.setting("handsoff.founding")
        return RosterRead(pinned=pinned).extend(self.bare.commits(ids, 0, REVOKED_LIMIT))

    @property
    def _roster(self) -> Roster:
        return self._read.trusted()

    @cached_property
    def _certificate(self) -> tuple[Certificate | None, str]:
        """Return the certificate of the push, or why it does not count, if there is one."""
        oid, given = os.environ.get("GIT_PUSH_CERT", ""), os.environ.get
        if not oid:
            return None, ""
        nonce, status = given("GIT_PUSH_CERT_NONCE", ""), given("GIT_PUSH_CERT_NONCE_STATUS", "")
        try:
            data = self.bare.read(oid, "blob")
            return read_certificate(data, nonce=nonce, status=status), ""
        except DamagedError as error:
            return None, str(error)

    def _record(self, work: str, name: str, commits: Commits) -> Record:
        empty = Record(roster=self._roster, work=work)
        return archive.read_after(empty, commits, name, lambda: self._archive)

    def _is_archived(self, update: Update, ref: Ref) -> bool:
        """Say whether the archive names the chain that is to be deleted, with this very tip."""
        if ref.kind not in (Kind.RECORD, Kind.NOTES):
            return False
        name, record = update.ref.removeprefix(f"{self.prefix}/"), None
        if ref.kind is Kind.RECORD:
            ids = self.bare.ids(update.old)
            commits = self.bare.commits(ids, 0, LIMIT)
            record = self._record(gate.work_named(ref.component, commits), name, commits)
        return gate.may_delete(self._archive, name, update, record)

    @cached_property
    def _archive(self) -> Archive:
        tip = self._tip(f"{self.prefix}/archive")
        ids = self.bare.ids(tip) if tip else []
        return Archive(roster=self._roster).extend(self.bare.commits(ids, 0, archive.LIMIT))

    @cached_property
    def _now(self) -> dict[str, str]:
        return self.bare.tips(*(f"{self.prefix}/{name}" for name in ("roster", "archive", "lease")))

    def _tip(self, ref: str) -> str:
        """Return where a ref of ours stands after this push."""
        update = self.updates.get(ref)
        return update.new if update is not None else self._now.get(ref, "")

    def _branch(self, name: str) -> str:
        ref = HEADS + name
        update = self.updates.get(ref)
        return update.new if update is not None else self.bare.tips(ref).get(ref, "")


def updates_of(lines: str) -> list[Update]:
    """Return the updates that git tells a pre-receive hook of."""
    words = [line.split(" ", 2) for line in lines.split("\n") if line]
    if any(len(each) != _WORDS for each in words):
        raise RefusedError("not the words that git gives a pre-receive hook")
    ids = [["" if oid == NOTHING_THERE else oid for oid in each[:2]] for each in words]
    return [Update(each[2], old, new) for each, (old, new) in zip(words, ids, strict=True)]


def main() -> int:
    """Judge the push that git describes; the exit code is 0 if it may come in."""
    try:
        Door(open_bare(), updates_of(decode(sys.stdin.buffer.read()))).judge()
    except HandsoffError as error:
        _say(f"handsoff: {error}")
        _say(f"hint: {error.hint or 'look at it with: handsoff status'} (nothing was taken)")
        return error.exit_code
    return 0


def _say(line: str) -> None:
    text = plain_block(tongue.said(line).encode("utf-8", "backslashreplace").decode("utf-8"))
    sys.stderr.buffer.write(text.encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
