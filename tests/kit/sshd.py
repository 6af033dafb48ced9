"""A real sshd on loopback: a free port, keys and a config of its own; for tests and the lab.

    with sshd(folder / "m2", SetEnv="HOME=...") as there:   runs until the block ends
        there.alias("m2")          what a client's config says of it

Nothing of the machine's own sshd or of anybody's ~/.ssh is read or written. Only the standard
library is used, since the lab has nothing else.
"""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
PrintMotd no
"""
CLIENT = """\
Host {name}
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {folder}/client
    HostKeyAlias {name}
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
"""
_TRIES = 250


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


def make_keys(folder: Path) -> None:
    """Make the keys of the host and of the client, once."""
    folder.mkdir(exist_ok=True)
    for name in ("host", "client"):
        if not (folder / name).exists():
            words = ("-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(folder / name))
            subprocess.run(["ssh-keygen", *words], check=True)
    # sshd started by root insists on this folder; it is empty, and stays
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)


def free_port() -> int:
    """Return a port of loopback on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_until_it_answers(port: int, log: Path) -> None:
    """Wait until there is a server on ``port``."""
    for _ in range(_TRIES):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise SystemExit(f"sshd did not start: {log.read_text()[-500:]}")


@dataclass(frozen=True)
class Sshd:
    """A server that runs."""

    folder: Path
    port: int

    def alias(self, name: str, *more: str) -> str:
        """Return what a config says so that ``name`` leads here; its key is known by then."""
        known = f"{name} {(self.folder / 'host.pub').read_text()}"
        (self.folder / "known_hosts").write_text(known)
        text = CLIENT.format(name=name, port=self.port, user=getpass.getuser(), folder=self.folder)
        return text + "".join(f"    {line}\n" for line in more)


@contextmanager
def sshd(folder: Path, env: Mapping[str, str] | None = None, **settings: str) -> Iterator[Sshd]:
    """Run an sshd whose sessions have ``env``; ``settings`` are lines of sshd_config."""
    make_keys(folder)
    port, log = free_port(), folder / "log"
    lines = [f"{name} {value}" for name, value in settings.items()]
    if env:
        # what a line of SetEnv says stands above what sshd says of HOME and PATH
        lines.append("SetEnv " + " ".join(f'"{name}={value}"' for name, value in env.items()))
    text = SERVER.format(port=port, folder=folder) + "\n".join(lines) + "\n"
    (folder / "server").write_text(text)
    words = [find_sshd() or "sshd", "-D", "-e", "-f", str(folder / "server")]
    with log.open("wb") as out, subprocess.Popen(words, stdout=out, stderr=out) as process:
        try:
            wait_until_it_answers(port, log)
            yield Sshd(folder, port)
        finally:
            process.kill()
