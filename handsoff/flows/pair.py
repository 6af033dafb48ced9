"""``handsoff pair``: one machine shows a code, the other one types it, and one lets the other in.

A code can be guessed once. On the side that shows it, it is used up as soon as our half of the
PAKE went out: whoever fails then ends it. The side that types gives each address that could be
meant one guess, three in all. What is said before that costs neither side a guess.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Final

from handsoff.core.address import format_address, parse_address
from handsoff.core.codes import RANDOM_BYTES, Code, make_code
from handsoff.core.joining import Claims, Side
from handsoff.core.pairing import Pairing
from handsoff.core.pairtalk import Hi
from handsoff.core.plain import plain
from handsoff.edge.meeting import Door, Line, Meeting, call, reachable
from handsoff.edge.pake import Pake
from handsoff.errors import DamagedError, HandsoffError, TrustError, UnreachableError
from handsoff.flows.admitting import Paired, Tell, be_let_in, let_in
from handsoff.flows.claiming import Own
from handsoff.flows.roster import Ask

WAIT_SECONDS: Final = 600.0
"""How long a code is good for."""

GUESSES: Final = 3
_ADDRESSES: Final = 16
_LOOK_SECONDS: Final = 6.0
_CALL_SECONDS: Final = 3.0
_PROOF_SECONDS: Final = 30.0
_ODD_LINES: Final = 5


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
    if own.claims.admits:
        _check_person(voice)
    code = make_code(secrets.token_bytes(RANDOM_BYTES))
    with ExitStack() as stack:
        door = stack.enter_context(Door(bind, port))
        stack.enter_context(_announced(code, door.port, bind, voice.tell))
        shown(code, format_address(reachable(bind), door.port))
        meeting, key = _first_caller(door, code, voice)
        door.close()
        stack.enter_context(meeting.line)
        own_part = stack.pop_all()
    with own_part:
        try:
            meeting.pairing.agree(key)
            meeting.hear(Claims, _PROOF_SECONDS)
        except HandsoffError as error:
            raise _used_up(meeting.line.where, error) from error
        meeting.say(own.claims)
        return _finish(own, meeting, voice)


def _first_caller(door: Door, code: Code, voice: Voice) -> tuple[Meeting, bytes]:
    """Return the first caller that takes part in the PAKE, which gets our half, and the key."""
    odd = 0
    taken: list[tuple[Pairing, Pake, bytes]] = []

    def heard(body: bytes) -> None:
        pairing, pake = Pairing(Side.SHOWS), Pake(Side.SHOWS, code)
        theirs = pairing.receive(body)
        assert isinstance(theirs, Hi), "nothing else is due"
        taken[:] = [(pairing, pake, pake.finish(theirs.pake))]

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
    pairing, pake, key = taken[0]
    meeting = Meeting(pairing, line)
    meeting.say(Hi(pake.message))
    return meeting, key


def enter(own: Own, code: Code, *, at: str | None, voice: Voice) -> Paired:
    """Find the machine that shows ``code``, and prove that it was typed here."""
    if own.claims.admits or not (own.claims.sees or own.claims.trusts):
        _check_person(voice)
    wrong: list[str] = []
    silent: list[str] = []
    for tried, (host, port) in enumerate(_candidates(code, at, voice.tell)):
        if tried == _ADDRESSES or len(wrong) == GUESSES:
            break
        try:
            line = call(host, port, _CALL_SECONDS)
        except UnreachableError as error:
            silent.append(str(error))
            continue
        with line:
            meeting = _proved(own, code, line, wrong, silent)
            if meeting is not None:
                return _finish(own, meeting, voice)
    raise _nobody(code, at, wrong, silent)


def _proved(
    own: Own, code: Code, line: Line, wrong: list[str], silent: list[str]
) -> Meeting | None:
    """Return the meeting with the machine at ``line`` if it has proved the code."""
    meeting, pake = Meeting(Pairing(Side.TYPES), line), Pake(Side.TYPES, code)
    try:
        meeting.say(Hi(pake.message))
        key = pake.finish(meeting.hear(Hi, _PROOF_SECONDS).pake)
    except HandsoffError as error:  # our half alone is no guess: it tells nobody anything
        silent.append(f"{line.where}: {error}")
        return None
    meeting.pairing.agree(key)
    try:
        meeting.say(own.claims)
        meeting.hear(Claims, _PROOF_SECONDS)
    except HandsoffError:
        wrong.append(line.where)
        return None
    return meeting


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
        return Paired(own=own.card, other=theirs, words=pairing.words, gate=False, already=True,
                      founding=own.claims.trusts)  # fmt: skip
    try:
        if gate is pairing.side:
            return let_in(own, meeting, ask=voice.ask)
        voice.tell(f"{theirs.name} lets this machine in, once its person agrees there")
        return be_let_in(own, meeting, ask=voice.ask, tell=voice.tell)
    except HandsoffError as error:
        meeting.refuse(error)
        raise


def _check_person(voice: Voice) -> None:
    """Refuse to be the one who lets in where nobody can agree, before the code is used up."""
    if not voice.may_ask:
        raise TrustError(
            "this machine lets the other one in, and nobody is here to agree",
            hint="type it at a terminal; in a script, where nobody compares words: --yes",
        )


def near_by() -> list[str]:
    """Return the numbers of the codes that are shown near by, as far as mDNS knows."""
    return []


def _announced(code: Code, port: int, bind: str, tell: Tell) -> AbstractContextManager[object]:
    return nullcontext()


def _candidates(code: Code, at: str | None, tell: Tell) -> Iterator[tuple[str, int]]:
    """Yield where the machine that shows ``code`` may be: what was typed, or what mDNS says."""
    if at is not None:
        yield parse_address(at)


def _used_up(where: str, error: HandsoffError) -> HandsoffError:
    kind = TrustError if isinstance(error, TrustError | DamagedError) else type(error)
    return kind(
        f"somebody at {where} tried this code and did not prove it ({error}): it is used up",
        hint="handsoff pair shows a new code; if nobody of yours tried, somebody guessed",
    )


def _nobody(code: Code, at: str | None, wrong: list[str], silent: list[str]) -> HandsoffError:
    if wrong:
        return TrustError(
            f"no machine has proved the code {code.number}-...: it was typed wrong, or the one at "
            f"{', '.join(wrong)} is another",
            hint="that code is used up; type handsoff pair on the other machine for a new one",
        )
    where = f"at {at}" if at else "on this network"
    why = f" ({'; '.join(silent[:3])})" if silent else ""
    return UnreachableError(
        f"no machine {where} waits with the number {code.number}{why}",
        hint="on the other machine: handsoff pair; then here, with the address that it shows: "
        "handsoff pair CODE --at HOST:PORT",
    )
