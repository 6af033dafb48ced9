"""Once two machines have proved the same code: one lets the other in, and both are set up.

Order, and what a cut leaves: a person agrees (nothing) -> the gate is set up, its roster founded
if there was none (as init leaves it) -> the guest's keys are on its disk (as card leaves it) -> it
is let in (the next run of both finds that) -> the guest is set up. Each step sees whether it was
done before, so the second run goes on where the first one stopped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core.machines.cards import Card, encode_card
from handsoff.core.machines.joining import Claims, check_shares
from handsoff.core.machines.pairtalk import Bye, Let, Ready, Trust
from handsoff.core.machines.roster import admission_problem
from handsoff.edge.lan.meeting import Meeting
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, RefusedError, UnreachableError
from handsoff.flows import founding
from handsoff.flows.machines.claiming import Own, roster_now
from handsoff.flows.machines.init import SetUp, set_up
from handsoff.flows.roster import changes, roster
from handsoff.flows.roster.roster import Ask

PERSON_SECONDS: Final = 600.0
"""How long a person may think."""

_REMOTE_SECONDS: Final = 180.0
_BYE_SECONDS: Final = 10.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """How a pairing went, seen from this machine."""

    own: Card
    other: Card
    words: tuple[str, ...]
    founding: str
    gate: bool
    """Whether this machine let the other one in."""
    already: bool = False
    """Whether both were in before."""
    waits: bool = False
    """Whether it is done only once the remote answers."""
    set_up: SetUp | None = None
    todo: str = ""
    """What is still to be typed here."""

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        guest = self.other if self.gate else self.own
        return {
            "machine": _told(self.own),
            "other": _told(self.other),
            "words": list(self.words),
            "founding": self.founding,
            "let_in": None if self.already else guest.name,
            "already": self.already,
            "waits": self.waits,
            "done": self.set_up.done if self.set_up else [],
            "warnings": self.set_up.warnings if self.set_up else [],
            "todo": self.todo,
        }


def _told(card: Card) -> dict[str, Any]:
    return {
        "id": card.id,
        "name": card.name,
        "person": card.person,
        "fingerprint": card.fingerprint,
    }


def let_in(own: Own, meeting: Meeting, *, ask: Ask) -> Paired:
    """Be the gate: ask the person here, and let the other machine in."""
    theirs = meeting.pairing.theirs
    _check_may_be_in(own, theirs)
    if own.roster is None or own.roster.member(theirs.card.id) is None:
        ask(_question(own, theirs.card))
    meeting.check_there()
    own = own.keep()
    done = _be_set_up(own, ask)
    trust = Trust(own.desk.need_pin(), founding.waits(own.desk.checkout))
    meeting.say(trust)
    meeting.hear(Ready, _REMOTE_SECONDS)
    step("pair.admit.before")
    waits = _admit(own, theirs.card)
    step("pair.admit.after")
    meeting.say(Let(waits))
    try:
        meeting.hear(Bye, _BYE_SECONDS)
    except UnreachableError as error:
        raise UnreachableError(
            f"{theirs.card.name} is let in, but did not hear it: {error}",
            hint=f"there: handsoff init --trust {trust.founding}",
        ) from error
    return Paired(
        own=own.card, other=theirs.card, words=meeting.pairing.words, founding=trust.founding,
        gate=True, waits=waits, set_up=done,
    )  # fmt: skip


def be_let_in(own: Own, meeting: Meeting, *, ask: Ask, tell: Tell) -> Paired:
    """Be the guest: trust the roster of a machine that has proved the code, and be set up."""
    theirs = meeting.pairing.theirs
    trust = meeting.hear(Trust, PERSON_SECONDS)
    seen = _seen_here(own)
    check_shares(own.claims, theirs.card, trust.founding, waits=trust.waits, seen=seen)
    own = own.keep()
    step("pair.ready.before")
    meeting.say(Ready())
    todo = f"handsoff init --trust {trust.founding}"
    try:
        waits = meeting.hear(Let, _REMOTE_SECONDS).waits
    except UnreachableError as error:
        error.hint = f"if it was let in before that: {todo}"
        raise
    step("pair.let.after")
    meeting.say(Bye())
    tell(f"trusts the roster {trust.founding}, of which {theirs.card.name} has told it")
    done = None
    if seen == trust.founding:
        try:
            done = set_up(name=None, person=None, trust=trust.founding, remote=None, ask=ask)
        except HandsoffError as error:
            error.hint = f"it is let in; once that is put right: {todo}"
            raise
    finished = done is not None and done.member
    return Paired(
        own=own.card, other=theirs.card, words=meeting.pairing.words, founding=trust.founding,
        gate=False, waits=waits or not finished, set_up=done, todo="" if finished else todo,
    )  # fmt: skip


def _check_may_be_in(own: Own, theirs: Claims) -> None:
    if own.roster is None or own.roster.member(theirs.card.id) is not None:
        return
    if problem := admission_problem(own.roster, theirs.card, own.desk.machine.id):
        raise RefusedError(
            f"{theirs.card.name} of {theirs.card.person} is not let in: {problem}",
            hint="handsoff roster tells who is in",
        )


def _question(own: Own, card: Card) -> str:
    # the fingerprint stands above, and the question is to fit into a line
    founds = "" if own.roster is not None else ", to a new roster"
    return f"let {card.name} of {card.person} in{founds}? it must show the same four words"


def _be_set_up(own: Own, ask: Ask) -> SetUp | None:
    """Set the gate's own clone up, as far as it is not; None where the remote is not needed."""
    if own.claims.away and own.desk.pin:
        return None
    done = set_up(name=None, person=None, trust=None, remote=None, ask=ask)
    if not done.member:
        raise RefusedError(
            f"another machine founded the roster meanwhile: {done.roster.founding[:12]}",
            hint=f"one of its machines lets this one in: {', '.join(done.doors)}",
        )
    return done


def _admit(own: Own, card: Card) -> bool:
    """Let the machine of ``card`` in; say whether that has to wait for the remote."""
    file = encode_card(card)
    words = (file.decode("ascii"),)

    def agreed(_: str) -> None:
        """Ask nobody again: the person here has seen the words."""

    def run() -> roster.Admission:
        return roster.admit(own.desk, file, ask=agreed)

    try:
        changes.or_later(own.desk, "admit", words, run, ask=agreed)
    except UnreachableError:
        if not any(c.words == words for c in changes.waiting(own.desk)):
            raise
        return True
    return False


def _seen_here(own: Own) -> str | None:
    """Return the founding id that the remote here shows now, None if it does not answer."""
    read = roster_now(own.desk, None if own.new else own.desk.machine)
    if read is None:
        return None
    return read.roster.founding if read.roster is not None else ""
