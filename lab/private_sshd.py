"""An sshd of the lab's own: on loopback, on a free port, with keys and a config of its own."""

import getpass
import os
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

from meter import Launcher
from relay import Relay

SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp internal-sftp
# bash reads ~/.bashrc for each command that comes by ssh, unless it is not the first shell.
SetEnv SHLVL=3
"""
CLIENT = """\
Host bench
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/client
    IdentitiesOnly yes
    IdentityAgent none
    HostKeyAlias bench
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
    ControlMaster no
    LogLevel ERROR
"""


def find_sshd() -> str | None:
    """Return where sshd is; it is often not on the PATH."""
    return shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def missing() -> str:
    """Return what has to be installed first, or nothing."""
    if not find_sshd():
        return "no sshd here: apt-get install openssh-server"
    if not shutil.which("ssh"):
        return "no ssh here: apt-get install openssh-client"
    return ""


class Sshd:
    """A server that runs until its ``pid`` is ended; ``command`` reaches it as host ``bench``."""

    def __init__(self, folder: Path, launcher: Launcher, *, count: bool) -> None:
        self.relays: list[Relay] = []
        self.count = count
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name in ("host", "client"):
            if not (folder / name).exists():
                words = ("-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(folder / name))
                subprocess.run(["ssh-keygen", *words], check=True)
        # sshd started by root insists on this folder; it is empty, and stays.
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (folder / "server").write_text(SERVER.format(port=port, folder=folder))
        self.pid = launcher.start(
            [find_sshd() or "sshd", "-D", "-e", "-f", str(folder / "server")],
            cwd=folder,
            env={"PATH": os.environ["PATH"]},
            out=folder / "log",
            err=folder / "log",
        )
        self._wait_until_it_answers(port)
        shown = int(self.counted(f"127.0.0.1:{port}").rsplit(":", 1)[1])
        config = CLIENT.format(port=shown, user=getpass.getuser(), folder=folder)
        (folder / "config").write_text(config)
        (folder / "known_hosts").write_text(f"bench {(folder / 'host.pub').read_text()}")
        self.command = f"ssh -F {folder / 'config'}"

    def _wait_until_it_answers(self, port: int) -> None:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise SystemExit(f"sshd did not start: {(self.folder / 'log').read_text()[-500:]}")

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
