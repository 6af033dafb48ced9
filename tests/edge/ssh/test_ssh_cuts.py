"""Connections that are cut, stopped or left, and what each end sees of it."""

import io
import threading
import time

import asyncssh
import pytest

from handsoff.edge.ssh.ssh import Channel
from handsoff.errors import (
    CutError,
    RefusedError,
    UnreachableError,
)
from tests.kit.listening import (
    MB,
    Machine,
    as_client,
    read,
    swallow,
)
from tests.kit.proxy import Line, Proxy

pytestmark = pytest.mark.usefixtures("users_own_ssh")


def test_a_cut_in_mid_stream_is_never_an_end(m2: Machine) -> None:
    channel = m2.dial()
    channel.send(b"half of it")
    assert read(channel, 10)
    channel.abort()
    m2.wait()
    assert [type(error) for error in m2.errors] == [CutError]


def test_a_listener_that_stops_cuts_what_runs() -> None:
    machine = Machine(swallow)
    with machine.dial() as channel:
        machine.listener.stop()
        with pytest.raises(UnreachableError, match="cut"):
            channel.recv()
        with pytest.raises(UnreachableError, match="cut"):
            channel.send(b"x" * 10 * MB)
    assert machine.listener.wait(0)
    with pytest.raises(UnreachableError):
        machine.dial()
    machine.listener.stop()


def test_a_listener_that_stops_with_grace_lets_what_runs_end() -> None:
    def slowly(channel: Channel) -> None:
        read(channel, 1)
        time.sleep(0.3)
        channel.send(b"done")

    machine = Machine(slowly)
    with machine.dial() as channel:
        channel.send(b"x")
        stopper = threading.Thread(target=machine.listener.stop, kwargs={"grace": 5})
        stopper.start()
        assert read(channel, 4) == b"done"
        channel.close()
        stopper.join(5)
        assert not stopper.is_alive()
    assert machine.errors == []


def test_ctrl_c_in_a_transfer_leaves_no_thread_behind() -> None:
    machine = Machine(lambda channel: time.sleep(1))

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with machine.listener:
        with pytest.raises(KeyboardInterrupt), machine.dial() as channel:
            channel.send_file(io.BytesIO(bytes(20 * MB)), 0, 20 * MB, interrupt)
        machine.wait()
    assert [t.name for t in threading.enumerate() if t.name.startswith("handsoff")] == []


def test_an_error_of_ours_in_serve_ends_that_channel_only() -> None:
    def refuse(channel: Channel) -> None:
        if channel.recv(1) == b"!":
            raise RefusedError("no")

    machine = Machine(refuse)
    with machine.listener:
        with machine.dial() as channel:
            channel.send(b"!")
            with pytest.raises(UnreachableError):
                channel.recv()
        with machine.dial() as channel:
            channel.send(b".")
            assert channel.recv() == b""


def test_a_polite_disconnect_without_an_end_is_a_cut_too(m2: Machine) -> None:
    async def leave(connection: asyncssh.SSHClientConnection) -> None:
        chan, _ = await connection.create_session(
            asyncssh.SSHClientSession, subsystem="handsoff", request_pty=False, encoding=None
        )
        chan.write(b"half")
        chan.close()
        await chan.wait_closed()

    as_client(m2, leave)
    m2.wait()
    assert [type(error) for error in m2.errors] == [CutError]


def test_a_line_that_is_reset_at_once_leads_to_nobody(m2: Machine) -> None:
    with Proxy(f"127.0.0.1:{m2.port}", Line(up=1)) as line:
        port = int(line.address.split(":")[1])
        for _ in range(10):
            line.lines.insert(0, Line(down=1))
            with pytest.raises(UnreachableError):
                m2.dial(port=port)
