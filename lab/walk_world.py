"""The machines of a walk: how a verb is typed there, what it may answer, and what stands there.

A verb that needs a listener or a file has it; the steps that each verb passes are learned, so that
it can be killed at them. Whatever it is, an answer must be one that a person can go on from.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from machines import Done, Lab
from stages import settle
from walk_record import Members

from tests.kit.whole import Whole, see

MACHINES: Final = ("m1", "m2", "m3")
CODES: Final = (0, 2, 3, 4, 5, 6, 7, 8)
"""What a verb may end with: 1 is a bug, and nothing is ever damaged (9) here."""
REPORTS: Final = ("audit", "doctor")
"""Their exit code is a finding, and what to do stands beside it."""
UNKEPT: Final = (b".wip", b"cache")
"""Folders that are ignored: when they are empty, nobody keeps them."""

Words = tuple[str, ...]


class FaultError(Exception):
    """Something that must not be."""


@dataclass(frozen=True)
class Look:
    """What stands on a machine."""

    whole: Whole
    refs: str


Looks = dict[str, Look]


@dataclass
class World:
    """Three machines, their remote, and what has been done."""

    lab: Lab
    members: Members
    told: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    """How often each verb ended in each way."""
    steps: dict[str, set[str]] = field(default_factory=dict)
    """The steps that each verb was seen to pass."""
    seen: Looks = field(default_factory=dict)
    away: bool = False
    """Whether the remote is out of reach."""

    @property
    def remote(self) -> Path:
        """Where the remote lies while it is there."""
        return self.lab.root / "remote.git"

    def say(self, number: int, machine: str, text: str) -> None:
        """Note what was done."""
        self.told.append(f"{number:4} {machine}: {text}")
        if os.environ.get("WALK_TALK"):
            print(self.told[-1], flush=True)

    def forget(self, *machines: str) -> None:
        """Look again at these, or at all, the next time."""
        for machine in machines or MACHINES:
            self.seen.pop(machine, None)

    def looks(self) -> Looks:
        """Return what stands on each machine."""
        for machine in MACHINES:
            if machine not in self.seen:
                self.seen[machine] = self._look(machine)
        return dict(self.seen)

    def _look(self, machine: str) -> Look:
        refs = self.lab.git(machine, "for-each-ref", "refs/heads", "refs/stash", "refs/tags")
        whole = see(self.lab.root / machine)
        empty = {k: v for k, v in whole.empty.items() if k not in UNKEPT}
        return Look(replace(whole, empty=empty), refs)

    def move_remote(self, *, away: bool) -> None:
        """Take the remote away, or bring it back."""
        gone = self.remote.with_name("remote-away.git")
        if away != self.away:
            (self.remote if away else gone).rename(gone if away else self.remote)
            self.say(0, "remote", "away" if away else "back")
        self.away = away

    def branches(self) -> dict[str, str]:
        """Return the branches on the remote; none while it is away."""
        if self.away:
            return {}
        told = self.lab.git("m1", "ls-remote", str(self.remote), "refs/heads/*")
        return {name: oid for oid, name in (line.split("\t") for line in told.splitlines())}

    def run(self, machine: str, words: Words, kill: str = "") -> Done:
        """Type a verb, with a listener or a file where it needs one."""
        log = self.lab.root / f"{machine}.steps"
        env = {"HANDSOFF_STEPS_LOG": str(log), **({"HANDSOFF_KILL_AT": kill} if kill else {})}
        if words[0] == "git":
            return self.lab.run(machine, *words, env=env, check=False)
        log.unlink(missing_ok=True)
        listener = self.lab.listen(words[1]) if "--direct" in words else None
        parcel = self.lab.root / f"{machine}.parcel"
        full = [*words]
        if listener:
            full[2:3] = ["--at", listener.address, "--retry", "0"]
        if "--file" in words:
            full[2:3] = ["--to-file", str(parcel)]
            parcel.unlink(missing_ok=True)
        if "--into" in words:
            full.append(str(self.lab.root / f"{machine}-into-{len(self.told)}"))
        done = self.lab.handsoff(machine, *full, "--json", env=env, check=False)
        if listener:
            settle(listener)
        if "--file" in words and done.returncode in (0, 6) and parcel.exists():
            took = self.lab.handsoff(words[1], "receive", str(parcel), "--json", check=False)
            self.answer(("receive",), took)
        if log.exists():
            self.steps.setdefault(words[0], set()).update(log.read_text().split())
        return done

    def answer(self, words: Words, done: Done) -> dict[str, Any]:
        """Return the document of a verb; raise FaultError for an answer that is none."""
        self.ends[f"{words[0]} {done.returncode}"] += 1
        out, err = os.fsdecode(done.stdout), os.fsdecode(done.stderr)
        if "Traceback" in out + err:
            raise FaultError(f"{words}: a traceback: {err[-1500:]}")
        if words[0] == "git":
            return {}
        if done.returncode not in CODES:
            raise FaultError(f"{words}: exit {done.returncode}: {out[-1500:]} {err[-500:]}")
        told: dict[str, Any] = json.loads(out)
        error = told.get("error")
        reports = words[0] in REPORTS and done.returncode == 3
        waits = done.returncode == 6 and {"pending", "away", "provisional"} & told.keys()
        if done.returncode and not (reports or error or waits):
            raise FaultError(f"{words}: exit {done.returncode} without an error: {out[-500:]}")
        if error:
            self.ends[f"    {words[0]} {done.returncode} {error['message'][:70]}"] += 1
            if not error["message"] or not error["hint"]:
                raise FaultError(f"{words}: an error without a hint: {error}")
        return told
