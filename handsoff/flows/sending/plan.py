"""One hand-over, planned: what it is made of, and what came of it."""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from handsoff.core.checkout.operation import kind_of
from handsoff.core.machines.roster import Member
from handsoff.core.parcels import bounds
from handsoff.core.parcels.manifest import Manifest
from handsoff.core.reach.routes import Route
from handsoff.core.times import moment
from handsoff.core.works.lease import Recipient
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge.git.look import Look
from handsoff.flows.capture.carrying import for_people
from handsoff.flows.capture.observe import Observed
from handsoff.flows.capture.packing import Packed
from handsoff.flows.capture.pages import Written
from handsoff.flows.desk import Desk, View
from handsoff.flows.memory import Memory


@dataclass(frozen=True, slots=True)
class Aim:
    """Whom a parcel is sealed to, and whom the work is offered to, if to anybody."""

    receivers: tuple[Member, ...]
    to: Recipient | None
    name: str
    """Whom it is for, as people read it."""

    @property
    def machine(self) -> Member | None:
        """The one machine that it is for, which may be reached directly."""
        return self.receivers[0] if len(self.receivers) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was done, or with a dry run what would be."""

    work: str
    to: str
    route: Route
    parcel: str
    leg: int
    revision: int
    verb: str = "send"
    until: str = ""
    """When the lease or the offer runs out, in UTC."""
    pending: bool = False
    """Whether the record waits for the remote."""
    counts: dict[str, int] = field(default_factory=dict)
    operation: str = ""
    """What is in progress and travels, such as "a rebase"."""
    left_behind: tuple[dict[str, str], ...] = ()
    waived: tuple[str, ...] = ()
    transcripts: tuple[dict[str, str | int], ...] = ()
    """The sessions that go along, and how large they are."""
    redacted: int = 0
    """How many secrets have a marker in their place in these, wherever they stood."""
    size: int = 0
    resumed: int = 0
    """How many of those bytes the receiver had from an earlier run."""
    lost: int = 0
    """How many times the connection was lost on the way, and made again."""
    scanner: str = ""
    warnings: tuple[str, ...] = ()
    phases: dict[str, int] = field(default_factory=dict)
    dry_run: bool = False
    already: bool = False


@dataclass(frozen=True)
class Terms:
    """What is settled before the checkout is captured: whose work goes to whom, on which leg.

    ``pen`` holds the work on the record as ``view`` saw it.
    """

    desk: Desk
    work: str
    view: View
    aim: Aim
    page: Written
    pen: Pen
    hold: timedelta


@dataclass(frozen=True)
class Plan:
    """All that one hand-over is made of, once the guard has passed it."""

    terms: Terms
    found: Look
    packed: Packed
    mark: str = ""
    """What the transcripts that go along are known by, "" if none do."""
    transcripts: tuple[dict[str, str | int], ...] = ()

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many of each kind of thing travel."""
        found, state = self.found, self.packed.state
        there = f"--remotes={self.terms.desk.shared.name}"
        unpushed = self.terms.desk.checkout.git("rev-list", "--count", found.head, "--not", there)
        return {
            "commits": int(unpushed),
            "staged": len(found.staged),
            "unstaged": len(self.packed.snapshot.changed_paths(found)),
            "untracked": len(found.untracked),
            "carried": len(found.carried),
            "stash": len(state.stash),
            "objects": self.packed.objects,
            bounds.FILES: len({*found.entries.paths, *self.packed.snapshot.leaves}),
            bounds.UNPACKED: self.packed.digest.unpacked,
        }

    @property
    def left_behind(self) -> tuple[dict[str, str], ...]:
        """What does not travel, for people."""
        return for_people(self.packed.state.left_behind)

    def manifest(self, parcel: str) -> Manifest:
        """Return the claims of the parcel."""
        return Manifest(
            parcel=parcel,
            sender=self.terms.desk.machine.id,
            receivers=tuple(member.id for member in self.terms.aim.receivers),
            repository=self.terms.desk.need_pin(),
            roots=(),
            work=self.terms.work,
            leg=self.terms.pen.record.lease.leg,
            revision=self.terms.pen.record.lease.revision + 1,
            record=self.terms.view.tip,
            chain=self.packed.chain,
            envelope=self.packed.sealed.envelope,
            bases=self.packed.bases,
            pack_size=self.packed.digest.size,
            pack_sha256=self.packed.digest.sha256,
            counts=self.counts,
            waivers=self.packed.waived,
            at=int(self.terms.desk.now.timestamp()),
        )

    def remember(self, memory: Memory) -> None:
        """Note the state as safe elsewhere."""
        seen, envelope = Observed(self.found, self.packed.snapshot), self.packed.sealed.envelope
        seen.remember(memory, self.terms.page.oid, envelope=envelope)

    def outcome(self, route: Route, record: Record, *, parcel: str, size: int) -> Sent:
        """Return what was done, or in a dry run what would be; ``record`` is how it stands then."""
        lease = record.lease
        kind = kind_of(self.packed.state.operation)
        return Sent(
            work=self.terms.work,
            to=self.terms.aim.name,
            route=route,
            parcel=parcel,
            leg=lease.leg,
            revision=lease.revision,
            until=moment(lease.until),
            counts=self.counts,
            operation=kind.what if kind else "",
            left_behind=self.left_behind,
            waived=self.packed.waived,
            transcripts=self.transcripts,
            size=size,
        )
