"""A whole handing-over between two ends, over real SSH."""

import hashlib
import io
import os
import threading
from pathlib import Path

import pytest

from handsoff.core.talk.exchange import Role
from handsoff.core.talk.messages import Accept, Ask, Bye, Have, Hello, Offer, Receipt, Told
from handsoff.edge.ssh.ssh import Channel
from handsoff.edge.ssh.talk import Talk
from handsoff.errors import (
    CutError,
    HeldError,
    RefusedError,
    UnfitError,
)
from tests.kit.listening import MB, Machine, poison_home
from tests.vectors.messages import receipt


@pytest.fixture(autouse=True)
def _users_own_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    poison_home(monkeypatch, tmp_path / "home")


# --- a whole handing-over

OID = "1" * 40
HELLO = Hello((1,), "m1", "test")


class Receiver:
    """m2's half of a handing-over; keeps the parcel, or refuses where it is told to."""

    def __init__(self, *, offset: int = 0, refuse_after: int | None = None) -> None:
        self.got: list[bytearray] = []
        self._offset = offset
        self._refuse_after = refuse_after

    def __call__(self, channel: Channel) -> None:
        talk = Talk(channel, Role.RECEIVER)
        got = bytearray()
        try:
            talk.hear(Hello)
            talk.say(Hello((1,), "m2", "test"))
            talk.hear(Ask)
            talk.say(Have((), clone=True))
            offer = talk.hear(Offer)
            talk.say(Accept(self._offset))

            def write(piece: bytes) -> None:
                got.extend(piece)
                if self._refuse_after is not None and len(got) > self._refuse_after:
                    raise UnfitError("no space left on m2", hint="tidy up")  # noqa: TRY301

            talk.receive_parcel(write)
            assert len(got) == offer.size - self._offset
            talk.say(receipt())
            talk.hear(Told)
            talk.say(Bye())
        except UnfitError as error:
            talk.refuse(error)
            raise
        self.got.append(got)


def hand_over(channel: Channel, data: bytes) -> Receipt:
    talk = Talk(channel, Role.SENDER, who="m2")
    talk.say(HELLO)
    assert talk.hear(Hello).machine == "m2"
    talk.say(Ask(OID, "feat/x"))
    assert talk.hear(Have).clone
    talk.say(Offer(receipt().parcel, len(data), hashlib.sha256(data).hexdigest()))
    talk.hear(Accept)
    talk.send_parcel(io.BytesIO(data), len(data))
    signed = talk.hear(Receipt)
    talk.say(Told(OID))
    talk.hear(Bye)
    assert talk.exchange.done
    return signed


@pytest.mark.parametrize("offset", [0, 1, 3 * MB])
def test_a_whole_handing_over(offset: int) -> None:
    receiver = Receiver(offset=offset)
    machine = Machine(receiver)
    data = os.urandom(3 * MB)
    with machine.listener:
        with machine.dial() as channel:
            assert hand_over(channel, data) == receipt()
        machine.wait()
    assert machine.errors == []
    assert bytes(receiver.got[0]) == data[offset:]


def test_two_handings_over_at_once() -> None:
    receiver = Receiver()
    machine = Machine(receiver)
    parcels = [os.urandom(6 * MB), os.urandom(6 * MB)]

    def go(data: bytes) -> None:
        with machine.dial() as channel:
            hand_over(channel, data)

    with machine.listener:
        threads = [threading.Thread(target=go, args=(data,)) for data in parcels]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert machine.errors == []
    assert sorted(map(bytes, receiver.got)) == sorted(parcels)


def test_a_receiver_that_refuses_in_mid_parcel_is_heard_at_once() -> None:
    machine = Machine(Receiver(refuse_after=MB))
    data = bytes(60 * MB)
    with machine.listener:
        with (
            pytest.raises(UnfitError, match="m2 says: no space left on m2") as caught,
            machine.dial() as channel,
        ):
            hand_over(channel, data)
        machine.wait()
    assert caught.value.hint == "tidy up"


def test_a_sender_that_is_cut_in_mid_parcel_leaves_an_unfinished_one() -> None:
    machine = Machine(Receiver())
    with machine.listener:
        channel = machine.dial()
        talk = Talk(channel, Role.SENDER)
        talk.say(HELLO)
        talk.hear(Hello)
        talk.say(Ask(OID, "w"))
        talk.hear(Have)
        talk.say(Offer(receipt().parcel, MB, "a" * 64))
        talk.hear(Accept)
        channel.send_file(io.BytesIO(bytes(MB)), MB // 2, MB)
        channel.abort()
        machine.wait()
    assert [type(error) for error in machine.errors] == [CutError]


def test_a_sender_that_ends_in_mid_parcel_hung_up() -> None:
    machine = Machine(Receiver())
    with machine.listener:
        with machine.dial() as channel:
            talk = Talk(channel, Role.SENDER)
            talk.say(HELLO)
            talk.hear(Hello)
        machine.wait()
    assert [str(error) for error in machine.errors] == ["the other machine hung up before ask"]


def test_a_refusal_by_the_receiver_is_raised_as_its_class() -> None:
    def held(channel: Channel) -> None:
        talk = Talk(channel, Role.RECEIVER)
        talk.hear(Hello)
        talk.refuse(HeldError("feat/x is held by m3"))

    machine = Machine(held)
    with machine.listener, machine.dial() as channel:
        talk = Talk(channel, Role.SENDER, who="m2")
        talk.say(HELLO)
        with pytest.raises(HeldError, match="m2 says: feat/x is held by m3"):
            talk.hear(Hello)


def test_a_sender_that_could_not_move_the_record_says_so() -> None:
    heard = []

    def wait(channel: Channel) -> None:
        talk = Talk(channel, Role.RECEIVER)
        talk.hear(Hello)
        talk.say(HELLO)
        try:
            talk.hear(Ask)
        except HeldError as error:
            heard.append(str(error))
            raise

    machine = Machine(wait)
    with machine.listener:
        with machine.dial() as channel:
            talk = Talk(channel, Role.SENDER)
            talk.say(HELLO)
            talk.hear(Hello)
            talk.refuse(HeldError("m3 was first"))
        machine.wait()
    assert heard == ["the other machine says: m3 was first"]


def test_two_versions_that_share_nothing_refuse_each_other() -> None:
    def old(channel: Channel) -> None:
        talk = Talk(channel, Role.RECEIVER)
        try:
            talk.hear(Hello)
        except RefusedError as error:
            talk.refuse(error)
            raise

    machine = Machine(old)
    with machine.listener, machine.dial() as channel:
        talk = Talk(channel, Role.SENDER)
        talk.exchange.versions = (9,)
        talk.say(Hello((9,), "m1", "from the future"))
        with pytest.raises(RefusedError, match="version 9 of the protocol, this one version 1, 2"):
            talk.hear(Hello)
    assert isinstance(machine.errors[0], RefusedError)
