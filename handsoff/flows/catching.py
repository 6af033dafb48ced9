"""What a catch has to tell: where the work came from, what stayed behind, what to check first."""

from dataclasses import dataclass

from handsoff.core.envelope import State
from handsoff.core.lease import How, Lease, moment
from handsoff.core.lease import State as LeaseState
from handsoff.core.paths import shown
from handsoff.core.plain import plain
from handsoff.flows.desk import View


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchResult:
    """What was caught, or with a dry run what would be."""

    work: str
    sender: str
    leg: int
    revision: int
    top: str
    page: str
    writes: int
    removals: int
    left_behind: tuple[dict[str, str], ...]
    phases: dict[str, int]
    check_first: str = ""
    already: bool = False
    finished: bool = False
    """Whether this run took up one that was interrupted."""
    dry_run: bool = False


def left_behind(state: State) -> tuple[dict[str, str], ...]:
    """Return what stayed on the sender, for people."""
    return tuple({"path": shown(e.path), "reason": plain(e.reason)} for e in state.left_behind)


def check_first(view: View, lease: Lease) -> str:
    """Return what the next carrier must know after a drop or a lapse, or ""."""
    if lease.state is not LeaseState.DROPPED or lease.how not in (
        How.LAPSE,
        How.OFFER_LAPSE,
        How.DROP,
    ):
        return ""
    who = view.roster.name_of(lease.carrier)
    how = {How.DROP: f"dropped it: {lease.reason}", How.LAPSE: "let its lease run out"}.get(
        lease.how, "made an offer that ran out"
    )
    return (
        f"{who} {how} at {moment(lease.since)}; the last accepted save is r{lease.revision}. "
        "Every step of the next action may be done already, wholly or in part: check each "
        "through the references before doing it; if you cannot tell, stop"
    )
