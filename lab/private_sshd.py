"""An sshd of the lab's own: on loopback, on a free port, with keys and a config of its own."""

import getpass
import os
import sys
import threading
from pathlib import Path

from meter import Launcher
from relay import Relay

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.kit.sshd import (
    CLIENT,
    SERVER,
    find_sshd,
    free_port,
    make_keys,
    missing,
    wait_until_it_answers,
)

__all__ = ["Sshd", "missing"]

# bash reads ~/.bashrc for each command that comes by ssh, unless it is not the first shell.
MORE = "Subsystem sftp internal-sftp\nSetEnv SHLVL=3\n"
QUIET = "    ControlMaster no\n    LogLevel ERROR\n"


class Sshd:
    """A server that runs until its ``pid`` is ended; ``command`` reaches it as host ``bench``."""

    def __init__(self, folder: Path, launcher: Launcher, *, count: bool) -> None:
        self.relays: list[Relay] = []
        self.count = count
        self.folder = folder
        make_keys(folder)
        port = free_port()
        (folder / "server").write_text(SERVER.format(port=port, folder=folder) + MORE)
        self.pid = launcher.start(
            [find_sshd() or "sshd", "-D", "-e", "-f", str(folder / "server")],
            cwd=folder,
            env={"PATH": os.environ["PATH"]},
            out=folder / "log",
            err=folder / "log",
        )
        wait_until_it_answers(port, folder / "log")
        shown = int(self.counted(f"127.0.0.1:{port}").rsplit(":", 1)[1])
        config = CLIENT.format(name="bench", port=shown, user=getpass.getuser(), folder=folder)
        (folder / "config").write_text(config + QUIET)
        (folder / "known_hosts").write_text(f"bench {(folder / 'host.pub').read_text()}")
        self.command = f"ssh -F {folder / 'config'}"

    def counted(self, address: str) -> str:
        """Return the address of a relay to ``address``, or ``address`` if nothing is counted."""
        if not self.count:
            return address
        relay = Relay(address, self.folder / "count")
        threading.Thread(target=relay.run, daemon=True).start()
        self.relays.append(relay)
        return relay.address

    def total(self) -> int:
        """Return the bytes that went through the relays, there and back."""
        return sum(relay.total for relay in self.relays)
