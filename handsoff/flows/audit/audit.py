"""``handsoff audit``: reads all that is ours on the remote and has it judged.

It needs a clone and the founding id, nothing more: no keys, no home, no set-up. What it saw is
kept in the private store of the clone, so that the next audit there finds what was taken back;
where the clone was set up, what its verbs saw counts as well. Parcels are not fetched, branches
only where they are not what their record says.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from handsoff.core.audit.audit import Chain, Remote, audit, founded_by, is_trust, with_branches
from handsoff.core.audit.findings import Grade, Report, What
from handsoff.core.chain import Commits
from handsoff.core.ids import is_oid, work_component
from handsoff.core.machines.admission import RosterRead, read_roster
from handsoff.core.remote.refs import HEADS, Kind, read_ref
from handsoff.edge import files
from handsoff.edge.git import keeping
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout
from handsoff.errors import DamagedError, TrustError, UsageError
from handsoff.flows.desk import pin_of
from handsoff.flows.remote import branches

_KEPT: Final = "audit.json"
_NAMES: Final = {"blob": "blob", "tree": "tree", "tag": "tag"}
_CHAINS: Final = frozenset({Kind.ROSTER, Kind.RECORD, Kind.NOTES, Kind.ARCHIVE})
_MOVES: Final = frozenset({
    What.BEHIND, What.BRANCH_SET_BACK, What.BRANCH_REWRITTEN, What.BRANCH_DELETED,
})  # fmt: skip
_NOT_OURS: Final = frozenset({Kind.BRANCH, Kind.OTHER})


@dataclass(frozen=True, slots=True)
class Audit:
    """A report, and which remote it is about."""

    remote: str
    prefix: str
    at: datetime
    report: Report


def run_audit(
    checkout: Checkout,
    *,
    trust: str | None,
    remote: str | None,
    now: datetime,
    known: Collection[str] = (),
) -> Audit:
    """Return what is to be said of everything of ours on the remote.

    ``known`` are whole ids of void entries, UsageError if they cannot be. TrustError if its
    roster is not the one that ``trust``, or this clone, names.
    """
    for text in known:
        if not is_oid(text):
            raise UsageError(
                f"{text!r} is no id of an entry",
                hint="take all 40 letters of it, as audit --json says",
            )
    trusted = _trusted(checkout, trust)
    shared = open_shared(checkout, remote)

    def judged() -> tuple[Remote, Report]:
        found, tips = _gather(shared)
        report = audit(_read_roster(shared, found, trusted), found, now=now, known=known)
        return found, with_branches(report, branches.places(shared, report.claims, tips))

    found, report = judged()
    if any(finding.what in _MOVES for finding in report.findings):
        # what belongs together may have moved while the remote answered: ask once more
        found, report = judged()
    _keep(shared, found, report)
    return Audit(shared.name, shared.prefix, now, report)


def _trusted(checkout: Checkout, trust: str | None) -> str:
    pin = pin_of(checkout)
    if trust is None and pin is None:
        raise UsageError(
            "which roster is to be trusted? this clone was not set up",
            hint="--trust FOUNDING; on a member, handsoff roster prints it in its first line",
        )
    if trust is not None and not is_trust(trust):
        raise UsageError(
            f"{trust!r} is neither a founding id nor the fingerprint of the founder",
            hint="40 hex digits, or SHA256: and 43 characters; on a member: handsoff roster",
        )
    if trust is not None and pin is not None and is_oid(trust) and trust != pin:
        raise TrustError(
            f"this clone trusts the roster {pin[:12]}, not {trust[:12]}",
            hint="audit in a clone of its own, or leave --trust out",
        )
    return trust or pin or ""


def _gather(shared: Shared) -> tuple[Remote, Mapping[str, str]]:
    """Return all refs and chains of ours, each beside the tips that were seen before.

    And the tips of all refs of the remote, its branches too.
    """
    seen = _seen(shared)
    known = {tip for tips in seen.values() for tip in tips}

    def chained(tips: Mapping[str, str]) -> list[str]:
        return [ref for ref in tips if read_ref(ref, shared.prefix).kind in _CHAINS]

    tips = shared.gather([f"{shared.prefix}/*", f"{HEADS}*"], chained, known)
    there = {ref: tips[ref] for ref in chained(tips)}
    kinds = shared.kinds({*there.values(), *known})
    commits = [oid for oid, kind in kinds.items() if kind == "commit"]
    shared.chains.prepare([(oid, "") for oid in commits])
    read = {oid: chain for oid in commits if (chain := _chain(shared, oid)) is not None}
    refs = [read_ref(ref, shared.prefix) for ref in tips]
    found = [
        Chain(
            ref=read_ref(ref, shared.prefix),
            commits=read.get(there[ref]) if ref in there else (),
            what=_NAMES.get(kinds.get(there.get(ref, ""), ""), "chain with a gap"),
            seen=tuple(read.get(tip, [(tip, b"")]) for tip in sorted(seen.get(ref, ()))),
        )
        for ref in sorted({*there, *seen})
    ]
    # a pattern matches the end of a ref, so there may be others
    return Remote(refs=[ref for ref in refs if ref.kind not in _NOT_OURS], chains=found), tips


def _chain(shared: Shared, tip: str) -> Commits | None:
    with suppress(DamagedError):  # something below it is missing
        return shared.chains.line(tip)
    return None


def _read_roster(shared: Shared, found: Remote, trusted: str) -> RosterRead:
    place = f"{shared.roster_ref} on {shared.name}"
    held = found.of(Kind.ROSTER)
    if not held:
        seen = [c.seen[0][-1][0][:12] for c in found.chains if c.ref.kind is Kind.ROSTER and c.seen]
        raise TrustError(
            f"there is no roster at {place}"
            + (f"; this clone saw {seen[0]} there" if seen else ""),
            hint="handsoff doctor --repair on a member pushes it back"
            if seen
            else "if it lies elsewhere: git config handsoff.refs PREFIX",
        )
    commits = held[0].commits or ()
    founding = founded_by(commits, trusted)
    read = read_roster(commits, founding)
    if not founding or read.roster is None:
        named = trusted[:12] if is_oid(trusted) else trusted
        raise TrustError(
            f"the roster at {place} was not founded by {named}; nothing was verified",
            hint="ask who keeps the remote, and compare on a member: handsoff roster",
        )
    return read


def _seen(shared: Shared) -> dict[str, set[str]]:
    """Return the tips seen before, by an audit or by the verbs of this clone, by their refs."""
    store = shared.checkout.store_dir
    found: dict[str, set[str]] = {}
    for ref, tip in _tips_kept(shared):
        found.setdefault(ref, set()).add(tip)
    pinned = files.read_json(store / "roster.json")
    if pinned and is_oid(pinned.get("tip")) and not pinned.get("waits"):
        found.setdefault(shared.roster_ref, set()).add(pinned["tip"])
    for path in sorted((store / "seen").glob("*.json")):
        kept = files.read_json(path)
        if kept and is_oid(kept.get("tip")) and isinstance(kept.get("work"), str):
            found.setdefault(shared.record_ref(kept["work"]), set()).add(kept["tip"])
    return found


def notes_kept(shared: Shared, work: str) -> dict[str, str]:
    """Return the tips of the notes on ``work`` that an audit here saw last, by machine."""
    below = f"{shared.prefix}/notes/{work_component(work)}/"
    kept = _tips_kept(shared)
    return {ref.removeprefix(below): tip for ref, tip in kept if ref.startswith(below)}


def _tips_kept(shared: Shared) -> Iterator[tuple[str, str]]:
    kept = files.read_json(shared.checkout.store_dir / _KEPT) or {}
    for ref, tip in kept.get(shared.name, {}).items():
        if ref.startswith(f"{shared.prefix}/") and is_oid(tip):
            yield ref, tip


def _keep(shared: Shared, found: Remote, report: Report) -> None:
    """Remember each tip, but for those that contradict what was seen: they stay a finding."""
    path = shared.checkout.store_dir / _KEPT
    kept = files.read_json(path) or {}
    contradicts = {finding.ref for finding in report.findings if finding.grade is Grade.TRUST}
    tips = {
        chain.ref.name: chain.commits[-1][0]
        for chain in found.chains
        if chain.commits and chain.ref.name not in contradicts
    }
    before = kept.get(shared.name, {})
    for ref, tip in tips.items():
        keeping.own(shared, tip, before.get(ref, ""))
    now = {**kept, shared.name: {**before, **tips}}
    if now != kept:
        files.write_json(path, now)
