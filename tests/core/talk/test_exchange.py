"""The exchange: one table, read from both ends."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff import errors
from handsoff.core.talk import flight, frames, messages
from handsoff.core.talk.exchange import EXPECTED, FETCHED, Exchange, Parcel, Role, as_error, refusal
from handsoff.core.talk.messages import (
    Accept,
    Ask,
    Bye,
    Got,
    Have,
    Hello,
    Message,
    Offer,
    Refuse,
    Told,
    Want,
)
from handsoff.errors import (
    DamagedError,
    HandsoffError,
    HeldError,
    RefusedError,
    UnfitError,
    UnreachableError,
)
from tests.vectors.messages import PARCEL, receipt

OID = "1" * 40
DATA = bytes(range(100))
HELLO = Hello((1, 2), "m1", "test")
ASK = Ask(OID, "feat/x")
HAVE = Have((), clone=True)
OFFER = Offer(PARCEL, len(DATA), "a" * 64)
RECEIPT = receipt()
TOLD = Told(OID)
REFUSE = Refuse("unfit", "dirty", "tidy")
SCRIPT: list[tuple[Role, Message | bytes]] = [
    (Role.SENDER, HELLO),
    (Role.RECEIVER, HELLO),
    (Role.SENDER, ASK),
    (Role.RECEIVER, HAVE),
    (Role.SENDER, OFFER),
    (Role.RECEIVER, Accept(0)),
    (Role.SENDER, DATA),
    (Role.RECEIVER, RECEIPT),
    (Role.SENDER, TOLD),
    (Role.RECEIVER, Bye()),
]
PARCEL_STEP = 6
WANT = Want(OID, "feat/x", PARCEL)
FETCH: list[tuple[Role, Message | bytes]] = [
    (Role.RECEIVER, HELLO),
    (Role.SENDER, HELLO),
    (Role.RECEIVER, WANT),
    (Role.SENDER, OFFER),
    (Role.RECEIVER, Accept(0)),
    (Role.SENDER, DATA),
    (Role.RECEIVER, RECEIPT),
    (Role.SENDER, Bye()),
]


class Both:
    """Both ends, and what went between them."""

    def __init__(self, *, steps: int = 0, offset: int = 0) -> None:
        self.ends = {role: Exchange(role) for role in Role}
        for role, said in SCRIPT[:steps]:
            self.say(role, Accept(offset) if isinstance(said, Accept) else said)

    def say(self, role: Role, said: Message | bytes) -> list[Message | bytes]:
        speaker, hearer = self.ends[role], self.ends[role.other]
        if isinstance(said, bytes):
            speaker.sent(len(said))
            return list(hearer.receive(said))
        return list(hearer.receive(speaker.send(said)))

    @property
    def done(self) -> bool:
        return all(end.done for end in self.ends.values())


def test_a_whole_exchange_between_two_ends() -> None:
    both = Both()
    for role, said in SCRIPT:
        assert not both.done
        assert both.say(role, said) == [said]
    assert both.done
    assert all(end.due is None and end.version == 2 for end in both.ends.values())
    for end in both.ends.values():
        end.ended()


@given(st.integers(min_value=1, max_value=60))
def test_any_cutting_of_the_stream_is_the_same_exchange(cut: int) -> None:
    both = Both()
    for role, said in SCRIPT:
        speaker, hearer = both.ends[role], both.ends[role.other]
        if isinstance(said, bytes):
            stream = said
            speaker.sent(len(said))
        else:
            stream = speaker.send(said)
        heard = [h for i in range(0, len(stream), cut) for h in hearer.receive(stream[i : i + cut])]
        if isinstance(said, bytes):
            assert b"".join(h for h in heard if isinstance(h, bytes)) == said
        else:
            assert heard == [said]
    assert both.done


@pytest.mark.parametrize("step", range(len(SCRIPT)))
@pytest.mark.parametrize("role", Role)
def test_out_of_turn_is_our_bug_and_the_peers_damage(step: int, role: Role) -> None:
    kinds: list[Message] = [HELLO, ASK, HAVE, OFFER, Accept(0), RECEIPT, TOLD, Bye()]
    turn, due = EXPECTED[step]
    for message in kinds:
        if role is turn and type(message) is due:
            continue
        if role is turn and due is Parcel:
            continue  # framed words where the parcel is due are the parcel: below
        both = Both(steps=step)
        with pytest.raises(AssertionError):
            both.ends[role].send(message)
        with pytest.raises(DamagedError, match=rf"{role.value} said {type(message).__name__} when"):
            list(both.ends[role.other].receive(frames.encode(messages.encode(message))))


@pytest.mark.parametrize("step", range(len(SCRIPT)))
def test_a_refusal_stands_in_for_any_message_and_ends_it(step: int) -> None:
    both = Both(steps=step)
    role = Role.RECEIVER if step == PARCEL_STEP else SCRIPT[step][0]
    assert both.ends[role].may_refuse
    assert not both.ends[role.other].may_refuse
    assert both.say(role, REFUSE) == [REFUSE]
    assert both.done
    assert not both.ends[role].may_refuse


class Fetched(Both):
    """Both ends of a fetch: the one that listens does not know yet that it is one."""

    def __init__(self, *, steps: int = 0) -> None:
        dials, listens = Exchange(Role.RECEIVER, fetches=True), Exchange(Role.RECEIVER)
        self.ends = {Role.RECEIVER: dials, Role.SENDER: listens}
        for role, said in FETCH[:steps]:
            self.say(role, said)


def test_whoever_dials_may_fetch_and_then_the_other_is_the_sender() -> None:
    both = Fetched()
    assert list(FETCHED) == [
        (role, Parcel if isinstance(said, bytes) else type(said)) for role, said in FETCH
    ]
    for step, (role, said) in enumerate(FETCH):
        assert not both.done
        assert both.say(role, said) == [said]
        assert both.ends[Role.SENDER].role is (Role.SENDER if step >= 2 else Role.RECEIVER)
    assert both.done


@given(st.integers(min_value=1, max_value=60), st.integers(0, len(DATA)))
def test_any_cutting_of_a_fetch_is_the_same_fetch(cut: int, offset: int) -> None:
    both = Fetched()
    script = [(r, Accept(offset) if isinstance(said, Accept) else said) for r, said in FETCH]
    for role, said in script:
        speaker, hearer = both.ends[role], both.ends[role.other]
        if isinstance(said, bytes):
            stream = said[offset:]
            speaker.sent(len(stream)) if stream else None
        else:
            stream = speaker.send(said)
        heard = [h for i in range(0, len(stream), cut) for h in hearer.receive(stream[i : i + cut])]
        if isinstance(said, bytes):
            assert b"".join(h for h in heard if isinstance(h, bytes)) == stream
        else:
            assert heard == [said]
    assert both.done


@pytest.mark.parametrize("step", range(len(FETCH)))
def test_in_a_fetch_too_nothing_is_said_out_of_turn(step: int) -> None:
    kinds: list[Message] = [HELLO, ASK, WANT, HAVE, OFFER, Accept(0), RECEIPT, TOLD, Bye()]
    turn, due = FETCHED[step]
    for role in Role:
        for message in kinds:
            # to the end that listens, bringing one is as good as fetching one
            if role is turn and (type(message) is due or due is Parcel or isinstance(message, Ask)):
                continue
            both = Fetched(steps=step)
            with pytest.raises(DamagedError):
                list(both.ends[role.other].receive(frames.encode(messages.encode(message))))


@pytest.mark.parametrize("step", range(len(FETCH)))
def test_in_a_fetch_too_a_refusal_ends_it(step: int) -> None:
    both = Fetched(steps=step)
    role = Role.RECEIVER if FETCHED[step][1] is Parcel else FETCHED[step][0]
    assert both.say(role, REFUSE) == [REFUSE]
    assert both.done


def test_nobody_fetches_from_a_machine_that_does_not_know_how() -> None:
    old = Hello((1,), "m1", "test")
    listens = Exchange(Role.RECEIVER)
    list(listens.receive(frames.encode(messages.encode(old))))
    listens.send(HELLO)
    with pytest.raises(DamagedError, match="Want was said in version 1 of the protocol"):
        list(listens.receive(frames.encode(messages.encode(WANT))))
    dials = Exchange(Role.RECEIVER, fetches=True)
    dials.send(HELLO)
    list(dials.receive(frames.encode(messages.encode(old))))
    with pytest.raises(AssertionError):
        dials.send(WANT)
    assert dials.may_refuse


def test_only_whoever_dialled_may_come_to_fetch() -> None:
    both = Both(steps=2)
    with pytest.raises(AssertionError):
        both.ends[Role.RECEIVER].send(WANT)
    with pytest.raises(DamagedError):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(WANT))))


def test_a_refusal_out_of_turn_is_out_of_turn() -> None:
    both = Both(steps=2)
    with pytest.raises(AssertionError):
        both.ends[Role.RECEIVER].send(REFUSE)
    with pytest.raises(DamagedError):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(REFUSE))))


def test_the_receiver_may_refuse_in_mid_parcel() -> None:
    both = Both(steps=PARCEL_STEP)
    both.say(Role.SENDER, DATA[:40])
    assert both.say(Role.RECEIVER, REFUSE) == [REFUSE]
    assert both.done


def test_nothing_is_said_after_the_end() -> None:
    both = Both(steps=len(SCRIPT))
    with pytest.raises(AssertionError):
        both.ends[Role.SENDER].send(TOLD)
    with pytest.raises(DamagedError, match="nothing was left to say"):
        list(both.ends[Role.RECEIVER].receive(frames.encode(messages.encode(TOLD))))


def test_the_parcel_goes_on_where_it_stopped() -> None:
    both = Both(steps=PARCEL_STEP, offset=70)
    assert [end.left for end in both.ends.values()] == [30, 30]
    assert both.say(Role.SENDER, DATA[70:]) == [DATA[70:]]
    assert both.say(Role.RECEIVER, RECEIPT) == [RECEIPT]


def test_a_parcel_that_is_there_already_is_not_sent() -> None:
    both = Both(steps=PARCEL_STEP, offset=len(DATA))
    assert both.say(Role.RECEIVER, RECEIPT) == [RECEIPT]


def test_more_than_the_offered_bytes_are_refused() -> None:
    both = Both(steps=PARCEL_STEP)
    with pytest.raises(DamagedError, match="goes on after the 100 bytes offered"):
        list(both.ends[Role.RECEIVER].receive(DATA + b"x"))


def test_bytes_after_the_parcel_are_out_of_turn() -> None:
    both = Both(steps=PARCEL_STEP + 1)
    with pytest.raises(DamagedError, match="when receiver Receipt was due"):
        list(both.ends[Role.RECEIVER].receive(frames.encode(messages.encode(TOLD))))


def test_we_never_send_more_than_we_offered() -> None:
    both = Both(steps=PARCEL_STEP)
    with pytest.raises(AssertionError, match="101 bytes sent where 100 were left"):
        both.ends[Role.SENDER].sent(101)
    with pytest.raises(AssertionError, match="the parcel is not due"):
        Exchange(Role.SENDER).sent(1)


def test_bytes_before_they_were_accepted_are_refused() -> None:
    both = Both(steps=PARCEL_STEP - 1)
    receiver = both.ends[Role.RECEIVER]
    assert list(receiver.receive(b"\0\0")) == []
    with pytest.raises(DamagedError, match="before they were accepted"):
        receiver.send(Accept(0))


def test_an_offset_past_the_offer_is_damaged() -> None:
    both = Both(steps=PARCEL_STEP - 1)
    with pytest.raises(AssertionError):
        both.ends[Role.RECEIVER].send(Accept(101))
    with pytest.raises(DamagedError, match="101 bytes are said to be there of the 100 offered"):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(Accept(101)))))


def test_a_receipt_for_another_parcel_is_damaged() -> None:
    both = Both(steps=PARCEL_STEP - 2)
    both.say(Role.SENDER, Offer("f" * 32, len(DATA), "a" * 64))
    both.say(Role.RECEIVER, Accept(len(DATA)))
    with pytest.raises(AssertionError):
        both.ends[Role.RECEIVER].send(RECEIPT)
    with pytest.raises(DamagedError, match=f"a receipt for {PARCEL}, which was not offered"):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(RECEIPT))))


def test_the_highest_common_version_is_spoken() -> None:
    receiver = Exchange(Role.RECEIVER, versions=(1, 2, 3))
    list(receiver.receive(frames.encode(messages.encode(Hello((2, 1, 9), "m1", "x")))))
    assert receiver.version == 2


def test_no_common_version_is_a_refusal_that_names_both_and_may_be_told() -> None:
    receiver = Exchange(Role.RECEIVER)
    with pytest.raises(
        RefusedError, match="speaks version 8, 9 of the protocol, this one version 1, 2, 3"
    ):
        list(receiver.receive(frames.encode(messages.encode(Hello((9, 8), "m1", "x")))))
    assert receiver.may_refuse
    sender = Exchange(Role.SENDER)
    sender.send(HELLO)
    with pytest.raises(RefusedError):
        list(sender.receive(frames.encode(messages.encode(Hello((8,), "m2", "x")))))
    assert sender.may_refuse


def under_way(size: int, *, version: int = 3, offset: int = 0) -> Both:
    """Both ends with a parcel of ``size`` accepted from ``offset`` on."""
    both = Both()
    hello = Hello((version,), "m", "test")
    offer = Offer(PARCEL, size, "a" * 64)
    script: tuple[Message, ...] = (hello, hello, ASK, HAVE, offer, Accept(offset))
    for number, said in enumerate(script):
        both.say(Role.RECEIVER if number % 2 else Role.SENDER, said)
    return both


@given(
    st.integers(min_value=1, max_value=3_000_000),
    st.floats(min_value=0, max_value=1),
    st.randoms(use_true_random=False),
)
def test_a_parcel_arrives_however_words_and_bytes_are_late(
    size: int, share: float, rng: Random
) -> None:
    both = under_way(size, offset=int(size * share))
    sender, receiver = both.ends[Role.SENDER], both.ends[Role.RECEIVER]
    coming: list[int] = []
    words: list[bytes] = []
    while receiver.left:
        # never stuck: somebody may send, or something is on its way
        choices = ["send"] * bool(sender.left and sender.room)
        choices += ["arrive"] * bool(coming) + ["hear"] * bool(words)
        match rng.choice(choices):
            case "send":
                coming.append(sender.room)
                sender.sent(coming[-1])
            case "arrive":
                list(receiver.receive(bytes(coming.pop(0))))
                if (word := receiver.word) is not None:
                    words.append(receiver.send(word))
            case _:
                list(sender.receive(words.pop(0)))
        assert receiver.left - sender.left <= flight.in_flight(size)
    for late in words:
        list(sender.receive(late))
    assert both.say(Role.RECEIVER, RECEIPT) == [RECEIPT]


def test_an_older_machine_is_told_nothing_and_not_waited_for() -> None:
    both = under_way(1_000_000, version=2)
    assert both.ends[Role.SENDER].room == 1_000_000
    both.say(Role.SENDER, bytes(500_000))
    assert both.ends[Role.RECEIVER].word is None
    with pytest.raises(DamagedError, match="Got was said in version 2"):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(Got(500_000)))))


@pytest.mark.parametrize("offset", [100, 101, 5101, 1_000_000])
def test_only_bytes_that_were_sent_can_be_got_and_only_once(offset: int) -> None:
    both = under_way(1_000_000, offset=100)
    sender = both.ends[Role.SENDER]
    sender.sent(5000)
    if offset == 101:
        list(sender.receive(frames.encode(messages.encode(Got(101)))))
    with pytest.raises(DamagedError, match="are said to be there, after"):
        list(sender.receive(frames.encode(messages.encode(Got(offset)))))


def test_a_word_is_heard_while_a_parcel_is_on_its_way_and_at_no_other_time() -> None:
    both = under_way(1000)
    word = frames.encode(messages.encode(Got(500)))
    with pytest.raises(DamagedError):
        list(Both(steps=PARCEL_STEP - 1).ends[Role.SENDER].receive(word))
    both.say(Role.SENDER, bytes(1000))
    list(both.ends[Role.SENDER].receive(word))
    both.say(Role.RECEIVER, RECEIPT)
    with pytest.raises(DamagedError, match="said Got when"):
        list(both.ends[Role.SENDER].receive(frames.encode(messages.encode(Got(600)))))


@pytest.mark.parametrize("step", range(len(SCRIPT)))
def test_an_end_before_the_last_word_is_a_lost_connection(step: int) -> None:
    both = Both(steps=step)
    for end in both.ends.values():
        with pytest.raises(UnreachableError, match="hung up before"):
            end.ended()


def test_an_end_inside_a_message_is_damage() -> None:
    receiver = Exchange(Role.RECEIVER)
    list(receiver.receive(b"\0\0\0"))
    with pytest.raises(DamagedError, match="in the middle of a message"):
        receiver.ended()


ERRORS: list[HandsoffError] = [
    errors.UsageError("x"),
    errors.RefusedError("x", hint="h"),
    errors.HeldError("x"),
    errors.LostRaceError("x"),
    errors.UnreachableError("x"),
    errors.TrustError("x"),
    errors.UnfitError("x", hint="h"),
    errors.DamagedError("x"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: str(error.code))
def test_an_error_there_is_the_same_error_here(error: HandsoffError) -> None:
    told = messages.decode(messages.encode(refusal(error)))
    assert isinstance(told, Refuse)
    here = as_error(told, "m2")
    assert type(here) is type(error)
    assert str(here) == "m2 says: x"
    assert here.hint == error.hint


def test_every_error_has_its_code() -> None:
    assert {type(error) for error in ERRORS} == set(HandsoffError.__subclasses__())


def test_a_bug_and_an_unknown_code_there_are_refusals_here() -> None:
    for code in ("bug", "something-new"):
        assert type(as_error(Refuse(code, "x"))) is RefusedError


def test_what_a_peer_writes_is_made_plain() -> None:
    error = as_error(Refuse("held", "\x1b]52;c;eA==\x07held\nby m3", "\u202erun"))
    assert isinstance(error, HeldError)
    assert str(error) == "the other machine says: ]52;c;eA==held by m3"
    assert error.hint == "run"
    assert str(as_error(Refuse("held", ""))) == "the other machine says: no, and gives no reason"


def test_a_long_error_still_fits() -> None:
    told = refusal(UnfitError("\udce9 " + "x" * 5000, hint="y" * 5000))
    messages.encode(told)
    assert len(told.message) == messages.TEXT_LIMIT
