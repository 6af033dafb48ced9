"""``handsoff pair``: one machine shows a code, the other one types it, and one lets the other in.

A code can be guessed once. On the side that shows it, it is used up as soon as our half of the
PAKE went out: whoever fails then ends it. The side that types gives each address that could be
meant one guess, three in all. What is said before that costs neither side a guess.
"""

import secrets
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from handsoff.core.machines.codes import RANDOM_BYTES, Code, make_code
from handsoff.core.machines.joining import Claims, Side, check_not_revoked, will_let_in
from handsoff.core.machines.pairing import Pairing
from handsoff.core.machines.pairtalk import Hi
from handsoff.core.plain import plain
from handsoff.core.reach.address import format_address, parse_address
from handsoff.core.reach.discovery import PAIRING, Found
from handsoff.edge import clock
from handsoff.edge.lan import mdns
from handsoff.edge.lan.mdns import Announcement
from handsoff.edge.lan.meeting import Door, Meeting, call
from handsoff.edge.pake import Pake
from handsoff.edge.system import reachable
from handsoff.errors import DamagedError, HandsoffError, TrustError, UnreachableError
from handsoff.flows.machines.admitting import Paired, Tell, be_let_in, let_in
from handsoff.flows.machines.claiming import Own
from handsoff.flows.roster.roster import Ask

WAIT_SECONDS: Final = 600.0
"""How long a code is good for."""

GUESSES: Final = 3
_ADDRESSES: Final = 16
_LOOK_SECONDS: Final = 6.0
_MORE_SECONDS: Final = 3.0
_NEAR_SECONDS: Final = 1.5
_CALL_SECONDS: Final = 3.0
_HI_SECONDS: Final = 5.0
_PROOF_SECONDS: Final = 30.0
_SEARCH_SECONDS: Final = 60.0
_ODD_LINES: Final = 5

_Places: TypeAlias = Generator[tuple[str, int], None, None]


@dataclass(frozen=True)
class Voice:
    """How the flow speaks to the person: tells something, asks something."""

    tell: Tell
    ask: Ask
    may_ask: bool
    """Whether there is somebody to ask."""


def show(
    own: Own, *, bind: str, port: int, shown: Callable[[Code, str], None], voice: Voice
) -> Paired:
    """Show a new code, and wait for the machine on which it is typed."""
    _check_person(own, Side.SHOWS, voice)
    code = make_code(secrets.token_bytes(RANDOM_BYTES))
    number, pake = str(code.number), Pake(Side.SHOWS, code)
    with Door(bind, port) as door:
        announced = Announcement(PAIRING, number, door.port, bind=bind, tell=voice.tell)
        with nullcontext() if mdns.is_off() else announced:
            shown(code, format_address(reachable(bind), door.port))
            meeting, theirs = _first_caller(door, pake, voice)
            door.close()
            with _using_up(meeting):
                meeting.say(Hi(pake.message))
    with meeting.line:
        with _using_up(meeting):
            meeting.pairing.agree(pake.finish(theirs.pake))
            meeting.hear(Claims, _PROOF_SECONDS)
        meeting.say(own.claims)
        return _finish(own, meeting, voice)


def _first_caller(door: Door, pake: Pake, voice: Voice) -> tuple[Meeting, Hi]:
    """Return the first caller that says a hello of the PAKE, to which our half is the answer."""
    odd = 0
    taken: list[tuple[Pairing, Hi]] = []

    def heard(body: bytes) -> None:
        pairing = Pairing(Side.SHOWS)
        theirs = pairing.receive(body)
        assert isinstance(theirs, Hi), "nothing else is due"
        pake.check(theirs.pake)
        taken.append((pairing, theirs))

    def told(where: str, why: str) -> None:
        nonlocal odd
        odd += 1
        if odd <= _ODD_LINES:
            voice.tell(plain(f"somebody at {where} did not pair, and the code still stands: {why}"))

    try:
        line = door.wait(heard, WAIT_SECONDS, told)
    except UnreachableError as error:
        error.hint = "handsoff pair shows a new code"
        raise
    pairing, theirs = taken[-1]
    return Meeting(pairing, line), theirs


@contextmanager
def _using_up(meeting: Meeting) -> Iterator[None]:
    """Say of any failure that the code is used up."""
    try:
        yield
    except HandsoffError as error:
        kind = TrustError if isinstance(error, TrustError | DamagedError) else type(error)
        raise kind(
            f"{meeting.line.where} tried this code in vain, and it is used up: {error}",
            hint="handsoff pair shows a new code; if nobody of yours tried, somebody guessed",
        ) from error


def enter(own: Own, code: Code, *, at: str | None, voice: Voice) -> Paired:
    """Find the machine that shows ``code``, and prove that it was typed here."""
    _check_person(own, Side.TYPES, voice)
    tried = _Tried()
    with closing(_candidates(code, at, voice.tell)) as places:
        meeting = _first_to_prove(own, code, places, tried)
    if meeting is None:
        raise _nobody(code, at, tried)
    with meeting.line:
        return _finish(own, meeting, voice)


@dataclass
class _Tried:
    """What came of the addresses that were tried: a guess each, or nothing at all."""

    wrong: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def _first_to_prove(
    own: Own, code: Code, places: Iterable[tuple[str, int]], tried: _Tried
) -> Meeting | None:
    """Return the meeting with the first machine that proves the code; its line is open."""
    until = clock.monotonic() + _SEARCH_SECONDS
    for host, port in islice(places, _ADDRESSES):
        pake = Pake(Side.TYPES, code)  # now, while nobody can see how long it takes
        try:
            line = call(host, port, _CALL_SECONDS)
        except UnreachableError as error:
            tried.silent.append(str(error))
            continue
        with ExitStack() as stack:
            stack.enter_context(line)
            if _proves(meeting := Meeting(Pairing(Side.TYPES), line), own, pake, tried):
                stack.pop_all()
                return meeting
        if len(tried.wrong) == GUESSES or clock.monotonic() > until:
            break
    return None


def _proves(meeting: Meeting, own: Own, pake: Pake, tried: _Tried) -> bool:
    """Hold the first four turns, and say whether the other end has proved the code."""
    where = meeting.line.where
    try:
        meeting.say(Hi(pake.message))
        theirs = meeting.hear(Hi, _HI_SECONDS).pake
        pake.check(theirs)
    except HandsoffError as error:  # our half alone is no guess: it tells nobody anything
        tried.silent.append(f"{where}: {error}")
        return False
    try:
        meeting.pairing.agree(pake.finish(theirs))
        meeting.say(own.claims)
        meeting.hear(Claims, _PROOF_SECONDS)
    except HandsoffError:
        tried.wrong.append(where)
        return False
    return True


def _finish(own: Own, meeting: Meeting, voice: Voice) -> Paired:
    """Go on from two proofs: say who is there, and let one end let the other in."""
    pairing = meeting.pairing
    theirs = pairing.theirs.card
    meeting.who = theirs.name
    voice.tell(f"this is {own.card.name} of {own.card.person}, {own.card.fingerprint}")
    voice.tell(f"that is {theirs.name} of {theirs.person}, {theirs.fingerprint}")
    voice.tell(f"both screens must show: {' '.join(pairing.words)}")
    gate = pairing.judge()
    if gate is None:
        check_not_revoked(own.roster, theirs)
        return Paired(own=own.card, other=theirs, words=pairing.words, gate=False, already=True,
                      founding=own.claims.trusts)  # fmt: skip
    try:
        if gate is pairing.side:
            return let_in(own, meeting, ask=voice.ask)
        voice.tell(f"{theirs.name} lets this machine in, once its person agrees there")
        return be_let_in(own, meeting, ask=voice.ask, tell=voice.tell)
    except HandsoffError as error:
        meeting.refuse(error)
        error.hint = error.hint or "handsoff pair again, on both machines, finishes it"
        raise


def _check_person(own: Own, side: Side, voice: Voice) -> None:
    """Refuse to be the one who lets in where nobody can agree, before the code is used up."""
    if not voice.may_ask and will_let_in(own.claims, side):
        raise TrustError(
            "this machine lets the other one in, and nobody is here to agree",
            hint="type it at a terminal; in a script, where nobody compares words: --yes",
        )


def near_by() -> list[str]:
    """Return the numbers of the codes that are shown near by, as far as mDNS knows."""
    return sorted({found.instance for found in mdns.browse(PAIRING, seconds=_NEAR_SECONDS)})


def _candidates(code: Code, at: str | None, tell: Tell) -> _Places:
    """Yield where the machine that shows ``code`` may be: what was typed, or what mDNS says."""
    if at is not None:
        yield parse_address(at)
        return
    number = str(code.number)
    tell(f"looking for the machine that shows {number}-...")
    known: set[tuple[str, int]] = set()
    # whoever answers first need not be the one: if it is not, all others are heard as well
    first = next(mdns.browse(PAIRING, seconds=_LOOK_SECONDS, wanted=number, trouble=tell), None)
    yield from _unknown([first] if first else [], known)
    if first is not None:
        others = mdns.browse(PAIRING, seconds=_MORE_SECONDS, wanted=number)
        yield from _unknown(list(others), known)


def _unknown(found: list[Found], known: set[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for there in found:
        for address in there.addresses:
            if (address, there.port) not in known:
                known.add((address, there.port))
                yield address, there.port


def _nobody(code: Code, at: str | None, tried: _Tried) -> HandsoffError:
    if tried.wrong:
        return TrustError(
            f"no machine has proved the code {code.number}-...: it was typed wrong, or the one at "
            f"{', '.join(tried.wrong)} is another",
            hint="that code is used up; type handsoff pair on the other machine for a new one",
        )
    where = f"at {at}" if at else "on this network"
    why = f" ({'; '.join(tried.silent[:3])})" if tried.silent else ""
    return UnreachableError(
        f"no machine {where} waits with the number {code.number}{why}",
        hint="on the other machine: handsoff pair; then here, with the address that it shows: "
        "handsoff pair CODE --at HOST:PORT",
    )
