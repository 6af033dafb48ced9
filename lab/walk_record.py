"""The records on the remote, read with plain git alone: who carries what, and is it signed?

Like ``refold.py`` it shares no code with handsoff; of the program it takes the list of the members.
"""

import json
import os
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from machines import Lab

HELD: Final = ("Caught", "Saved", "Pushed", "Withdrawn")
"""Entries after which the work is with whoever caught it last."""
STATES: Final = {
    **dict.fromkeys(HELD, ("held", "dropped")),  # dropped: its time has run out
    "Offered": ("offered", "dropped"),
    "Dropped": ("dropped",),
    "Closed": ("closed",),
}
"""What may be told of a work after an entry of each kind."""


class Last(NamedTuple):
    """How the record of a work ends."""

    kind: str = ""
    """Of its last entry; "" where there is none."""
    holder: str = ""
    """The name of the machine that caught the work last."""

    def lets_push(self, machine: str) -> bool:
        """Say whether this machine may push the branch of the work."""
        free = self.kind in ("", "Closed")
        return free or (self.holder == machine and self.kind != "Offered")


class Members:
    """Who may write a record, as the roster had it when the walk began."""

    def __init__(self, lab: Lab) -> None:
        self._names = {m["id"]: m["name"] for m in lab.told("m1", "roster")["members"]}
        self._signers = lab.root.parent / "allowed-signers"
        self._signers.write_bytes(lab.handsoff("m1", "roster", "--allowed-signers").stdout)

    def last(self, lab: Lab, remote: Path, work: str) -> Last:
        """Return how the record of ``work`` ends there."""
        holder = kind = ""
        for _, body in _entries(lab, remote, work):
            kind = body["kind"]
            holder = body["by"] if kind == "Caught" else holder
        return Last(kind, self._names.get(holder, holder))

    def unsigned(self, lab: Lab, remote: Path, work: str) -> list[str]:
        """Return the entries of ``work`` whose signature stock git does not verify."""
        told = f"gpg.ssh.allowedSignersFile={self._signers}"
        oids = [oid for oid, _ in _entries(lab, remote, work)]
        return [oid for oid in oids if _git(lab, remote, "-c", told, "verify-commit", oid)[0]]


def _entries(lab: Lab, remote: Path, work: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the ids and bodies of the entries of ``work``, the oldest first."""
    ref = f"refs/wip/lease/{quote(work, safe='')}"
    code, told = _git(lab, remote, "log", "-z", "--reverse", "--format=%H%n%B", ref, "--")
    if code:
        return []
    found = []
    for entry in filter(None, told.split("\0")):
        oid, _, text = entry.partition("\n")
        found.append((oid, json.loads(text.split("\n\n", 1)[1])))
    return found


def _git(lab: Lab, remote: Path, *words: str) -> tuple[int, str]:
    done = lab.run("m1", "git", "-C", str(remote), *words, check=False)
    return done.returncode, os.fsdecode(done.stdout)
