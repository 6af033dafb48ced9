"""``handsoff doctor``: what the remote can do, what it has of us, and whether this clone is sound.

It asks nobody but the shared remote. Without ``repair`` it changes nothing there: the refs with
which it tries the remote are gone when it ends.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from handsoff.core import health, places
from handsoff.core.health import Finding, Level, attention, fine
from handsoff.core.plain import plain
from handsoff.core.record import Record
from handsoff.core.tips import Mend
from handsoff.edge import clock, files, hooks, keys
from handsoff.edge.git import command
from handsoff.edge.git.probe import Probe
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout, decode, open_checkout
from handsoff.edge.home import Home
from handsoff.errors import HandsoffError, UnreachableError
from handsoff.flows import founding, mending
from handsoff.flows.catching import finishing
from handsoff.flows.desk import Desk, pin_of
from handsoff.flows.machine import way_in
from handsoff.flows.memory import Memory
from handsoff.flows.mending import Torn
from handsoff.flows.survey import Standing, survey

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What was found, and what was mended."""

    findings: tuple[Finding, ...]
    mended: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing needs anybody."""
        return health.healthy(self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        findings = [
            {"topic": f.topic, "level": f.level.value, "said": f.said, "do": f.do}
            for f in self.findings
        ]
        return {"healthy": self.healthy, "findings": findings, "mended": list(self.mended)}


@dataclass
class Doctor:
    """One check-up."""

    checkout: Checkout
    shared: Shared
    probe: bool = True
    repair: bool = False
    dry_run: bool = False
    mended: list[str] = field(default_factory=list)

    def run(self) -> Health:
        """Look at everything; what cannot be looked at is a finding too."""
        findings = [*self._here(), *self._machine()]
        try:
            findings += self._remote()
        except UnreachableError as error:
            findings.append(attention("remote", str(error), error.hint or ""))
        return Health(findings=tuple(findings), mended=tuple(self.mended))

    # --- this machine and this clone

    def _here(self) -> Iterator[Finding]:
        version = decode(command.run(("version",)).stdout).removeprefix("git version ").strip()
        yield health.of_git(version)
        if hooks.is_installed(self.checkout):
            yield fine("hook", "git runs the pre-push hook of handsoff here")
        else:
            yield attention("hook", "git does not run the pre-push hook here", "handsoff init")
        asked = ("check-ignore", "-q", "--no-index", ".wip/HANDOFF.md")
        ignored = self.checkout.run("--no-literal-pathspecs", *asked)
        if ignored.returncode == 0:
            yield fine("page", ".wip/ is kept out of git")
        else:
            yield attention("page", ".wip/ is not kept out of git", "handsoff init")
        with suppress(HandsoffError):
            journal = Memory(self.checkout).journal()
            if journal:
                said = "a restore was interrupted here and is not finished"
                yield attention("journal", said, f"handsoff {finishing(journal)}")
        yield self._store()

    def _store(self) -> Finding:
        store = self.checkout.store_dir
        for path in sorted([*store.glob("*.json"), *store.glob("seen/*.json"),
                            *self.checkout.own_dir.glob("*.json")]):  # fmt: skip
            try:
                files.read_json(path)
            except (HandsoffError, OSError) as error:
                return attention("store", str(error), f"move it away: mv {path} {path}.broken")
        if not os.access(store, os.W_OK):
            return attention("store", f"{store} cannot be written", "check who owns it")
        return fine("store", "what this clone remembers can be read")

    def _machine(self) -> Iterator[Finding]:
        home = keys.home_folder()
        try:
            machine = keys.load(home)
        except HandsoffError as error:
            yield attention("keys", str(error), error.hint or "")
            return
        if machine is None:
            yield attention("keys", f"there are no keys in {home}", "handsoff init --name NAME")
        elif mode := stat.S_IMODE(home.stat().st_mode) & 0o077:
            said = f"others can look into {home} (mode {mode:04o} too much)"
            yield attention("keys", said, f"chmod 700 {home}")
        else:
            yield fine("keys", f"this machine is {machine.name} of {machine.person}; keys private")

    # --- the remote

    def _remote(self) -> Iterator[Finding]:
        shared = self.shared
        known = (f"{place}/roster" for place in (shared.prefix, *places.KNOWN))
        there = shared.tips(*known, *places.above(shared.prefix))
        yield fine("remote", f"{shared.name} answers")
        if said := places.warning(shared.prefix):
            yield Finding("remote", Level.NOTE, said)
        if ref := places.in_the_way(shared.prefix, there):
            said = f"{shared.name} has {ref}, so no ref can lie below it"
            yield attention("remote", said, f"git config handsoff.refs {places.BRANCHES}-2")
            return
        place = places.elsewhere(shared.prefix, there)
        if place:
            said = f"the roster on {shared.name} is below {place}, not below {shared.prefix}"
            yield attention("roster", said, f"git config handsoff.refs {place}")
        machine = self._member()
        if self.probe:
            who = machine.id if machine else "new"
            probe = Probe(shared, who, int(clock.now().timestamp()))
            yield from health.of_probe(shared.name, shared.prefix, probe.run())
        if place:
            return  # nothing was deleted here, and nothing must be pushed here
        if machine is None or pin_of(self.checkout) is None:
            yield attention("roster", "this clone trusts no roster yet", "handsoff init")
            return
        desk = Desk(self.checkout, Home(machine.home), machine, clock.now())
        yield from self._chains(desk)

    @staticmethod
    def _member() -> keys.Machine | None:
        with suppress(HandsoffError):
            return keys.load(keys.home_folder())
        return None

    # --- what the remote has of us

    def _chains(self, desk: Desk) -> Iterator[Finding]:
        ref, shared, seen = self.shared.roster_ref, self.shared, desk.roster_tip
        tips = shared.tips(ref)
        waits = founding.waits(self.checkout)
        if waits and not tips:
            said = "it was founded here without the remote, and is not there yet"
            yield attention("roster", said, "handsoff status, or whatever else reaches the remote")
            return
        shared.bring(tips, [seen])
        # of two that were founded apart the one there stands: nothing is pushed over it
        tip = tips.get(ref, "")
        item = None if waits else mending.torn(desk, "the roster", ref, seen, tip)
        if item is not None:
            yield from self._mend(desk, item)
            if item.mend is not Mend.PUSH_BACK or not self.repair or self.dry_run:
                yield attention("works", "not looked at, since the roster is not to be believed")
                return
        try:
            read = desk.live_roster()
            found = survey(desk)
        except HandsoffError as error:
            yield attention("roster", str(error), error.hint or "")
            return
        member = found.roster.member(desk.machine.id)
        if member is None:
            said = f"this machine ({desk.machine.name}) is not in the roster"
            yield attention("roster", said, way_in(desk.machine, found.roster))
        else:
            yield fine(
                "roster", f"this machine is in it, with {len(found.roster.members())} in all"
            )
        yield from _void("roster", [(e.oid, e.reason) for e in read.entries if not e.good])
        records = [standing.record for standing in found.works.values()]
        yield health.of_clock(max((r.ahead(desk.now) for r in records), default=timedelta(0)))
        refs = {s.seen: s.ref for s in found.works.values() if s.seen}
        for oid in sorted(shared.absent(refs)):
            said = f"{refs[oid]} was seen here at {oid[:12]}, which is no longer in the store"
            yield attention("store", said, f"handsoff doctor --of {refs[oid]} --keep remote")
        for standing in found.works.values():
            yield from self._work(desk, standing)
        yield from (attention("remote", doubt, _ASK) for doubt in found.doubts)

    def _work(self, desk: Desk, standing: Standing) -> Iterator[Finding]:
        what = f"the record of {plain(standing.work)}"
        if standing.trouble is not None:
            item = mending.torn(
                desk, what, standing.ref, standing.seen, standing.tip, work=standing.work
            )
            if item is None:
                error = standing.trouble
                yield attention(what, plain(str(error)), plain(error.hint or ""))
            else:
                yield from self._mend(desk, item)
            return
        record = standing.record
        if record.behind:
            yield attention(what, plain(record.behind), "handsoff doctor, once more")
        elif standing.tip:
            news = (
                "as this clone saw it" if standing.seen == standing.tip else "more than it had seen"
            )
            yield fine(what, f"{record.seq} entries, {news}")
        yield from _void(what, _voids(desk, record))

    def _mend(self, desk: Desk, item: Torn) -> Iterator[Finding]:
        found = health.of_chain(item.what, item.ref, item.mend, item.said, item.sides)
        if item.mend is not Mend.PUSH_BACK or not self.repair:
            yield found
            return
        done = f"{item.ref}: {item.back[:12] or 'nothing'} in place of {item.tip[:12] or 'nothing'}"
        if self.dry_run:
            self.mended.append(f"would put {done}")
            yield found
            return
        try:
            mending.push_back(desk, item)
        except HandsoffError as error:
            yield attention(item.what, f"{item.said}; {error}", error.hint or "")
            return
        self.mended.append(f"put {done}")
        yield Finding(item.what, Level.NOTE, f"{item.said}; pushed back now")


_ASK: Final = "compare on both machines: handsoff status; ask whoever keeps the remote"


def _voids(desk: Desk, record: Record) -> list[tuple[str, str]]:
    """Return the entries that count for nothing; only where there are any is the record reread."""
    if not record.git_tip:
        return []
    words = ("rev-list", "--first-parent", "--count", record.git_tip)
    if int(desk.shared.run(*words).stdout) == record.seq:
        return []
    return [(e.oid, e.reason) for e in desk.history(record).entries if not e.good]


def _void(what: str, found: list[tuple[str, str]]) -> Iterator[Finding]:
    if found:
        shown = [f"{oid[:12]} ({plain(reason, limit=80)})" for oid, reason in found[:_SHOWN]]
        yield health.of_void(what, len(found), shown)


def check_up(*, probe: bool, repair: bool, dry_run: bool) -> Health:
    """Look at this clone, this machine and the remote, and with ``repair`` mend the records."""
    checkout = open_checkout()
    shared = open_shared(checkout)
    return Doctor(checkout, shared, probe=probe, repair=repair, dry_run=dry_run).run()
