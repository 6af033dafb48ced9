"""Git over real SSH on loopback: a server in a process of its own, for all tests of a run.

    with started(folder) as sshd:         run once
        sshd.reach(world, m1)             from now on m1 reaches the world's remote by ssh

The server end of SSH is asyncssh, so no sshd is needed; the client is OpenSSH's.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from tests.kit.machines import ROOT, Machine, World, sealed


@dataclass(frozen=True)
class GitServer:
    """A server that runs."""

    folder: Path
    port: int

    def reach(self, world: World, *machines: Machine) -> None:
        """Let machines reach the remote by SSH, under the name that it had."""
        words = (
            f"ssh -F none -i {self.folder / 'client'} -o IdentitiesOnly=yes "
            f"-o UserKnownHostsFile={self.folder / 'known'} -o IdentityAgent=none -o LogLevel=ERROR"
        )
        for machine in machines:
            url = f"ssh://git@127.0.0.1:{self.port}{world.remote.path}"
            machine.git("remote", "set-url", "origin", url)
            machine.git("config", "core.sshCommand", words)


@contextmanager
def started(folder: Path) -> Iterator[GitServer]:
    """Serve every repository of this machine to one key, until the block ends."""
    host, client = (asyncssh.generate_private_key("ssh-ed25519") for _ in "ab")
    for name, key in (("host", host), ("client", client)):
        key.write_private_key(str(folder / name))
        (folder / name).chmod(0o600)
    client.write_public_key(str(folder / "client.pub"))
    words = [sys.executable, "-m", "tests.kit.served", str(folder)]
    out, err = subprocess.PIPE, subprocess.DEVNULL
    env = sealed(folder)
    with subprocess.Popen(words, cwd=ROOT, env=env, stdout=out, stderr=err, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            shown = host.export_public_key().decode()
            (folder / "known").write_text(f"[127.0.0.1]:{port} {shown}")
            yield GitServer(folder, port)
        finally:
            process.kill()


async def _handle(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    """Run the one kind of command that git sends."""
    command = process.command or ""
    if not command.startswith(("git-receive-pack ", "git-upload-pack ")):
        process.exit(1)
        return
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_shell(command, stdin=pipe, stdout=pipe, stderr=pipe)
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    process.exit(await child.wait())


async def _serve(folder: Path) -> None:
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_host_keys=[str(folder / "host")], encoding=None, config=None,
        authorized_client_keys=str(folder / "client.pub"), process_factory=_handle,
    )  # fmt: skip
    sys.stdout.write(f"{server.get_port()}\n")
    sys.stdout.flush()
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
