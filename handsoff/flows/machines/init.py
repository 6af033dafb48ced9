"""Setting a checkout up: keys, the roster (founded or joined), what git ignores, and the hook.

Order: everything is checked, read and asked before the first write; the roster is founded
before it is pinned. Each step sees whether it was done before, so a second run changes nothing
and a run that was cut off is finished by the next.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from handsoff.core.ids import is_oid
from handsoff.core.machines import admission
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.roster import Roster
from handsoff.core.remote import places
from handsoff.edge import clock, files, hooks, keys, scan
from handsoff.edge.git.objects import store_of
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.home import Home, cache_folder
from handsoff.errors import LostRaceError, TrustError, UnfitError, UnreachableError, UsageError
from handsoff.flows import founding
from handsoff.flows.desk import Desk, pin_of
from handsoff.flows.machine import Names, choose_names, make_machine, own_card
from handsoff.flows.roster.roster import Ask, push_roster
from handsoff.flows.waiting import Pending

_IGNORED: Final = b"/.wip/"
_SAME: Final = frozenset({b"/.wip/", b".wip/", b"/.wip", b".wip"})
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class SetUp:
    """A checkout that is set up; ``done`` says what this run changed, in words."""

    machine: keys.Machine
    roster: Roster
    remote: str
    hook: hooks.Hook
    done: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def member(self) -> bool:
        """Whether this machine is in the roster."""
        return self.roster.member(self.machine.id) is not None

    @property
    def revoked(self) -> bool:
        """Whether this machine was in the roster and is trusted no longer."""
        return not self.member and self.machine.id in self.roster.everyone

    @property
    def doors(self) -> list[str]:
        """The machines that may let this one in: those of its person, where there are any."""
        theirs = self.roster.of_person(self.machine.person) or self.roster.members()
        return [member.name for member in theirs]

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        machine = self.machine
        return {
            "machine": {
                "id": machine.id,
                "name": machine.name,
                "person": machine.person,
                "fingerprint": machine.fingerprint,
            },
            "founding": self.roster.founding,
            "remote": self.remote,
            "member": self.member,
            "admitted_by": [] if self.member else self.doors,
            "hook": str(self.hook.path),
            "done": self.done,
            "warnings": self.warnings,
        }


def set_up(
    *,
    name: str | None,
    person: str | None,
    trust: str | None,
    remote: str | None,
    ask: Ask,
    offline: bool = False,
) -> SetUp:
    """Make this checkout one of this machine's, and of the roster on its remote."""
    if trust is not None and not is_oid(trust):
        raise UsageError(
            f"{trust!r} is not the id of a founding entry",
            hint="40 characters; a member sees them with: handsoff roster",
        )
    checkout, home, now = fit_checkout(), keys.home_folder(), clock.now()
    known = keys.load(home)
    names = choose_names(known, name=name, person=person, setting=checkout.setting)
    shared = open_shared(checkout, remote)
    pin = pin_of(checkout)
    waits = bool(founding.pinned(checkout).get("waits"))
    gate = Gate(shared, known, pinned=None if waits and trust else pin, trust=trust, ask=ask)
    read = gate.read_or_away(offline=offline)
    check_name_is_free(names, known, read.roster if read is not None else None)

    done = [] if known else [f"made the keys of {names.machine}, of {names.person}, in {home}"]
    done += _keep_remote(checkout, shared, remote)
    desk = Desk(checkout, Home(home), make_machine(home, names), now)
    read, founded = _join(desk, gate, read)
    done += founded
    done += _pin(desk, read, None if gate.pinned is None else pin)
    done += ignore_pages(checkout)
    hook = hooks.install(checkout)
    done += hook.done
    if scan.warm(cache_folder()):
        done.append("compiled the rules of the secret scanner, once for this user")
    roster = desk.read_roster(read.git_tip or "").trusted()
    desk.home.remember_clone(roster.founding, checkout.top)
    warnings = [said] if (said := places.warning(shared.prefix)) else []
    return SetUp(desk.machine, roster, shared.name, hook, done, warnings)


@dataclass(frozen=True, slots=True)
class Gate:
    """What must be so, or be answered, before a roster is trusted."""

    shared: Shared
    known: keys.Machine | None
    pinned: str | None
    trust: str | None
    ask: Ask

    def read(self) -> RosterRead:
        """Return the roster of the remote, if it may be trusted; without one, an empty read."""
        shared = self.shared
        known = (f"{place}/roster" for place in (shared.prefix, *places.KNOWN))
        there = shared.tips(*known, *places.above(shared.prefix))
        tip = there.get(shared.roster_ref, "")
        read = RosterRead()
        if not tip:
            self._check_place(there)
        if tip:
            shared.fetch([shared.roster_ref])
            read = read.extend(shared.chains.line(tip) or [])
        self._check(read.roster)
        return read

    def read_or_away(self, *, offline: bool) -> RosterRead | None:
        """Return the same, or None if the remote does not answer and ``offline`` says go on."""
        try:
            return self.read()
        except UnreachableError as error:
            if offline and not self.trust:
                return None
            error.hint = "handsoff init --offline founds a roster that waits for the remote"
            raise

    def _check_place(self, there: dict[str, str]) -> None:
        """Refuse to found a second roster beside one that other machines use, or on a branch."""
        shared = self.shared
        if place := places.elsewhere(shared.prefix, there):
            raise UsageError(
                f"the roster on {shared.name} is below {place}, and this clone looks for it below "
                f"{shared.prefix}",
                hint=f"git config handsoff.refs {place}, then: handsoff init",
            )
        if ref := places.in_the_way(shared.prefix, there):
            raise UsageError(
                f"{shared.name} has {ref}, so no ref can lie below it",
                hint=f"git config handsoff.refs {places.BRANCHES}-2, the same on each machine",
            )

    def _check(self, roster: Roster | None) -> None:
        for wanted, whose in ((self.trust, "you named"), (self.pinned, "this clone trusts")):
            if wanted is not None and (roster is None or roster.founding != wanted):
                found = f"founded by {roster.founding[:12]}" if roster else "missing"
                raise TrustError(
                    f"the roster on {self.shared.name} is {found}; {whose} {wanted[:12]}",
                    hint="ask on another machine: handsoff roster",
                )
        if roster is None or self.trust or self.pinned:
            return
        founder = next(iter(roster.everyone.values()))
        if self.known is not None and founder.id == self.known.id:
            return  # a run of ours that was cut off between founding and pinning
        self.ask(
            f"the roster on {self.shared.name} was founded by {founder.name} of {founder.person} "
            f"({founder.card.fingerprint}), founding id {roster.founding}. Trust it?"
        )


def fit_checkout() -> Checkout:
    """Return the checkout that we stand in, if it is one that can take part."""
    checkout = open_checkout()
    kind = checkout.line("rev-parse", "--show-object-format")
    if kind != "sha1":
        raise UnfitError(
            f"this repository names its objects with {kind}, which handsoff cannot read",
            hint="only sha1 repositories can be handed over, so far",
        )
    return checkout


def check_name_is_free(names: Names, known: keys.Machine | None, roster: Roster | None) -> None:
    """Raise UsageError if another machine of the roster has the name that this one is to have."""
    if roster is None or (known is not None and known.id in roster.everyone):
        return  # it has its name there already, which may be another one than here
    holder = roster.named(names.machine)
    if holder is not None:
        raise UsageError(
            f"there is a machine named {holder.name} in the roster, with another key",
            hint="choose another name: --name NAME"
            if known is None
            else "a machine keeps its name; with new keys: HANDSOFF_HOME=FOLDER handsoff init",
        )


def _join(desk: Desk, gate: Gate, read: RosterRead | None) -> tuple[RosterRead, list[str]]:
    """Return the roster that this clone takes part in, founded if need be, and what was done."""
    if read is None:
        return _found_apart(desk)
    if read.roster is not None:
        return read, []
    read = _found(desk, gate, read)
    ours = next(iter(read.trusted().everyone)) == desk.machine.id
    return read, [f"founded the roster on {desk.shared.name}" if ours else "another was faster"]


def _found(desk: Desk, gate: Gate, read: RosterRead) -> RosterRead:
    """Return the roster after founding it, or the one of the machine that was faster."""
    card = own_card(desk.machine, desk.now)
    for _ in range(_TRIES):
        at = int(desk.now.timestamp())
        draft = admission.found(read, card, at=at, sign=desk.machine.sign)
        if push_roster(desk.shared, read, draft):
            return read.extend([(draft.oid, draft.data)])
        read = gate.read()
        if read.roster is not None:
            return read
    raise LostRaceError(
        f"{_TRIES} times another machine wrote to the roster first",
        hint="if no other machine does: handsoff doctor finds out what the remote is doing",
    )


def _found_apart(desk: Desk) -> tuple[RosterRead, list[str]]:
    """Return the roster of this clone without the remote: as last seen, or founded to wait here."""
    known = desk.local_roster_read()
    if known is not None:
        return known, []
    card, at = own_card(desk.machine, desk.now), int(desk.now.timestamp())
    draft = admission.found(RosterRead(), card, at=at, sign=desk.machine.sign)
    shared = desk.shared
    store_of(shared).write_drafts([draft])
    files.sync_filesystem(desk.checkout.store_dir)
    read = RosterRead().extend([(draft.oid, draft.data)])
    founding.pin(desk.checkout, draft.oid, draft.oid, read.roster, waits=True)
    said = f"founded a roster without {shared.name}, which does not answer: it waits here"
    return read, [said]


def _pin(desk: Desk, read: RosterRead, pin: str | None) -> list[str]:
    trusted = read.trusted().founding
    if trusted in (pin, desk.pin):
        return []
    given_up = _give_up_waiting(desk) if desk.pin is not None else []
    desk.set_pin(trusted)
    return [*given_up, f"trusted the roster {trusted}"]


def _give_up_waiting(desk: Desk) -> list[str]:
    """Keep aside what waits under a roster of our own, which another one has overtaken."""
    pending = Pending(desk.checkout)
    for waiting in filter(None, map(pending.of, pending.works())):
        pending.lost(waiting, "made under a roster that was founded without the remote")
    return [f"gave up the roster {desk.need_pin()}, which the remote never had"]


def _keep_remote(checkout: Checkout, shared: Shared, asked: str | None) -> list[str]:
    if asked is None or checkout.setting("handsoff.remote") == asked:
        return []
    checkout.set_config("handsoff.remote", asked)
    return [f"noted {shared.name} as the shared remote"]


def ignore_pages(checkout: Checkout) -> list[str]:
    """Keep ``.wip/`` out of git without touching a file that is tracked."""
    line = checkout.line("rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
    assert line is not None
    path = Path(line)
    with files.saying(f"cannot write {path}"):
        before = path.read_bytes() if path.exists() else b""
        if _SAME & {part.strip() for part in before.splitlines()}:
            return []
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write((b"" if before.endswith(b"\n") or not before else b"\n") + _IGNORED + b"\n")
    return [f"kept .wip/ out of git, in {path}"]
