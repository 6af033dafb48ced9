"""Seeing a checkout as a state without keeping any of it: to compare, and to restore over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from handsoff.core.checkout.operation import NOTHING
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Grafted
from handsoff.edge.git import snapshot
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.restore import branch_config
from handsoff.edge.git.sinks import Hashing, Sink
from handsoff.edge.git.snapshot import Snapshot
from handsoff.flows.capture import packing
from handsoff.flows.capture.carrying import along, for_people, left_behind
from handsoff.flows.memory import Known, Memory


@dataclass(frozen=True)
class Observed:
    """A checkout as it was seen."""

    look: Look
    snapshot: Snapshot

    @property
    def state(self) -> State:
        """What it adds up to."""
        return self.snapshot.state

    @property
    def is_clean(self) -> bool:
        """Whether nothing here is work: no change, staged or not, nothing untracked."""
        changed = self.snapshot.changed_paths(self.look)
        return self.look.is_clean and not (changed & self.look.entries.paths)

    @property
    def is_bare(self) -> bool:
        """Whether all that is work here is what the branch at HEAD has."""
        state = self.state
        under_way = state.operation != NOTHING or state.detached
        return self.is_clean and not (self.look.carried or under_way)

    def with_modes(self, modes: Sequence[tuple[bytes, int]]) -> "Observed":
        """Return this with permission bits that were looked at apart."""
        state = replace(self.state, modes=tuple(modes))
        return replace(self, snapshot=replace(self.snapshot, state=state))

    def remember(
        self, memory: Memory, page: str, private: Sequence[str] = (), *, envelope: str = ""
    ) -> None:
        """Note this state as safe elsewhere; ``page`` is the blob id of its page.

        ``private`` are stash entries that were here before the work was, and ``envelope`` is the
        one in which it left.
        """
        spared = self.snapshot.filtered.spared
        memory.set_known(
            self.state, self.snapshot.leaves, page, private, spared,
            envelope=envelope, left=for_people(self.state.left_behind) if envelope else (),
        )  # fmt: skip

    def is_known(self, known: Known | None, objects: Objects) -> bool:
        """Say whether this is the state that was last sent or caught here."""
        if known is None:
            return False
        return known.is_state(self.snapshot.sparing(known.spared, objects, self.look))


def observe(
    checkout: Checkout,
    shared: Shared,
    work: str,
    objects: Objects,
    *,
    sink: Sink | None = None,
    extra: Iterable[bytes] = (),
    known: Grafted | None = None,
    walk: bool = True,
    programs: bool = True,
) -> Observed:
    """Return ``checkout`` as a state; ``extra`` are further ignored files to count in.

    Trees that are ``known``, as ``objects`` has them, are not made again.

    Without ``walk`` empty folders, special files and permissions are not looked for; without
    ``programs`` no filter of the user's runs.
    """
    found = packing.look_at(checkout, walk=walk, programs=programs)
    captured = snapshot.capture(
        checkout,
        found,
        objects,
        sink or Hashing(),
        work=work,
        extra={*along(checkout), *extra},
        branch=branch_config(checkout, work, shared.name),
        left_behind=left_behind(found),
        programs=programs,
        known=known,
        walk=walk,
    )
    return Observed(found, captured)


def envelope_of(observed: Observed, transcript: str) -> str:
    """Return the id of the envelope that would bind this state and these transcripts."""
    return snapshot.seal_envelope(observed.state, Hashing(), transcript).envelope
