"""The lab's machines for the Python programs: what env.sh is to the scripts.

A Lab is a folder with a checkout, a home and keys for each machine, as build.sh makes it.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BRANCH = "feat/cny-rounding"
LIMIT = 600
LISTEN = ("listen", "--bind", "127.0.0.1", "--port", "0", "--once")

Done = subprocess.CompletedProcess[bytes]


def program() -> str:
    """Return the handsoff program to try; makes lab/.venv if there is none."""
    run = subprocess.run(["bash", HERE / "env.sh"], stdout=subprocess.PIPE, check=True)
    return os.fsdecode(run.stdout).strip()


class Listener:
    """A ``handsoff listen`` that runs, and where it is reached."""

    def __init__(self, process: subprocess.Popen[bytes], address_file: Path) -> None:
        self.process = process
        for _ in range(1200):
            if address_file.exists() and address_file.read_text().strip():
                break
            if process.poll() is not None:
                break
            time.sleep(0.05)
        # A listener that was killed at its start has no address, and nothing answers there.
        found = address_file.read_text().strip() if address_file.exists() else ""
        self.address = found or "127.0.0.1:9"

    def lives(self) -> bool:
        """Say whether it still runs."""
        return self.process.poll() is None

    def stop(self) -> int:
        """End it, as a service manager would, and return its exit code."""
        if self.lives():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Lab:
    """Machines under one folder."""

    def __init__(self, root: Path, handsoff: str) -> None:
        self.root = root
        self.handsoff_program = handsoff
        # What can be made again, such as the scanner's compiled rules: one for all labs here.
        self.cache = root.parent / "cache"

    def env(self, machine: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of ``machine``; nothing of the user's is in it."""
        home = self.root / "home" / machine
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "HANDSOFF_MDNS": "off",
            "TZ": "UTC",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "HANDSOFF_HOME": str(home / "handsoff"),
            "XDG_CACHE_HOME": str(self.cache),
            **(extra or {}),
        }

    def shell(self, function: str, *words: str) -> None:
        """Run a function of env.sh on this folder; its talk goes to ROOT/lab.log."""
        line = f". {shlex.quote(str(HERE / 'env.sh'))}; {function} {shlex.join(words)}"
        env = {**os.environ, "HANDSOFF": self.handsoff_program, "CACHE": str(self.cache)}
        with (self.root / "lab.log").open("ab") as log:
            subprocess.run(["bash", "-c", line], env=env, check=True, stdout=log, stderr=log)

    def build(self) -> None:
        """Make the toy repository and Monday's state."""
        subprocess.run(["bash", HERE / "build.sh", self.root], check=True)

    def enroll(self, *machines: str) -> None:
        """Found the roster with the first machine and let the others in."""
        self.shell("enroll", str(self.root), *machines)

    def run(
        self, machine: str, *command: str, env: Mapping[str, str] | None = None, check: bool = True
    ) -> Done:
        """Run ``command`` in the checkout of ``machine``."""
        run = subprocess.run(
            command,
            cwd=self.root / machine,
            env=self.env(machine, env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        if check and run.returncode:
            sys.exit(
                f"lab: {machine}: {shlex.join(command)}: exit {run.returncode}\n"
                + os.fsdecode(run.stdout + run.stderr)[-2000:]
            )
        return run

    def git(self, machine: str, *words: str) -> str:
        """Return what git prints there."""
        return os.fsdecode(self.run(machine, "git", *words).stdout)

    def handsoff(
        self, machine: str, *words: str, env: Mapping[str, str] | None = None, check: bool = True
    ) -> Done:
        """Run the program there."""
        return self.run(machine, self.handsoff_program, *words, env=env, check=check)

    def told(self, machine: str, *words: str) -> Any:
        """Return the JSON document that the program prints there."""
        return json.loads(self.handsoff(machine, *words, "--json").stdout)

    def listen(self, machine: str, env: Mapping[str, str] | None = None) -> Listener:
        """Start a listener there that takes one parcel."""
        address_file = self.root / f"{machine}.address"
        address_file.unlink(missing_ok=True)
        words = (*LISTEN, "--address-file", str(address_file))
        with (self.root / f"{machine}.listen.log").open("ab") as log:
            process = subprocess.Popen(
                [self.handsoff_program, *words],
                cwd=self.root / machine,
                env=self.env(machine, env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return Listener(process, address_file)
