"""A machine leaves the roster, is called something else, or gets other keys.

Another member may write to the roster meanwhile: then all is read and judged again. No verb here
asks more of the remote than it says, and each may be typed again after it was cut off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core.ids import work_component
from handsoff.core.loose import quoted
from handsoff.core.machines import admission
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Member, Roster
from handsoff.core.plain import plain
from handsoff.core.times import moment
from handsoff.core.works.lease import State
from handsoff.edge import keys
from handsoff.errors import LostRaceError, UsageError
from handsoff.flows.desk import Desk
from handsoff.flows.remote.survey import Survey, survey
from handsoff.flows.roster.roster import Ask, member_as_dict, push_roster

TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A work that a machine has a hand on: ``until`` when, and what to type about it then."""

    work: str
    state: str
    until: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """How a revocation went, or would go."""

    member: Member
    reason: str
    already: bool
    dry_run: bool
    works: tuple[Carried, ...]
    """The works that the machine carries still, or carried last."""
    parcels: Mapping[str, int]
    """How many parcels wait on the remote for each work: its key may open them."""
    unsound: Mapping[str, str]
    """Works whose record could not be verified, with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        return {
            "member": member_as_dict(self.member),
            "reason": self.reason,
            "already": self.already,
            "dry_run": self.dry_run,
            "works": [
                {"work": w.work, "state": w.state, "until": w.until, "next": w.next}
                for w in self.works
            ],
            "parcels": dict(self.parcels),
            "unsound": dict(self.unsound),
        }


def revoke(desk: Desk, name: str, reason: str, *, ask: Ask, dry_run: bool = False) -> Left:
    """End the trust in a machine: what it signed up to now stays good, and nothing after."""
    if not reason.strip():
        raise UsageError("a revocation says why", hint="--reason TEXT")
    asked = False
    for _ in range(TRIES + 1):
        found = survey(desk)
        desk.need_admitted(found.roster)
        gone = _gone(found.roster, name)
        if gone is not None:
            return _left(desk, found, gone, already=True, dry_run=dry_run)
        target = desk.member(found.roster, name)
        draft = admission.revoke(
            found.read,
            target.id,
            reason=reason,
            tips=found.tips(target.id),
            by=desk.machine.id,
            at=int(desk.now.timestamp()),
            sign=desk.machine.sign,
        )
        if dry_run:
            return _left(desk, found, target, reason=reason, dry_run=True)
        if not asked:
            ask(_question(desk, target))
            asked = True
            continue  # whoever was asked may have taken an hour to answer
        if push_roster(desk.shared, found.read, draft):
            roster = desk.read_roster(draft.oid).trusted()
            return _left(desk, found, roster.everyone[target.id])
    raise lost()


def rename(desk: Desk, old: str, new: str, *, dry_run: bool = False) -> Member:
    """Call a machine something else; its id, and what it signed, stay as they are."""
    for _ in range(TRIES):
        read = desk.live_roster()
        roster = read.trusted()
        desk.need_admitted(roster)
        holder = roster.named(new)
        if holder is not None and holder.name == new and old in _names_before(read, holder):
            _keep_name(desk, holder, new, dry_run=dry_run)
            return holder  # typed again
        target = desk.member(roster, old)
        at = int(desk.now.timestamp())
        draft = admission.rename(
            read, target.id, new, by=desk.machine.id, at=at, sign=desk.machine.sign
        )
        renamed = read.extend([(draft.oid, draft.data)]).trusted().everyone[target.id]
        if dry_run or push_roster(desk.shared, read, draft):
            _keep_name(desk, target, new, dry_run=dry_run)
            return renamed
    raise lost()


def _names_before(read: RosterRead, member: Member) -> set[str]:
    changes = (entry.entry.body for entry in read.entries if entry.good and entry.entry)
    named = {c["name"] for c in changes if c["kind"] == "Renamed" and c["machine"] == member.id}
    return {member.card.name, member.id, *named}


def _keep_name(desk: Desk, member: Member, name: str, *, dry_run: bool) -> None:
    if member.id == desk.machine.id and not dry_run:
        keys.rename(desk.machine, name)


def lost() -> LostRaceError:
    """Return the error for a roster that others keep writing to."""
    return LostRaceError(
        f"{TRIES} times another machine wrote to the roster first", hint="type it again"
    )


def carried_by(desk: Desk, found: Survey, machine: str) -> list[Carried]:
    """Return the works that a machine carries, has offered, or was the last to carry."""
    kept = []
    for standing in found.works.values():
        lease = standing.record.lease.as_of(desk.now)
        if lease.carrier == machine and lease.state is not State.CLOSED:
            catch = f"handsoff catch {quoted(plain(standing.work))}"
            kept.append(
                Carried(
                    work=standing.work,
                    state=lease.state.value,
                    until=moment(lease.until) if lease.until else "",
                    next=catch,
                )
            )
    return kept


def waiting(found: Survey) -> dict[str, int]:
    """Return how many parcels wait on the remote, by the name of the work."""
    parcels = found.parcels()
    names = {work_component(standing.work): standing.work for standing in found.works.values()}
    return {names.get(component, component): len(refs) for component, refs in parcels.items()}


def _gone(roster: Roster, name: str) -> Member | None:
    """Return the machine of this name or id that was revoked, if no member has the name."""
    if roster.named(name) is not None:
        return None
    gone = [m for m in roster.everyone.values() if m.revoked is not None]
    return next((m for m in reversed(gone) if name in (m.name, m.id)), None)


def _left(
    desk: Desk,
    found: Survey,
    member: Member,
    *,
    reason: str = "",
    already: bool = False,
    dry_run: bool = False,
) -> Left:
    return Left(
        member=member,
        reason=member.revoked.reason if member.revoked else reason,
        already=already,
        dry_run=dry_run,
        works=tuple(carried_by(desk, found, member.id)),
        parcels=waiting(found),
        unsound={s.work: s.problem for s in found.works.values() if s.problem},
    )


def _question(desk: Desk, target: Member) -> str:
    whom = "this machine itself, " if target.id == desk.machine.id else ""
    return (
        f"revoke {whom}{target.name} of {target.person}, {target.card.fingerprint}: "
        "what it signed up to now stays good, nothing after; it never comes back. Go on?"
    )
