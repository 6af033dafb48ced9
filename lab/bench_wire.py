"""How fast a parcel goes over the wire, beside scp; and how fast it is made, from a checkout.

Run from the repository root: python lab/bench_wire.py [--mb 1000] [--rounds 3]

The wire: a file of random bytes, on tmpfs, goes to a listener with the product's own channel
(``edge/ssh/ssh.py``) as a parcel of the exchange, and to a private sshd by ``scp`` with its default
cipher, in turn. Both are whole processes, start and import and login included, and both files are
compared. Then a checkout with such a file, untracked, is sent: capture, guard and seal together.
Prints seconds, MB/s (10^6 bytes) and the ratio of the medians; exit code 1 if the wire is under 0.8
of scp, or making under 40 MB/s.
"""

import argparse
import filecmp
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: E402
    Ed25519PrivateKey,
)
from meter import Launcher  # noqa: E402 - found beside this file
from private_sshd import Sshd, missing  # noqa: E402

from handsoff.core.ids import machine_id  # noqa: E402
from handsoff.core.talk.exchange import Role  # noqa: E402
from handsoff.core.talk.messages import (  # noqa: E402
    VERSIONS,
    Accept,
    Ask,
    Have,
    Hello,
    Offer,
    Receipt,
)
from handsoff.edge.ssh import ssh  # noqa: E402
from handsoff.edge.ssh.talk import Talk  # noqa: E402
from handsoff.errors import RefusedError  # noqa: E402
from tests.kit.machines import Machine, World, sealed  # noqa: E402

M1, M2 = bytes([1]) * 32, bytes([2]) * 32
WIRE, MAKING = 0.8, 40.0
"""The least that counts: of scp's speed, and MB/s."""

PAGE = (
    "# Handoff\n\n## Next\nGo on.\n\n## Tried and failed\nNothing.\n\n## Do not touch\nNothing.\n"
)


def main() -> None:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--end", nargs=3, metavar=("ROLE", "ADDRESS", "FILE"))
    chosen = parser.parse_args()
    if chosen.end:
        _end(*chosen.end)
        return
    if said := missing():
        sys.exit(said)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        scratch = Path(folder).resolve()
        os.environ |= {"HANDSOFF_LAB_PATH": os.environ["PATH"]}
        source = scratch / "source"
        _random(source, chosen.mb)
        ratio = _wire(scratch, source, chosen.rounds)
        making = _making(scratch, source)
    sys.exit(0 if ratio >= WIRE and making >= MAKING else 1)


def _random(path: Path, size: int) -> None:
    with path.open("wb") as file:
        for _ in range(size):
            file.write(os.urandom(10**6))


# --- the wire


def _wire(scratch: Path, source: Path, rounds: int) -> float:
    """Send ``source`` both ways in turn; return our speed as a share of scp's."""
    launcher = Launcher()
    sshd = Sshd(scratch / "sshd", launcher, count=False)
    port = scratch / "port"
    words = [sys.executable, __file__, "--end", "receive", str(port), str(scratch / "arrived")]
    took: dict[str, list[float]] = {"handsoff": [], "scp": []}
    with subprocess.Popen(words) as listener:
        while not port.exists():
            time.sleep(0.02)
        ours = [sys.executable, __file__, "--end", "send", port.read_text(), str(source)]
        target = scratch / "copied"
        theirs = ["scp", "-q", "-F", str(sshd.folder / "config"), str(source), f"bench:{target}"]
        try:
            for _ in range(rounds):
                took["handsoff"].append(_timed(ours, source, scratch / "arrived"))
                took["scp"].append(_timed(theirs, source, target))
        finally:
            listener.terminate()
    launcher.reap(sshd.pid, 0)
    launcher.stop()
    middle = {name: statistics.median(each) for name, each in took.items()}
    size = source.stat().st_size / 1e6
    for name, each in took.items():
        print(
            f"wire {name:9} {middle[name]:6.2f} s  {size / middle[name]:6.0f} MB/s  "
            f"({', '.join(f'{t:.2f}' for t in each)})"
        )
    ratio = middle["scp"] / middle["handsoff"]
    print(f"wire: {ratio:.2f} of scp (at least {WIRE})")
    return ratio


def _timed(words: list[str], source: Path, target: Path) -> float:
    began = time.perf_counter()
    subprocess.run(words, check=True)
    spent = time.perf_counter() - began
    assert filecmp.cmp(source, target, shallow=False), f"{words[0]}: another file arrived"
    target.unlink()
    return spent


def _end(role: str, where: str, file: str) -> None:
    """Be one end of the wire, until the file is there, or until it is stopped."""
    if role == "send":
        host, port = where.rsplit(":", 1)
        with ssh.dial(host, int(port), private_key=M1, host_key=_public(M2)) as channel:
            path = Path(file)
            size = path.stat().st_size
            talk = _until_parcel(channel, Role.SENDER, size)
            with path.open("rb") as source:
                talk.send_parcel(source, size)
            with suppress(RefusedError):
                talk.hear(Receipt)
        return

    def serve(_machine: str, _peer: str, channel: ssh.Channel) -> None:
        talk = _until_parcel(channel, Role.RECEIVER, 0)
        with Path(file).open("wb", buffering=0) as target:
            talk.receive_parcel(target.write)
        talk.refuse(RefusedError("whole"))  # a receipt would have to be signed

    listener = ssh.Listener("127.0.0.1", 0, private_key=M2, authorize=machine_id, serve=serve)
    with listener:
        host, port = listener.start()
        ready = Path(where)
        ready.with_suffix(".new").write_text(f"{host}:{port}")
        ready.with_suffix(".new").rename(ready)
        listener.wait()


def _until_parcel(channel: ssh.Channel, role: Role, size: int) -> Talk:
    talk = Talk(channel, role)
    script = (
        (Role.SENDER, Hello(VERSIONS, "bench", "lab")),
        (Role.RECEIVER, Hello(VERSIONS, "bench", "lab")),
        (Role.SENDER, Ask("1" * 40, "bench")),
        (Role.RECEIVER, Have((), clone=True)),
        (Role.SENDER, Offer("1" * 32, size, "a" * 64)),
        (Role.RECEIVER, Accept(0)),
    )
    for speaker, said in script:
        if speaker is role:
            talk.say(said)
        else:
            talk.hear(type(said))
    return talk


def _public(seed: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


# --- the making


def _making(scratch: Path, source: Path) -> float:
    """Send a checkout with the file in it as a parcel in a file; return MB/s of making it."""
    env = sealed(scratch)
    os.environ.clear()
    os.environ.update(env)
    m1, _ = World.make(scratch).members("m1", "m2")
    m1.write(".wip/HANDOFF.md", PAGE)
    size = source.stat().st_size
    _send(m1, scratch / "small", size)  # the scanner's rules are compiled now, as after any send
    source.rename(m1.top / "large.bin")
    m1.run("git", "switch", "-q", "-c", "large").ok()
    spent = _send(m1, scratch / "parcel", size)
    made = {name: ms for name, ms in spent.items() if name not in ("send", "record")}
    seconds = sum(made.values()) / 1000
    shown = ", ".join(f"{name} {ms / 1000:.2f}" for name, ms in spent.items() if ms > 100)
    print(f"made {size / 1e6:.0f} MB in {seconds:.2f} s: {size / 1e6 / seconds:.0f} MB/s ({shown})")
    return size / 1e6 / seconds


def _send(m1: Machine, target: Path, size: int) -> dict[str, int]:
    words = [sys.executable, "-m", "handsoff", "send", "m2", "--to-file", str(target), "--json"]
    env = {**os.environ, "HANDSOFF_HOME": str(m1.home)}
    done = subprocess.run(
        [*words, "--max-size", str(2 * size)], cwd=m1.top, env=env, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    phases: dict[str, int] = json.loads(done.stdout)["phases"]
    return phases


if __name__ == "__main__":
    main()
