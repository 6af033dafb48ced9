"""Hostile peers against `handsoff pair`: what a stranger on the LAN can and cannot do to a pairing.

    pair_attacked.py [--guesses N] [--only WORD]

Guesses: N times (200) somebody sits between two ends and guesses another code; none of his keys may
be one of theirs. Then, with the real program on loopback, each attack on a fresh pair of machines:
strangers who say nothing, too much or garbage; a wrong code; half an attempt; our own messages sent
back; a machine that answers in the place of the one that shows the code; a relay that changes one
bit of one message, cuts the line there, or says a message twice. In the end nobody may be let in
who did not prove the code, whoever was attacked must have ended with an error of ours in time, and
pairing again must finish. Fails if one of that is not so.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import machines  # noqa: E402

from handsoff.core.machines.codes import Code, parse_code  # noqa: E402
from handsoff.core.machines.joining import Side  # noqa: E402
from handsoff.core.machines.pairing import EXPECTED, LIMIT, Pairing  # noqa: E402
from handsoff.core.machines.pairtalk import Hi  # noqa: E402
from handsoff.core.talk import frames  # noqa: E402
from handsoff.edge.pake import Pake  # noqa: E402

PATIENCE = 60.0
INTERRUPTED = 130
NEW = ("--person", "lin")
CHANGES = len(EXPECTED)

Process = subprocess.Popen[str]
Frames = tuple[frames.Decoder, frames.Decoder]


def guesses(count: int) -> int:
    """Return how many of ``count`` wrong guesses came to a key of an honest end."""
    words = parse_code("7-orbit-lamp"), parse_code("7-orbit-lasso")
    equal = 0
    for _ in range(count):
        right, wrong = words
        types, shows = Pake(Side.TYPES, right), Pake(Side.SHOWS, right)
        to_types, to_shows = Pake(Side.SHOWS, wrong), Pake(Side.TYPES, wrong)
        honest = {types.finish(to_types.message), shows.finish(to_shows.message)}
        his = {to_types.finish(types.message), to_shows.finish(shows.message)}
        equal += len(honest & his)
    return equal


class Two:
    """Two machines with a clone each and nothing of ours, copied from a template."""

    def __init__(self, lab: machines.Lab) -> None:
        self.lab = lab
        self.code = ""
        self.port = 0
        self.running: list[Process] = []

    def start(self, machine: str, *words: str) -> Process:
        """Start a command of handsoff."""
        process = subprocess.Popen(
            [self.lab.handsoff_program, *words],
            cwd=self.lab.root / machine,
            env=self.lab.env(machine),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def show(self) -> Process:
        """Let m2 show a code."""
        process = self.start("m2", "pair", "--name", "m2", *NEW, "--bind", "127.0.0.1")
        assert process.stdout is not None
        assert process.stderr is not None
        self.code = process.stdout.readline().strip()
        while True:
            line = process.stderr.readline()
            assert line, "m2 ended before it said where it waits"
            if "--at" in line:
                self.port = int(line.rpartition(":")[2])
                return process

    def enter(self, port: int, code: str | None = None) -> Process:
        """Type the code on m1, which is told that m2 is at ``port``."""
        words = ("--at", f"127.0.0.1:{port}", "--name", "m1", *NEW, "--yes")
        return self.start("m1", "pair", code or self.code, *words)

    def roster(self) -> list[str]:
        """Return who is in the roster on the remote, by plain git."""
        told = self.lab.git("m1", "ls-remote", "origin", "refs/wip/roster")
        if not told:
            return []
        self.lab.git("m1", "fetch", "-q", "origin", "refs/wip/roster")
        subjects = self.lab.git("m1", "log", "--reverse", "--format=%s", "FETCH_HEAD").splitlines()
        return [subject.split()[2] for subject in subjects]

    def end(self) -> None:
        """End whatever still runs."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()


def ended(process: Process) -> tuple[int, str]:
    """Wait for the end of a command; a bug or a hang is a failure."""
    began = time.monotonic()
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err, err
    assert process.returncode in (0, 2, 3, 6, 7, 9), (process.returncode, err)
    return process.returncode, f"{out}{err} ({time.monotonic() - began:.0f} s)"


def dial(two: Two) -> socket.socket:
    return socket.create_connection(("127.0.0.1", two.port), timeout=PATIENCE)


def frame(sock: socket.socket) -> bytes:
    """Return the next frame, b"" if the other end hung up."""
    decoder = frames.Decoder(LIMIT)
    while (body := decoder.next_frame()) is None:
        data = b""
        with contextlib.suppress(ConnectionError):
            data = sock.recv(1)
        if not data:
            return b""
        decoder.feed(data)
    return body


def guessed(two: Two, code: Code) -> bytes:
    """Try a code on m2, and return what it answers to our claims: nothing, if it is wrong."""
    with dial(two) as sock:
        pairing, pake = Pairing(Side.TYPES), Pake(Side.TYPES, code)
        sock.sendall(frames.encode(pairing.send(Hi(pake.message))))
        answer = pairing.receive(frame(sock))
        assert isinstance(answer, Hi)
        pairing.agree(pake.finish(answer.pake))
        sock.sendall(frames.encode(os.urandom(300)))
        return frame(sock)


# --- attacks: each returns whether what it says is so


def wrong_code(two: Two) -> None:
    """A wrong code ends the code, and a second try finds nobody."""
    shows = two.show()
    number, *words = two.code.split("-")
    wrong = parse_code(f"{number}-acid-{'acorn' if words != ['acid', 'acorn'] else 'adobe'}")
    assert guessed(two, wrong) == b""
    assert ended(shows)[0] == 7
    with contextlib.suppress(ConnectionRefusedError), dial(two):
        raise AssertionError("somebody may try again")


def half_an_attempt(two: Two) -> None:
    """Whoever got our half of the PAKE and hangs up has used the code up."""
    shows = two.show()
    with dial(two) as sock:
        hello = Pairing(Side.TYPES).send(Hi(Pake(Side.TYPES, parse_code(two.code)).message))
        sock.sendall(frames.encode(hello))
        assert frame(sock)
    code, said = ended(shows)
    assert code == 6, said
    assert "used up" in said


def strangers(two: Two) -> None:
    """A crowd that says nothing, dribbles, floods or talks garbage keeps nobody out."""
    shows = two.show()
    hello = Pairing(Side.TYPES).send(Hi(Pake(Side.TYPES, parse_code(two.code)).message))
    crowd, over = [], threading.Event()
    for index in range(200):
        sock = dial(two)
        with contextlib.suppress(ConnectionError):
            sock.sendall(
                (b"", b"\0", b"\xff" * 9, os.urandom(4096), frames.encode(hello[:-1]),
                 frames.encode(hello)[:-1], frames.encode(hello) + b"\0")[index % 7]
            )  # fmt: skip
        crowd.append(sock)

    def dribble() -> None:
        while not over.wait(0.05):
            for sock in crowd[-20:]:
                with contextlib.suppress(OSError):
                    sock.sendall(b"\0")

    threading.Thread(target=dribble, daemon=True).start()
    types = two.enter(two.port)
    codes = ended(types)[0], ended(shows)[0]
    over.set()
    for sock in crowd:
        sock.close()
    assert codes == (0, 0), codes


def reflected(two: Two) -> None:
    """Our own messages, sent back to us, are no answers."""
    shows = two.show()
    with dial(two) as sock:
        hello = Pairing(Side.TYPES).send(Hi(Pake(Side.TYPES, parse_code(two.code)).message))
        sock.sendall(frames.encode(hello))
        sock.sendall(frames.encode(frame(sock)))
        assert frame(sock) == b""
    assert ended(shows)[0] == 7

    door = socket.create_server(("127.0.0.1", 0))
    types = two.enter(door.getsockname()[1], "7-orbit-lamp")
    with door, door.accept()[0] as sock:
        while body := frame(sock):
            sock.sendall(frames.encode(body))
    assert ended(types)[0] in (6, 7)


def impostor(two: Two) -> None:
    """A machine that answers in the place of the right one gets one guess, and nothing for it."""
    for answer in (os.urandom(33), Pake(Side.SHOWS, parse_code("7-acid-acorn")).message, b""):
        door = socket.create_server(("127.0.0.1", 0))
        types = two.enter(door.getsockname()[1], "7-orbit-lamp")
        with door, door.accept()[0] as sock:
            pairing = Pairing(Side.SHOWS)
            pairing.receive(frame(sock))
            if answer:
                body = b'{"kind":"hi","pake":"%s","v":1}' % answer.hex().encode()
                sock.sendall(frames.encode(body))
            heard = frame(sock)
            with contextlib.suppress(OSError):
                sock.sendall(frames.encode(heard or b"x"))
            assert frame(sock) == b"", "it goes on without a proof"
        assert ended(types)[0] in (6, 7)


def between(turn: int, how: str) -> Callable[[Two], None]:
    """Return the attack of a relay that does something to the message of ``turn``."""

    def attack(two: Two) -> None:
        shows = two.show()
        door = socket.create_server(("127.0.0.1", 0))
        types = two.enter(door.getsockname()[1])
        with door, door.accept()[0] as near, dial(two) as far:
            speakers = [near, far, near, far, near, far, near, far]
            for number, speaker in enumerate(speakers):
                body = frame(speaker)
                if not body or (number == turn and how == "cut"):
                    break
                other = far if speaker is near else near
                if number == turn and how == "bit":
                    body = body[:-1] + bytes([body[-1] ^ 1])
                with contextlib.suppress(OSError):
                    other.sendall(
                        frames.encode(body) * (2 if number == turn and how == "twice" else 1)
                    )
        codes = {ended(types)[0]}
        if turn == 0 and shows.poll() is None:  # to m2 that was a stranger: its code still stands
            shows.send_signal(signal.SIGINT)
            assert shows.wait(PATIENCE) == INTERRUPTED
        else:
            codes.add(ended(shows)[0])
        last = turn == CHANGES - 1
        assert codes != {0} or last or how == "twice", codes
        if turn < 6:  # before m1 let it in
            assert len(two.roster()) < 2 or how == "twice", two.roster()

    attack.__doc__ = f"Somebody in between: message {turn} {how}."
    return attack


def attacks() -> Iterator[tuple[str, Callable[[Two], None]]]:
    """Yield every attack with its name."""
    for attack in (wrong_code, half_an_attempt, strangers, reflected, impostor):
        yield attack.__name__, attack
    for how in ("bit", "cut", "twice"):
        for turn in range(CHANGES):
            yield f"{how}-{turn}", between(turn, how)


def main() -> None:
    """Try each attack, and print how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--guesses", type=int, default=200)
    parser.add_argument("--only", default="")
    wanted = parser.parse_args()
    program = machines.program()
    failed = equal = guesses(wanted.guesses)
    print(f"{wanted.guesses} wrong guesses in between: {equal} equal keys", flush=True)
    with tempfile.TemporaryDirectory(prefix="handsoff-lab.") as folder:
        template = machines.Lab(Path(folder) / "lab", program)
        template.root.mkdir()
        template.build()
        shutil.copytree(template.root, Path(folder) / "fresh", symlinks=True)
        for name, attack in attacks():
            if wanted.only not in name:
                continue
            shutil.rmtree(template.root)
            shutil.copytree(Path(folder) / "fresh", template.root, symlinks=True)
            two, began = Two(template), time.monotonic()
            try:
                attack(two)
                if two.roster() != ["m1", "m2"]:
                    shows = two.show()
                    again = ended(two.enter(two.port)), ended(shows)
                    assert [code for code, _ in again] == [0, 0], again
                assert two.roster() == ["m1", "m2"], two.roster()
                said = "as it should be"
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                failed, said = failed + 1, f"FAILED: {error}"
            finally:
                two.end()
            print(f"{name:18} {said} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(min(failed, 100))


if __name__ == "__main__":
    main()
