"""The check-up of the remote: what it can do, what it has of us, what contradicts what was seen."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from handsoff.core.checkup import health
from handsoff.core.checkup.health import Finding, note, ok, problem
from handsoff.core.plain import plain
from handsoff.core.remote import places
from handsoff.core.works.record import Record
from handsoff.core.works.tips import Mend
from handsoff.edge import clock
from handsoff.edge.git.probe import Probe
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout
from handsoff.edge.home import Home
from handsoff.errors import HandsoffError, UnfitError, UnreachableError
from handsoff.flows import founding
from handsoff.flows.desk import Desk, pin_of
from handsoff.flows.doctor import checkup_machine
from handsoff.flows.machine import way_in
from handsoff.flows.remote import mending
from handsoff.flows.remote.mending import Torn
from handsoff.flows.remote.survey import Standing, survey

_SHOWN: Final = 5


@dataclass
class RemoteCheckup:
    """One look at the shared remote."""

    checkout: Checkout
    shared: Shared
    probe: bool = True
    repair: bool = False
    dry_run: bool = False
    mended: list[str] = field(default_factory=list)

    def run(self) -> list[Finding]:
        """Look at all of it; what cannot be looked at is a finding too."""
        found: list[Finding] = []
        try:
            found.extend(self._remote())
        except UnreachableError as error:
            found.append(problem("remote", str(error), error.hint or ""))
        except (UnfitError, OSError) as error:  # a full disk, a folder of somebody else's
            if self.repair:
                raise
            said = f"the records cannot be looked at: {error}"
            hint = error.hint if isinstance(error, UnfitError) else "check who owns it"
            found.append(problem("store", said, hint or ""))
        return found

    def _remote(self) -> Iterator[Finding]:
        shared = self.shared
        known = (f"{place}/roster" for place in (shared.prefix, *places.KNOWN))
        there = shared.tips(*known, *places.above(shared.prefix))
        yield ok("remote", f"the remote {shared.name} answers")
        if said := places.warning(shared.prefix):
            yield note("remote", said)
        if ref := places.in_the_way(shared.prefix, there):
            said = f"{shared.name} has {ref}, so no ref can lie below it"
            yield problem("remote", said, f"git config handsoff.refs {places.BRANCHES}-2")
            return
        place = places.elsewhere(shared.prefix, there)
        if place:
            said = f"the roster on {shared.name} is below {place}, not below {shared.prefix}"
            yield problem("roster", said, f"git config handsoff.refs {place}")
        machine = checkup_machine.member()
        if self.probe:
            who = machine.id if machine else "new"
            probe = Probe(shared, who, int(clock.now().timestamp()))
            yield from health.of_probe(shared.name, shared.prefix, probe.run())
        if place:
            return  # nothing was deleted here, and nothing must be pushed here
        if pin_of(self.checkout) is None:
            yield problem("roster", "this clone trusts no roster yet", "handsoff init")
            return
        if machine is None:  # why not is said of the keys
            return
        desk = Desk(self.checkout, Home(machine.home), machine, clock.now())
        yield from self._chains(desk)

    # --- what the remote has of us

    def _chains(self, desk: Desk) -> Iterator[Finding]:
        ref, shared, seen = self.shared.roster_ref, self.shared, desk.roster_tip
        tips = shared.tips(ref)
        waits = founding.waits(self.checkout)
        if waits and not tips:
            said = "it was founded here without the remote, and is not there yet"
            yield problem("roster", said, "handsoff status, or whatever else reaches the remote")
            return
        shared.bring(tips, [seen])
        # of two that were founded apart the one there stands: nothing is pushed over it
        tip = tips.get(ref, "")
        item = None if waits else mending.torn(desk, "the roster", ref, seen, tip)
        if item is not None:
            yield from self._mend(desk, item)
            if item.mend is not Mend.PUSH_BACK or not self.repair or self.dry_run:
                yield problem("works", "not looked at, since the roster is not to be believed")
                return
        try:
            read = desk.live_roster()
            found = survey(desk)
        except HandsoffError as error:
            yield problem("roster", str(error), error.hint or "")
            return
        member = found.roster.member(desk.machine.id)
        if member is None:
            said = f"this machine ({desk.machine.name}) is not in the roster"
            yield problem("roster", said, way_in(desk.machine, found.roster))
        else:
            yield ok("roster", f"this machine is in it, with {len(found.roster.members())} in all")
        yield from _void("roster", [(e.oid, e.reason) for e in read.entries if not e.good])
        records = [standing.record for standing in found.works.values()]
        yield health.of_clock(max((r.ahead(desk.now) for r in records), default=timedelta(0)))
        refs = {s.seen: s.ref for s in found.works.values() if s.seen}
        for oid in sorted(shared.absent(refs)):
            said = f"{refs[oid]} was seen here at {oid[:12]}, which is no longer in the store"
            yield problem("store", said, f"handsoff doctor --of {refs[oid]} --keep remote")
        for standing in found.works.values():
            yield from self._work(desk, standing)
        yield from (problem("remote", doubt, _ASK) for doubt in found.doubts)

    def _work(self, desk: Desk, standing: Standing) -> Iterator[Finding]:
        what = f"the record of {plain(standing.work)}"
        if standing.trouble is not None:
            item = mending.torn(
                desk, what, standing.ref, standing.seen, standing.tip, work=standing.work
            )
            if item is None:
                error = standing.trouble
                yield problem(what, plain(str(error)), plain(error.hint or ""))
            else:
                yield from self._mend(desk, item)
            return
        record = standing.record
        if record.behind:
            yield problem(what, plain(record.behind), "handsoff doctor, once more")
        elif standing.tip:
            news = (
                "as this clone saw it" if standing.seen == standing.tip else "more than it had seen"
            )
            yield ok(what, f"{record.seq} entries, {news}")
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
            yield problem(item.what, f"{item.said}; {error}", error.hint or "")
            return
        self.mended.append(f"put {done}")
        yield note(item.what, f"{item.said}; pushed back now")


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
