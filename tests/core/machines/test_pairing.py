"""Pairing: one guess, both ends bound to all that was said, and who lets whom in."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.machines.cards import Card, make_card
from handsoff.core.machines.codes import Code, parse_code
from handsoff.core.machines.joining import (
    Claims,
    Side,
    check_not_revoked,
    check_shares,
    gate_of,
    will_let_in,
)
from handsoff.core.machines.pairing import EXPECTED, LIMIT, Pairing, Role
from handsoff.core.machines.pairtalk import (
    Bye,
    Hi,
    Let,
    Message,
    No,
    Ready,
    Trust,
    as_error,
    no,
    read,
)
from handsoff.core.machines.roster import Member, Revocation, Roster
from handsoff.edge.keys import draft
from handsoff.edge.pake import Pake
from handsoff.errors import (
    DamagedError,
    HandsoffError,
    LostRaceError,
    RefusedError,
    TrustError,
    UsageError,
)

CODE = parse_code("7-orbit-lamp")
FOUNDING, OTHER = "a" * 40, "b" * 40
ROOTS = ("c" * 40,)
PAKE = b"A" + bytes(32)
KEY = b"k" * 32


def card(name: str, person: str = "lin") -> Card:
    machine = draft(name, person)
    return make_card(name=name, person=person, sign_key=machine.public_key,
                     age_key=machine.age_key, at=1, sign=machine.sign)  # fmt: skip


M1, M2 = card("m1"), card("m2")


def claims(who: Card, *, trusts: str = "", sees: str = "", away: bool = False,
           member: bool = False, roots: tuple[str, ...] = ROOTS) -> Claims:  # fmt: skip
    return Claims(card=who, trusts=trusts, sees=sees, away=away, member=member, roots=roots)


MEMBER = claims(M1, trusts=FOUNDING, sees=FOUNDING, member=True)
NEW = claims(M2, sees=FOUNDING)
SAID: tuple[Message, ...] = (
    Hi(PAKE), Hi(b"B" + bytes(32)), MEMBER, NEW, Trust(FOUNDING, waits=False), Ready(),
    Let(waits=False), Bye(),
)  # fmt: skip


class Ends:
    """Two ends that have a key, and what goes over the wire between them."""

    def __init__(self, types_key: bytes = KEY, shows_key: bytes = KEY) -> None:
        self.ends = {Side.TYPES: Pairing(Side.TYPES), Side.SHOWS: Pairing(Side.SHOWS)}
        self.keys = {Side.TYPES: types_key, Side.SHOWS: shows_key}

    def speaker(self, turn: int) -> Side:
        who = EXPECTED[turn][0]
        if isinstance(who, Side):
            return who
        return Side.TYPES if who is Role.GATE else Side.SHOWS

    def prepare(self, turn: int) -> None:
        for side, end in self.ends.items():
            if turn == 2:
                end.agree(self.keys[side])
            if turn == 4:
                end.judge()

    def say(self, turn: int, message: Message | None = None) -> bytes:
        """Let the one who is due say its message of this turn."""
        self.prepare(turn)
        return self.ends[self.speaker(turn)].send(message or SAID[turn])

    def hear(self, turn: int, body: bytes) -> Message:
        return self.ends[self.speaker(turn).other].receive(body)

    def until(self, turn: int) -> None:
        """Hold the pairing up to ``turn``."""
        for earlier in range(turn):
            assert self.hear(earlier, self.say(earlier)) == SAID[earlier]


def test_both_ends_hear_what_was_said_and_see_the_same_words() -> None:
    ends = Ends()
    ends.until(len(SAID))
    one, other = ends.ends.values()
    assert one.words == other.words
    assert len(one.words) == 4
    assert (one.gate, other.gate, one.theirs, other.theirs) == (Side.TYPES, Side.TYPES, NEW, MEMBER)


def test_words_differ_with_the_key_and_with_the_claims() -> None:
    def words(key: bytes, first: Claims) -> tuple[str, ...]:
        ends = Ends(key, key)
        ends.until(2)
        ends.hear(2, ends.say(2, first))
        ends.hear(3, ends.say(3))
        return ends.ends[Side.TYPES].words

    assert len({words(KEY, MEMBER), words(b"x" * 32, MEMBER), words(KEY, claims(M1))}) == 3


def test_the_vector_holds() -> None:
    """Another program that draws its keys from these bytes must come to these."""
    ends = Ends()
    ends.until(2)
    body = ends.say(2, No("refused", "no", ""))
    assert body.hex() == (
        "64a627e68bc66d4a6502b0a09ab94f59b674c4ae8cecf873a1bba0b7c9391a209253825d26949539"
        "338e01497cd4381f10dbb408541ed22b732991deac14549cb91ef0e19f9b922431bcbab790b97f03"
        "5382a3971790388c0bf3b2570ab29404c1b9be1bd477ea"
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(turn=st.integers(0, len(SAID) - 1), data=st.data())
def test_a_message_with_one_bit_changed_is_refused_then_or_at_the_next_one(
    turn: int, data: st.DataObject
) -> None:
    ends = Ends()
    ends.until(turn)
    body = bytearray(ends.say(turn))
    bit = data.draw(st.integers(0, 8 * len(body) - 1))
    body[bit // 8] ^= 1 << bit % 8
    with pytest.raises(HandsoffError):
        ends.hear(turn, bytes(body))
        # what is in the clear may still be a hello; nothing that follows it is believed
        assert turn < 2
        if turn == 0:
            ends.hear(1, ends.say(1))
        ends.hear(2, ends.say(2))


@pytest.mark.parametrize("turn", range(2, len(SAID)))
def test_a_message_that_comes_back_or_once_more_is_refused(turn: int) -> None:
    ends = Ends()
    ends.until(turn)
    body = ends.say(turn)
    speaker = ends.ends[ends.speaker(turn)]
    if turn == 3:
        speaker.judge()
    if turn + 1 < len(SAID):
        with pytest.raises(HandsoffError):
            speaker.receive(body)  # reflected
    ends.hear(turn, body)
    if turn == 3:
        ends.prepare(4)
    with pytest.raises(HandsoffError):
        ends.hear(turn, body)  # replayed


@pytest.mark.parametrize("turn", range(2, len(SAID)))
def test_a_message_of_another_run_or_by_another_key_is_refused(turn: int) -> None:
    for other in (Ends(), Ends(b"x" * 32, b"x" * 32)):
        ends = Ends()
        ends.until(turn)
        ends.say(turn)
        other.hear(0, other.say(0, Hi(b"A" + bytes(31) + b"\1")))
        for earlier in range(1, turn):
            other.hear(earlier, other.say(earlier))
        with pytest.raises(TrustError if turn < 4 else DamagedError):
            ends.hear(turn, other.say(turn))


@pytest.mark.parametrize("said", [Hi(PAKE), Ready(), Bye(), Let(waits=False), NEW])
def test_out_of_turn_is_refused_even_with_a_proof(said: Message) -> None:
    ends = Ends()
    ends.until(4)
    gate = ends.ends[Side.TYPES]
    ends.prepare(4)
    gate._due = lambda side, message: True  # type: ignore[method-assign]
    with pytest.raises(DamagedError, match="out of turn"):
        ends.hear(4, gate.send(said))


def test_only_the_gate_says_that_the_guest_is_in() -> None:
    ends = Ends()
    ends.until(4)
    ends.prepare(4)
    with pytest.raises(AssertionError):
        ends.ends[Side.SHOWS].send(SAID[4])


@pytest.mark.parametrize("turn", range(len(SAID)))
def test_who_is_due_may_say_no_once_the_keys_are_there(turn: int) -> None:
    ends = Ends()
    ends.until(turn)
    said = no(RefusedError("not\x1b[1m today", hint="tomorrow"))
    if turn < 2:
        with pytest.raises(AssertionError):
            ends.say(turn, said)
        return
    heard = ends.hear(turn, ends.say(turn, said))
    assert isinstance(heard, No)
    error = as_error(heard, "m2")
    assert (type(error), str(error), error.hint) == (RefusedError, "m2 says: not[1m today",
                                                     "tomorrow")  # fmt: skip
    assert not any(end.may_refuse for end in ends.ends.values())
    with pytest.raises(HandsoffError):
        ends.hear(turn, b"more")


def test_whether_no_may_be_said_is_known_at_each_turn() -> None:
    ends = Ends()
    for turn in range(len(SAID)):
        ends.prepare(turn)
        told = {side for side, end in ends.ends.items() if end.may_refuse}
        assert told == ({ends.speaker(turn)} if turn >= 2 else set())
        ends.hear(turn, ends.say(turn))
        if turn == 3:
            assert not any(end.may_refuse for end in ends.ends.values())
    assert not any(end.may_refuse for end in ends.ends.values())


def test_a_proof_over_what_cannot_be_opened_is_no_message() -> None:
    ends = Ends()
    ends.until(2)
    ends.prepare(2)
    box = b"x" * 40
    with pytest.raises(TrustError):
        ends.hear(2, ends.ends[Side.TYPES]._proof(Side.TYPES, box) + box)


def test_a_no_of_an_unknown_kind_is_a_refusal() -> None:
    assert type(as_error(No("lost-race", "x", ""), "m2")) is LostRaceError
    assert type(as_error(No("bug", "", ""), "m2")) is RefusedError


@given(st.binary(max_size=200))
def test_garbage_is_no_hello(body: bytes) -> None:
    with pytest.raises(HandsoffError):
        Pairing(Side.SHOWS).receive(body)


def test_what_is_over_the_limit_is_refused_before_it_is_read() -> None:
    ends = Ends()
    ends.until(2)
    ends.prepare(2)
    with pytest.raises(DamagedError, match="over the limit"):
        ends.hear(2, b"{" * (LIMIT + 1))
    with pytest.raises(TrustError):
        ends.hear(2, b"{" * LIMIT)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"kind": "hi", "v": 2, "pake": "41" + "00" * 32}, RefusedError),
        ({"kind": "hi", "v": True, "pake": "41" + "00" * 32}, DamagedError),
        ({"kind": "hi", "v": 1, "pake": "41" + "00" * 31}, DamagedError),
        ({"kind": "hi", "v": 1, "pake": "4G" + "00" * 32}, DamagedError),
        ({"kind": "hi", "v": 1, "pake": "41" + "AB" * 32}, DamagedError),
        ({"kind": "hi", "v": 1, "pake": 7}, DamagedError),
        ({"kind": "hi", "v": 1}, DamagedError),
        ({"kind": "let", "waits": 1}, DamagedError),
        ({"kind": "bye", "more": 1}, DamagedError),
        ({"kind": ["bye"]}, DamagedError),
        ({"kind": "trust", "founding": "", "waits": False}, DamagedError),
        ({"kind": "no", "code": "x", "message": "x" * 501, "hint": ""}, DamagedError),
        ({"kind": "claims", "card": {}, "trusts": "", "sees": "", "away": False, "member": False,
          "roots": []}, DamagedError),
        ({"kind": "claims", "card": M1.as_dict(), "trusts": "x", "sees": "", "away": False,
          "member": False, "roots": []}, DamagedError),
        ({"kind": "claims", "card": M1.as_dict(), "trusts": "", "sees": "", "away": False,
          "member": False, "roots": ["c" * 40] * 65}, DamagedError),
        ({"kind": "claims", "card": M1.as_dict(), "trusts": "", "sees": "", "away": False,
          "member": False, "roots": {}}, DamagedError),
        ({"kind": "claims", "card": M1.as_dict(), "trusts": "", "sees": "", "away": False,
          "member": False, "roots": ["c" * 39]}, DamagedError),
        ({"kind": "trust", "founding": "x", "waits": False}, DamagedError),
        ({"kind": "claims", "card": {**M1.as_dict(), "signature": M2.signature}, "trusts": "",
          "sees": "", "away": False, "member": False, "roots": []}, TrustError),
    ],
)  # fmt: skip
def test_a_message_with_anything_wrong_is_refused(
    document: dict[str, object], error: type[HandsoffError]
) -> None:
    with pytest.raises(error):
        read(canon.decode(canon.encode(document)))


# --- the code


def meet(types: Code, shows: Code) -> tuple[bytes, bytes]:
    """Return the keys that two ends with these codes come to."""
    one, other = Pake(Side.TYPES, types), Pake(Side.SHOWS, shows)
    return one.finish(other.message), other.finish(one.message)


def test_the_same_code_gives_the_same_key_and_another_one_each_time() -> None:
    (one, other), (again, _) = meet(CODE, CODE), meet(CODE, CODE)
    assert one == other
    assert one != again


def test_whoever_sits_in_between_and_guesses_wrong_has_neither_key() -> None:
    """A few here; the lab does 200."""
    for guess in ("7-orbit-lasso", "7-lamp-orbit", "8-orbit-lamp"):
        wrong = parse_code(guess)
        typist, waiter = Pake(Side.TYPES, CODE), Pake(Side.SHOWS, CODE)
        to_typist, to_waiter = Pake(Side.SHOWS, wrong), Pake(Side.TYPES, wrong)
        keys = {
            typist.finish(to_typist.message), to_typist.finish(typist.message),
            waiter.finish(to_waiter.message), to_waiter.finish(waiter.message),
        }  # fmt: skip
        assert len(keys) == 4


@pytest.mark.parametrize("side", Side)
def test_a_pake_message_that_is_none_or_comes_back_is_refused(side: Side) -> None:
    for theirs in (b"", b"A", b"S" + bytes(32), b"A" + bytes(32), b"B" + bytes(32),
                   b"B" + b"\1" + bytes(31), b"A" + b"\xff" * 32, b"A" * 99):  # fmt: skip
        with pytest.raises(DamagedError):
            Pake(side, CODE).finish(theirs)
    end = Pake(side, CODE)
    with pytest.raises(DamagedError):
        end.finish(end.message)
    same_side = Pake(side, CODE).message
    with pytest.raises(DamagedError):
        Pake(side, CODE).finish(same_side)


def test_an_end_that_turned_strangers_away_still_serves_the_right_one() -> None:
    one, other = Pake(Side.TYPES, CODE), Pake(Side.SHOWS, CODE)
    for theirs in (b"A" + bytes(32), b"B" + b"\1" * 32, other.message, b""):
        with pytest.raises(DamagedError):
            other.check(theirs)
    other.check(one.message)
    assert one.finish(other.message) == other.finish(one.message)


def test_both_sides_swapped_is_refused() -> None:
    body = Pairing(Side.SHOWS).send
    with pytest.raises(AssertionError):
        body(Hi(PAKE))  # whoever shows the code never speaks first


# --- who lets whom in

FOUNDED = claims(M1, trusts=FOUNDING, sees=FOUNDING, member=True)


@pytest.mark.parametrize(
    ("types", "shows", "gate"),
    [
        (claims(M1), claims(M2), Side.TYPES),
        (FOUNDED, NEW, Side.TYPES),
        (NEW, FOUNDED, Side.SHOWS),
        (FOUNDED, claims(M2, away=True), Side.TYPES),
        (FOUNDED, replace(NEW, trusts=FOUNDING), Side.TYPES),
        (FOUNDED, replace(NEW, member=True), Side.TYPES),
        (FOUNDED, replace(FOUNDED, card=M2), None),
        (replace(FOUNDED, sees="", away=True), claims(M2), Side.TYPES),
        (FOUNDED, replace(NEW, roots=()), Side.TYPES),
        (FOUNDED, replace(NEW, roots=(OTHER, *ROOTS)), Side.TYPES),
        (replace(FOUNDED, card=card("M2")), replace(NEW, member=True), Side.TYPES),
        (claims(M1, away=True), claims(M2, away=True), Side.TYPES),
    ],
)
def test_a_member_lets_the_other_in_whoever_typed_the_code(
    types: Claims, shows: Claims, gate: Side | None
) -> None:
    assert gate_of(types, shows) is gate


@pytest.mark.parametrize(
    ("types", "shows", "error", "said"),
    [
        (FOUNDED, FOUNDED, UsageError, "same machine"),
        (FOUNDED, replace(NEW, roots=(OTHER,)), RefusedError, "different repositories"),
        (FOUNDED, replace(NEW, sees=OTHER), TrustError, "m2 has bbbb"),
        (FOUNDED, replace(NEW, trusts=OTHER), TrustError, "m2 has bbbb"),
        (NEW, replace(FOUNDED, card=card("m3"), trusts=OTHER, sees=OTHER), TrustError, "bbbb"),
        (FOUNDED, replace(FOUNDED, card=M2, trusts=OTHER), TrustError, "bbbb"),
        (FOUNDED, claims(M2), RefusedError, "no roster"),
        (claims(M1, sees=FOUNDING), NEW, RefusedError, "neither m1 nor m2"),
        (claims(M1), NEW, RefusedError, "neither"),
        (claims(M1, trusts=FOUNDING), claims(M2), RefusedError, "neither"),
        (replace(FOUNDED, trusts=""), replace(NEW, member=True), RefusedError, "neither"),
        (FOUNDED, replace(NEW, card=card("M1")), RefusedError, "both machines are called m1"),
        (claims(M1), claims(card("m1")), RefusedError, "both machines are called m1"),
    ],
)
def test_where_neither_can_let_the_other_in_both_say_why(
    types: Claims, shows: Claims, error: type[HandsoffError], said: str
) -> None:
    with pytest.raises(error, match=said) as refused:
        gate_of(types, shows)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("trusts", "waits", "seen", "fits"),
    [
        ("", False, FOUNDING, True), (FOUNDING, False, FOUNDING, True), ("", False, None, True),
        ("", True, "", True), ("", True, FOUNDING, True), (FOUNDING, True, None, True),
        ("", False, "", False), ("", False, OTHER, False), ("", True, OTHER, False),
        (OTHER, False, FOUNDING, False), (OTHER, True, None, False),
    ],
)  # fmt: skip
def test_a_guest_trusts_the_roster_that_its_own_remote_shows_as_well(
    trusts: str, waits: bool, seen: str | None, fits: bool
) -> None:
    def check() -> None:
        check_shares(claims(M2, trusts=trusts), M1, FOUNDING, waits=waits, seen=seen)

    if fits:
        check()
        return
    with pytest.raises(TrustError, match="m1 has the roster aaaa") as refused:
        check()
    assert refused.value.hint


@pytest.mark.parametrize(
    ("own", "types", "shows"),
    [
        (FOUNDED, True, True), (claims(M1), True, False), (NEW, False, False),
        (claims(M1, trusts=FOUNDING, away=True), False, False),
    ],
)  # fmt: skip
def test_a_machine_can_tell_in_advance_whether_it_lets_in(
    own: Claims, types: bool, shows: bool
) -> None:
    told = {side: will_let_in(own, side) for side in Side}
    assert told == {Side.TYPES: types, Side.SHOWS: shows}


def test_a_member_is_told_from_one_that_was_revoked_and_one_that_is_not_known_yet() -> None:
    one, two = (Member(name=card.name, card=card, admitted=1) for card in (M1, M2))
    gone = replace(two, revoked=Revocation(seq=3, by=one.id, at=0, reason="lost", tips={}))

    def roster(*members: Member) -> Roster:
        everyone = {member.id: member for member in members}
        return Roster(founding=FOUNDING, everyone=everyone, numbers={}, tip="", seq=0, at=0)

    for known in (None, roster(one), roster(one, two)):
        check_not_revoked(known, M2)
    with pytest.raises(TrustError, match="m2 was revoked"):
        check_not_revoked(roster(one, gone), M2)
