"""What every verb needs, opened once: the checkout, this machine, the remote, and the time.

A desk opens things and remembers what was verified; it decides nothing. It imports neither
pygit2 nor asyncssh, since the pre-push program starts here too.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from handsoff.core.chain import Tips, compare_tips
from handsoff.core.ids import work_component
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Member, Roster
from handsoff.core.remote.refs import HEADS
from handsoff.core.works import cache
from handsoff.core.works.record import Record
from handsoff.core.works.tips import rewritten
from handsoff.edge import clock, files, keys
from handsoff.edge.git import keeping
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.home import Home
from handsoff.errors import HandsoffError, TrustError, UsageError
from handsoff.flows import archive
from handsoff.flows import founding as founding_of
from handsoff.flows.machine import way_in
from handsoff.flows.naming import work_here


@dataclass(frozen=True)
class View:
    """What is known of one work: the roster, and the record with what waits here on top."""

    roster: Roster
    roster_read: RosterRead
    record: Record
    branch: str = ""
    """Where the branch of the same name stands on the remote, "" if it is not there."""
    remote_tip: str = ""
    """What the record's ref on the remote was last seen to point at, "" if it is not there."""
    away: str = ""
    """Why the remote could not be asked, "" if it was."""
    news: tuple[str, ...] = ()
    """What became of entries that waited, for people."""

    @property
    def tip(self) -> str:
        """The tip of the record, "" if there is none yet."""
        return self.record.git_tip or ""

    @property
    def provisional(self) -> bool:
        """Whether the remote has not confirmed the last entries."""
        return self.tip != self.remote_tip


@dataclass(frozen=True)
class Desk:
    """An opened checkout of a known machine."""

    checkout: Checkout
    home: Home
    machine: keys.Machine
    now: datetime

    @cached_property
    def shared(self) -> Shared:
        """The shared remote."""
        return open_shared(self.checkout)

    @property
    def pin(self) -> str | None:
        """The founding id of the roster that this clone trusts, if it trusts one."""
        return pin_of(self.checkout)

    def set_pin(self, founding: str) -> None:
        """Trust the roster with this founding id from now on."""
        founding_of.pin(self.checkout, founding, "")

    def need_pin(self) -> str:
        """Return the pinned founding id; UsageError if there is none."""
        pin = self.pin
        if pin is None:
            raise UsageError(
                "this checkout was not set up for handsoff", hint="handsoff init --name NAME"
            )
        return pin

    def view(self, work: str, *, expect_news: bool = False) -> View:
        """Return what the remote's record of ``work`` adds up to, verified."""
        return self.views([work], expect_news=expect_news)[work]

    def views(self, works: Sequence[str], *, expect_news: bool = False) -> dict[str, View]:
        """Return what the remote's records of ``works`` add up to, verified.

        One question to the remote, and a fetch only where it has something new; both at once with
        ``expect_news``. TrustError for a chain rewound, forked or deleted since it was last seen.
        """
        with self.shared.reader.open():
            try:
                return self._views(works, expect_news=expect_news)
            except TrustError:  # or another command here has seen more of it since we asked
                return self._views(works, expect_news=False)

    def _views(self, works: Sequence[str], *, expect_news: bool) -> dict[str, View]:
        shared = self.shared
        refs = {work: shared.record_ref(work) for work in works}
        seen = self._tips_seen(works)
        with ThreadPoolExecutor(1) as aside:
            early = aside.submit(self._fetch_early, seen) if expect_news else None
            tips = shared.tips(*shared.question(works))
            if early is not None:
                early.result()
        tips = dict(founding_of.settle(shared, tips))
        self._fetch_new(seen, tips)
        read = self.read_roster(tips.get(shared.roster_ref, ""))
        roster = read.trusted()
        return {
            work: View(
                roster, read, self.read_record(work, roster, tips.get(ref, "")),
                branch=tips.get(HEADS + work, ""), remote_tip=tips.get(ref, ""),
            )
            for work, ref in refs.items()
        }  # fmt: skip

    def asking(
        self, work: str, *more: tuple[str, ...], expect_news: bool = False
    ) -> AbstractContextManager[None]:
        """Begin what ``view`` (and ``tips`` of ``more``) waits for, in the clone's lock."""
        news = self._tips_seen([work]) if expect_news else {}
        return self.shared.asking([self.shared.question([work]), *more], news)

    def _tips_seen(self, works: Sequence[str]) -> dict[str, str]:
        seen = {self.shared.record_ref(work): self.seen_tip(work) for work in works}
        return {**seen, self.shared.roster_ref: self.roster_tip}

    def live_roster(self) -> RosterRead:
        """Return the roster as the remote has it now, verified like the records."""
        ref = self.shared.roster_ref
        tips = dict(founding_of.settle(self.shared, self.shared.tips(ref)))
        self._fetch_new({ref: self.roster_tip}, tips)
        return self.read_roster(tips.get(ref, ""))

    def _fetch_early(self, seen: dict[str, str]) -> None:
        with suppress(HandsoffError):  # a ref that is not there yet; the answer to that comes
            self.shared.fetch(list(seen), [tip for tip in seen.values() if tip])

    def _fetch_new(self, seen: dict[str, str], tips: dict[str, str]) -> None:
        moved = {ref: tips[ref] for ref, tip in seen.items() if tips.get(ref, "") not in ("", tip)}
        if moved:
            self.shared.bring(moved, seen.values())

    @property
    def roster_tip(self) -> str:
        """The roster's tip that this clone last verified."""
        return str(founding_of.pinned(self.checkout).get("tip", ""))

    def read_roster(self, tip: str, *, pinned: str | None = None) -> RosterRead:
        """Return the roster up to ``tip``, whose objects are here; remember its tip."""
        pinned = pinned or self.need_pin()
        seen = self.roster_tip
        commits = self._honest("the roster", self.shared.roster_ref, seen, tip)
        read = RosterRead(pinned=pinned).extend(commits)
        if read.roster is not None and seen != tip and self.pin is not None:
            keeping.own(self.shared, tip, seen)
            founding_of.pin(self.checkout, pinned, tip, read.roster)
        return read

    def local_roster_read(self) -> RosterRead | None:
        """Return the roster's chain as this clone last saw it, without asking the remote."""
        tip = self.roster_tip
        return self.read_roster(tip) if tip and self.pin else None

    def local_roster(self) -> Roster | None:
        """Return the roster as this clone last saw it, without asking the remote."""
        read = self.local_roster_read()
        return read.roster if read is not None else None

    def fresh_roster(self) -> Roster:
        """Return the roster as the remote has it now; TrustError unless it is sound."""
        return self.live_roster().trusted()

    def _honest(
        self, what: str, ref: str, seen: str, tip: str, empty: Record | None = None
    ) -> list[tuple[str, bytes]]:
        """Return the chain up to ``tip``, if it has ``seen`` in it or that record was archived."""
        commits = (self.shared.chains.line(tip) or []) if tip else []
        found = [oid for oid, _ in commits]
        if compare_tips([seen] if seen else [], found) not in (Tips.SAME, Tips.AHEAD):
            chain = self.shared.chains.line(seen) or []
            was = empty and empty.extend(chain)
            if not archive.lets_go(self.shared, ref, was, found, self.now):
                judged = compare_tips([oid for oid, _ in chain], found)
                said, hint = rewritten(what, ref, judged, seen, tip)
                raise TrustError(said, hint=hint)
        return commits

    def seen_tip(self, work: str) -> str:
        """Return the tip of a record that this clone last saw, "" if none."""
        return str(self._seen(work).get("tip", ""))

    def _seen(self, work: str) -> dict[str, Any]:
        kept = files.read_json(self._seen_path(work))
        return kept if isinstance(kept, dict) else {}

    def _seen_path(self, work: str) -> Path:
        return files.ensure_folder(self.checkout.store_dir / "seen") / (
            work_component(work) + ".json"
        )

    def read_record(self, work: str, roster: Roster, tip: str) -> Record:
        """Return the record up to ``tip``, whose objects are here; remember what it adds up to."""
        known = self.seen_tip(work)
        kept = self.kept_record(work, roster)
        if kept is not None and kept.git_tip == tip:
            return kept
        if kept is not None and (new := self.shared.chains.line(tip, known)):
            record = kept.extend(new)
        else:
            empty = Record(roster=roster, work=work)
            ref = self.shared.record_ref(work)
            commits = self._honest(f"the record of {work}", ref, known, tip, empty)
            record = archive.read(self.shared, ref, empty, commits)
        self.remember(record)
        return record

    def kept_record(self, work: str, roster: Roster) -> Record | None:
        """Return the record as this clone verified it last under ``roster``, None if it did not."""
        seen = self._seen(work)
        return cache.from_cache(seen["cache"], roster, work) if "cache" in seen else None

    def remember(self, record: Record) -> None:
        """Note a record as seen, so that it cannot be taken back unnoticed."""
        if record.git_tip:
            keeping.own(self.shared, record.git_tip, self.seen_tip(record.work))
            kept = {"tip": record.git_tip, "work": record.work, "cache": cache.to_cache(record)}
            files.write_json(self._seen_path(record.work), kept)
        else:
            self.forget(record.work)

    def forget(self, work: str) -> None:
        """Believe what the remote has of ``work`` next, whatever was seen before."""
        self._seen_path(work).unlink(missing_ok=True)

    def works_seen(self) -> list[str]:
        """Return the works whose record this clone has seen."""
        folder = files.ensure_folder(self.checkout.store_dir / "seen")
        kept = [files.read_json(path) for path in sorted(folder.glob("*.json"))]
        return [str(item["work"]) for item in kept if item and "work" in item]

    def history(self, record: Record) -> Record:
        """Return ``record`` with all its entries, where it came from a cache without them."""
        return self.history_to(record.roster, record.work, record.git_tip or "")

    def history_to(self, roster: Roster, work: str, tip: str) -> Record:
        """Return the record up to ``tip``, whose objects are here, with all its entries."""
        shared, empty = self.shared, Record(roster=roster, work=work)
        return archive.read(shared, shared.record_ref(work), empty, shared.chains.line(tip) or [])

    def member(self, roster: Roster, name: str) -> Member:
        """Return the machine called ``name``; UsageError naming those that there are."""
        found = roster.named(name) or roster.member(name)
        if found is None:
            names = ", ".join(sorted(m.name for m in roster.members()))
            raise UsageError(
                f"no machine called {name} in the roster",
                hint=f"there are {names}; let another one in with: handsoff admit CARD",
            )
        return found

    def need_admitted(self, roster: Roster) -> Member:
        """Return this machine as the roster has it; TrustError if it is not in there."""
        found = roster.member(self.machine.id)
        if found is None:
            whose = f"this machine ({self.machine.name})"
            raise TrustError(f"{whose} is not in the roster", hint=way_in(self.machine, roster))
        return found

    def work(self, named: str | None = None) -> str:
        """Return the work of this checkout; see ``naming.work_here``."""
        return work_here(self.checkout, named)


def pin_of(checkout: Checkout) -> str | None:
    """Return the founding id of the roster that this clone trusts; None if never set up."""
    founding = founding_of.pinned(checkout).get("founding")
    return str(founding) if founding else None


def open_desk(where: Path | None = None) -> Desk:
    """Return the desk of the checkout around ``where`` (default: here)."""
    checkout = open_checkout(where)
    folder = keys.home_folder()
    return Desk(checkout, Home(folder), keys.need(folder), clock.now())
